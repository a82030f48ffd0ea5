import Glibc
import SDLWire

/// Why there is no connection, or why it has ended.
package enum LinkError: Error, Equatable, Sendable {
  /// The name service knows no address; `reason` is its own text.
  case cannotResolve(host: String, reason: String)
  /// The name service did not answer within the connect time-out.
  case resolvingTimedOut(host: String, after: Duration)
  /// The machine is there, but nothing listens on the port.
  case refused(addresses: [String])
  /// No route.
  case unreachable(addresses: [String])
  /// No answer within the connect time-out.
  case connectingTimedOut(addresses: [String], after: Duration)
  /// Any other failure of connect(2).
  case cannotConnect(addresses: [String], errno: Int32)
  case closedByPeer(address: String)
  /// The peer has closed a TCP connection without a byte of an answer.
  case closedUnanswered(address: String)
  case connectionLost(address: String, errno: Int32)
  /// The peer does not read; so many bytes of control frames were waiting.
  case peerNotReading(address: String, queuedByteCount: Int)
  /// The peer has not read for so long, although video waits.
  case stalled(address: String, after: Duration)
  case cannotListen(address: String, errno: Int32)
  /// TCP has a connection, but no WebSocket comes of it; the reason is about the peer.
  case noWebSocket(address: String, TransportFailure)
  /// There is no connection over a transport other than TCP.
  case transport(TransportFailure)
  /// A system call failed that has nothing to do with the peer, as when descriptors or threads run out.
  case system(operation: String, errno: Int32)
}

extension LinkError: CustomStringConvertible {
  /// For users: what happened.
  package var description: String {
    switch self {
    case .cannotResolve(let host, let reason):
      "cannot resolve the host name \"\(host)\": \(reason)"
    case .resolvingTimedOut(let host, let time):
      "the name service did not answer for \"\(host)\" within \(time.inSeconds)"
    case .refused(let addresses):
      "connection refused by \(Self.list(addresses)): nothing listens on that port"
    case .unreachable(let addresses):
      "no route to \(Self.list(addresses))"
    case .connectingTimedOut(let addresses, let time):
      "no answer from \(Self.list(addresses)) within \(time.inSeconds)"
    case .cannotConnect(let addresses, let code):
      "cannot connect to \(Self.list(addresses)): \(Self.text(code))"
    case .closedByPeer(let address):
      "\(address) closed the connection"
    case .closedUnanswered(let address):
      "\(address) closed the connection without an answer"
    case .connectionLost(let address, let code):
      "lost the connection to \(address): \(Self.text(code))"
    case .peerNotReading(let address, let count):
      "\(address) does not read: \(count) bytes of control frames are waiting"
    case .stalled(let address, let time):
      "\(address) has not read anything for \(time.components.seconds) s"
    case .cannotListen(let address, let code):
      "cannot listen on \(address): \(Self.text(code))"
    case .noWebSocket(let address, let failure): "no WebSocket with \(address): \(failure.reason)"
    case .transport(let failure): failure.reason
    case .system(let operation, let code):
      "\(operation) failed: \(Self.text(code))"
    }
  }

  private static func list(_ addresses: [String]) -> String {
    addresses.joined(separator: " and ")
  }

  private static func text(_ code: Int32) -> String {
    let text = strerror(code).map { String(cString: $0) } ?? "error \(code)"
    return remedy(code).map { "\(text) (\($0))" } ?? text
  }

  /// What to do about a limit of the system that was reached.
  private static func remedy(_ code: Int32) -> String? {
    switch code {
    case EMFILE: "close some, or raise the limit of the process: ulimit -n"
    case ENFILE: "close some, or raise the limit of the machine: sysctl fs.file-max"
    // pthread_create(3) says that of threads alone.
    case EAGAIN: "end other programs, or raise the limit of threads: ulimit -u, or TasksMax of a systemd unit"
    default: nil
    }
  }
}
