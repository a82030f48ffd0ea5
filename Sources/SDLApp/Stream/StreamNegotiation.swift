/// The common interface of the negotiations of video and sound: a value whose inputs are methods, and whose outputs
/// ``takeOutputs(at:)`` returns.
package protocol StreamNegotiation: Sendable {
  associatedtype Output: Equatable, Sendable

  var pipeline: PipelineState { get set }
  var session: AppSession.Status { get }
  /// The property `stream-state`.
  var streamState: StreamState { get }
  /// The service has been started, whether or not frames may be sent now.
  var hasGrant: Bool { get }
  /// Of the grant with which media may be sent now; nil for none.
  var permittedEpoch: UInt32? { get }
  /// The application was asked to pause, and not yet to play on.
  var hasRequestedPause: Bool { get }
  /// The driver does not let the app be seen, or heard.
  var isDriverElsewhere: Bool { get }
  var serviceState: StreamState { get }

  /// What to do now, after any number of inputs.
  mutating func takeOutputs(at now: Duration) -> [Output]
  mutating func played()
  mutating func paused()
  /// All of the stream is sent, or given up; another may begin.
  mutating func streamEnded()
}

extension StreamNegotiation {
  /// Whether a waiting thread has to give way.
  package var isInterrupted: Bool { pipeline.isFlushing }

  /// Whether the session has ended the service, or there is nothing to wait for.
  package var hasServiceEnded: Bool { serviceState == .stopped || pipeline.hasFailed }

  /// The stream has failed or is over: it accepts nothing any more.
  package var hasStopped: Bool { pipeline.hasStopped }

  /// The pipeline has not been in PLAYING yet.
  package var isPrerolling: Bool { pipeline.isPrerolling }

  /// Neither failing nor stopping.
  package var isUsable: Bool { pipeline.isUsable }

  /// A new stream begins after the end of another, or a flush.
  package mutating func streamBegan() { pipeline.begin() }

  /// The pipeline has its first buffer, and may stay in PAUSED with it.
  package mutating func prerolled() { pipeline.preroll() }

  package mutating func setFlushing(_ isFlushing: Bool) { pipeline.setFlushing(isFlushing) }

  package mutating func stop() { pipeline.stop() }

  /// An error message is about to be posted: buffers are still sent if possible.
  package mutating func beginFailing() { pipeline.beginFailing() }

  /// The error has been reported to the application: buffers fail from now on.
  package mutating func failed() { pipeline.fail() }
}

/// Notifications of any stream for the application.
package enum StreamNotification: Equatable, Sendable {
  /// The service stays open, and nothing is sent.
  case suspended(reason: String)
  /// There is no service because of the driver, the head unit or the connection; the counters take that for a suspension.
  case suspendedTimeBegan
  /// The stream can't start, because no transport may carry it.
  case waiting(TransportWait)
  /// The pipeline should pause until it is asked to play on.
  case requestPause
  case requestPlaying
}

/// What happens while frames or sound may not be sent.
package enum SuspendPolicy: Int32, CaseIterable, Sendable {
  /// The application is asked to pause the pipeline meanwhile, unless its source is live.
  case auto
  /// The application is not asked.
  case drop
}

/// How long a buffer waits that may not be sent: the application waits for its thread when it ends the stream.
package let longestBufferWait = Duration.milliseconds(100)

/// How a buffer that may not be sent passes its time.
package enum BufferTiming: Equatable, Sendable {
  /// Its source is live: it is dropped, and a pause would not stop the source.
  case live
  /// The clock has brought it: it is dropped, and the next one comes at its own time.
  case synchronized
  /// Nothing holds it up, as with `sync=false`: it waits a moment before it is dropped, lest a whole file is lost at once.
  case unsynchronized
}

extension Duration? {
  /// The earlier of two deadlines, each of which may be nil. Allocates nothing, because it is called for each frame.
  package func earlier(_ other: Duration?) -> Duration? {
    guard let self, let other else { return self ?? other }
    return Swift.min(self, other)
  }
}
