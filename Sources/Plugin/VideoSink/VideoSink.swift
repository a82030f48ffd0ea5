import GStreamerKit
import SDLApp
import SDLLink
import Synchronization
import X264Encoder

/// The implementation of one `sdlvideosink`: a GstBaseSink that encodes raw video, or takes H.264 as it is, and sends
/// it to a head unit.
///
/// It owns the objects that live as long as the element (settings, counters), or as a state: the app from NULL→READY
/// on, the stream from READY→PAUSED on.
///
/// It derives from GstBaseSink and not from GstVideoSink, which is made for raw video: that drops late frames, but
/// frames of H.264, which depend on each other, must not be dropped.
///
/// Locks, outermost first: the pad's stream lock (taken by GStreamer) → the frame path (``PathAccess``, no lock) →
/// `runs` → the app's state → `state`, whose lock is also that of the stream's
/// → those of notifications, touches, haptic
/// rectangles and notice, `settings`, the connection. None of ours is held while calling GStreamer or waiting.
final class VideoSink: AppElement {
  // Unowned: the instance frees this object in finalize, after the connection's threads have been joined.
  nonisolated(unsafe) let baseSink: UnsafeMutablePointer<GstBaseSink>

  let settings = ElementSettings(VideoSinkSettings())
  /// The lock of ``state`` and of the negotiation of each stream, so that a frame is decided on and counted at once.
  let lock = MonitorLock()
  let state: Monitor<FrameState>
  let runs = SinkRuns<VideoStream>()
  /// The application has been warned that the head unit's policy gives the app no touches.
  let hasWarnedOfTouches = Atomic(false)
  let time: TimeSource

  static let log = LogCategory("sdlvideosink", "SmartDeviceLink video sink")

  init(_ baseSink: UnsafeMutablePointer<GstBaseSink>, time: TimeSource = .monotonic) {
    self.baseSink = baseSink
    self.time = time
    state = Monitor(FrameState(), lock: lock)
  }

  var service: StreamService { .video }

  func countApp(_ change: (inout AppCounters) -> Void) {
    // A registration starts the counters of a session, which do not include late frames from before it.
    countLateFrames()
    count { change(&$0.app) }
  }

  func countStream(_ change: (inout StreamCounters) -> Void) {
    count { change(&$0.stream) }
  }

  func count(_ change: (inout VideoSinkCounters) -> Void) {
    state.withLock { change(&$0.counters) }
  }

  var counters: VideoSinkCounters { state.withLock { $0.counters } }

  /// A difference from GstBaseSink's defaults: no time is reserved for processing, because a frame is encoded after the
  /// wait for its time. Upstream is told when frames are late; they are dropped here, since only raw pictures may be.
  private func configureBaseSink() {
    gst_base_sink_set_processing_deadline(baseSink, 0)
    gst_base_sink_set_qos_enabled(baseSink, 1)
    gst_base_sink_set_max_lateness(baseSink, -1)
  }

  /// The encoder of raw pictures; nil if there is none.
  var encoderChoice: EncoderChoice? {
    stream?.nextEncoder.withLock { $0 } ?? settings.withLock { $0.encoder }.choice
  }

  func checkBeforeStart(_ settings: VideoSinkSettings) throws(ElementError) {
    try settings.encoder.check()
  }

  func areFormatsKnown(_ session: AppSession.Status) -> Bool { session.videoCapability != nil }

  func makeStream(_ app: AppClient, _ settings: VideoSinkSettings) -> VideoStream {
    VideoStream(sink: self, app: app, settings: settings)
  }

  func keepCounters() {
    countLateFrames()
  }
}

/// What a frame needs of the base class.
extension VideoSink {
  /// Tells the application that a frame is lost (GStreamer's design document on QoS).
  func postQoS(_ time: FrameTime, isLive: Bool) {
    let streamTime = withUnsafePointer(to: baseSink.pointee.segment) { segment in
      segment.pointee.format == GST_FORMAT_TIME
        ? gst_segment_to_stream_time(segment, GST_FORMAT_TIME, guint64(time.presentation)) : guint64.max
    }
    let (processed, dropped) = state.withLock {
      ($0.counters.framesSent &+ $0.counters.framesUnchanged, $0.counters.framesDropped)
    }
    let message = gst_message_new_qos(
      gstElement.cast(), isLive ? 1 : 0, guint64(runningTime(of: GstClockTime(time.presentation))), streamTime,
      guint64(time.presentation), guint64(time.duration))
    gst_message_set_qos_stats(message, GST_FORMAT_BUFFERS, guint64(processed), guint64(dropped))
    post(message)
  }
}

/// Reports to upstream and the application.
extension VideoSink {
  /// Asks upstream for a key frame. Without locks; upstream's reaction may come on this thread.
  func requestKeyFrame() {
    count { $0.keyFramesForced &+= 1 }
    log(GST_LEVEL_INFO, "asking upstream for a key frame")
    Event(owning: gst_video_event_new_upstream_force_key_unit(.max, 1, 0))?.push(on: pad)
  }

  var targetBitrate: UInt32 {
    if let link = state.withLock({ $0.counters.link }) { return UInt32(clamping: max(link.bitrate, 1)) }
    let bitrate = settings.withLock { $0.bitrate }
    return bitrate > 0 ? bitrate : UInt32(EncoderTargets.defaultBitrate)
  }

  /// Tells the application. Without locks.
  func announce(_ report: LinkReport, after former: LinkReport?) {
    if report.bitrate != former?.bitrate { notify(.targetBitrate) }
    if former != nil, report.reason != nil { postBitrate(report) }
  }

  /// An encoder element has been made, and is about to start: the application may set its properties.
  func setUpEncoder(_ element: UnsafeMutablePointer<GstElement>) {
    Self.encoderSetup.emit(self, element)
  }

  private static let encoderSetup = ElementSignal("encoder-setup")

  func hapticRectanglesChanged() {
    stream?.applyHapticRectangles()
    let count = settings.withLock { $0.hapticRectangles?.count ?? 0 }
    if count > SendHapticData.maximumCount { warn(HapticRegions.tooMany("The property haptic-rectangles has")) }
  }

  /// A property has changed that the next touch depends on.
  func touchSettingsChanged() {
    stream?.touches.applySettings()
  }

  /// The property `video-direction` has changed.
  func directionChanged() {
    if let stream { stream.turnChanged() } else { frameSettingsChanged() }
  }

  /// How raw pictures are turned.
  var turn: PictureTurn { state.withLock { $0.settings.turn } }

  /// A property has changed that the next frame depends on.
  func frameSettingsChanged() {
    state.withLock { $0.settings = settings.withLock { $0.frames } }
  }
}

/// Events that the application sends.
extension VideoSink {
  /// An application asks for a key frame with an event that it sends to the sink. For raw video, which is encoded here,
  /// it ends here; for H.264 it continues upstream, to the encoder.
  func sendEvent(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    let isKeyFrameRequest =
      event.pointee.type == GST_EVENT_CUSTOM_UPSTREAM && gst_video_event_is_force_key_unit(event) != 0
    if isKeyFrameRequest, let stream, stream.isInputRaw {
      stream.keyFrameRequest.raise()
      gst_event_unref(event)
      return true
    }
    return sendParentEvent(event)
  }
}

extension VideoSink {
  static let type: GType = {
    let type = BaseSinkType.register("GstSdlVideoSink") { sinkClass, _ in
      // Registers the debug categories, which GST_DEBUG help then lists.
      _ = (VideoSink.log, ProtocolLog.category)
      BaseSinkType.install(on: sinkClass, VideoSink.properties, VideoSink.details, ActionSignal.app)
      encoderSetup.install(on: sinkClass)
    } initInstance: { instance, _ in
      let sink = VideoSink(BaseSinkType.parent(of: instance))
      sink.configureBaseSink()
      BaseSinkType.begin(instance, with: sink)
    }
    // Settings with names, from files such as GstSdlVideoSink.prs.
    var presets = GInterfaceInfo()
    g_type_add_interface_static(type, gst_preset_get_type(), &presets)
    // Its property is one of the table's.
    var direction = GInterfaceInfo()
    g_type_add_interface_static(type, gst_video_direction_get_type(), &direction)
    URIHandler.add(to: type) { interface, _ in
      guard let interface = interface?.assumingMemoryBound(to: GstURIHandlerInterface.self) else { return }
      interface.pointee.get_type = { _ in GST_URI_SINK }
      interface.pointee.get_protocols = { _ in VideoSink.schemes }
      interface.pointee.get_uri = { VideoSink.of($0)?.settings.withLock { $0.app.uri }.map { g_strdup($0) } }
      interface.pointee.set_uri = { instance, uri, error in
        guard let uri, let sink = VideoSink.of(instance) else { return 0 }
        return sink.takeURI(String(cString: uri), error) ? 1 : 0
      }
    }
    return type
  }()

  nonisolated(unsafe) private static let schemes = URIHandler.schemes(
    "sdl", "sdl+bluetooth", "sdl+builtin", "sdl+fd", "sdl+ws", "sdl+ws-listen", "sdl+wss", "sdl+wss-listen")

  static func of(_ instance: OpaquePointer?) -> VideoSink? {
    BaseSinkType.object(of: UnsafeMutableRawPointer(instance)).sink as? VideoSink
  }

  /// Sizes are at least 16×16, because of the encoder and the macroblocks of the head unit. Sides must also be even,
  /// but ranges with steps end the process in gst_caps_simplify, which other elements call. Profiles have 8 bits and
  /// 4:2:0: head units decode nothing else.
  private static let details: ElementDetails = {
    let size = "width = (int) [ 16, 8192 ], height = (int) [ 16, 8192 ], framerate = (fraction) [ 0, MAX ]"
    let profile =
      "profile = (string) { constrained-baseline, baseline, main, constrained-high, progressive-high, high }"
    return ElementDetails(
      "SmartDeviceLink Video Sink", "Sink/Video/Network",
      "Shows video on the screen of a car with a SmartDeviceLink head unit",
      .sink(
        "video/x-raw, format = (string) { I420, YV12, NV12, NV21 }, \(size); "
          + "video/x-h264, stream-format = (string) byte-stream, alignment = (string) au, \(profile); "
          + "video/x-h264, stream-format = (string) { avc, avc3 }, alignment = (string) au, \(profile)"))
  }()
}

/// GstBaseSink's virtual functions; without a stream they do nothing.
extension VideoSink {
  func rejectionReason(of caps: UnsafeMutablePointer<GstCaps>) -> ElementError? { InputCaps.rejectionReason(of: caps) }

  func proposeAllocation(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    gst_query_add_allocation_meta(query, gst_video_meta_api_get_type(), nil)
    gst_query_add_allocation_meta(query, gst_video_region_of_interest_meta_api_get_type(), nil)
    return true
  }

  func wait(for event: UnsafeMutablePointer<GstEvent>) -> GstFlowReturn {
    stream.map { $0.renderer.wait(for: event, $0) } ?? GST_FLOW_FLUSHING
  }

  /// The base class waits for the decoding time, if there is one, since a decoder needs reference pictures in time; but a
  /// key frame alone is shown as soon as it is decoded.
  func getTimes(of buffer: UnsafeMutablePointer<GstBuffer>, _ start: inout GstClockTime, _ end: inout GstClockTime) {
    let (time, duration) = (buffer.pointee.pts, buffer.pointee.duration)
    if time != .max, let stream = runs.onPad { stream.renderer.frameWaits(until: time, stream) }
    guard time != .max, SegmentPlace.showsOnlyKeyFrames(baseSink.pointee.segment) else {
      return getParentTimes(of: buffer, &start, &end)
    }
    start = time
    if duration != .max { end = time &+ duration }
  }

  func preroll(with buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn {
    runs.onPad.map { $0.renderer.preroll(with: buffer, $0) } ?? GST_FLOW_FLUSHING
  }

  func render(_ buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn {
    runs.onPad.map { $0.renderer.render(buffer, $0) } ?? GST_FLOW_FLUSHING
  }
}
