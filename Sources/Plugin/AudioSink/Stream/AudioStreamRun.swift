import GStreamerKit
import SDLApp
import SDLLink
import Synchronization

/// A stream of sound, from READY→PAUSED to PAUSED→READY. It passes what happens to the negotiation, and carries out
/// what that decides.
///
/// The streaming thread brings caps, samples and events; the connection thread what the head unit says. After ``end()`` nothing
/// of it reaches the element any more.
final class AudioStreamRun: SinkStream {
  let sink: AudioSink
  let app: AppRun
  let time: TimeSource

  let state: Monitor<AudioNegotiation>
  let notifications = NotificationQueue<AudioNotification>()
  /// What is kept between buffers.
  let samples: ExclusiveAccess<SamplePath>
  /// The value of `stream-state` that was notified last.
  private let notifiedState = Mutex(StreamState.stopped)
  private let isOver = Atomic(false)
  /// From FLUSH_START on until FLUSH_STOP, which comes on the streaming thread.
  let isFlushPending = Atomic(false)
  /// That the format is assumed has been said.
  let hasSaidAssumption = AtomicFlag()

  init(sink: AudioSink, app: AppRun, settings: AudioSinkSettings) {
    self.sink = sink
    self.app = app
    time = sink.time
    state = Monitor(AudioNegotiation(settings: settings.negotiation, activity: settings.activity))
    samples = ExclusiveAccess(SamplePath(sink: sink))
  }

  var connection: AppConnection { app.connection }

  func begin() {
    app.attach(self) { status in
      update { negotiation in
        negotiation.hmiStatusChanged(status.hmi)
        if let grant = status.audioGrant { negotiation.serviceStarted(grant) }
        if status.isAudioSuspended { negotiation.serviceSuspended() }
        negotiation.sessionStateChanged(status.audioState)
      }
    }
    if let headUnit = app.status.headUnit { sayAssumption(headUnit) }
    deliverNotifications()
  }

  /// For queued sound to leave, and then for the service to end. What is left of both is given up.
  private static let endTimeout = Duration.milliseconds(600)

  /// Ends the service, waits ``endTimeout`` at most until it has ended, and leaves the app registered.
  func end() {
    update { $0.stop() }
    let deadline = time.now + Self.endTimeout
    if !connection.isOnObserverThread { _ = state.wait(until: deadline) { $0.grant == nil ? true : nil } }
    deliverNotifications()
    isOver.store(true, ordering: .releasing)
    notifications.end()
    app.detach(self)
    samples.withValue { $0.end() }
    sink.counters.withLock { $0.resumed(at: time.now) }
    if notifiedState.withLock({ $0 }) != .stopped { sink.notify(.streamState) }
  }

  /// Whether it must leave the element alone.
  var hasEnded: Bool { isOver.load(ordering: .acquiring) }

  var streamState: StreamState { state.withLock { $0.streamState } }

  /// Gives an input to the negotiation and carries out its outputs. The lock is still held then, so that the connection
  /// gets them in order; the connection only stores them, and calls nobody back.
  ///
  /// Does not post anything: see ``deliverNotifications()``.
  @discardableResult
  func update<Result>(_ body: (inout AudioNegotiation) -> Result) -> Result {
    let now = time.now
    let result = state.withLock { negotiation in
      defer { apply(negotiation.takeOutputs(at: now)) }
      return body(&negotiation)
    }
    state.broadcast()
    return result
  }

  /// The same, and then posts the notifications.
  @discardableResult
  func change<Result>(_ body: (inout AudioNegotiation) -> Result) -> Result {
    defer { deliverNotifications() }
    return update(body)
  }

  func apply(_ outputs: [AudioNegotiation.Output]) {
    for output in outputs {
      switch output {
      case .request(let request): connection.setAudioRequest(request)
      case .setTimer(let time): connection.setTimer(at: time)
      case .notify(let notification): notifications.add(notification)
      }
    }
  }

  /// Posts the notifications that wait. Without locks.
  func deliverNotifications() {
    notifications.deliver(post)
    notifyStreamState()
  }

  func notifyStreamState() {
    let present = streamState
    let isNew = notifiedState.withLock { state in
      defer { state = present }
      return state != present
    }
    if isNew, !hasEnded { sink.notify(.streamState) }
  }

  /// Posts a warning; the stream goes on.
  func warn(_ error: ElementError) {
    if !hasEnded { sink.warn(error) }
  }
}

/// What application and pipeline do.
extension AudioStreamRun {
  func play() {
    change { $0.played() }
  }

  func pause() {
    change { $0.paused() }
  }

  func prepareToEnd() {}

  func setFlushing(_ isFlushing: Bool) {
    update { $0.setFlushing(isFlushing) }
    if isFlushing { app.interrupt() }
    connection.audio.setFlushing(isFlushing)
  }
}

/// Errors that come from the connection.
extension AudioStreamRun {
  func appIsFailing() {
    update { $0.beginFailing() }
  }

  func appHasFailed() {
    change { $0.failed() }
  }
}

extension ElementError {
  init(_ problem: AudioProblem) {
    switch problem {
    case .startRefused, .refused: self = .resource(GST_RESOURCE_ERROR_NOT_AUTHORIZED, problem.description)
    case .wrongFormat: self = .stream(GST_STREAM_ERROR_FORMAT, problem.description)
    }
  }
}
