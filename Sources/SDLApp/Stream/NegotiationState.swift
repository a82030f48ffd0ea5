import SDLMessages

/// What ``VideoNegotiation`` and ``AudioNegotiation`` keep of pipeline, session and head unit, and the rules that follow from
/// that alone.
protocol NegotiationState: StreamNegotiation {
  var phase: StreamPhase { get set }
  /// `unlock` was called and `unlock_stop` not yet.
  var isFlushing: Bool { get set }
  var playback: StreamPlayback { get set }
  /// The end of the stream has come, and no new one has begun.
  var isEnded: Bool { get set }
  /// Nil without a connection.
  var hmiStatus: HMIStatus? { get set }
  /// How far the session has come with the service.
  var sessionState: StreamState { get set }
  var hasStreamed: Bool { get set }
  /// The stream was lost with its connection.
  var wasLost: Bool { get set }
  var announcement: StreamAnnouncement { get set }
  /// The application was asked to pause, and not yet to go on.
  var hasRequestedPause: Bool { get set }

  /// The session has suspended the stream, and not resumed it yet.
  var isSuspendedBySession: Bool { get }
  /// Nobody wants the stream now, as opposed to a head unit that is not there or not ready.
  var isSuspended: Bool { get }
  var suspendPolicy: SuspendPolicy { get }
  /// Whether the first buffer of a file need not wait for the right to be sent.
  var prerollsAtOnce: Bool { get }

  /// A service has begun, or a pause is over: says so if something can be sent from now on.
  mutating func announceStart()
  mutating func announceSuspension(_ reason: SuspensionReason)
  mutating func notify(_ notification: StreamNotification)
}

/// How far the run of a stream has come.
enum StreamPhase: Equatable, Sendable {
  case running
  /// An error message is being posted; buffers fail once it is.
  case failing
  case failed
  case stopping
}

/// Which state the pipeline has asked for.
enum StreamPlayback: Equatable, Sendable {
  /// It has not been in PLAYING since it started.
  case prerolling
  /// The same, and the first buffer of a file waits for the right to be sent.
  case waitingToPreroll
  case playing
  case paused
}

/// What the application has heard of the stream last.
enum StreamAnnouncement: Equatable, Sendable {
  /// Nothing, or its end.
  case none
  case started
  case suspended
}

/// Why nothing is sent while there is a service, as messages have it.
enum SuspensionReason: String {
  case paused
  case appState = "app-state"
  /// The head unit does not play the app's sound now.
  case notAudible = "not-audible"
}

extension NegotiationState {
  /// The connection is lost, and was used for a stream.
  var isConnectionLost: Bool { wasLost && hmiStatus == nil }

  /// Asks the application to pause if the suspension is certain, and the first for this stream; whether it does. A flip of the
  /// app's state that the session has not seen may be over before it does.
  mutating func requestPause() -> Bool {
    guard isSuspended || isConnectionLost, hasStreamed, !hasRequestedPause, !hasGrant || isSuspendedBySession else {
      return false
    }
    hasRequestedPause = true
    notify(.requestPause)
    return true
  }

  /// The session's, except for a notice that is still being sent, and a pipeline that is paused.
  public var streamState: StreamState {
    switch sessionState {
    case .streaming, .suspended: !hasGrant ? .stopping : announcement == .started ? .streaming : .suspended
    case .stopped, .starting, .stopping: sessionState
    }
  }

  public var hasServiceEnded: Bool { sessionState == .stopped || phase == .failed }

  public var isInterrupted: Bool { isFlushing }

  public var hasStopped: Bool { phase == .failed || phase == .stopping }

  public mutating func decidePreroll(isLive: Bool) -> PrerollDecision {
    guard phase == .running || phase == .failing else { return .stopped }
    guard !isFlushing else { return .interrupted }
    // The error message comes first: upstream posts one of its own when a buffer fails.
    guard phase == .running else { return .wait }
    guard !isLive, suspendPolicy != .drop, !prerollsAtOnce else { return .ready }
    if playback == .prerolling { playback = .waitingToPreroll }
    return .wait
  }
}

extension NegotiationState {
  public mutating func sessionStateChanged(_ state: StreamState) {
    sessionState = state
  }

  public mutating func played() {
    playback = .playing
    announceStart()
  }

  public mutating func paused() {
    guard playback == .playing else { return }
    playback = .paused
    announceSuspension(.paused)
  }

  public mutating func streamBegan() {
    isEnded = false
  }

  public mutating func streamEnded() {
    isEnded = true
  }

  public mutating func setFlushing(_ isFlushing: Bool) {
    self.isFlushing = isFlushing
  }

  public mutating func stop() {
    phase = .stopping
  }

  public mutating func beginFailing() {
    if phase == .running { phase = .failing }
  }

  public mutating func failed() {
    if phase == .failing { phase = .failed }
  }
}
