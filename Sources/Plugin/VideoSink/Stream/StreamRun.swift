import GStreamerKit
import SDLApp
import SDLLink
import Synchronization

/// A stream of video, from READY→PAUSED to PAUSED→READY. It passes what happens to the negotiation, and carries out
/// what that decides, with the help of the parts.
///
/// The streaming thread brings caps, frames and events; the connection thread what the head unit says; the application
/// its properties. After ``end()`` nothing of it reaches the element any more.
final class StreamRun: SinkStream {
  let sink: VideoSink
  let app: AppRun
  let time: TimeSource

  let state: Monitor<VideoNegotiation>
  let notifications = NotificationQueue<StreamNotification>()
  /// What is kept between frames.
  let frames: ExclusiveAccess<FramePath>
  let touches: TouchForwarder
  let haptics: HapticRegions
  let notice: NoticeSender
  /// The value of `stream-state` that was notified last.
  private let notifiedState = Mutex(VideoStreamState.stopped)
  private let isOver = Atomic(false)
  /// From FLUSH_START on until FLUSH_STOP, which comes on the streaming thread. The pad's own flag is cleared before that thread has
  /// let go of the frame at hand.
  let isFlushPending = Atomic(false)
  /// What the application was last told of the link, and what it is to be told.
  let hasBitrateReport = AtomicFlag()
  let bitrateReport = Mutex<(last: LinkReport?, next: LinkReport?)>((nil, nil))

  /// An event has asked for a key frame, from upstream or from the application, on any thread. The encoder of raw video
  /// makes one.
  let keyFrameRequest = AtomicFlag()
  /// The service was resumed: the decoder may have been closed meanwhile.
  let resumption = AtomicFlag()

  init(sink: VideoSink, app: AppRun, settings: VideoSinkSettings) {
    self.sink = sink
    self.app = app
    time = sink.time
    state = Monitor(VideoNegotiation(settings: settings.negotiation, appState: settings.appState))
    frames = ExclusiveAccess(
      FramePath(
        sink: sink, connection: app.connection, time: sink.time, resumption: resumption,
        keyFrameRequest: keyFrameRequest))
    touches = TouchForwarder(sink: sink, connection: app.connection, time: sink.time)
    haptics = HapticRegions(connection: app.connection)
    notice = NoticeSender()
  }

  var connection: AppConnection { app.connection }

  /// Takes over what is known of the head unit already, and asks upstream about its displays.
  func begin() {
    let appState = sink.settings.withLock { $0.appState }
    let question = app.attach(self) { status in
      update { negotiation -> Result<VideoNegotiation.RangesQuestion?, VideoProblem> in
        negotiation.appStateChanged(appState)
        negotiation.hmiStatusChanged(status.hmi)
        if let grant = status.grant { negotiation.serviceStarted(grant, now: time.now) }
        if status.isVideoSuspended { negotiation.serviceSuspended() }
        negotiation.sessionStateChanged(status.videoState)
        guard let video = status.video else { return .success(nil) }
        return negotiation.headUnitSpoke(video)
      }
    }
    applyHapticRectangles()
    deliverNotifications()
    choose(question)
  }

  /// Ends the service, waits ``endTimeout`` at most until it has ended, and leaves the app registered.
  func end() {
    update { $0.stop() }
    connection.setHapticRectangles(nil)
    let deadline = time.now + Self.endTimeout
    if !connection.isOnObserverThread { _ = state.wait(until: deadline) { $0.grantWithTime == nil ? true : nil } }
    deliverNotifications()
    isOver.store(true, ordering: .releasing)
    notifications.end()
    app.detach(self)
    frames.withValue { $0.end() }
    sink.counters.withLock { $0.resumed(at: time.now) }
    if notifiedState.withLock({ $0 }) != .stopped { sink.notify(.streamState) }
  }

  /// For queued frames to leave, and then for the service to end. What is left of both is given up.
  private static let endTimeout = Duration.milliseconds(600)

  /// Whether it must leave the element alone.
  var hasEnded: Bool { isOver.load(ordering: .acquiring) }

  var streamState: VideoStreamState { state.withLock { $0.streamState } }

  /// Gives an input to the negotiation and carries out its outputs. The lock is still held then, so that the connection
  /// gets them in order; the connection only stores them, and calls nobody back.
  ///
  /// Does not post anything: see ``deliverNotifications()``.
  @discardableResult
  func update<Result>(_ body: (inout VideoNegotiation) -> Result) -> Result {
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
  func change<Result>(_ body: (inout VideoNegotiation) -> Result) -> Result {
    defer { deliverNotifications() }
    return update(body)
  }

  func apply(_ outputs: [VideoNegotiation.Output]) {
    for output in outputs {
      switch output {
      case .request(let request): connection.setVideoRequest(request)
      case .supportedDisplays(let displays): connection.setSupportedDisplays(displays)
      case .appState(let appState): connection.setAppState(appState)
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

  /// Posts an error that a frame or caps lead to, and makes every following frame fail.
  func fail(_ problem: VideoProblem) {
    app.fail(ElementError(problem), sink)
  }

  /// The same for an error that the head unit has caused; see ``AppRun/failConnection(_:_:)``.
  func failConnection(_ problem: VideoProblem) {
    app.failConnection(ElementError(problem), sink)
  }
}

/// What application and pipeline do.
extension StreamRun {
  func play() {
    change { $0.played() }
  }

  func pause() {
    change { $0.paused() }
  }

  func prepareToEnd() {
    touches.finish()
  }

  func setFlushing(_ isFlushing: Bool) {
    update { $0.setFlushing(isFlushing) }
    if isFlushing { app.interrupt() }
    connection.video.setFlushing(isFlushing)
  }

  /// The property `app-state` has changed.
  func applyAppState() {
    change { $0.appStateChanged(sink.settings.withLock { $0.appState }) }
  }

  /// A property that the negotiation has to know has changed.
  func applySettings() {
    let settings = sink.settings.current.negotiation
    change { $0.settingsChanged(settings) }
  }

  /// The property `keep-alive-interval` has changed.
  func applyKeepAliveInterval() {
    connection.setTimer(at: time.now)
  }

  /// The property `haptic-rectangles` has changed, or the stream begins.
  func applyHapticRectangles() {
    haptics.setOwn(sink.settings.withLock { $0.hapticRectangles })
  }
}

/// Errors that come from the connection.
extension StreamRun {
  func appIsFailing() {
    _ = update { $0.beginFailing() }
  }

  func appHasFailed() {
    change { $0.failed() }
  }
}

extension ElementError {
  init(_ problem: VideoProblem) {
    self =
      problem.concernsPermission
      ? .resource(GST_RESOURCE_ERROR_NOT_AUTHORIZED, problem.description, details: problem.details)
      : .stream(GST_STREAM_ERROR_FORMAT, problem.description, details: problem.details)
  }
}
