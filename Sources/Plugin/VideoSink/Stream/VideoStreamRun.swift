import GStreamerKit
import SDLApp
import SDLLink
import Synchronization

/// A stream of video, from READY→PAUSED to PAUSED→READY. It passes what happens to the negotiation, and carries out
/// what that decides, with the help of the parts.
///
/// The streaming thread brings caps, frames and events; the connection thread what the head unit says; the application
/// its properties. After ``end()`` nothing of it reaches the element any more.
final class VideoStreamRun: StreamRun {
  let sink: VideoSink
  let app: AppRun
  let time: TimeSource

  let state: Monitor<VideoNegotiation>
  let notifications = NotificationQueue<VideoNotification>()
  let progress = StreamProgress()
  /// What is kept between frames.
  let frames: ExclusiveAccess<FramePath>
  let touches: TouchForwarder
  let haptics: HapticRegions
  let notice: NoticeSender
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

  var channel: MediaChannel { connection.video }

  /// Takes over what is known of the head unit already, and asks upstream about its displays.
  func begin() {
    let appState = sink.settings.withLock { $0.appState }
    let question = app.attach(self, of: sink) { status in
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

  func prepareToEnd() {
    touches.finish()
  }

  func willEndService() {
    connection.setHapticRectangles(nil)
  }

  func withoutAccess<Result>(_ body: () -> Result) -> Result { frames.whileGivenBack(body) }

  func discardRest() {
    frames.withValue { $0.end() }
    sink.countStream { $0.resumed(at: time.now) }
  }

  func prepareForPreroll() -> Bool {
    withFrames { path in
      chooseForNewInput(path)
      return path.isUpstreamLive
    }
  }

  var driverWaitTexts: (waiting: String, over: String) {
    ("Waiting for the driver to open the app", "The driver has opened the app")
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

  /// Posts an error that a frame or caps lead to, and makes every following frame fail.
  func fail(_ problem: VideoProblem) {
    fail(ElementError(problem))
  }

  /// The same for an error that the head unit has caused; see ``AppRun/failConnection(_:_:)``.
  func failConnection(_ problem: VideoProblem) {
    unlocked { app.failConnection(ElementError(problem), sink) }
  }
}

/// What the application sets.
extension VideoStreamRun {
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

extension ElementError {
  init(_ problem: VideoProblem) {
    self =
      problem.concernsPermission
      ? .resource(GST_RESOURCE_ERROR_NOT_AUTHORIZED, problem.description, details: problem.details)
      : .stream(GST_STREAM_ERROR_FORMAT, problem.description, details: problem.details)
  }
}
