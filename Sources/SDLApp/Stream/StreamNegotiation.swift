/// The common interface of the negotiations of video and sound: a value whose inputs are methods, and whose outputs
/// ``takeOutputs(at:)`` returns.
public protocol StreamNegotiation: Sendable {
  associatedtype Output: Equatable, Sendable

  var pipeline: PipelineState { get set }
  /// The session's last status.
  var session: AppSession.Status { get }
  /// The property `stream-state`.
  var streamState: StreamState { get }
  /// The service has been started, whether or not frames may be sent now.
  var hasGrant: Bool { get }
  /// The driver does not let the app be seen, or heard.
  var isSuspendedByDriver: Bool { get }
  /// The state of the service in the session.
  var serviceState: StreamState { get }

  /// What to do now, after any number of inputs.
  mutating func takeOutputs(at now: Duration) -> [Output]
  /// Decides whether the first buffer of a file could be shown or heard. Live sources never wait, nor does any source
  /// with the policy `drop`.
  mutating func decidePreroll(isLive: Bool) -> PrerollDecision

  mutating func played()
  mutating func paused()
}

extension StreamNegotiation {
  /// Whether a waiting thread has to give way.
  public var isInterrupted: Bool { pipeline.isFlushing }

  /// Whether the session has ended the service, or there is nothing to wait for.
  public var hasServiceEnded: Bool { serviceState == .stopped || pipeline.hasFailed }

  /// The stream has failed or is over: it accepts nothing any more.
  public var hasStopped: Bool { pipeline.hasStopped }

  /// Neither failing nor stopping.
  public var isUsable: Bool { pipeline.isUsable }

  /// A new stream begins after the end of another, or a flush.
  public mutating func streamBegan() { pipeline.begin() }

  public mutating func streamEnded() { pipeline.end() }

  public mutating func setFlushing(_ isFlushing: Bool) { pipeline.setFlushing(isFlushing) }

  public mutating func stop() { pipeline.stop() }

  /// An error message is about to be posted: buffers are still sent if possible, and preroll waits for the message.
  public mutating func beginFailing() { pipeline.beginFailing() }

  /// The error has been reported to the application: buffers fail from now on.
  public mutating func failed() { pipeline.fail() }
}

/// Notifications of any stream for the application.
public enum StreamNotification: Equatable, Sendable {
  /// The service stays open, and nothing is sent.
  case suspended(reason: String)
  /// The driver or the head unit has ended the stream: suspended time is counted from now on.
  case suspensionBegan
  /// The stream can't start, because no transport may carry it.
  case waiting(TransportWait)
  /// The pipeline should pause until it is asked to play on.
  case requestPause
  case requestPlaying
}

/// What happens to the first buffer while the pipeline is on its way to PAUSED.
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

  /// The policy that `auto` stands for.
  public func resolved(isLive: Bool) -> SuspendPolicy {
    self == .auto ? (isLive ? .drop : .requestPause) : self
  }
}
