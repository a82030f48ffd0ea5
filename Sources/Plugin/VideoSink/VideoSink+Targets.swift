import GStreamerKit
import SDLApp
import X264Encoder

/// What the encoder aims at, and what follows when that changes.
extension VideoSink {
  /// For pictures of the input's size; whatever has changed since the last frame is in it.
  func encoderTargets() -> EncoderTargets {
    let wish = settings.withLock { $0.encoderPreferences }
    return state.withLock { state in
      EncoderTargets(preferences: wish, limits: state.encoderLimits, size: state.inputSize ?? VideoSize(0, 0))
    }
  }

  /// On the streaming thread, with each raw picture.
  func follow(_ targets: EncoderTargets) {
    guard targets != input.targets else { return }
    let former = input.targets
    input.targets = targets
    log(GST_LEVEL_INFO, "aiming at \(targets.bitrate) kbit/s and \(targets.frameRate) frames per second")
    if let doubt = targets.implausibleBitrate, doubt != former?.implausibleBitrate { tell(doubt, targets) }
    // What is too fast is thinned out without disturbing upstream; only upstream itself can be faster again.
    if let former, former.frameRate < targets.frameRate, let rate = input.frameRate, rate < targets.frameRate {
      gst_pad_push_event(cgst_base_sink_pad(element), gst_event_new_reconfigure())
    }
  }

  private func tell(_ doubt: ImplausibleBitrate, _ targets: EncoderTargets) {
    let reason =
      doubt.uncompressed < doubt.announced
      ? "but even uncompressed its pictures need only \(doubt.uncompressed)" : "which its connection can hardly carry"
    let text =
      "The head unit says that it takes \(doubt.announced) kbit/s, \(reason): it probably means bit/s."
    guard doubt.isConsequential, !input.hasWarnedAboutBitrate else { return log(GST_LEVEL_WARNING, text) }
    input.hasWarnedAboutBitrate = true
    warn(
      .stream(GST_STREAM_ERROR_FORMAT, "\(text) Using \(targets.bitrate) kbit/s; the property bitrate sets another."))
  }

  /// On the streaming thread, with each H.264 frame: what is too fast can't be thinned out, since frames depend on each
  /// other.
  func watchRate(at time: UInt64) {
    guard !input.hasWarnedAboutRate else { return }
    let measured = input.rateMeter.observe(time)
    guard let rate = input.frameRate?.value ?? measured else { return }
    let wish = settings.withLock { $0.maxFrameRate }
    let announced = state.withLock { $0.encoderLimits.preferredFrameRate }
    let limit = EncoderTargets.frameRate(preferred: wish, announced: announced)
    guard wish != nil || announced != nil, rate > limit.value * Self.rateTolerance else { return }
    input.hasWarnedAboutRate = true
    let told = Fraction(Int((rate * 1000).rounded()), 1000) ?? limit
    warn(
      .stream(
        GST_STREAM_ERROR_FORMAT,
        "The H.264 stream has \(told) frames per second, but \(limit) are wished for: all are sent, since H.264 can't be thinned out. Encode it at the lower rate, or leave the encoding to sdlvideosink."
      ))
  }

  private static let rateTolerance = 1.05
}

extension FrameRate {
  init(_ fraction: Fraction) {
    self.init(numerator: fraction.numerator, denominator: fraction.denominator)
  }
}
