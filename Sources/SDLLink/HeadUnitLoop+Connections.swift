import CLinux
import Glibc
import SDLHeadUnit
import SDLWire

/// The connections of apps, from the port to the session.
extension HeadUnitLoop {
  /// How long accepting rests when descriptors have run out, or too many have connected, and opening a port that
  /// somebody else has.
  static let acceptPause = Duration.milliseconds(100)
  /// A connection that has been without a registered app for so long may be closed in favour of another.
  private static let minimumRegistrationTime = Duration.seconds(1)

  /// Secondary transports that are accepted beyond one for each app.
  private static let spareSecondaryCount = 2

  /// -1, which poll(2) ignores, while nobody can be accepted.
  func listenerDescriptor(now: Duration) -> Int32 {
    guard case .listener(let port) = server.source, !isRefusing, canAccept else { return -1 }
    if !port.reopen() { acceptPausedUntil = now + Self.acceptPause }
    return port.descriptor
  }

  /// A transport has connected to an app, or tells how it stands.
  func receive(_ event: TransportEvent, now: Duration) {
    guard case .connected(let connection) = event else { return server.report(.transport(event)) }
    guard hasRoom(for: .primary) || makeRoom(for: .primary, now: now) else {
      return server.report(.refused(peer: connection.peer))
    }
    if let socket = connection.takeSocket() { serve(socket, peer: connection.peer) }
  }

  func accept(from port: ListeningPort, _ role: ServedConnection.Role, now: Duration) {
    let descriptor = linux_accept(port.descriptor)
    if accepted.exceeds(at: now) { acceptPausedUntil = now + Self.acceptPause }
    guard descriptor >= 0 else {
      // Otherwise the listener would stay readable and the thread would spin.
      if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { acceptPausedUntil = now + Self.acceptPause }
      return
    }
    let socket = Socket(adopting: descriptor)
    let peer = SocketAddress(connectedTo: descriptor)?.description ?? "the app"
    guard hasRoom(for: role) || makeRoom(for: role, now: now) else {
      return server.report(.refused(peer: peer))
    }
    socket.configureTCP()
    serve(socket, peer: peer, role)
  }

  /// Whether a connection that waits at a port is looked at now.
  var canAccept: Bool {
    acceptPausedUntil == nil && stalledUntil == nil
  }

  private func hasRoom(for role: ServedConnection.Role) -> Bool {
    let most = server.admission.maximumConnectionCount
    // Each session may have one, and a replacement may come before its end is noticed.
    let limit = role == .primary ? most : max(most, apps.count + Self.spareSecondaryCount)
    return connections.count { $0.role == role } < limit
  }

  /// Closes the connection that has been there longest without an app, if there is one.
  private func makeRoom(for role: ServedConnection.Role, now: Duration) -> Bool {
    let idle = connections.first { connection in
      connection.role == role && !connection.hasRegisteredApp
        && now - connection.connectTime >= Self.minimumRegistrationTime
    }
    guard let idle else { return false }
    idle.end(nil)
    removeEnded()
    return true
  }

  /// Reads some, and then bounds the memory that messages without an end take.
  func read(_ connection: ServedConnection) {
    connection.read(into: readBuffer)
    while apps.reduce(0, { $0 + $1.incompleteByteCount }) > server.admission.maximumIncompleteByteCount {
      let holding = apps.filter { $0.incompleteByteCount > 0 }
      let strangers = holding.filter { $0.summary == nil }
      let largest = (strangers.isEmpty ? holding : strangers).max { $0.incompleteByteCount < $1.incompleteByteCount }
      guard let largest, !largest.connection.isOver else { return }
      largest.perform { $0.dropIncompleteMessage() }
    }
  }

  func serve(_ socket: Socket, peer: String, _ role: ServedConnection.Role = .primary) {
    let connection = ServedConnection(
      socket: socket, peer: peer, role: role, limits: configuration.frameLimits, server: server, owner: self)
    connections.append(connection)
    if role == .primary { begin(makeSession(on: connection)) }
  }

  private func makeSession(on connection: ServedConnection) -> ServedApp {
    repeat { lastID = lastID == .max ? 1 : lastID + 1 } while apps.contains { $0.id == lastID }
    let app = ServedApp(
      id: lastID, connectionID: connection.apps.first?.id ?? lastID, connection: connection,
      configuration: configuration, server: server, makeSecureChannel: makeSecureChannel, owner: self)
    connection.add(app)
    apps.append(app)
    return app
  }

  private func begin(_ app: ServedApp) {
    settleScreen()
    server.report(.connected(id: app.id, peer: app.connection.peer))
    script.note(.connected, app: app.id, now: clock.now)
    let now = clock.now
    let address = servedTransport(for: app)
    app.perform { $0.setServedTransport(address, now: now) }
    app.connection.connect(app, now: now)
    let saved = savedApps.filter { $0.device == app.connection.device }.map(\.app)
    app.perform { session in
      session.setSavedApps(saved)
      return []
    }
    for change in conditions.changes { app.perform { $0.apply(change, now: now) } }
  }

  func addSession(to connection: ServedConnection) -> ServedApp? {
    // Ids are kept free for the first sessions of further connections.
    let mostSessions = Int(UInt8.max) - server.admission.maximumConnectionCount
    guard connection.apps.count < server.admission.maximumSessionCount, apps.count < mostSessions else { return nil }
    let app = makeSession(on: connection)
    begin(app)
    return app
  }
}
