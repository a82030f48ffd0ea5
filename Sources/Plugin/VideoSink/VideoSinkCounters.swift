import SDLApp
import SDLLink

/// What has become of the frames. Every frame that came in is in exactly one place, so that
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
  /// Of frames that were sent over RTP, which can't carry them.
  var nalUnitsLeftOut: UInt64 = 0
  var framesEncoded: UInt64 = 0
  /// Nanoseconds.
  var encodeTimeTotal: UInt64 = 0
  /// Nanoseconds.
  var encodeTimeMaximum: UInt64 = 0
  /// kbit/s.
  var bitrateTarget: UInt64 = 0
  /// Frames per second.
  var frameRateTarget = 0.0
  /// Of the present stream, or of the last one; nil before the first.
  var link: LinkReport?
  /// Pictures that were sent again while upstream was silent.
  var framesRepeated: UInt64 = 0
  var noticeFramesSent: UInt64 = 0
  /// Messages about fingers on the head unit's screen.
  var touches: UInt64 = 0
  /// Navigation events that were sent upstream because of them.
  var navigationEvents: UInt64 = 0
  /// Those of the app's connections.
  var app = AppCounters() {
    didSet { if app.connections != oldValue.connections { atRegistration = present } }
  }
  var stream = StreamCounters()
  var resizes: UInt64 = 0
  /// Frames that the base class dropped for lateness.
  var lateFrames = ResettingCounter()
  private(set) var bitrate = BitrateMeter()
  private var atRegistration = SessionCounters()

  func dropped(_ reason: FrameDropReason) -> UInt64 { dropped[reason.rawValue] }

  /// For any reason.
  var framesDropped: UInt64 { dropped.reduce(0, &+) }

  /// Those that a viewer may miss: without gaps, and without frames above the head unit's rate.
  var framesLost: UInt64 { framesDropped &- dropped(.frameRate) &- dropped(.noPicture) }

  mutating func frameArrived() {
    framesIn &+= 1
    framesQueued &+= 1
  }

  mutating func frameDropped(_ reason: FrameDropReason) {
    leaveQueue()
    dropped[reason.rawValue] &+= 1
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
  private mutating func leaveQueue() {
    if framesQueued > 0 { framesQueued -= 1 }
  }

  /// A payload of any kind was written completely.
  mutating func sent(byteCount: Int, isKeyFrame: Bool, at now: Duration) {
    if isKeyFrame { keyFramesSent &+= 1 }
    videoBytesSent &+= UInt64(clamping: byteCount)
    bitrate.add(byteCount: byteCount, at: now)
  }

  mutating func frameEncoded(in time: Duration) {
    let nanoseconds = UInt64(clamping: time.nanoseconds)
    framesEncoded &+= 1
    encodeTimeTotal &+= nanoseconds
    encodeTimeMaximum = max(encodeTimeMaximum, nanoseconds)
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

/// What has happened since the app was registered last.
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
    case .wrongSize: "frames-dropped-wrong-size"
    case .waitingForKeyFrame: "frames-dropped-waiting-for-key-frame"
    case .frameRate: "frames-dropped-frame-rate"
    case .discarded: "frames-dropped-discarded"
    case .noPicture: "frames-dropped-no-picture"
    }
  }
}
