import Glibc
import SDLHeadUnit
import SDLLink
import SDLWire
import TLSEngine

/// The server's thread: accepts apps, moves bytes, and executes the sessions' actions.
final class HeadUnitLoop {
  /// The pause when descriptors have run out, too many peers have connected, or another socket has the port.
  private static let acceptPause = Duration.milliseconds(100)
  /// Connections that are taken from a port at once.
  private static let acceptsPerTurn = 16
  /// Secondary transports that are accepted beyond one for each app.
  private static let spareSecondaryCount = 2
  /// As many as one session takes.
  private static let maximumAnswersInAdvance = 100

  private let server: HeadUnitServer
  private let clock: TimeSource
  private var configuration: HeadUnitConfiguration
  private var connections: [ServedConnection] = []
  /// The apps of all connections, in the order in which their ids were used.
  private var apps: [ServedApp] = []
  private var lastID: UInt8 = 0
  private var savedApps = SavedApps()
  private var conditions = HeadUnitConditions()
  private var screen = HeadUnitScreen()
  private var script: HeadUnitScriptRun
  /// While it lasts (the command `stall`), only operations are taken: nothing is read from or written to apps, and no
  /// session's timers run. A step of the script may begin it between any two inputs of an app.
  private var hangsUntil: Duration?
  var isHanging: Bool { hangsUntil != nil }
  /// The road of all connections, and since when it has been so.
  private var road: (shape: LinkShape, start: Duration)?
  private var isRefusing = false
  /// For the app that registers next.
  private var answersInAdvance: [HeadUnitBehaviour.VideoStartAnswer] = []
  private var acceptPausedUntil: Duration?
  private var waiting = WaitingPeers()
  private var admissionPausedUntil: Duration?
  private var secondaryAdmission: SecondaryAdmission
  /// Each is reported to the application, which costs more than connecting.
  private var accepted = RateLimit(limit: 100, window: .seconds(1))
  private var standstills = StandstillWatch()
  /// What to wait for until ``nextDeadline``.
  var descriptors: [pollfd] = []
  private(set) var nextDeadline: Duration?
  private let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: FrameReader.readSize, alignment: 8)

  init(server: HeadUnitServer) {
    self.server = server
    clock = server.clock
    configuration = server.configuration
    secondaryAdmission = SecondaryAdmission(server.admission.secondaryOrigin)
    script = HeadUnitScriptRun(server.script, now: clock.now)
    // Otherwise the answer would have gone before the script can change it.
    if script.reacts(to: .startVideo) { configuration.behaviour.videoStartDelay = .zero }
    if server.script.isTest { configuration.reportsMessages = true }
  }

  deinit {
    readBuffer.deallocate()
  }

  /// Returns after the server was stopped, or after the end of an adopted connection.
  func run() {
    if case .connection(let socket) = server.source { serve(socket, peer: "the app in this process") }
    while takeTurn() {
      descriptors.withUnsafeMutableBufferPointer { pollDescriptors($0, until: nextDeadline, clock: clock) }
      handleDescriptors()
    }
  }

  /// Does all due work, and leaves the descriptors to poll in ``descriptors``; false at the end.
  func takeTurn() -> Bool {
    // Before the operations are taken, so that operations from before the stop are carried out.
    let isStopping = server.isStopRequested
    let now = clock.now
    for operation in server.takeOperations() { apply(operation, now: now) }
    if let end = hangsUntil, end <= now || isStopping {
      hangsUntil = nil
      for connection in connections { connection.noteReading(now: now) }
    }
    if !isStopping { advanceScript(to: now) }
    for connection in connections {
      if !isHanging {
        connection.advanceRoad(to: now)
        // Bytes are read before timers run: otherwise an app could time out although its bytes are there.
        if connection.holdsInput || connection.isDue(at: now) {
          read(connection)
          for app in connection.apps { app.secondary?.read(into: readBuffer) }
        }
      }
      if !isHanging { connection.advance(now: now) }
      // What is still on a slow road arrives at once.
      if isStopping { connection.setShape(nil, since: now, now: now) }
      if !isHanging || isStopping { connection.write() }
    }
    removeEnded()
    let isAdoptedGone = if case .connection = server.source { apps.isEmpty } else { false }
    guard isStopping || isAdoptedGone else {
      prepareToWait(now: now)
      return true
    }
    for connection in connections { connection.end(nil) }
    removeEnded()
    script.endTest(now: now)
    server.reportTests(of: &script)
    if case .transport(let transport) = server.source { transport.stop() }
    server.webSockets.stop()
    server.secondaryListener?.shutDown()
    server.report(.ended)
    return false
  }

  private func removeEnded() {
    for app in apps where app.connection.isOver {
      server.report(.disconnected(id: app.id, app.connection.failure, app.session.statistics))
      script.note(.disconnected, app: app.id, now: clock.now)
    }
    apps.removeAll(where: \.connection.isOver)
    connections.removeAll(where: \.isOver)
    server.reportTests(of: &script)
  }
}

// MARK: Events of the apps

extension HeadUnitLoop {
  /// The connection of the app has broken; the app may resume.
  func keep(_ saved: SavedApp, of app: ServedApp) { savedApps.keep(saved, on: app.connection.address.device) }

  /// In the middle of the app's work.
  func app(_ app: ServedApp, didReport event: HeadUnitSession.Event) {
    server.report(.session(id: app.id, event))
    script.show(event, app: app.id, now: clock.now)
    switch event {
    case .appRegistered:
      for answer in answersInAdvance { app.prepare { $0.answerNextVideoStart(answer) } }
      answersInAdvance = []
      configuration.behaviour.forgetAnswersForOnce()
      note(event, of: app)
    case .videoData, .videoMissed:
      if script.reacts(to: .frame) {
        script.notePictures(app.session.statistics.pictures, app: app.id, now: clock.now)
      }
    default: note(event, of: app)
    }
  }

  private func note(_ event: HeadUnitSession.Event, of app: ServedApp) {
    guard let event = HeadUnitScript.Event(event) else { return }
    script.note(event, app: app.id, pictures: app.session.statistics.pictures, now: clock.now)
  }

  /// Follows the script, so that a step comes between the frame that caused it and the next.
  /// - Returns: false when the head unit hangs from now on, so that sessions get no input.
  func appDidTakeInput() -> Bool {
    if script.nextDeadline != nil { advanceScript(to: clock.now) }
    return !isHanging
  }
}

// MARK: Waiting

extension HeadUnitLoop {
  private func prepareToWait(now: Duration) {
    descriptors.removeAll(keepingCapacity: true)
    descriptors.append(pollfd(fd: server.wakeUp.descriptor, events: Int16(POLLIN), revents: 0))
    if let paused = acceptPausedUntil, paused <= now { acceptPausedUntil = nil }
    if let paused = admissionPausedUntil, paused <= now { admissionPausedUntil = nil }
    admitWaiting(now: now)
    for port in [primaryPort, offeredSecondaryPort, server.webSockets.port] {
      descriptors.append(pollfd(fd: descriptor(of: port, now: now), events: Int16(POLLIN), revents: 0))
    }
    var deadlines = [hangsUntil, acceptPausedUntil, waiting.isEmpty ? nil : admissionPausedUntil]
    if !isHanging {
      for connection in connections { descriptors.append(connection.pollDescriptor(at: now)) }
      let awaited = connections.compactMap { $0.nextDeadline(at: now) }.min()
      let isStreaming = apps.contains { $0.session.isStreaming }
      if connections.contains(where: \.holdsInput) { deadlines.append(now) }
      deadlines += [standstills.sleep(until: awaited, isStreaming: isStreaming, now: now), script.nextDeadline]
    }
    nextDeadline = deadlines.compactMap(\.self).min()
  }

  /// Handles the result of poll(2) for ``descriptors``.
  func handleDescriptors() {
    let now = clock.now
    if let start = standstills.wakeUp(now: now) {
      for connection in connections { connection.noteStandstill(since: start, now: now) }
    }
    if descriptors[0].revents != 0 {
      // Earlier operations are carried out before new bytes of apps are read.
      server.wakeUp.clear()
      return
    }
    for (connection, descriptor) in zip(connections, descriptors.dropFirst(4))
    where !isHanging && descriptor.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 {
      read(connection)
    }
    guard !isHanging else { return }
    if descriptors[1].revents != 0, let port = primaryPort { accept(from: port, .primary, now: now) }
    if descriptors[2].revents != 0, let port = server.secondaryListener { accept(from: port, .secondary, now: now) }
    if descriptors[3].revents != 0, let port = server.webSockets.port { accept(from: port, .primary, now: now) }
  }
}

// MARK: Connections, from the port to the session

extension HeadUnitLoop {
  private var primaryPort: ListeningPort? { if case .listener(let port) = server.source { port } else { nil } }

  /// -1, which poll(2) ignores, while no connection can be accepted.
  private func descriptor(of port: ListeningPort?, now: Duration) -> Int32 {
    guard let port, !isRefusing, canAccept else { return -1 }
    if !port.reopen() { acceptPausedUntil = now + Self.acceptPause }
    return port.descriptor
  }

  /// A transport has connected to an app, or reports its status.
  private func receive(_ event: TransportEvent, now: Duration) {
    guard case .connected(let connection) = event else { return server.report(.transport(event)) }
    guard let socket = connection.takeSocket() else { return }
    let address = ServedConnection.Address(socket, peer: connection.peer).network
    guard !isRefusing, makeRoom(for: .primary, from: address, now: now) else {
      return server.report(.refused(peer: connection.peer))
    }
    serve(socket, peer: connection.peer)
  }

  private func accept(from port: ListeningPort, _ role: ServedConnection.Role, now: Duration) {
    for _ in 0..<Self.acceptsPerTurn {
      guard let socket = port.accept() else {
        // Otherwise the listener would stay readable and the thread would spin.
        if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { acceptPausedUntil = now + Self.acceptPause }
        return
      }
      if let refused = waiting.append(WaitingPeers.Peer(socket, role)) { server.report(.refused(peer: refused.name)) }
      admitWaiting(now: now)
    }
  }

  /// Serves connections, as many as may be in a second.
  private func admitWaiting(now: Duration) {
    guard !waiting.isEmpty, !isHanging else { return }
    if isRefusing { waiting = WaitingPeers() }
    func count(_ address: String) -> Int { connections.count { $0.address.network == address } }
    while admissionPausedUntil == nil, let next = waiting.takeNext(count) {
      if accepted.exceeds(at: now) { admissionPausedUntil = now + Self.acceptPause }
      guard makeRoom(for: next.role, from: next.address.network, now: now) else {
        server.report(.refused(peer: next.name))
        continue
      }
      serve(next.socket, peer: next.name, next.role)
    }
  }

  /// Whether a connection that waits at a port is accepted now.
  private var canAccept: Bool { acceptPausedUntil == nil && !isHanging }

  /// Whether a connection has a place, which another may have to give up for it.
  private func makeRoom(for role: ServedConnection.Role, from address: String, now: Duration) -> Bool {
    let most = server.admission.maximumConnectionCount
    // Each session may have one, and a replacement may come before its end is noticed.
    let limit = role == .primary ? most : max(most, apps.count + Self.spareSecondaryCount)
    let others = connections.filter { $0.role == role }
    guard others.count >= limit else { return true }
    let places = ConnectionPlaces(most: limit)
    guard let index = places.place(for: address, among: others.map(\.place), now: now) else { return false }
    others[index].end(nil)
    removeEnded()
    return true
  }

  /// Reads some, and bounds the memory of incomplete messages.
  private func read(_ connection: ServedConnection) {
    connection.read(into: readBuffer)
    while apps.reduce(0, { $0 + $1.session.incompleteByteCount }) > server.admission.maximumIncompleteByteCount {
      guard let largest = ServedApp.holdingMost(of: apps), !largest.connection.isOver else { return }
      largest.perform { $0.dropIncompleteMessage() }
    }
  }

  private func serve(_ socket: Socket, peer: String, _ role: ServedConnection.Role = .primary) {
    let connection = ServedConnection(
      socket: socket, peer: peer, role: role, limits: configuration.frameLimits, server: server, loop: self)
    connections.append(connection)
    if let road { connection.setShape(road.shape, since: road.start, now: clock.now) }
    if role == .primary { begin(makeSession(on: connection)) }
  }

  private func makeSession(on connection: ServedConnection) -> ServedApp {
    repeat { lastID = lastID == .max ? 1 : lastID + 1 } while apps.contains { $0.id == lastID }
    let sessionID = server.admission.sessionIDs.next(for: lastID, besides: Set(apps.map { $0.session.sessionID }))
    let app = ServedApp(
      id: lastID, sessionID: sessionID, connection: connection,
      configuration: connection.configure(configuration, authToken: server.webSockets.authToken), server: server,
      loop: self)
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
    app.prepare { $0.setSavedApps(savedApps.apps(on: app.connection.address.device)) }
    for change in conditions.changes { app.perform { $0.apply(change, now: now) } }
  }

  /// The app begins a further session; nil if there are as many as may be.
  func addSession(to connection: ServedConnection) -> ServedApp? {
    // Ids are kept free for the first sessions of further connections.
    let mostSessions = Int(UInt8.max) - server.admission.maximumConnectionCount
    guard connection.apps.count < server.admission.maximumSessionCount, apps.count < mostSessions else { return nil }
    let app = makeSession(on: connection)
    begin(app)
    return app
  }
}

// MARK: The port for secondary transports

extension HeadUnitLoop {
  private var offeredSecondaryPort: ListeningPort? {
    configuration.behaviour.secondaryTransport == .served ? server.secondaryListener : nil
  }

  /// Offers a secondary transport at this port; 0 takes any free port, nil the present one.
  private func serveSecondary(port: UInt16?, now: Duration) {
    do throws(LinkError) {
      let former = server.secondaryListener
      if let former, port == nil || port == former.address.port {
        guard former.reopen() else {
          throw .cannotListen(address: former.address.description, errno: EADDRINUSE)
        }
      } else {
        _ = try server.openSecondaryPort(port ?? server.admission.secondaryPort)
      }
    } catch {
      return server.report(.secondaryPortFailed(error))
    }
    let change = HeadUnitBehaviour.Change.secondaryTransport(.served)
    configuration.behaviour.apply(change)
    for app in apps {
      let address = servedTransport(for: app)
      app.perform { session in
        let update = session.setServedTransport(address, now: now)
        // Each change is reported once.
        return update.isEmpty ? session.change(change, now: now) : update
      }
    }
  }

  /// The address at which this app reaches the port: the one of its primary transport.
  private func servedTransport(for app: ServedApp) -> TransportEventUpdate? {
    guard let port = server.secondaryListener else { return nil }
    let host =
      app.connection.localAddress?.host
      ?? (port.isOnAllAddresses ? SocketAddress.ofThisMachine?.host ?? "127.0.0.1" : port.address.host)
    // Without the name of this machine's interface (RFC 4007), which means nothing on another.
    return TransportEventUpdate(address: String(host.prefix { $0 != "%" }), port: Int32(port.address.port))
  }

  /// A connection is no secondary transport, and is closed.
  func refuse(_ connection: ServedConnection, _ reason: HeadUnitSession.SecondaryRefusal) {
    server.report(.secondaryTransportRefused(peer: connection.peer, reason))
  }

  /// RegisterSecondaryTransport has come on a connection that belongs to no session.
  func register(_ connection: ServedConnection, with frame: Frame) -> HeadUnitSession.SecondaryRegistration {
    let now = clock.now
    let id = frame.header.sessionID
    let app = apps.first { $0.session.sessionID == id && $0.session.isStarted && !$0.connection.isOver }
    let verdict = secondaryAdmission.verdict(
      on: connection.address, naming: id, of: app?.connection.address, now: now)
    if case .refused(let reason) = verdict {
      refuse(connection, reason)
      return .refused(HeadUnitSession.refusal(of: frame.header, reason))
    }
    guard let app else { return .unanswered }
    // An app that replaces its connection closes the former one first, but that may not have been read yet.
    app.secondary?.readToEnd()
    let registration = app.register(connection, with: frame, isPeerKnown: verdict == .known, now: now)
    if case .refused = registration, verdict == .unknown {
      secondaryAdmission.noteWrong(connection.address, now: now)
    }
    return registration
  }
}

// MARK: Operations requested by other threads and the script

extension HeadUnitLoop {
  private func apply(_ operation: HeadUnitServer.Operation, now: Duration) {
    switch operation {
    case .control(let recipient, let input):
      for app in recipients(recipient) { app.perform { input(&$0, now) } }
    case .read(let id, let isReading):
      for app in recipients(.app(id)) {
        app.connection.setReading(isReading, now: now)
        app.secondary?.setReading(isReading, now: now)
      }
    case .disconnect(let recipient, let transport):
      for app in recipients(recipient) {
        let connection = transport == .primary ? app.connection : app.secondary
        // Data that earlier operations made it send.
        if !isHanging { connection?.write() }
        connection?.end(nil)
      }
    case .answerOnce(let recipient, let answer):
      let apps = recipients(recipient)
      if apps.isEmpty, case .appOnScreen = recipient, answersInAdvance.count < Self.maximumAnswersInAdvance {
        answersInAdvance.append(answer)
      }
      for app in apps { app.prepare { $0.answerNextVideoStart(answer) } }
    case .setCondition(let change):
      conditions.apply(change)
      for app in recipients(.everyApp) { app.perform { $0.apply(change, now: now) } }
    case .behave(.secondaryTransport(.served)): serveSecondary(port: nil, now: now)
    case .serveSecondary(let port): serveSecondary(port: port, now: now)
    case .behave(let change):
      if case .secondaryTransport = change { server.secondaryListener?.close() }
      configuration.behaviour.apply(change)
      for app in apps { app.perform { $0.change(change, now: now) } }
      if !apps.isEmpty { configuration.behaviour.forgetAnswersForOnce() }
    case .touch(let recipient, let gesture):
      guard let id = recipients(recipient).first?.id else { return }
      script.begin(gesture, app: id, now: now)
    case .stall(let time):
      if !isHanging { for connection in connections { connection.write() } }
      hangsUntil = now + time
      for connection in connections { connection.noteReading(now: now) }
    case .shape(let shape):
      road = shape.map { ($0, now) }
      for connection in connections { connection.setShape(shape, since: now, now: now) }
    case .refuseConnections(let isRefusing):
      self.isRefusing = isRefusing
      if isRefusing { for port in [primaryPort, server.secondaryListener, server.webSockets.port] { port?.close() } }
    case .transport(let event): receive(event, now: now)
    case .endPicture(let picture, let failure): script.end(picture, failure: failure, now: now)
    case .script(let command): script.begin(HeadUnitScriptRun.ScheduledCommand(command: command), now: now)
    case .configure(var configuration):
      configuration.behaviour = self.configuration.behaviour
      self.configuration = configuration
      for app in apps { app.prepare { $0.offer(configuration.videoCapability, screen: configuration.screen) } }
    }
  }

  private func recipients(_ recipient: HeadUnitServer.Recipient) -> [ServedApp] {
    apps.recipients(recipient, onScreen: screen.appOnScreen)
  }

  /// Carries out the due steps of the script, unless the head unit hangs.
  private func advanceScript(to now: Duration) {
    while !isHanging, let due = script.takeDue(at: now) {
      server.reportTests(of: &script)
      var recipient = due.app.map { HeadUnitServer.Recipient.app($0) } ?? .appOnScreen
      if let step = due.step, step.followsAppsEnd, recipients(recipient).isEmpty { recipient = .appOnScreen }
      guard let operation = HeadUnitServer.Operation(due.command, for: recipient) else { continue }
      if server.webSockets.activate(due.command) { continue }
      let lacksApp = operation.requiredRecipient.map { recipients($0).isEmpty } ?? false
      if let step = due.step {
        let id: UInt8? = if case .app(let id) = recipient { id } else { nil }
        server.report(lacksApp ? .stepSkipped(step, id: id) : .stepExecuted(step, id: id))
      }
      if !lacksApp { apply(operation, now: now) }
    }
    if script.takeDropping() { server.report(.stepsDropped) }
    server.reportTests(of: &script)
  }

  // MARK: Effects of the apps on each other

  /// Called after every change of a session that may concern other apps, including changes that this function makes.
  func settleScreen() {
    let connected = apps.connected
    let now = clock.now
    for app in connected {
      // Looked up again for each, because the one before may just have been opened.
      let summaries = connected.compactMap { $0.session.summary }
      let samePhone = connected.filter { $0 !== app && $0.connection.address.device == app.connection.address.device }
      let identities = samePhone.compactMap { $0.session.identity }
      app.perform { $0.setApps(summaries, samePhone: identities, now: now) }
    }
    for change in screen.settle(connected.compactMap({ $0.session.summary })) {
      switch change {
      case .giveWay(let id, let role): apps.connected(session: id)?.perform { $0.giveWay(to: role, now: now) }
      case .abortVideo(let id):
        apps.connected(session: id)?.perform { $0.endService(.video, .otherAppStarted, now: now) }
      }
    }
  }
}
