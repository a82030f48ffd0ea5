/// What the negotiations of video and sound have in common for those who drive them: a value whose inputs are methods,
/// and whose outputs ``takeOutputs(at:)`` returns.
public protocol StreamNegotiation: Sendable {
  associatedtype Output: Equatable, Sendable

  var pipeline: PipelineState { get set }
  /// What the session has told last.
  var session: AppSession.Status { get }
  /// The property `stream-state`.
  var streamState: StreamState { get }
  /// The service has been started, whether or not something may be sent now.
  var hasGrant: Bool { get }
  /// The driver does not let the app be seen, or heard.
  var isSuspendedByDriver: Bool { get }
  /// How far the session has come with the service.
  var serviceState: StreamState { get }

  /// What to do now, after any number of inputs.
  mutating func takeOutputs(at now: Duration) -> [Output]
  /// Decides whether the first buffer of a file could be shown or heard. Live sources never wait, nor does anything
  /// else with the policy `drop`.
  mutating func decidePreroll(isLive: Bool) -> PrerollDecision

  mutating func played()
  mutating func paused()
}

extension StreamNegotiation {
  /// Whether a waiting thread has to give way.
  public var isInterrupted: Bool { pipeline.isFlushing }

  /// Whether the session has ended the service, or there is nothing to wait for.
  public var hasServiceEnded: Bool { serviceState == .stopped || pipeline.hasFailed }

  /// The stream has failed or is over: nothing is taken any more.
  public var hasStopped: Bool { pipeline.hasStopped }

  /// Neither failing nor stopping.
  public var isUsable: Bool { pipeline.isUsable }

  /// A new stream begins after the end of another, or a flush.
  public mutating func streamBegan() { pipeline.begin() }

  public mutating func streamEnded() { pipeline.end() }

  public mutating func setFlushing(_ isFlushing: Bool) { pipeline.setFlushing(isFlushing) }

  public mutating func stop() { pipeline.stop() }

  /// An error message is about to be posted: what can be sent still is, and preroll waits for the message.
  public mutating func beginFailing() { pipeline.beginFailing() }

  /// The error is with the application: buffers fail from now on.
  public mutating func failed() { pipeline.fail() }
}

/// What the application is to hear of any stream.
public enum StreamNotification: Equatable, Sendable {
  /// The service stays open, and nothing is sent.
  case suspended(reason: String)
  /// The driver or the head unit has ended the stream: time without one is counted from now on.
  case suspensionBegan
  /// The stream can't start, because no transport may carry it.
  case waiting(TransportWait)
  /// The pipeline should pause until it is asked to play on.
  case requestPause
  case requestPlaying
}

/// What becomes of the first buffer while the pipeline is on its way to PAUSED.
public enum PrerollDecision: Equatable, Sendable {
  /// The pipeline may start: the buffer could be shown or heard, or need not wait for that.
  case ready
  /// Wait until something has changed.
  case wait
  case interrupted
  /// The stream has failed or is over.
  case stopped
}

/// What happens to frames while driver or app do not want video.
public enum SuspendPolicy: Int32, CaseIterable, Sendable {
  /// ``drop`` for live sources, ``requestPause`` for others.
  case auto
  /// Frames are dropped.
  case drop
  /// Frames wait.
  case block
  /// Frames wait, and the application is asked to pause the pipeline until video goes on.
  case requestPause

  /// What `auto` stands for.
  public func resolved(isLive: Bool) -> SuspendPolicy {
    self == .auto ? (isLive ? .drop : .requestPause) : self
  }
}
