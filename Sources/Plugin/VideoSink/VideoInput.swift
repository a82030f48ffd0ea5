import GStreamerKit
import SDLApp
import X264Encoder

/// A key frame that upstream was asked for.
struct KeyFrameRequest {
  var time: Duration
  /// It has been too long, and the user was told.
  var isOverdue = false
}

/// What the streaming thread keeps between frames.
final class VideoInput {
  enum Format {
    case none
    case raw(GstVideoInfo)
    case h264
  }

  var format = Format.none
  var isRaw: Bool { if case .raw = format { true } else { false } }

  var encoder: X264Encoder?
  var encoderSettings: EncoderSettings?
  /// Stands in for a time stamp, which x264 wants to grow, whatever the buffers' do.
  var pictureNumber: Int64 = 0
  var limiter = FrameRateLimiter()

  /// Start of the service that the last frame was for.
  var epoch: UInt32 = 0
  /// When the last frame was sent, or tried to be.
  var lastSent: Duration = .zero
  /// The decoder can do nothing with a frame that depends on others.
  var needsKeyFrame = true
  /// Upstream has been asked for the key frame that is missing.
  var keyFrameRequest: KeyFrameRequest?
  /// Those of the H.264 input, for key frames that come without.
  var parameterSets = ParameterSets()

  /// Since when frames come in a size that the head unit does not take, and how many.
  var mismatch: (since: Duration, frames: Int)?

  /// Whether upstream is live; nil when not asked yet.
  var isLive: Bool?
  /// How much the sink has held the stream up while it waited for the driver, in nanoseconds.
  var heldTime = 0

  var isLatenessUnlimited = false
  var savedMaximumLateness = -1
  var savedQoS: gboolean = 0

  /// Forgets the stream, for a new one.
  func reset() {
    format = .none
    closeEncoder()
    limiter.reset()
    epoch = 0
    needsKeyFrame = true
    keyFrameRequest = nil
    parameterSets = ParameterSets()
    mismatch = nil
    isLive = nil
  }

  func closeEncoder() {
    encoder = nil
    encoderSettings = nil
  }
}
