import GStreamerKit
import SDLApp
import X264Encoder

/// Counters of frames. Every frame that the base class passes on is in exactly one counter, so that
/// `framesIn == framesSent + framesUnchanged + all of dropped + framesQueued` holds at any moment.
struct VideoSinkCounters {
  private(set) var framesIn: UInt64 = 0
  private(set) var framesSent: UInt64 = 0
  /// Not sent, since the decoder shows the same picture already.
  private(set) var framesUnchanged: UInt64 = 0
  /// In the element: being encoded, waiting in the queue, or being written.
  private(set) var framesQueued: UInt64 = 0
  private var dropped = [UInt64](repeating: 0, count: FrameDropReason.allCases.count)
  private(set) var keyFramesSent: UInt64 = 0
  /// Without SDL headers.
  private(set) var videoBytesSent: UInt64 = 0
  var keyFramesForced: UInt64 = 0
  /// NAL units of frames sent over RTP, which can't carry them.
  var nalUnitsLeftOut: UInt64 = 0
  private(set) var encodings = EncodeTimes()
  /// The last targets of the encoder; nil before it was opened.
  var rates: EncoderRates?
  /// The link of the present stream, or of the last one; nil before the first.
  var link: LinkReport?
  /// Pictures that were sent again while upstream was silent.
  var framesRepeated: UInt64 = 0
  var noticeFramesSent: UInt64 = 0
  /// Messages about fingers on the head unit's screen.
  var touches: UInt64 = 0
  /// Messages about buttons of the car.
  var buttons: UInt64 = 0
  /// Navigation events that were sent upstream for both.
  var navigationEvents: UInt64 = 0
  var app = AppCounters() {
    didSet { if app.connections != oldValue.connections { atRegistration = present } }
  }
  var stream = StreamCounters()
  var resizes: UInt64 = 0
  /// Frames that the base class has dropped, because the application has set `max-lateness`.
  var lateFrames = ResettingCounter()
  private(set) var bitrate = BitrateMeter()
  private var atRegistration = SessionCounters()

  func dropped(_ reason: FrameDropReason) -> UInt64 { dropped[reason.rawValue] }

  /// For any reason.
  var framesDropped: UInt64 { dropped.reduce(0, &+) }

  /// Lost frames that a viewer may miss: without gaps, and without frames above the head unit's rate.
  var framesLost: UInt64 { framesDropped &- dropped(.frameRate) &- dropped(.noPicture) }

  mutating func frameArrived() {
    framesIn &+= 1
    framesQueued &+= 1
  }

  mutating func frameDropped(_ reason: FrameDropReason, count: UInt64 = 1) {
    leaveQueue(count)
    dropped[reason.rawValue] &+= count
  }

  mutating func frameSent() {
    leaveQueue()
    framesSent &+= 1
  }

  mutating func frameUnchanged() {
    leaveQueue()
    framesUnchanged &+= 1
  }

  /// Does not trap: a wrong counter must not end the application.
  private mutating func leaveQueue(_ count: UInt64 = 1) {
    framesQueued -= min(count, framesQueued)
  }

  /// A payload of any kind was written completely.
  mutating func sent(byteCount: Int, isKeyFrame: Bool, at now: Duration) {
    if isKeyFrame { keyFramesSent &+= 1 }
    videoBytesSent &+= UInt64(clamping: byteCount)
    bitrate.add(byteCount: byteCount, at: now)
  }

  mutating func encoded(_ encoding: FramePayload.Encoding) {
    encodings.add(encoding.time)
    if encoding.isForced { keyFramesForced &+= 1 }
  }

  private var present: SessionCounters {
    SessionCounters(
      framesIn: framesIn &+ lateFrames.total, framesSent: framesSent, framesUnchanged: framesUnchanged,
      framesDropped: framesDropped &+ lateFrames.total, videoBytesSent: videoBytesSent)
  }

  /// Since the last registration.
  var session: SessionCounters {
    let now = present
    return SessionCounters(
      framesIn: now.framesIn &- atRegistration.framesIn, framesSent: now.framesSent &- atRegistration.framesSent,
      framesUnchanged: now.framesUnchanged &- atRegistration.framesUnchanged,
      framesDropped: now.framesDropped &- atRegistration.framesDropped,
      videoBytesSent: now.videoBytesSent &- atRegistration.videoBytesSent)
  }
}

/// The counts since the app was registered last.
struct SessionCounters: Equatable {
  var framesIn: UInt64 = 0
  var framesSent: UInt64 = 0
  var framesUnchanged: UInt64 = 0
  var framesDropped: UInt64 = 0
  var videoBytesSent: UInt64 = 0
}

/// The total of a counter that its owner resets now and then.
struct ResettingCounter: Equatable {
  private var former: UInt64 = 0
  private var last: UInt64 = 0

  var total: UInt64 { former &+ last }

  /// Notes the present value of that counter. To be called before each reset; more often does no harm.
  mutating func observe(_ value: UInt64) {
    if value < last { former &+= last }
    last = value
  }
}

extension FrameDropReason {
  /// Field of `sdl-stats`.
  var field: String {
    switch self {
    case .notStreaming: "frames-dropped-not-streaming"
    case .suspended: "frames-dropped-suspended"
    case .queueFull: "frames-dropped-queue-full"
    case .latency: "frames-dropped-latency"
    case .late: "frames-dropped-late"
    case .wrongSize: "frames-dropped-wrong-size"
    case .waitingForKeyFrame: "frames-dropped-waiting-for-key-frame"
    case .frameRate: "frames-dropped-frame-rate"
    case .discarded: "frames-dropped-discarded"
    case .noPicture: "frames-dropped-no-picture"
    }
  }
}

/// How long pictures took to be encoded, in nanoseconds.
struct EncodeTimes {
  private(set) var count: UInt64 = 0
  private var total: UInt64 = 0
  private(set) var maximum: UInt64 = 0

  var average: UInt64 { count == 0 ? 0 : total / count }

  mutating func add(_ time: Duration) {
    let nanoseconds = UInt64(clamping: time.nanoseconds)
    count &+= 1
    total &+= nanoseconds
    maximum = max(maximum, nanoseconds)
  }
}

/// Measures the sent bytes, over a second at a time.
struct BitrateMeter {
  private static let window = Duration.seconds(1)

  private var began: Duration = .zero
  private var byteCount = 0
  private var measured: UInt64 = 0

  mutating func add(byteCount: Int, at now: Duration) {
    let elapsed = now - began
    if elapsed >= Self.window {
      measured = elapsed < Self.window * 2 ? Self.rate(self.byteCount, over: elapsed) : 0
      began = now
      self.byteCount = 0
    }
    self.byteCount += byteCount
  }

  /// kbit/s of the last full second; 0 when nothing has been sent for two.
  func value(at now: Duration) -> UInt64 { now - began < Self.window * 2 ? measured : 0 }

  private static func rate(_ byteCount: Int, over time: Duration) -> UInt64 {
    let microseconds = max(time.nanoseconds / 1000, 1)
    return UInt64(clamping: byteCount) * 8000 / UInt64(clamping: microseconds)
  }
}

/// The property `sdl-stats`.
extension VideoSink {
  /// Valid in every state.
  func statistics() -> Structure {
    let late = countLateFrames()
    // The counters first: a suspension that ends meanwhile could seem longer than it was otherwise.
    let (counters, link, now) = runs.readWithConnection { link in
      let (counters, now) = state.withLock { ($0.counters, time.now) }
      return (counters, link, now)
    }
    let structure = Structure("application/x-sdl-stats")
    structure.set("frames-in", counters.framesIn + late)
    structure.set("frames-sent", counters.framesSent)
    structure.set("frames-unchanged", counters.framesUnchanged)
    structure.set("frames-queued", counters.framesQueued)
    for reason in FrameDropReason.allCases {
      structure.set(reason.field, counters.dropped(reason))
    }
    structure.set(FrameDropReason.late.field, counters.dropped(.late) + late)
    structure.set("frames-repeated", counters.framesRepeated)
    structure.set("notice-frames-sent", counters.noticeFramesSent)
    structure.set("frames-encoded", counters.encodings.count)
    structure.set("key-frames-sent", counters.keyFramesSent)
    structure.set("key-frames-forced", counters.keyFramesForced)
    structure.set("nal-units-left-out", counters.nalUnitsLeftOut)
    structure.set(
      "encode-time-average-ns",
      counters.encodings.average)
    structure.set("encode-time-maximum-ns", counters.encodings.maximum)
    structure.set("queue-frames", UInt64(clamping: link?.video.queuedFrames ?? 0))
    structure.set("queue-bytes", UInt64(clamping: link?.video.queuedByteCount ?? 0))
    structure.set("queue-dwell-last-ns", nanoseconds(link?.video.lastDwellTime))
    structure.set("queue-dwell-maximum-ns", nanoseconds(link?.video.longestDwellTime))
    structure.set("bitrate-target-kbps", UInt64(clamping: counters.rates?.bitrate ?? 0))
    structure.set("framerate-target", counters.rates?.frameRate.value ?? 0)
    structure.set("bitrate-measured-kbps", counters.bitrate.value(at: now))
    structure.set("bitrate-reason", counters.link?.reason?.name ?? "")
    structure.set("link-capacity-kbps", UInt64(clamping: counters.link?.capacity ?? 0))
    structure.set("link-delay-ns", nanoseconds(counters.link?.delay))
    structure.set("bytes-sent", counters.app.formerBytesSent &+ (link?.sentByteCount ?? 0))
    structure.set("video-bytes-sent", counters.videoBytesSent)
    counters.app.fill(structure)
    counters.stream.fill(structure, now: now)
    structure.set("resizes", counters.resizes)
    structure.set("touches", counters.touches)
    structure.set("buttons", counters.buttons)
    structure.set("navigation-events", counters.navigationEvents)
    structure.set("last-error", counters.app.lastError ?? "")
    structure.set("session-frames-in", counters.session.framesIn)
    structure.set("session-frames-sent", counters.session.framesSent)
    structure.set("session-frames-unchanged", counters.session.framesUnchanged)
    structure.set("session-frames-dropped", counters.session.framesDropped)
    structure.set("session-video-bytes-sent", counters.session.videoBytesSent)
    return structure
  }

  private func nanoseconds(_ time: Duration?) -> UInt64 {
    UInt64(clamping: (time ?? .zero).nanoseconds)
  }

  /// Frames that the base class has dropped, by the application's `max-lateness`. It forgets them when a state changes,
  /// so this is called before.
  @discardableResult
  func countLateFrames() -> UInt64 {
    guard let statistics = gst_base_sink_get_stats(baseSink) else { return 0 }
    defer { gst_structure_free(statistics) }
    var count: guint64 = 0
    gst_structure_get_uint64(statistics, "dropped", &count)
    return state.withLock { state in
      state.counters.lateFrames.observe(UInt64(count))
      return state.counters.lateFrames.total
    }
  }
}
