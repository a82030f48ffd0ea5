import CLinux
import Glibc
import SDLHeadUnit

/// The server's thread: accepts apps, moves bytes, and executes the sessions' actions.
final class HeadUnitLoop {
  /// How long accepting rests when descriptors have run out, and opening a port that somebody else has.
  private static let acceptPause = Duration.milliseconds(100)

  /// A connection that has been without a registered app for so long may be closed in favour of another.
  private static let minimumRegistrationTime = Duration.seconds(1)

  let server: HeadUnitServer
  private let clock: TimeSource
  var configuration: HeadUnitConfiguration
  var apps: [ServedApp] = []
  private var lastID: UInt8 = 0
  var conditions = HeadUnitConditions()
  var screen = HeadUnitScreen()
  var script: HeadUnitScriptRun
  /// While it lasts, only operations are taken: no app is read or written, and no session's time goes on.
  var stalledUntil: Duration?
  var isRefusing = false
  /// For the app that registers next.
  var answersInAdvance: [HeadUnitBehaviour.VideoStartAnswer] = []
  private var acceptPausedUntil: Duration?
  private var descriptors: [pollfd] = []
  private let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: FrameReader.readSize, alignment: 8)

  init(server: HeadUnitServer) {
    self.server = server
    clock = server.clock
    configuration = server.configuration
    script = HeadUnitScriptRun(server.script, now: clock.now)
    // Otherwise the answer would have gone before the script can change it.
    if script.reacts(to: .startVideo) { configuration.behaviour.videoStartDelay = .zero }
  }

  deinit {
    readBuffer.deallocate()
  }

  /// Returns after the server's stop, or after the end of an adopted connection.
  func run() {
    if case .connection(let socket) = server.source { serve(socket, peer: "the app in this process") }
    while true {
      // Before the operations are taken, so that those from before the stop are carried out.
      let isStopping = server.isStopRequested
      let now = clock.now
      for operation in server.takeOperations() { apply(operation, now: now) }
      if let end = stalledUntil, end <= now || isStopping {
        stalledUntil = nil
        for app in apps { app.setHanging(false, now: now) }
      }
      if !isStopping { followScript(now: now) }
      for app in apps {
        // What has arrived is read before the time goes on: otherwise an app would time out whose bytes are there.
        if stalledUntil == nil, app.holdsInput || app.isDue(at: now) { app.read(into: readBuffer) }
        if stalledUntil == nil { app.advance(now: now) }
        if stalledUntil == nil || isStopping { app.write() }
      }
      removeEnded()
      if isStopping { break }
      if case .connection = server.source, apps.isEmpty { break }
      wait(now: now)
    }
    for app in apps { app.end(nil) }
    removeEnded()
    server.report(.ended)
  }

  private func removeEnded() {
    for app in apps where app.isOver {
      server.report(.disconnected(id: app.id, app.failure, app.statistics))
      script.note(.disconnected, app: app.id, now: clock.now)
    }
    apps.removeAll(where: \.isOver)
  }
}

// MARK: The screen

extension HeadUnitLoop {
  /// Runs again for every change that it causes, until there is none.
  private func settleScreen() {
    let connected = apps.filter { !$0.isOver }
    let now = clock.now
    for app in connected {
      // Looked at anew for each, because the one before may just have been opened.
      let isTaken = HeadUnitScreen.isTaken(for: app.id, among: connected.compactMap(\.summary))
      app.perform { $0.setScreenTaken(isTaken, now: now) }
      let others = connected.filter { $0 !== app && $0.device == app.device }.compactMap(\.identity)
      app.perform { session in
        session.setOtherApps(others)
        return []
      }
    }
    for action in screen.settle(connected.compactMap(\.summary)) {
      switch action {
      case .giveWay(let id, let role): recipients(.app(id)).first?.perform { $0.giveWay(to: role, now: now) }
      case .abortVideo(let id): recipients(.app(id)).first?.perform { $0.abortVideo(now: now) }
      }
    }
  }
}

// MARK: Events of the apps

extension HeadUnitLoop: ServedAppOwner {
  func appDidChangeSummary() {
    settleScreen()
  }

  func app(_ app: ServedApp, didReport event: HeadUnitSession.Event) {
    server.report(.session(id: app.id, event))
    switch event {
    case .appRegistered where !answersInAdvance.isEmpty:
      let answers = answersInAdvance
      answersInAdvance = []
      app.perform { session in
        for answer in answers { session.answerNextVideoStart(answer) }
        return []
      }
      note(event, of: app)
    case .videoData, .videoMissed:
      if script.reacts(to: .frame) {
        script.notePictures(app.statistics.pictures, app: app.id, now: clock.now)
      }
    default: note(event, of: app)
    }
  }

  private func note(_ event: HeadUnitSession.Event, of app: ServedApp) {
    guard let event = HeadUnitScript.Event(event) else { return }
    script.note(event, app: app.id, pictures: app.statistics.pictures, now: clock.now)
  }

  /// So that a step comes between the frame that caused it and the next.
  func appDidTakeInput() -> Bool {
    if script.nextDeadline != nil { followScript(now: clock.now) }
    return stalledUntil == nil
  }
}

// MARK: Waiting

extension HeadUnitLoop {
  private func wait(now: Duration) {
    descriptors.removeAll(keepingCapacity: true)
    descriptors.append(pollfd(fd: server.wakeUp.descriptor, events: Int16(POLLIN), revents: 0))
    descriptors.append(pollfd(fd: listenerDescriptor(now: now), events: Int16(POLLIN), revents: 0))
    var deadlines = [stalledUntil, acceptPausedUntil]
    if stalledUntil == nil {
      for app in apps { descriptors.append(app.pollDescriptor) }
      deadlines += apps.map(\.nextDeadline) + [script.nextDeadline]
    }
    let deadline = deadlines.compactMap(\.self).min()
    descriptors.withUnsafeMutableBufferPointer { pollDescriptors($0, until: deadline, clock: clock) }
    if descriptors[0].revents != 0 {
      // Operations from before the apps sent more are carried out before that is read.
      server.wakeUp.clear()
      return
    }
    for (app, descriptor) in zip(apps, descriptors.dropFirst(2))
    where stalledUntil == nil && descriptor.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 {
      app.read(into: readBuffer)
    }
    if stalledUntil == nil, descriptors[1].revents != 0 { accept(now: now) }
  }

  /// -1, which poll(2) ignores, while nobody can be accepted.
  private func listenerDescriptor(now: Duration) -> Int32 {
    if let paused = acceptPausedUntil, paused <= now { acceptPausedUntil = nil }
    guard case .listener(let port) = server.source, acceptPausedUntil == nil, stalledUntil == nil, !isRefusing,
      apps.count < server.admission.maximumConnectionCount || server.admission.refusesMore
    else { return -1 }
    if !port.reopen() { acceptPausedUntil = now + Self.acceptPause }
    return port.descriptor
  }

  private func accept(now: Duration) {
    guard case .listener(let port) = server.source else { return }
    let descriptor = linux_accept(port.descriptor)
    guard descriptor >= 0 else {
      // Otherwise the listener would stay readable and the thread would spin.
      if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { acceptPausedUntil = now + Self.acceptPause }
      return
    }
    let socket = Socket(adopting: descriptor)
    let peer = SocketAddress(connectedTo: descriptor)?.description ?? "the app"
    guard apps.count < server.admission.maximumConnectionCount || makeRoom(now: now) else {
      return server.report(.refused(peer: peer))
    }
    socket.configureTCP()
    serve(socket, peer: peer)
  }

  /// Closes the connection that has been there longest without an app, if there is one.
  private func makeRoom(now: Duration) -> Bool {
    guard
      let idle = apps.first(where: { $0.summary == nil && now - $0.connectTime >= Self.minimumRegistrationTime })
    else { return false }
    idle.end(nil)
    removeEnded()
    return true
  }

  private func serve(_ socket: Socket, peer: String) {
    repeat { lastID = lastID == .max ? 1 : lastID + 1 } while apps.contains { $0.id == lastID }
    let app = ServedApp(
      id: lastID, socket: socket, peer: peer, configuration: configuration, server: server, owner: self)
    apps.append(app)
    settleScreen()
    server.report(.connected(id: app.id, peer: peer))
    script.note(.connected, app: app.id, now: clock.now)
    let now = clock.now
    app.perform { $0.transportConnected(now: now) }
    for change in conditions.changes { app.perform { $0.apply(change, now: now) } }
  }
}
