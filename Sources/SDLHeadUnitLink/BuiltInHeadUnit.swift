import SDLHeadUnit
import SDLLink
import SDLWire
import Synchronization
import TLSEngine

/// A head unit in this process, at the other end of a socket pair; a new one for each connection of the app.
package final class BuiltInHeadUnit: Transport {
  private struct State: Sendable {
    var server: HeadUnitServer?
    var report: (@Sendable (TransportEvent) -> Void)?
  }

  private let configuration: HeadUnitConfiguration
  private let tls: TLSContext?
  private let clock: TimeSource
  private let state = Mutex(State())

  /// - Parameter tls: the app's end, for which the head unit is the other; nil for no TLS.
  package init(_ configuration: HeadUnitConfiguration, tls: TLSContext? = nil, clock: TimeSource = .monotonic) {
    self.tls = tls.flatMap(TLSContext.builtInHeadUnit)
    self.clock = clock
    var configuration = configuration
    if let tls = self.tls {
      configuration.security = .accept
      configuration.beginsHandshake = tls.role == .client
    }
    self.configuration = configuration
  }

  package var transportClass: TransportClass { .tcpWiFi }
  package var isOnThisMachine: Bool { true }
  package var waitsForPeers: Bool { false }

  /// The present one; nil between two connections.
  var server: HeadUnitServer? { state.withLock { $0.server } }

  package func start(_ report: @escaping @Sendable (TransportEvent) -> Void) {
    state.withLock { $0.report = report }
  }

  package func connect() throws(LinkError) -> PeerConnection? {
    let (ours, theirs) = try Socket.descriptorPair()
    let connection = PeerConnection(adopting: ours, peer: "the built-in head unit")
    let server = try HeadUnitServer(
      configuration: configuration, serving: Socket(adopting: theirs), tls: tls, clock: clock, observer: self)
    state.withLock { $0.server = server }
    try server.start()
    return connection
  }

  package func disconnect() {
    guard let server = state.withLock({ $0.server.take() }) else { return }
    server.stop()
    server.join()
  }

  package func stop() {
    disconnect()
    state.withLock { $0.report = nil }
  }
}

extension BuiltInHeadUnit: HeadUnitServerObserver {
  package func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) {
    guard case .session(_, .violation(let violation)) = event else { return }
    state.withLock { $0.report }?(.faultFound("The built-in head unit found a violation in the stream: \(violation)"))
  }
}

extension TLSContext {
  /// The built-in head unit's end of TLS, which accepts any certificate. It has none of its own: as a server it has the
  /// app's credentials.
  fileprivate static func builtInHeadUnit(for app: TLSContext) -> TLSContext? {
    switch app.role {
    case .server:
      guard let credentials = try? TLSCredentials(TLSCredentials.Sources()) else { return nil }
      return try? TLSContext(role: .client, credentials: credentials)
    case .client: return try? TLSContext(role: .server, credentials: app.credentials)
    }
  }
}
