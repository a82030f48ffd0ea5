import CX264

/// The rates of an encoder, which can change while it is open.
public struct EncoderRates: Equatable, Sendable {
  /// Target in kbit/s.
  public var bitrate: Int
  /// The rate of the pictures.
  public var frameRate: FrameRate
  /// The size of the decoder's buffer (VBV) that x264 assumes, in kbit, and thus the most that one picture may have; nil for
  /// 1.5 s of the bitrate, which suits key frames best. More than that is taken for nil, and less than one picture of the
  /// bitrate for one picture.
  public var bufferSize: Int?

  public init(bitrate: Int, frameRate: FrameRate, bufferSize: Int? = nil) {
    self.bitrate = bitrate
    self.frameRate = frameRate
    self.bufferSize = bufferSize
  }
}

/// Changes of the rates.
///
/// x264 counts pictures and ignores time. So another frame rate means another number of bits per picture, which x264
/// accepts without a key frame, and another distance between key frames, which is counted here. Only the frame rate in the
/// stream's headers, a hint for decoders, is then outdated until a new encoder is opened, best when ``isKeyFrameDue(at:)``.
extension X264Encoder {
  /// Changes the targets from the next picture on, without a key frame. Cheap enough to be called before each picture.
  ///
  /// - Throws: ``EncoderError/bitrateAboveLevel(requested:limit:)`` or
  ///   ``EncoderError/frameRateAboveLevel(requested:level:)`` when the stream's level does not allow them, and
  ///   ``EncoderError/invalidBitrate(_:)`` or ``EncoderError/invalidFrameRate(_:)``; the old rates then stay.
  public func setRates(_ rates: EncoderRates) throws(EncoderError) {
    var changed = settings
    changed.bitrate = rates.bitrate
    changed.frameRate = rates.frameRate
    try changed.validate()
    let parameters = scratch.parameters
    x264_encoder_parameters(encoder, parameters)
    if let level = Self.level(parameters.pointee.i_level_idc) {
      guard rates.bitrate <= level.bitrate else {
        throw .bitrateAboveLevel(requested: rates.bitrate, limit: Int(level.bitrate))
      }
      guard changed.macroblocksPerSecond <= level.mbps else {
        throw .frameRateAboveLevel(requested: rates.frameRate, level: Int(level.level_idc))
      }
    }
    // The bit rate that gives each picture its bits at the frame rate that x264 was opened with.
    let ratio = settings.frameRate.value / rates.frameRate.value
    let equivalent = Int(max((Double(rates.bitrate) * ratio).rounded(), 1))
    try EncoderSettings.validate(bitrate: equivalent)
    parameters.setRate(equivalent, bufferSize: changed.vbvBufferSize(rates))
    guard x264_encoder_reconfig(encoder, parameters) == 0 else { throw .reconfigurationFailed }
    self.rates = rates
  }

  /// The size of the VBV buffer that x264 uses, in kbit; that of new rates from their first picture on.
  public var bufferSize: Int {
    x264_encoder_parameters(encoder, scratch.parameters)
    return Int(scratch.parameters.pointee.rc.i_vbv_buffer_size)
  }

  /// The pictures from one key frame to the next; no more than x264 was opened with.
  var keyFrameDistance: Int {
    var changed = settings
    changed.frameRate = rates.frameRate
    return Int(changed.keyFrameDistance)
  }

  private static func level(_ indication: Int32) -> x264_level_t? {
    var level = cx264_levels()
    while let candidate = level, candidate.pointee.level_idc != 0 {
      if Int32(candidate.pointee.level_idc) == indication { return candidate.pointee }
      level = candidate + 1
    }
    return nil
  }
}

extension FrameRate {
  /// The rate as a floating-point number, if it is valid.
  public var value: Double { Double(numerator) / Double(denominator) }
}
