import Glibc
import SDLHeadUnit
import SDLWire

/// The server's thread: accepts apps, moves bytes, and executes the sessions' actions.
final class HeadUnitLoop {
  /// Of all apps together.
  private static let handshakes = RateLimit(limit: 100, window: .seconds(10))

  /// From when on a late wake-up counts as a standstill of the machine.
  private static let noticeableDelay = Duration.milliseconds(5)
  /// How long before a missed deadline a standstill may have begun, and how long the apps may take to recover from it.
  private static let unseenStandstill = Duration.milliseconds(500)
  /// So that a machine that is always late still sees an app that is gone.
  private static let standstillPause = unseenStandstill * 2

  let server: HeadUnitServer
  let clock: TimeSource
  var configuration: HeadUnitConfiguration
  var connections: [ServedConnection] = []
  /// Of all connections, in the order of their ids' use.
  var apps: [ServedApp] = []
  var lastID: UInt8 = 0
  /// Of apps whose connections have broken, with their phones; the last one at the end.
  private(set) var savedApps: [(device: String, app: SavedApp)] = []
  private static let mostSavedApps = 8
  var conditions = HeadUnitConditions()
  var screen = HeadUnitScreen()
  var script: HeadUnitScriptRun
  /// While it lasts, only operations are taken: no app is read or written, and no session's time goes on.
  var stalledUntil: Duration?
  var isRefusing = false
  /// For the app that registers next.
  var answersInAdvance: [HeadUnitBehaviour.VideoStartAnswer] = []
  let makeSecureChannel: SecureChannelFactory?
  var acceptPausedUntil: Duration?
  /// Each connection is told to the application, and costs more than those who connect.
  var accepted = RateLimit(limit: 100, window: .seconds(1))
  private var lastStandstill: Duration?
  private var descriptors: [pollfd] = []
  let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: FrameReader.readSize, alignment: 8)

  init(server: HeadUnitServer) {
    self.server = server
    clock = server.clock
    configuration = server.configuration
    makeSecureChannel = server.tls?.makeChannel(within: Self.handshakes, clock: server.clock)
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
        for connection in connections { connection.setHanging(false, now: now) }
      }
      if !isStopping { followScript(now: now) }
      for connection in connections {
        // What has arrived is read before the time goes on: otherwise an app would time out whose bytes are there.
        if stalledUntil == nil, connection.holdsInput || connection.isDue(at: now) {
          read(connection)
          for app in connection.apps { app.secondary?.read(into: readBuffer) }
        }
        if stalledUntil == nil { connection.advance(now: now) }
        if stalledUntil == nil || isStopping { connection.write() }
      }
      removeEnded()
      if isStopping { break }
      if case .connection = server.source, apps.isEmpty { break }
      wait(now: now)
    }
    for connection in connections { connection.end(nil) }
    removeEnded()
    if case .transport(let transport) = server.source { transport.stop() }
    server.secondaryListener?.shutDown()
    server.report(.ended)
  }

  func removeEnded() {
    for app in apps where app.connection.isOver {
      server.report(.disconnected(id: app.id, app.connection.failure, app.statistics))
      script.note(.disconnected, app: app.id, now: clock.now)
    }
    apps.removeAll(where: \.connection.isOver)
    connections.removeAll(where: \.isOver)
  }
}

// MARK: Events of the apps

extension HeadUnitLoop: ServedAppOwner {
  func appDidChangeSummary() {
    settleScreen()
  }

  func keep(_ saved: SavedApp, of app: ServedApp) {
    let device = String(app.connection.device)
    savedApps.removeAll { $0.device == device && $0.app.id == saved.id }
    savedApps = savedApps.suffix(Self.mostSavedApps - 1) + [(device, saved)]
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
    if let paused = acceptPausedUntil, paused <= now { acceptPausedUntil = nil }
    descriptors.append(pollfd(fd: listenerDescriptor(now: now), events: Int16(POLLIN), revents: 0))
    descriptors.append(pollfd(fd: secondaryDescriptor(now: now), events: Int16(POLLIN), revents: 0))
    var deadlines = [stalledUntil, acceptPausedUntil]
    if stalledUntil == nil {
      for connection in connections { descriptors.append(connection.pollDescriptor) }
      deadlines += connections.map(\.nextDeadline) + [script.nextDeadline]
    }
    let deadline = deadlines.compactMap(\.self).min()
    let awaited = stalledUntil == nil ? connections.compactMap(\.nextDeadline).min() : nil
    descriptors.withUnsafeMutableBufferPointer { pollDescriptors($0, until: deadline, clock: clock) }
    if let awaited { noteStandstill(since: awaited) }
    if descriptors[0].revents != 0 {
      // Operations from before the apps sent more are carried out before that is read.
      server.wakeUp.clear()
      return
    }
    for (connection, descriptor) in zip(connections, descriptors.dropFirst(3))
    where stalledUntil == nil && descriptor.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 {
      read(connection)
    }
    guard stalledUntil == nil else { return }
    if descriptors[1].revents != 0, case .listener(let port) = server.source { accept(from: port, .primary, now: now) }
    if descriptors[2].revents != 0, let port = server.secondaryListener { accept(from: port, .secondary, now: now) }
  }

  /// A machine that stood still, or had no time for this thread, is no fault of the apps, which it may have kept waiting too.
  private func noteStandstill(since deadline: Duration) {
    let now = clock.now
    guard now - deadline > Self.noticeableDelay else { return }
    if let lastStandstill, now - lastStandstill < Self.standstillPause { return }
    lastStandstill = now
    for connection in connections { connection.noteStandstill(since: deadline - Self.unseenStandstill, now: now) }
  }
}
