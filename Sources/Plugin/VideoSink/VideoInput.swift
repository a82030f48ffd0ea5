import GStreamerKit
import H264
import SDLApp
import X264Encoder

/// A key frame that upstream was asked for.
struct KeyFrameRequest {
  var time: Duration
  /// It has been too long, and the user was told.
  var isOverdue = false
}

/// When a frame is to be shown, as its buffer says; `GST_CLOCK_TIME_NONE` where it does not.
struct FrameTime {
  var presentation = UInt64.max
  var duration = UInt64.max

  init() {}

  init(of buffer: UnsafeMutablePointer<GstBuffer>) {
    presentation = UInt64(buffer.pointee.pts)
    duration = UInt64(buffer.pointee.duration)
  }
}

/// What is kept between frames. Only who has the ``FrameTurn`` touches it.
final class VideoInput {
  enum Format {
    case none
    case raw(GstVideoInfo)
    case h264
  }

  var format = Format.none
  var isRaw: Bool { if case .raw = format { true } else { false } }

  /// Of the frame at hand.
  var frameTime = FrameTime()

  let lastPicture = LastPicture()
  /// Makes the same of an H.264 stream.
  var repeatPicture = RepeatPicture()

  var encoder: X264Encoder?
  var encoderSettings: EncoderSettings?
  /// Stands in for a time stamp, which x264 wants to grow, whatever the buffers' do.
  var pictureNumber: Int64 = 0
  /// What the caps say; nil when they leave it open.
  var frameRate: Fraction?
  /// What the encoder was last told to aim at.
  var targets: EncoderTargets?
  var limiter = FrameRateLimiter()
  /// When to show the last picture, while it has been thinned out and nothing has come since.
  var unseen: Duration?
  /// When the alarm for one of those rings, or has rung.
  var unseenAlarm: Duration = .zero
  var rateMeter = FrameRateMeter()
  var hasWarnedAboutBitrate = false
  var hasWarnedAboutRate = false

  /// Start of the service that the last frame was for.
  var epoch: UInt32 = 0
  /// Start of the service that a frame was queued for last.
  var queuedEpoch: UInt32 = 0
  /// When the last frame was queued.
  var lastSent: Duration = .zero
  /// For a head unit that wants RTP.
  var rtp = RTPStream()
  /// The decoder can do nothing with a frame that depends on others.
  var needsKeyFrame = true
  /// Upstream has been asked for the key frame that is missing.
  var keyFrameRequest: KeyFrameRequest?
  /// Those of the H.264 input, for key frames that come without.
  var parameterSets = ParameterSets()
  /// The size that they tell.
  var encodedSize: VideoSize?

  var mismatch: SizeMismatch?

  /// What can be touched in the frame at hand.
  var regions = FrameRegions()
  /// The user was told that there are too many.
  var hasWarnedOfRegions = false

  /// Whether upstream is live; nil when not asked yet.
  var isLive: Bool?
  var timeShift: TimeShift?

  /// What the application wishes for raw video, while H.264 does without.
  var savedLateness: (maximum: Int, isQoSEnabled: gboolean)?

  /// Forgets the stream, for a new one.
  func reset() {
    lastPicture.forget()
    repeatPicture = RepeatPicture()
    format = .none
    closeEncoder()
    frameRate = nil
    targets = nil
    limiter.reset()
    unseen = nil
    rateMeter = FrameRateMeter()
    hasWarnedAboutBitrate = false
    hasWarnedAboutRate = false
    epoch = 0
    queuedEpoch = 0
    rtp.forgetService()
    needsKeyFrame = true
    keyFrameRequest = nil
    parameterSets = ParameterSets()
    encodedSize = nil
    mismatch = nil
    regions = FrameRegions()
    hasWarnedOfRegions = false
    isLive = nil
  }

  func closeEncoder() {
    encoder = nil
    encoderSettings = nil
  }
}
