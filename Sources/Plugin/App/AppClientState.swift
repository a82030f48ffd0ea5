import GStreamerKit
import SDLApp
import SDLLink

struct AppStatus: Sendable {
  var connection = ConnectionState.idle
  /// Address of the head unit; nil without a connection.
  var peer: String?
  /// The head unit of the last connection that got that far.
  var headUnit: HeadUnitInfo?
  /// The status of the connection's session.
  var session = AppSession.Status()
  var lockScreen = LockScreen()

  /// The property `hmi-level`.
  var level: HMILevel { session.hmi?.level ?? .none }

  /// A service runs.
  var isStreaming: Bool { session.video.grant != nil || session.audio.grant != nil }

  /// The properties of an element that differ from those without an app.
  var properties: [PropertyName] {
    [.connectionState] + (headUnit == nil ? [] : [.headUnit]) + (level == .none ? [] : [.hmiLevel])
      + (session.permissions == nil ? [] : [.permissions])
  }

  /// The head unit's audio format, assumed if it has announced none; nil while there is no head unit.
  var pcmFormat: PCMFormat? { headUnit.map { $0.announcedPCMFormat ?? PCMFormat() } }
}

/// The state of an ``AppClient``, under its lock.
struct AppClientState: Sendable {
  /// The phases of an app, in their order.
  enum Phase: Int, Comparable, Sendable {
    /// Its first element has not started it.
    case made
    case running
    /// An error message is about to be posted.
    case failing
    /// The error is on the bus.
    case failed
    /// Nothing reaches its elements any more.
    case over

    static func < (left: Phase, right: Phase) -> Bool { left.rawValue < right.rawValue }
  }

  /// Announcements that no application could receive.
  enum Unheard: Sendable {
    case nothing
    case level
    case registration
  }

  private(set) var phase = Phase.made
  var status = AppStatus()
  /// The session's status of which the application has been told.
  var toldSession = AppSession.Status()
  var members: AppMembers
  var unheard = Unheard.nothing
  /// A service has run since the app was made.
  private(set) var hasStreamed = false
  /// When the last attempt to connect began; nil before the first.
  private(set) var attemptBegan: Duration?
  /// A PROGRESS message was posted, but not its end.
  private(set) var isInProgress = true
  /// The connection's last event is still to come.
  private(set) var isConnectionRunning = false
  /// When the last stream ended, and how long that took.
  var streamEnd: (at: Duration, took: Duration)?

  init(_ member: AppMember) {
    members = AppMembers(member)
  }

  var isOver: Bool { phase == .over }

  /// Whether it can serve a stream: neither failed nor ended. It may be not started yet.
  var isUsable: Bool { phase < .failing && (phase == .made || status.connection != .idle) }

  /// The app begins to connect; returns whether it is still wanted.
  mutating func start() -> Bool {
    guard phase == .made else { return false }
    phase = .running
    status.connection = .connecting
    isConnectionRunning = true
    return true
  }

  /// The app is about to fail; returns false if it has failed before.
  mutating func fail() -> Bool {
    guard phase < .failing else { return false }
    phase = .failing
    status.connection = .failed
    return true
  }

  mutating func failureIsKnown() {
    if phase == .failing { phase = .failed }
  }

  /// The app ends; returns its elements, nil if it has ended before.
  mutating func end() -> AppMembers? {
    guard phase != .over else { return nil }
    phase = .over
    defer { members = AppMembers() }
    return members
  }

  /// How long the last stream's end took, if that was just now: together with the app's end it is one stop for the
  /// application, which waits for it.
  func timeOfStreamEnd(now: Duration) -> Duration {
    guard let end = streamEnd, now - end.at < .seconds(1) else { return .zero }
    return end.took
  }

  /// Its threads have ended.
  mutating func clear() {
    status = AppStatus()
    isInProgress = false
  }

  mutating func connectionEnded() {
    isConnectionRunning = false
  }

  /// Enters a state of the connection; false if it is the present one, or the app is over.
  mutating func enter(_ state: ConnectionState) -> Bool {
    guard phase < .failing, status.connection != state else { return false }
    status.connection = state
    return true
  }

  /// Begins an attempt; returns whether it is the first.
  mutating func beginAttempt(at now: Duration) -> Bool {
    defer { attemptBegan = now }
    return attemptBegan == nil
  }

  /// - Returns: Whether the level has changed. SDL Core also repeats it, as when a phone call takes the sound.
  mutating func sessionChanged(to session: AppSession.Status) -> Bool {
    let former = status.level
    status.session = session
    if let headUnit = session.headUnit { status.headUnit = headUnit }
    if status.isStreaming { hasStreamed = true }
    return status.level != former
  }

  /// Forgets the status of the connection, and returns it.
  mutating func connectionLost() -> AppStatus {
    defer {
      status.peer = nil
      status.session = AppSession.Status()
      toldSession = status.session
    }
    return status
  }

  /// - Returns: the new lock screen; nil if it has not changed, or the app is over.
  mutating func changeLockScreen(_ change: (inout LockScreen) -> Void) -> LockScreen? {
    let before = status.lockScreen.status
    change(&status.lockScreen)
    return status.lockScreen.status == before || isOver ? nil : status.lockScreen
  }

  mutating func beginProgress() {
    isInProgress = !isOver
  }

  /// Ends the present PROGRESS; returns whether there was one.
  mutating func endProgress() -> Bool {
    defer { isInProgress = false }
    return isInProgress && !isOver
  }
}

extension Monitor<AppClientState> {
  var isOver: Bool { withLock { $0.isOver } }

  /// The present elements; none once the app is over.
  var members: AppMembers { withLock { $0.members } }

  /// Calls `body` with the streams of `listeners`, as long as there is an app.
  func withStreams(of listeners: AppMembers, _ body: (any AppStream) -> Void) {
    listeners.withStreams { if !isOver { body($0) } }
  }
}
