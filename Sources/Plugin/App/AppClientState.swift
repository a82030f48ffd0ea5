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
    /// Its last element has left, or its linger time is over: no other element may join.
    case ending
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
  /// Until when the app lingers because all its elements are in NULL; nil otherwise.
  private(set) var lingersUntil: Duration?

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

  /// The app ends; returns false if it has ended before.
  mutating func end() -> Bool {
    guard phase != .over else { return false }
    phase = .over
    members.removeAll()
    return true
  }

  /// Its threads have ended. Returns the last status, and whether a PROGRESS message waits for its end.
  mutating func clear() -> (AppStatus, isInProgress: Bool) {
    defer {
      status = AppStatus()
      isInProgress = false
    }
    return (status, isInProgress)
  }

  mutating func connectionEnded() {
    isConnectionRunning = false
  }

  /// Enters a state of the connection; false if it is the present one, or the app is over.
  mutating func enter(_ state: ConnectionState) -> Bool {
    guard phase < .failing || phase == .ending, status.connection != state else { return false }
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
    if session.videoGrant != nil || session.audioGrant != nil { hasStreamed = true }
    return status.level != former
  }

  /// Forgets the status of the connection, and returns it.
  mutating func connectionLost() -> AppStatus {
    defer {
      status.peer = nil
      status.session = AppSession.Status()
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

// MARK: Elements

extension AppClientState {
  /// Adds an element, and returns the name of the first one; nil if another streams the same, or the app can't be used.
  mutating func join(_ member: AppMember) -> String? { phase < .failing ? members.join(member) : nil }

  /// An element leaves.
  ///
  /// - Returns: the element, the others, and whether the app continues.
  mutating func leave(_ id: ObjectIdentifier) -> (AppMember?, others: [AppMember], goesOn: Bool) {
    let left = members[id]
    let (others, goesOn) = members.leave(id)
    if !goesOn { phase = max(phase, .ending) }
    return (left, others, goesOn)
  }

  /// An element begins to wait for the next film; the app lingers once all of its elements do.
  ///
  /// - Returns: whether there is a registration to keep, and whether this was the last element.
  mutating func linger(_ id: ObjectIdentifier, until end: Duration) -> (isKept: Bool, isLast: Bool) {
    guard status.peer != nil, status.headUnit != nil, phase == .running else { return (false, false) }
    members.change(id) { $0.isLingering = true }
    guard members.areLingering else { return (true, false) }
    lingersUntil = end
    return (true, true)
  }

  /// The next film begins for an element, or the app is to end.
  mutating func stopLingering(_ id: ObjectIdentifier) {
    members.change(id) { $0.isLingering = false }
    lingersUntil = nil
  }

  /// Ends an app that lingers: at once if `now` is nil, otherwise if it has waited long enough; returns whether it
  /// ends.
  mutating func endLinger(at now: Duration?) -> Bool {
    guard let end = lingersUntil, now.map({ $0 >= end }) ?? true else { return false }
    lingersUntil = nil
    phase = max(phase, .ending)
    return true
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
