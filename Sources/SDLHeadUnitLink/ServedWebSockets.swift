import SDLHeadUnit
import SDLLink
import Synchronization
import TLSEngine

/// A head unit's WebSockets: the port for web apps, and the apps in a cloud to which it connects itself. They are set
/// before the server starts.
package final class ServedWebSockets: Sendable {
  private struct State: Sendable {
    var port: ListeningPort?
    var cloudApps: [CloudApp] = []
    var authToken: String?
  }

  private let state = Mutex(State())

  init() {}

  /// Nil if there is none.
  var port: ListeningPort? { state.withLock { $0.port } }

  /// For the acknowledgement of a cloud app's session.
  var authToken: String? { state.withLock { $0.authToken } }

  /// Listens for web apps; 0 takes any port that is free.
  ///
  /// - Parameters:
  ///   - address: a host name or numeric address; nil for all of this machine's.
  ///   - tls: this end of TLS (wss), in the role of a server; nil for ws.
  /// - Returns: the port.
  package func listen(
    address: String?, port: UInt16, origins: AllowedOrigins, tls: TLSContext?,
    makeSocket: @escaping SocketMaker = Socket.tcp
  ) throws(LinkError) -> UInt16 {
    let listener = try ListeningPort(
      address: address, port: port, makeSocket: makeSocket,
      wrap: { WebSocket(accepting: $0, origins: origins, tls: tls?.makeSession()) })
    state.withLock { $0.port = listener }
    return listener.address.port
  }

  /// Apps in a cloud.
  /// - Parameter authToken: is told to them when their sessions start; nil for none.
  package func add(_ apps: [CloudApp], authToken: String?) {
    state.withLock { state in
      state.cloudApps += apps
      state.authToken = authToken
    }
  }

  func start(_ report: @escaping @Sendable (TransportEvent) -> Void) throws(LinkError) {
    for app in state.withLock({ $0.cloudApps }) { try app.start(report) }
  }

  func stop() {
    state.withLock { $0.port }?.shutDown()
    for app in state.withLock({ $0.cloudApps }) { app.stop() }
  }

  /// Activates an app in a cloud that is pending.
  /// - Returns: false if the command is for others.
  package func activate(_ command: HeadUnitCommand) -> Bool {
    guard case .activate(nil) = command else { return false }
    return state.withLock { $0.cloudApps }.contains { $0.activate() }
  }
}

/// An app in a cloud. As with SDL Core, it is pending until the driver activates it; then the head unit connects to it,
/// with five more attempts a second apart. It is pending again when the connection has ended.
package final class CloudApp: Sendable {
  private enum Phase: Sendable {
    case pending
    case activated
    /// A WebSocket exists.
    case connected
    case stopped
  }

  private static let retryCount = 5
  private static let connectTime = Duration.seconds(10)

  private let name: String
  private let server: WebSocketServer
  private let retryPause: Duration
  private let thread = WorkerThread(name: "sdl-cloud-app")
  private let wakeUp = WakeUp()
  private let phase: Mutex<Phase>

  /// - Parameters:
  ///   - name: for people, such as its URI.
  ///   - isActivated: whether the driver activates it at once.
  package init(_ server: WebSocketServer, name: String, isActivated: Bool, retryPause: Duration = .seconds(1)) {
    (self.server, self.name, self.retryPause) = (server, name, retryPause)
    phase = Mutex(isActivated ? .activated : .pending)
  }

  func start(_ report: @escaping @Sendable (TransportEvent) -> Void) throws(LinkError) {
    try wakeUp.open()
    try thread.start { self.run(report) }
  }

  func stop() {
    phase.withLock { $0 = .stopped }
    wakeUp.signal()
    thread.join()
  }

  /// Whether it was pending.
  func activate() -> Bool { change(from: .pending, to: .activated) }

  private func change(from former: Phase, to next: Phase) -> Bool {
    let isChanged = phase.withLock { phase in
      guard phase == former else { return false }
      phase = next
      return true
    }
    if isChanged { wakeUp.signal() }
    return isChanged
  }

  private var presentPhase: Phase { phase.withLock { $0 } }

  // MARK: The thread

  private func run(_ report: @Sendable (TransportEvent) -> Void) {
    var isPendingReported = false
    while true {
      switch presentPhase {
      case .pending:
        if !isPendingReported { report(.status(.waiting(for: "the driver to activate the cloud app \(name)"))) }
        isPendingReported = true
        wakeUp.wait(until: nil)
      case .activated:
        isPendingReported = false
        connect(report)
      case .connected: wakeUp.wait(until: nil)
      case .stopped: return
      }
    }
  }

  private func connect(_ report: @Sendable (TransportEvent) -> Void) {
    for attempt in 0...Self.retryCount {
      let began = MonotonicClock.now
      do throws(LinkError) {
        guard let connection = try makeConnection(until: began + Self.connectTime) else { return }
        return report(.connected(connection))
      } catch {
        report(.faultFound("cloud app \(name): \(error)"))
      }
      guard attempt < Self.retryCount else { break }
      while presentPhase == .activated, MonotonicClock.now < began + retryPause {
        wakeUp.wait(until: began + retryPause)
      }
      guard presentPhase == .activated else { return }
    }
    _ = change(from: .activated, to: .pending)
  }

  /// Nil after ``stop()``.
  private func makeConnection(until deadline: Duration) throws(LinkError) -> PeerConnection? {
    let clock = TimeSource.monotonic
    let isWanted = { self.presentPhase == .activated }
    let resolver = try Resolver.start(host: server.host, port: server.port, wakeUp: wakeUp)
    guard let resolved = resolver.wait(until: deadline, clock: clock, wakeUp: wakeUp, isWanted: isWanted) else {
      guard isWanted() else { return nil }
      throw .resolvingTimedOut(host: server.host, after: Self.connectTime)
    }
    var connector = Connector(
      addresses: try resolved.get(), timeout: Self.connectTime, deadline: deadline, clock: clock)
    switch connector.run(wakeUp: wakeUp, isWanted: isWanted, willTry: { _ in }) {
    case .interrupted: return nil
    case .failed(let error): throw error
    case .connected(let socket, let address):
      do throws(TransportFailure) {
        let webSocket = try server.open(
          socket, until: deadline, clock: clock, wakeUp: wakeUp, isWanted: isWanted,
          closed: { [weak self] in _ = self?.change(from: .connected, to: .pending) })
        guard let webSocket, change(from: .activated, to: .connected) else { return nil }
        return PeerConnection(webSocket, peer: address.description)
      } catch {
        throw .noWebSocket(address: address.description, error)
      }
    }
  }
}
