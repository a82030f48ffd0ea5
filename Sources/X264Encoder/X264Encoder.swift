import CX264

/// One encoded picture, parameter sets included.
public struct EncodedAccessUnit {
  /// NAL units with four-byte start codes, one after the other; valid until the next call to the encoder.
  public let bytes: UnsafeRawBufferPointer
  /// Whether the picture is an IDR picture; it then begins with its parameter sets.
  public let isKeyFrame: Bool
  /// What the picture was given to the encoder with.
  public let timestamp: Int64
}

/// libx264 for a live stream to a head unit: H.264 constrained baseline, one access unit out for each picture in.
///
/// Not for use by two threads at once. x264 puts its version into the first access unit as a message of about 700
/// bytes after the parameter sets; its API has no switch for that.
public final class X264Encoder {
  public let settings: EncoderSettings
  private let encoder: OpaquePointer
  private let log: EncoderLog
  /// Kept here so that encoding allocates nothing.
  private let scratch: Scratch

  /// Opens x264.
  ///
  /// - Parameter logLevel: messages less serious than this are not even put together.
  /// - Throws: ``EncoderError`` when a setting or an option is impossible or x264 does not open.
  public init(
    settings: EncoderSettings, logLevel: LogLevel = .info, log handler: @escaping LogHandler
  ) throws(EncoderError) {
    try settings.validate()
    let log = EncoderLog(handler: handler)
    let parameters = try EncoderParameters(preset: settings.speedPreset)
    try parameters.apply(optionString: settings.optionString)
    parameters.apply(settings)
    log.install(in: parameters.pointer, level: logLevel)
    guard let encoder = cx264_encoder_open(parameters.pointer) else {
      throw .openFailed(log.lastError ?? "it does not say why.")
    }
    let scratch = Scratch(pixelFormat: settings.pixelFormat)
    do throws(EncoderError) {
      try Self.verify(encoder, settings: settings, using: scratch.parameters)
    } catch {
      x264_encoder_close(encoder)
      throw error
    }
    self.settings = settings
    self.encoder = encoder
    self.log = log
    self.scratch = scratch
  }

  deinit {
    x264_encoder_close(encoder)
  }

  /// Checks an option string without opening an encoder, so that it can be refused where it is set.
  ///
  /// - Throws: ``EncoderError/unknownOption(name:)``, ``EncoderError/badOptionValue(name:value:)`` or
  ///   ``EncoderError/forbiddenOption(name:reason:)``.
  public static func validate(optionString: String) throws(EncoderError) {
    try EncoderParameters(preset: .none).apply(optionString: optionString)
  }

  /// Encodes one picture; x264 is done with `planes` on return.
  ///
  /// - Parameters:
  ///   - timestamp: comes back with the access unit; x264 itself counts frames.
  ///   - forceKeyFrame: makes this picture an IDR picture and starts a new key-frame interval.
  public func encode(
    _ planes: Planes, timestamp: Int64, forceKeyFrame: Bool = false
  ) throws(EncoderError) -> EncodedAccessUnit {
    let input = scratch.input
    try planes.describe(in: &input.pointee.img, settings: settings)
    input.pointee.i_pts = timestamp
    input.pointee.i_type = forceKeyFrame ? X264_TYPE_IDR : X264_TYPE_AUTO
    var units: UnsafeMutablePointer<x264_nal_t>?
    var unitCount: Int32 = 0
    let byteCount = x264_encoder_encode(encoder, &units, &unitCount, input, scratch.output)
    // Without delayed frames there is always a unit; its NAL units lie one after the other.
    guard byteCount > 0, let units, unitCount > 0 else { throw .encodingFailed }
    return EncodedAccessUnit(
      bytes: UnsafeRawBufferPointer(start: units.pointee.p_payload, count: Int(byteCount)),
      isKeyFrame: scratch.output.pointee.b_keyframe != 0,
      timestamp: scratch.output.pointee.i_pts)
  }

  /// Changes the target from the next picture on, without a key frame.
  ///
  /// - Parameter bitrate: kbit/s.
  /// - Throws: ``EncoderError/bitrateAboveLevel(requested:limit:)`` when the stream's headers promise less; the old
  ///   rate then stays.
  public func setBitrate(_ bitrate: Int) throws(EncoderError) {
    try EncoderSettings.validate(bitrate: bitrate)
    let parameters = scratch.parameters
    x264_encoder_parameters(encoder, parameters)
    if let limit = Self.maximumBitrate(levelIndication: parameters.pointee.i_level_idc), bitrate > limit {
      throw .bitrateAboveLevel(requested: bitrate, limit: limit)
    }
    parameters.setRate(bitrate, settings: settings)
    guard x264_encoder_reconfig(encoder, parameters) == 0 else { throw .reconfigurationFailed }
  }

  /// Looks at what x264 made of the parameters: it corrects some of them in silence.
  private static func verify(
    _ encoder: OpaquePointer, settings: EncoderSettings, using parameters: UnsafeMutablePointer<x264_param_t>
  ) throws(EncoderError) {
    x264_encoder_parameters(encoder, parameters)
    if let reason = StreamRule.violation(of: StreamRule.afterOpening, in: parameters) {
      throw .unexpectedParameters(reason: reason)
    }
    guard x264_encoder_maximum_delayed_frames(encoder) == 0 else {
      throw .unexpectedParameters(reason: "they delay pictures")
    }
  }

  private static func maximumBitrate(levelIndication: Int32) -> Int? {
    var level = cx264_levels()
    while let candidate = level, candidate.pointee.level_idc != 0 {
      if Int32(candidate.pointee.level_idc) == levelIndication {
        return Int(candidate.pointee.bitrate)
      }
      level = candidate + 1
    }
    return nil
  }
}
