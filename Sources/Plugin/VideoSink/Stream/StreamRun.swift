import GStreamerKit
import SDLApp
import SDLLink
import Synchronization

/// A stream of video, from READY→PAUSED to PAUSED→READY: what GStreamer brings goes to the negotiation, and what that
/// decides is done here, by the parts that know how.
///
/// The streaming thread brings caps, frames and events; the connection thread what the head unit says; the application its
/// properties. After ``end()`` nothing of it reaches the element any more.
final class StreamRun: AppService {
  let sink: VideoSink
  let app: AppRun
  let time: TimeSource

  let state: Monitor<VideoNegotiation>
  let notifications = NotificationQueue()
  /// What is kept between frames.
  let frames: ExclusiveAccess<FramePath>
  let touches: TouchForwarder
  let haptics: HapticRegions
  let notice: NoticeSender
  /// The value of `stream-state` that listeners have heard last.
  private let notifiedState = Mutex(VideoStreamState.stopped)
  private let isOver = Atomic(false)

  /// An event that asks for a key frame came, from upstream or from the application, which may be on any thread. Raw video
  /// obliges.
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

  /// Takes what is known of the head unit already, and asks upstream about it.
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

  /// Ends the service, waits until the head unit has been told so, though not for long, and leaves the app registered.
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

  /// For the last frames, which are given up after it, and the end of the service.
  private static let endTimeout = Duration.milliseconds(600)

  /// Whether it must leave the element alone.
  var hasEnded: Bool { isOver.load(ordering: .acquiring) }

  var streamState: VideoStreamState { state.withLock { $0.streamState } }

  /// Gives an input to the negotiation and does what follows at once: what the connection has to know is told with the lock
  /// held, so that the last word is the newest. All that the connection does is to note it.
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

  /// The same, and then tells the application.
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

  /// Posts what the application has to hear. Without locks.
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

  /// The same on the connection thread, or wherever the head unit's words lead to it.
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

  func setFlushing(_ isFlushing: Bool) {
    update { $0.setFlushing(isFlushing) }
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
