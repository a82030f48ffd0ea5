import Glibc
import SDLWire

/// A way to get connections without a TCP address: one that waits for peers, such as Bluetooth, or makes connections
/// itself.
///
/// It is started once and stopped once, and hands over one connection at a time; the next comes after the end of the
/// last.
package protocol Transport: AnyObject, Sendable {
  var transportClass: TransportClass { get }

  /// Whether its peers are on this machine: such a peer may name addresses of this machine, which to others mean
  /// another one.
  var isOnThisMachine: Bool { get }

  /// Begins to look for peers.
  ///
  /// - Parameter report: is called on a thread of the transport, with no lock held.
  /// - Throws: ``LinkError/system(operation:errno:)`` when no thread can be had.
  func start(_ report: @escaping @Sendable (TransportEvent) -> Void) throws(LinkError)

  /// Whether peers connect by themselves, which is reported and may take any time.
  var waitsForPeers: Bool { get }

  /// Makes a connection at once, if ``waitsForPeers`` is false.
  func connect() throws(LinkError) -> PeerConnection?

  /// The connection that ``connect()`` returned has ended.
  func disconnect()

  /// Ends it, and waits for its end, for a second at most; on its own thread, not at all. Connections that were handed
  /// over stay.
  func stop()
}

extension Transport {
  package var isOnThisMachine: Bool { false }
  package var waitsForPeers: Bool { true }
  package func connect() -> PeerConnection? { nil }
  package func disconnect() {}
}

package enum TransportEvent: Sendable {
  /// Its status, whenever that changes while there is no connection.
  case status(TransportStatus)
  case connected(PeerConnection)
  /// The other end of the connection belongs to the transport, and complains of what the app sends, in a sentence
  /// without a full stop.
  case faultFound(String)
  /// It can't go on; the last event.
  case failed(TransportFailure)
}

/// The status of a ``Transport`` without a connection.
package enum TransportStatus: Equatable, Sendable {
  /// A peer may come at any time; the text says which, as "a car over Bluetooth".
  case waiting(for: String)
  /// No peer can come until the user, or another program, has changed something.
  case blocked(TransportFailure)
}

/// Why a ``Transport`` has no connection to offer.
package struct TransportFailure: Error, Equatable, Sendable {
  package enum Kind: Sendable {
    /// A system service that it needs does not run.
    case serviceMissing
    /// The device that it needs is not there, or switched off.
    case deviceMissing
    /// The requested peer is not known to this machine.
    case unknownPeer
    /// The requested peer can't be connected to.
    case unreachable
    /// A connection broke off while it was being made.
    case brokenOff
    /// This process may not use it.
    case notAuthorized
    /// Another program uses it.
    case busy
    /// Anything else.
    case failed
  }

  package var kind: Kind
  /// What happened, without a full stop.
  package var reason: String
  /// What the user can do, as a sentence.
  package var advice: String

  package init(_ kind: Kind, _ reason: String, advice: String) {
    self.kind = kind
    self.reason = reason
    self.advice = advice
  }
}

/// A connected stream socket that a ``Transport`` has handed over. This owns the descriptor, which is closed with this
/// object, or by the connection that uses it.
package final class PeerConnection: Sendable {
  /// The peer's name, for users.
  package let peer: String
  /// Nil once it is closed.
  private let descriptor: Monitor<Int32?>
  /// Instead of a socket of ``descriptor``, which it then owns; nil once it is taken.
  private let established: Monitor<Socket?>
  private let didClose: @Sendable () -> Void

  /// Takes over `descriptor`.
  ///
  /// - Parameter didClose: is called on any thread, once.
  package init(adopting descriptor: Int32, peer: String, didClose: @escaping @Sendable () -> Void = {}) {
    self.peer = peer
    self.descriptor = Monitor(descriptor)
    established = Monitor(nil)
    self.didClose = didClose
  }

  /// A connection with a socket of its own kind, which closes itself.
  package init(_ socket: Socket, peer: String) {
    self.peer = peer
    descriptor = Monitor(nil)
    established = Monitor(socket)
    didClose = {}
  }

  deinit {
    close()
  }

  /// The transport wants it to end: the reader finds the end of the stream. From any thread, also when it is closed.
  package func disconnect() {
    established.withLock { $0?.shutDown() }
    descriptor.withLock { descriptor in
      if let descriptor { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
  }

  /// The socket, which closes it. To be called once.
  package func takeSocket() -> Socket? {
    if let socket = established.withLock({ $0.take() }) { return socket }
    return descriptor.withLock { $0 }.map { descriptor in Socket(adopting: descriptor) { _ in self.close() } }
  }

  private func close() {
    let wasOpen = descriptor.withLock { descriptor in
      guard let open = descriptor.take() else { return false }
      // BlueZ has a copy of the descriptor, and notices the end by this.
      _ = shutdown(open, Int32(SHUT_RDWR))
      _ = Glibc.close(open)
      return true
    }
    if wasOpen { didClose() }
  }
}
