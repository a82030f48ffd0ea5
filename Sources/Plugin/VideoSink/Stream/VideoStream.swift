import GStreamerKit
import SDLApp
import SDLAppLink
import SDLLink
import Synchronization

/// A stream of video, from READY→PAUSED to PAUSED→READY. It passes inputs to the negotiation, and carries out its
/// outputs with the help of its parts.
///
/// The streaming thread brings caps, frames and events; the connection thread the head unit's messages; the application
/// properties. After ``end()`` nothing of the stream reaches the element any more.
final class VideoStream: AppStream {
  let sink: VideoSink
  let app: AppClient
  let time: TimeSource

  let state: Monitor<VideoNegotiation>
  let notifications = NotificationQueue<VideoNotification>()
  let progress = StreamProgress()
  let frames: PathAccess<FramePath>
  let renderer: FrameRenderer
  let touches: TouchForwarder
  private let keys: KeyForwarder
  let haptics: HapticRegions
  private let silence: SilenceWatch

  /// The encoder of raw pictures, after others have failed.
  let nextEncoder = Monitor<EncoderChoice?>(nil)

  /// An event from upstream or the application has requested a key frame, on any thread. The encoder of raw video makes
  /// one.
  let keyFrameRequest = AtomicFlag()
  /// The service was resumed: the decoder may have been closed meanwhile.
  private let resumption = AtomicFlag()

  init(sink: VideoSink, app: AppClient, settings: VideoSinkSettings) {
    self.sink = sink
    self.app = app
    time = sink.time
    state = Monitor(
      VideoNegotiation(settings: settings.negotiation, appState: settings.appState), lock: sink.lock)
    let output = FrameOutput(sink: sink, connection: app.connection, time: sink.time, resumption: resumption)
    frames = PathAccess(FramePath(output, keyFrameRequest: keyFrameRequest), sink.state)
    renderer = FrameRenderer()
    touches = TouchForwarder(sink: sink, connection: app.connection, time: sink.time)
    keys = KeyForwarder(sink: sink, time: sink.time)
    haptics = HapticRegions(connection: app.connection)
    silence = SilenceWatch()
  }

  var channel: MediaChannel { connection.video }

  /// Takes over the present status of the app, and asks upstream about the head unit's displays.
  func begin() {
    let now = time.now
    let questions = app.attach(self, of: sink) { status in
      update { negotiation in
        let settings = sink.settings.current
        negotiation.settings = settings.negotiation
        negotiation.appStateChanged(settings.appState)
        return negotiation.take(status, now: now)
      }
    }
    applyHapticRectangles()
    applyKeys()
    touches.applySettings()
    deliverNotifications()
    ask(questions)
  }

  func prepareToEnd() {
    touches.finish()
    keys.finish()
    closeLastPicture()
  }

  /// The service is about to end.
  func closeLastPicture() {
    _ = withPathIfFree { path in state.withLock { $0.permission }.map { path.close($0) } }
  }

  func willEndService() { connection.setHapticRectangles(nil) }

  func discardRest() {
    let held = frames.take(for: self)
    held.path.end()
    // Nothing is posted any more.
    _ = held.giveBack()
    renderer.forget()
    // In READY the next film asks for caps before its own tag comes.
    sink.settings.withLock { $0.taggedTurn = .none }
    sink.frameSettingsChanged()
    sink.countStream { $0.resumed(at: time.now) }
  }

  func streamStateChanged(to state: StreamState) {
    StreamStateEvent.make(state)?.push(on: sink.pad)
  }

  func prepareInput() {
    sink.state.withLock(and: state) { $1.lostFrames = $0.counters.framesLost }
  }

  var driverWaitTexts: (waiting: String, over: String) {
    switch app.status.level {
    case .full, .limited: ("Waiting for the head unit to allow video", "The head unit allows video")
    default: ("Waiting for the driver to open the app", "The driver has opened the app")
    }
  }

  func apply(_ outputs: [VideoNegotiation.Output]) -> Bool {
    var hasNotifications = false
    for output in outputs {
      switch output {
      case .request(let request): connection.setVideoRequest(request)
      case .supportedDisplays(let displays): connection.setSupportedDisplays(displays)
      case .appState(let appState): connection.setAppState(appState)
      case .setTimer(let time): connection.setTimer(at: time)
      case .notify(let notification):
        notifications.add(notification)
        hasNotifications = true
      }
    }
    return hasNotifications
  }

  /// Posts an error about a frame or caps, and makes all later frames fail.
  func fail(_ problem: VideoProblem) {
    fail(ElementError(problem))
  }

  /// The same for an error that the head unit has caused.
  func failConnection(_ problem: VideoProblem) {
    failConnection(ElementError(problem))
  }
}

/// Properties set by the application. They are read with the lock under which they are applied, so that of two threads
/// that change them the later value stays.
extension VideoStream {
  func applyAppState() {
    updateAndDeliver { $0.appStateChanged(sink.settings.withLock { $0.appState }) }
  }

  /// A property that the negotiation needs has changed.
  func applySettings() {
    updateAndDeliver { $0.settings = sink.settings.current.negotiation }
  }

  func applyKeepAliveInterval() {
    connection.setTimer(at: time.now)
  }

  /// The property `keys` has changed, or the stream begins.
  func applyKeys() {
    state.withLock { _ in connection.setButtonsWanted(sink.settings.withLock { $0.keys.use } == .auto) }
  }

  /// The property `haptic-rectangles` has changed, or the stream begins.
  func applyHapticRectangles() {
    haptics.setOwn { sink.settings.withLock { $0.hapticRectangles } }
  }
}

/// Inputs of the pad.
extension VideoStream {
  /// Caps arrive; false if they can't be read.
  func setCaps(_ caps: UnsafeMutablePointer<GstCaps>) -> Bool {
    guard let input = InputCaps(caps) else { return false }
    if input.isRaw, let reason = EncoderChoice.rejectionReason(of: caps, by: sink.encoderChoice) { fail(reason) }
    withPath { path in
      // The decoder needs what comes before the start of a segment.
      gst_base_sink_set_drop_out_of_segment(sink.baseSink, input.isRaw ? 1 : 0)
      let size = path.setInput(input)
      // The service will be for the new size.
      if size != state.withLock({ $0.inputSize }) { path.format?.dropWaiting(.notStreaming) }
      inputChanged(size, isRaw: input.isRaw)
    }
    deliverNotifications()
    turnRegions()
    sink.log(GST_LEVEL_INFO, "input \(input.size.map { "\($0)" } ?? "of unknown size"), raw: \(input.isRaw)")
    return true
  }

  /// The caller has to deliver notifications.
  ///
  /// - Parameter size: nil for H.264 whose caps do not tell; its parameter sets will.
  func inputChanged(_ size: VideoSize?, isRaw: Bool) {
    let now = time.now
    update { $0.inputChanged(size, isRaw: isRaw, now: now) }
  }

  private var turn: PictureTurn { isInputRaw ? sink.turn : .none }

  /// The head unit's displays, as pictures of the input are shown on them; nil while they are unknown.
  var displaysOfInput: [VideoDisplay]? {
    state.withLock { $0.knownDisplays }?.map(turn.input)
  }

  /// Pictures may be turned otherwise from the next one on.
  func turnChanged(toTag tag: PictureTurn? = nil) {
    let former = sink.turn
    if let tag { sink.settings.withLock { $0.taggedTurn = tag } }
    sink.frameSettingsChanged()
    let present = sink.turn
    guard present != former else { return }
    if isInputRaw, present.swapsSides != former.swapsSides {
      if let size = state.withLock({ $0.inputSize }) { inputChanged(VideoSize(size.height, size.width), isRaw: true) }
      deliverNotifications()
      Event.reconfigure()?.push(on: sink.pad)
    }
    turnRegions()
  }

  /// Touches and rectangles are in pixels of the input.
  private func turnRegions() {
    let (turn, size) = (turn, state.withLock { $0.inputSize })
    touches.setTurn(turn, of: size)
    haptics.setTurn(turn, of: size)
    if !isInputRaw, sink.turn != .none { warn(Self.notTurned) }
  }

  private static let notTurned = ElementError.stream(
    GST_STREAM_ERROR_FORMAT,
    """
    The picture is to be turned (video-direction, or the tag image-orientation), but H.264 is sent as it is: put \
    decodebin and videoconvertscale before sdlvideosink, or set video-direction=identity.
    """)

  var isInputRaw: Bool { state.withLock { $0.isInputRaw } }

  func observe(_ event: UnsafeMutablePointer<GstEvent>) {
    switch event.pointee.type {
    case GST_EVENT_FLUSH_STOP:
      progress.flushEnded()
      withPath { $0.flush() }
      updateAndDeliver { $0.flushed() }
    case GST_EVENT_STREAM_START:
      withPath { $0.resynchronize() }
      turnChanged(toTag: PictureTurn.none)
      updateAndDeliver { $0.streamBegan() }
    case GST_EVENT_TAG:
      if let tagged = PictureTurn(tagIn: event) { turnChanged(toTag: tagged) }
    case GST_EVENT_SEGMENT: updateAndDeliver { $0.streamBegan() }
    case GST_EVENT_CUSTOM_DOWNSTREAM_OOB where RangesQuery.isChange(event): choose(.ranges)
    case GST_EVENT_CUSTOM_DOWNSTREAM where gst_video_event_is_force_key_unit(event) != 0:
      keyFrameRequest.raise()
    default: break
    }
  }
}

/// The frame path.
extension VideoStream {
  /// Calls `body` with the frame path, and then posts and pushes the results.
  @discardableResult
  func withPath<Result>(_ body: (FramePath) -> Result) -> Result {
    let held = frames.take(for: self)
    let result = body(held.path)
    tell(held.giveBack())
    return result
  }

  /// The same, unless another thread has it; for the connection thread.
  @discardableResult
  func withPathIfFree<Result>(_ body: (FramePath) -> Result) -> Result? {
    guard let held = frames.takeIfFree(for: self) else { return nil }
    let result = body(held.path)
    tell(held.giveBack())
    return result
  }

  /// Posts and pushes the results of frames.
  func tell(_ results: FrameResults) {
    if let timer = results.timer { connection.setTimer(at: timer) }
    if let grant = results.firstOfService {
      // It may complete a resize. The connection thread reports that: this thread has the base class's preroll lock,
      // for which a flush in answer would wait.
      let now = time.now
      if update({ $0.firstFrameQueued(of: grant, now: now) }) {
        sink.count { $0.resizes &+= 1 }
        connection.setTimer(at: now)
      }
    }
    if let lacksPicture = results.lacksPicture {
      update { $0.inputChanged(lacksPicture: lacksPicture) }
      if !lacksPicture { connection.setTimer(at: time.now) }
    }
    results.announcements.forEach(tell)
    if let report = results.report, !hasEnded { sink.announce(report.present, after: report.former) }
  }

  private func tell(_ announcement: FrameResults.Announcement) {
    switch announcement {
    case .error(let error): fail(error)
    case _ where hasEnded: break
    case .warning(let warning): sink.warn(warning)
    case .loss(let time, let isLive): sink.postQoS(time, isLive: isLive)
    case .reconfigure: Event.reconfigure()?.push(on: sink.pad)
    case .nextEncoder(let next, let takesFormat, let error):
      nextEncoder.withLock { $0 = next }
      guard !takesFormat else { break }
      guard !sizesUpstreamCanSend().isEmpty else {
        return fail(.stream(GST_STREAM_ERROR_ENCODE, "The picture could not be encoded: \(error)"))
      }
      Event.reconfigure()?.push(on: sink.pad)
    case .keyFrameRequest: sink.requestKeyFrame()
    }
  }
}

/// Reports of the app's connection. On the connection thread, without locks.
extension VideoStream {
  func sessionChanged(to status: AppSession.Status) {
    let former = self.state.withLock { $0.session }
    let (state, now) = (status.video.state, time.now)
    let hasStarted = status.video.grant.map { $0.epoch != former.video.grant?.epoch } ?? false
    let hasResumed = state == .streaming && former.video.state == .suspended && !hasStarted
    if hasStarted { sink.countStream { $0.starts &+= 1 } }
    if hasResumed { resumption.raise() }
    if state != .streaming { touches.interrupt() }
    if state != .suspended { silence.endNotice() }
    // A file that waits while the stream is suspended may now ask for a pause.
    ask(updateAndDeliver { $0.take(status, now: now) })
    if hasStarted || hasResumed { connection.setTimer(at: time.now) }
    if state == .suspended, former.video.state != .suspended { silence.beginNotice(self) }
    // No picture will be encoded for a while.
    if status.headUnit == nil { withPathIfFree { $0.closeEncoder() } }
    warnOfTouches(status)
  }

  /// Warns, once until they are granted, that the app's policy grants no touches, if the app would get them otherwise.
  private func warnOfTouches(_ status: AppSession.Status) {
    guard let permissions = status.permissions, let hmi = status.hmi, hmi.level == .full, hmi.allowsVideo else {
      return
    }
    let isGranted = permissions.allow(.onTouchEvent, at: .full)
    let isKnown = sink.hasWarnedOfTouches.exchange(!isGranted, ordering: .relaxed)
    guard !isGranted, !isKnown else { return }
    warn(
      .resource(
        GST_RESOURCE_ERROR_NOT_AUTHORIZED,
        "This head unit's policy gives the app no touches: the maker has to list its app-id."))
  }

  func timerFired() {
    // Outputs that had to wait for this time.
    updateAndDeliver { _ in }
    silence.sendWhatIsDue(self)
    touches.timerFired()
  }

  func appReported(_ event: AppSession.Event) {
    switch event {
    case .videoStartFailed(let failure, let request, let retryAfter): startFailed(failure, request, retryAfter)
    case .touch(let actions): touches.receive(actions)
    case .touchInterrupted: touches.interrupt()
    case .button(let notification): keys.receive(notification)
    case .keys(let actions): keys.receive(actions)
    case .hapticRectanglesRefused(let resultCode, let info): warn(HapticRegions.refusal(resultCode, info))
    default: break
    }
  }

  /// A start of video has failed. The negotiation requests the same again later, or something else at once.
  private func startFailed(_ failure: VideoStartFailure, _ request: VideoStartRequest, _ retryAfter: Duration?) {
    sink.countStream { $0.startFailures &+= 1 }
    do throws(VideoProblem) {
      try updateAndDeliver { negotiation throws(VideoProblem) in
        try negotiation.startFailed(failure, request, retryAfter: retryAfter)
      }
    } catch {
      failConnection(error)
    }
  }

  func post(_ notification: VideoNotification) {
    switch notification {
    case .started(let grant, let reason):
      sink.countStream { $0.resumed(at: time.now) }
      sink.postStreamStarted(grant, reason: reason)
    case .stream(let notification): postShared(notification)
    case .stopped(let reason): sink.postStreamStopped(reason)
    case .resized(let resize): sink.postResized(resize)
    case .resizeIgnored(let kept, let offered, let reason):
      sink.log(GST_LEVEL_INFO, "the head unit resizes to \(offered), but the stream stays \(kept)")
      sink.postResizeIgnored(kept, offered, reason)
    case .problem(let problem): warn(ElementError(problem))
    }
  }
}

/// Queries upstream: which displays the app's ranges accept, and which pictures it can send. Without locks.
extension VideoStream {
  /// The choice has to be made again. On the connection thread, the streaming thread, or the thread of a filter whose
  /// ranges have changed.
  func choose(_ cause: VideoNegotiation.ChoiceCause) {
    if let question = update({ $0.beginChoice(cause) }) { choose(question) }
  }

  private func ask(_ questions: Result<VideoNegotiation.Questions, VideoProblem>) {
    switch questions {
    case .success(let questions):
      if let question = questions.ranges { choose(question) }
      if questions.asksUpstream { askUpstream() }
    case .failure(let problem): failConnection(problem)
    }
  }

  /// Asks the range filters upstream which displays they reject, and lets the negotiation choose.
  private func choose(_ asked: VideoNegotiation.RangesQuestion) {
    let choice = VideoChoice(
      asked.displays, reasons: RangesQuery.ask(sink.pad, asked.displays.map(turn.input)))
    sink.log(GST_LEVEL_INFO, "to be streamed: \(choice.acceptedDisplays), not: \(choice.rejections)")
    let supported = possible(choice.acceptedDisplays)
    let now = time.now
    do throws(VideoProblem) {
      let mustAsk = try updateAndDeliver { negotiation throws(VideoProblem) in
        try negotiation.choose(choice, supported: supported, asked, now: now)
      }
      if mustAsk { askUpstream() }
    } catch {
      failConnection(error)
    }
  }

  /// The members of `displays` whose size upstream can send.
  private func possible(_ displays: [VideoDisplay]) -> [VideoDisplay] {
    guard !displays.isEmpty else { return displays }
    let (maximumRate, turn) = (sink.settings.withLock { $0.maxFrameRate }, sink.turn)
    let offer = SinkCaps.offer(displays, maximumRate: maximumRate, turn)
    guard let answer = Caps.peerQuery(sink.pad, filter: offer) else { return displays }
    return displays.filter {
      !answer.intersected(with: SinkCaps.offer([$0], maximumRate: maximumRate, turn)).isEmpty
    }
  }

  /// Asks upstream for pictures of the head unit's choice.
  func askUpstream() {
    _ = askUpstream(state.withLock { $0.upstreamQuestion })
  }

  /// Asks which of the accepted sizes upstream can send, and makes it negotiate again if there is a better one.
  func askUpstream(_ question: VideoNegotiation.UpstreamQuestion) -> VideoNegotiation.UpstreamAnswer {
    // A callback may have ended the stream meanwhile; upstream serves the next one then.
    guard !hasEnded else { return .stays }
    let sizes = sizesUpstreamCanSend()
    let answer = updateAndDeliver { $0.upstreamAnswered(question, sizes) }
    guard answer == .changes, !hasEnded else { return answer }
    sink.log(GST_LEVEL_INFO, "asking upstream for another size, of \(sizes)")
    Event.reconfigure()?.push(on: sink.pad)
    return answer
  }

  /// In upstream's order of preference.
  private func sizesUpstreamCanSend() -> [VideoSize] {
    guard let pointer = sink.caps(filter: nil) else { return [] }
    let caps = Caps(taking: pointer)
    guard let answer = Caps.peerQuery(sink.pad, filter: caps) else { return [] }
    let possible = caps.intersected(with: answer)
    return (0..<possible.count).compactMap { index in
      guard let structure = possible.structure(at: index), let width = structure.integer("width"),
        let height = structure.integer("height")
      else { return nil }
      let size = VideoSize(Int(width), Int(height))
      return structure.hasName("video/x-raw") ? sink.turn.size(size) : size
    }
  }
}

extension VideoNegotiation {
  fileprivate mutating func take(_ status: AppSession.Status, now: Duration) -> Result<Questions, VideoProblem> {
    Result { () throws(VideoProblem) in try sessionChanged(to: status, now: now) }
  }
}
