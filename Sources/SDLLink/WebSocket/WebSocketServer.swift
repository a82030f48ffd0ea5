import Glibc
import TLSEngine

/// A server of WebSocket connections, as a client knows it.
package struct WebSocketServer: Sendable {
  /// The port of SDL Core for web apps.
  package static let defaultPort: UInt16 = 2020

  /// A name or numeric address, IPv6 without brackets.
  package let host: String
  package let port: UInt16
  /// Path and query, with a slash at the front.
  package let target: String
  /// This end of TLS (wss), in the role of a client; nil for a connection in clear (ws).
  package let tls: TLSContext?

  package init(host: String, port: UInt16, target: String = "/", tls: TLSContext? = nil) {
    (self.host, self.port, self.tls) = (host, port, tls)
    self.target = target.hasPrefix("/") ? target : "/\(target)"
  }

  /// A WebSocket over a TCP connection to the server. Waits until it is open, or, after a signal of `wakeUp`, not wanted
  /// any more, in which case it is nil.
  ///
  /// - Parameter closed: is called when the WebSocket goes away.
  package func open(
    _ socket: Socket, until deadline: Duration, clock: TimeSource, wakeUp: WakeUp, isWanted: () -> Bool,
    closed: @escaping @Sendable () -> Void = {}
  ) throws(TransportFailure) -> WebSocket? {
    // The interface of a link-local address means nothing to the server (RFC 6874, section 1).
    let authority = "\(host.contains(":") ? "[\(host.prefix { $0 != "%" })]" : host):\(port)"
    let webSocket = WebSocket(
      socket, request: try WebSocketRequest(host: authority, target: target), tls: tls?.makeSession(with: host),
      closed: closed)
    while isWanted() {
      switch webSocket.advance() {
      case .open: return webSocket
      case .failed(let failure): throw failure
      case .waiting(let events):
        guard clock.now < deadline else {
          throw TransportFailure(
            .unreachable, "no answer of HTTP comes to the request for a WebSocket",
            advice: TransportFailure.adviceWithoutWebSocket(isSecure: tls != nil))
        }
        withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 2) { descriptors in
          descriptors[0] = pollfd(fd: webSocket.descriptor, events: events, revents: 0)
          descriptors[1] = pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
          pollDescriptors(descriptors, until: deadline, clock: clock)
        }
        wakeUp.clear()
      }
    }
    return nil
  }
}
