import GStreamerKit
import H264
import SDLHeadUnit
import SDLLink
import SDLMessages
import SDLWire

/// The video of the apps, from the server's thread to the pad, and the touches in the other direction.
final class HeadUnitVideoStream: HeadUnitStream {
  private struct State: Sendable {
    var video: ReceivedVideo
    var touches = WindowTouchQueue()
    var keys = WindowKeyQueue()
    /// The buttons that the app whose video is shown has subscribed to.
    var buttons: Set<String> = []
    /// The app whose video is shown may be touched.
    var isTouchable = false
    /// Nil before the beginning and after the end.
    var headUnit: HeadUnit?
    /// GstNavigation events for an app.
    var navigationEvents: UInt64 = 0
    /// OnTouchEvent notifications that were sent.
    var sentTouches: UInt64 = 0
    /// Button notifications that were sent to apps.
    var sentButtons: UInt64 = 0
    var isFlushing = false
    /// Running time goes on in a pause, so nothing may get its times then.
    var isPlaying = false
    /// The stream ends when the queue is empty.
    var isAtEnd = false
  }

  /// State of the streaming thread about the pushed buffers.
  private struct Output: Sendable {
    var time = StreamTime()
    var order = OutputOrder()
    var presentation = PresentationTime()
    /// The frame duration of the last sequence parameter set that has one, in nanoseconds.
    var frameDuration: UInt64 = 33_333_333
    /// The last sequence parameter set, from which the caps are made.
    var sequenceParameterSet: [UInt8] = []
  }

  private enum Next {
    case unit(QueuedAccessUnit)
    case end
    case flushing
    /// The time until which to wait has changed.
    case again
  }

  static let service = ServiceType.video

  private let state: Monitor<State>
  private let output = Monitor(Output())

  init(_ settings: HeadUnitElementSettings, after former: HeadUnitVideoStream?) {
    var state = State(video: ReceivedVideo(former?.state.withLock { $0.video.counters } ?? AccessUnitQueue.Counters()))
    former?.state.withLock {
      (state.navigationEvents, state.sentTouches, state.sentButtons) = (
        $0.navigationEvents, $0.sentTouches, $0.sentButtons
      )
    }
    self.state = Monitor(state)
  }

  var app: UInt8? { state.withLock { $0.video.app } }

  /// How late buffers may be, for the pipeline's latency.
  var latency: Duration { state.withLock { $0.video.usesRTP } ? RTPTime.longestLag : .zero }

  /// frames-in = frames-out + every frames-dropped-* + frames-queued.
  func fill(_ structure: borrowing Structure) {
    let state = state.withLock { $0 }
    let video = state.video.counters
    structure.set("frames-in", video.framesIn)
    structure.set("frames-out", video.framesOut)
    structure.set("frames-dropped-queue-full", video.droppedFull)
    structure.set("frames-dropped-waiting-for-key-frame", video.droppedWaiting)
    structure.set("frames-dropped-discarded", video.droppedDiscarded)
    structure.set("key-frames-out", video.keyFramesOut)
    structure.set("discontinuities", video.discontinuities)
    structure.set("video-bytes-in", video.bytesIn)
    structure.set("navigation-events", state.navigationEvents)
    structure.set("touches", state.sentTouches)
    structure.set("buttons", state.sentButtons)
    structure.set("frames-queued", UInt64(clamping: state.video.queuedCount))
  }
}

/// The head unit and its apps.
extension HeadUnitVideoStream {
  func join(_ headUnit: HeadUnit, _ setup: HeadUnitSetup, _ apps: ServedApps) {
    state.withLock { state in
      state.headUnit = headUnit
      for app in apps.all {
        if let parameters = app.video { state.video.begin(parameters, by: app.id, now: MonotonicClock.now) }
      }
      noteInput(&state, apps)
    }
  }

  func receive(_ event: HeadUnitSession.Event, from id: UInt8, _ apps: ServedApps, _ reporter: HeadUnitReporter) {
    // The times are those of the lock: with an earlier one, what is appended could be overdue at once.
    switch event {
    case .videoData(let bytes):
      if state.withLock({ $0.video.append(bytes, from: id, now: MonotonicClock.now) }) { state.broadcast() }
    case .videoTimestamp(let timestamp): state.withLock { $0.video.setTimestamp(timestamp, from: id) }
    case .videoStarted(let parameters, _): begin(parameters, by: id, apps, reporter)
    case .videoStopped(let reason): end(reason, of: id, apps, reporter)
    // SDL Core has closed its output, and opens another with the next video.
    case .videoMissed, .videoDataStopped: noteGap(from: id)
    // Video that the app sends without permission is left out.
    case .hmiStatusSent(let status): if !status.allowsVideo { noteGap(from: id) }
    case .touchSent: state.withLock { $0.sentTouches &+= 1 }
    case .driverInput(.button): state.withLock { $0.sentButtons &+= 1 }
    case .buttonsSubscribed: state.withLock { noteInput(&$0, apps) }
    default: break
    }
  }

  private func noteGap(from id: UInt8) {
    state.change { $0.video.noteGap(from: id, now: MonotonicClock.now) }
  }

  private func begin(
    _ parameters: VideoServiceParameters, by id: UInt8, _ apps: ServedApps, _ reporter: HeadUnitReporter
  ) {
    let isLatencyNew = state.change { state in
      let usedRTP = state.video.usesRTP
      interruptInput(&state)
      state.video.begin(parameters, by: id, now: MonotonicClock.now)
      noteInput(&state, apps)
      return state.video.usesRTP != usedRTP
    }
    if isLatencyNew { reporter.latencyChanged() }
    guard let app = apps[id] else { return }
    if !parameters.isH264 {
      let codec = (parameters.videoCodec ?? "?").quoted
      reporter.warn(
        .stream(
          GST_STREAM_ERROR_FORMAT,
          "\(app.name.quoted) sends \(codec), which is not shown: formats should list H264 only."))
    }
    reporter.streamStarted(app, .video, on: app.videoTransport) { app.fillVideo($0) }
  }

  private func end(
    _ reason: HeadUnitSession.StopReason, of id: UInt8, _ apps: ServedApps, _ reporter: HeadUnitReporter
  ) {
    let framesOut = state.change { state in
      state.video.end(by: id, now: MonotonicClock.now)
      update(&state, apps)
      return state.video.counters.framesOut
    }
    if let app = apps[id] { reporter.streamStopped(app, .video, reason) { $0.set("frames-out", framesOut) } }
  }

  func appsChanged(_ apps: ServedApps, formerApp: UInt8?) {
    state.withLock { state in
      update(&state, apps)
      guard let formerApp else { return }
      state.touches.forget(formerApp)
      state.keys.forget(formerApp)
      state.video.forget(formerApp)
    }
  }

  private func update(_ state: inout State, _ apps: ServedApps) {
    noteInput(&state, apps)
    if !state.isTouchable { interruptInput(&state) }
  }

  private func noteInput(_ state: inout State, _ apps: ServedApps) {
    state.isTouchable = apps.mayTouch(state.video.app)
    let app = state.video.app.flatMap { apps[$0] }
    state.buttons = app?.video == nil ? [] : app?.buttons ?? []
  }

  func finish() {
    state.change { state in
      state.video.flushPending(now: MonotonicClock.now)
      state.isAtEnd = true
    }
  }

  func setFlushing(_ isFlushing: Bool) {
    state.change { $0.isFlushing = isFlushing }
  }

  /// What comes while the pipeline is not playing stays in the queue.
  func setPlaying(_ isPlaying: Bool) {
    state.change { $0.isPlaying = isPlaying }
  }

  func willEnd() {
    state.withLock { interruptInput(&$0) }
  }

  func end() {
    // The last reference must not go with the lock held.
    let headUnit = state.withLock { state in
      state.video.discard()
      return state.headUnit.take()
    }
    withExtendedLifetime(headUnit) {}
  }
}

/// The path of the video from the queue to the pad, on the streaming thread.
extension HeadUnitVideoStream {
  func create(
    _ buffer: inout UnsafeMutablePointer<GstBuffer>?, of element: HeadUnitSource
  ) -> GstFlowReturn {
    while true {
      switch next() {
      case .again: continue
      case .flushing: return GST_FLOW_FLUSHING
      case .end: return GST_FLOW_EOS
      case .unit(let unit):
        // Before new caps, which may take so long that the pipeline pauses meanwhile.
        let present = PresentTime(of: element.gstElement)
        guard updateCaps(for: unit, of: element) else { return GST_FLOW_NOT_NEGOTIATED }
        guard let made = makeBuffer(unit, at: present) else { return GST_FLOW_ERROR }
        buffer = made.take()
        return GST_FLOW_OK
      }
    }
  }

  private func next() -> Next {
    let deadline = state.withLock { $0.video.flushDeadline }
    let next = state.wait(until: deadline) { state -> Next? in
      if state.isFlushing { return .flushing }
      guard state.isPlaying else { return nil }
      if let unit = state.video.take() { return .unit(unit) }
      if state.isAtEnd { return .end }
      return state.video.flushDeadline == deadline ? nil : .again
    }
    if let next { return next }
    // Only what is overdue now: since the wait, the waiting unit may have ended, and part of the next one come.
    let now = MonotonicClock.now
    state.withLock { state in
      if let deadline = state.video.flushDeadline, now >= deadline { state.video.flushPending(now: now) }
    }
    return .again
  }

  /// Sets new caps before `unit` if its sequence parameter set has changed; false when downstream refuses them.
  private func updateCaps(for unit: QueuedAccessUnit, of element: HeadUnitSource) -> Bool {
    guard let range = unit.summary.sequenceParameterSet else { return true }
    let bytes = unit.bytes[range]
    let isNew = output.withLock { output in
      if output.sequenceParameterSet.elementsEqual(bytes) { return false }
      output.sequenceParameterSet = Array(bytes)
      return true
    }
    guard isNew else { return true }
    let parameters = try? SequenceParameterSet(nalUnit: bytes)
    if let rate = parameters?.frameRate, rate.numerator > 0 {
      let duration = Duration.seconds(rate.denominator) / rate.numerator
      output.withLock { $0.frameDuration = UInt64(clamping: duration.nanoseconds) }
    }
    let caps = Self.caps(parameters, checksum: Self.checksum(of: bytes))
    if let current = Caps.current(of: element.pad), current.isEqual(to: caps) { return true }
    let text = caps.text
    element.log(GST_LEVEL_INFO, "the video is now \(text)")
    return gst_base_src_set_caps(element.baseSource, caps.pointer) != 0
  }

  /// Unknown fields are left out.
  private static func caps(_ parameters: SequenceParameterSet?, checksum: String?) -> Caps {
    let structure = Structure("video/x-h264")
    structure.set("stream-format", "byte-stream")
    structure.set("alignment", "au")
    if let parameters {
      structure.set("width", Int32(clamping: parameters.width))
      structure.set("height", Int32(clamping: parameters.height))
      if let rate = parameters.frameRate, let numerator = Int32(exactly: rate.numerator),
        let denominator = Int32(exactly: rate.denominator), denominator != 0
      {
        structure.setFraction("framerate", (numerator, denominator))
      }
    }
    // qtmux continues in the same file when only the size, the profile or the codec data change, and then describes the
    // last picture of the former stream with the parameter sets of the new one. It does compare fields that it doesn't
    // know.
    structure.set("sps-checksum", checksum)
    return Caps(structure)
  }

  /// Short, because an app may send a sequence parameter set of any length.
  private static func checksum(of bytes: ArraySlice<UInt8>) -> String? {
    let text = bytes.withUnsafeBufferPointer {
      g_compute_checksum_for_data(G_CHECKSUM_MD5, $0.baseAddress, gsize($0.count))
    }
    return String(freeing: text)
  }

  private func makeBuffer(_ unit: QueuedAccessUnit, at present: PresentTime) -> Buffer? {
    guard let buffer = AccessUnitBytes.makeBuffer(unit.bytes) else { return nil }
    let (decoding, presentation) = output.withLock { output in
      let decoding = output.time.decodingTime(
        of: unit, now: present.now, runningTime: present.runningTime, frameDuration: output.frameDuration)
      if unit.isStart { output.presentation.beginStream() }
      let place = unit.bytes.withUnsafeBytes { output.order.observe($0) }
      let presentation = output.presentation.time(
        of: place, decoding: decoding, frameDuration: output.frameDuration)
      return (decoding, presentation)
    }
    buffer.pointer.pointee.dts = GstClockTime(decoding)
    // GST_CLOCK_TIME_NONE where it is unknown.
    buffer.pointer.pointee.pts = presentation.map { GstClockTime($0) } ?? .max
    var flags: UInt32 = 0
    if !unit.summary.isKeyFrame { flags |= UInt32(GST_BUFFER_FLAG_DELTA_UNIT.rawValue) }
    if unit.isDiscontinuous { flags |= UInt32(GST_BUFFER_FLAG_DISCONT.rawValue) }
    cgst_buffer_set_flags(buffer.pointer, flags)
    return buffer
  }
}

/// Input in the window that shows the video (GstNavigation) goes to the app of that video.
extension HeadUnitVideoStream {
  /// False if it is no input for the app, so that the window offers it to the application.
  func navigate(_ event: UnsafeMutablePointer<GstEvent>, pad: UnsafeMutablePointer<GstPad>) -> Bool {
    if let key = WindowKey(event) { return press(key) }
    guard let input = WindowInput(event), let picture = Self.pictureSize(pad) else { return false }
    return state.withLock { state in
      guard state.isTouchable, let app = state.video.app else { return false }
      let outcome = state.touches.receive(input, for: app, picture: picture, now: MonotonicClock.now)
      if outcome == .noInput { return false }
      state.navigationEvents &+= 1
      if outcome == .fetch { askToFetchTouches(for: app, state) }
      return true
    }
  }

  /// A key is handled only if it stands for a button that the app has subscribed to.
  private func press(_ key: WindowKey) -> Bool {
    state.withLock { state in
      guard let app = state.video.app,
        key.isPress ? state.buttons.contains(key.button.rawValue) : state.keys.isDown(key.button)
      else { return false }
      state.navigationEvents &+= 1
      let asking = key.isPress ? state.keys.press(key.button, for: app) : state.keys.release(key.button)
      if let asking { askToFetchKeys(for: asking, state) }
      return true
    }
  }

  /// The size of the pushed pictures, and so of those in the window; nil before the first.
  private static func pictureSize(_ pad: UnsafeMutablePointer<GstPad>) -> VideoSize? {
    guard let caps = Caps.current(of: pad), let structure = caps.structure(at: 0),
      let width = structure.integer("width"), let height = structure.integer("height"), width > 0, height > 0
    else { return nil }
    return VideoSize(Int(width), Int(height))
  }

  /// Cancels the fingers that are down, and releases the keys.
  private func interruptInput(_ state: inout State) {
    for app in state.keys.releaseAll() { askToFetchKeys(for: app, state) }
    let app = state.video.app
    if state.touches.interrupt(for: app, now: MonotonicClock.now), let app { askToFetchTouches(for: app, state) }
  }

  /// The server is only notified here, so that the window never waits for the network. The last cancellations are
  /// fetched after the end.
  private func askToFetchTouches(for app: UInt8, _ state: State) {
    state.headUnit?.server?.control(.app(app)) { [self] session, now in
      let touches = self.state.withLock { $0.touches.fetch(for: app) }
      return touches.flatMap { session.touch($0.touch, picture: $0.picture, now: now) }
    }
  }

  private func askToFetchKeys(for app: UInt8, _ state: State) {
    state.headUnit?.server?.control(.app(app)) { [self] session, now in
      let inputs = self.state.withLock { $0.keys.fetch(for: app) }
      return inputs.flatMap { session.take($0, now: now) }
    }
  }
}

/// A key of the window that stands for a button of the car.
private struct WindowKey {
  var button: ButtonName
  var isPress: Bool

  /// Nil for other events, and for keys without a button.
  init?(_ event: UnsafeMutablePointer<GstEvent>) {
    guard case .key(let name, let isDown) = PointerEvent(event), let button = ButtonName(keyName: name) else {
      return nil
    }
    (self.button, isPress) = (button, isDown)
  }
}

extension ServedApps {
  /// Whether the driver may touch the video of an app.
  fileprivate func mayTouch(_ id: UInt8?) -> Bool {
    guard let app = id.flatMap({ self[$0] }), app.video != nil, let status = app.status else { return false }
    return status.level == .full && status.allowsVideo
  }
}

extension WindowInput {
  /// Nil for input that a finger can't make: keys, scrolling, and a mouse's other buttons.
  fileprivate init?(_ event: UnsafeMutablePointer<GstEvent>) {
    switch PointerEvent(event) {
    case .button(1, let isDown, let x, let y): self = isDown ? .press(x: x, y: y) : .release(x: x, y: y)
    case .move(let x, let y): self = .move(x: x, y: y)
    case .down(let id, let x, let y): self = .down(id, x: x, y: y)
    case .motion(let id, let x, let y): self = .motion(id, x: x, y: y)
    case .up(let id, let x, let y): self = .up(id, x: x, y: y)
    case .frame: self = .frame
    case .cancel: self = .cancel
    default: return nil
    }
  }
}
