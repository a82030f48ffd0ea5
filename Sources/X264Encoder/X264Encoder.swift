import CX264

/// One encoded picture, parameter sets included.
public struct EncodedAccessUnit {
  /// NAL units with four-byte start codes, one after the other; valid until the next call to the encoder.
  public let bytes: UnsafeRawBufferPointer
  /// Whether the picture is an IDR picture; it then begins with its parameter sets.
  public let isKeyFrame: Bool
  /// The timestamp that was passed with the picture.
  public let timestamp: Int64
}

/// libx264 for a live stream to a head unit: H.264 constrained baseline, one access unit out for each picture in.
///
/// Not for use by two threads at once. Bit rate and frame rate may change between pictures. x264 puts a message of about
/// 700 bytes with its version into the first access unit, after the parameter sets; its API has no switch for that.
public final class X264Encoder {
  /// The settings that it was opened with, and that the stream's headers describe.
  public let settings: EncoderSettings
  /// The present target rates.
  public internal(set) var rates: EncoderRates
  let encoder: OpaquePointer
  private let log: EncoderLog
  /// Allocated once, so that encoding allocates nothing.
  let scratch: Scratch
  /// The number of pictures since the last key frame, which counts as one.
  private var picturesSinceKeyFrame = 0

  /// Opens x264.
  ///
  /// - Parameter logLevel: messages below this level are not formatted.
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
      throw .openFailed(log.lastError ?? "it gives no reason.")
    }
    let scratch = Scratch(pixelFormat: settings.pixelFormat)
    do throws(EncoderError) {
      try Self.verify(encoder, settings: settings, using: scratch.parameters)
    } catch {
      x264_encoder_close(encoder)
      throw error
    }
    self.settings = settings
    rates = EncoderRates(bitrate: settings.bitrate, frameRate: settings.frameRate)
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
    input.pointee.i_type = forceKeyFrame || isKeyFrameDue ? X264_TYPE_IDR : X264_TYPE_AUTO
    var units: UnsafeMutablePointer<x264_nal_t>?
    var unitCount: Int32 = 0
    let byteCount = x264_encoder_encode(encoder, &units, &unitCount, input, scratch.output)
    // Without delayed frames there is always a unit; its NAL units lie one after the other.
    guard byteCount > 0, let units, unitCount > 0 else { throw .encodingFailed }
    let isKeyFrame = scratch.output.pointee.b_keyframe != 0
    picturesSinceKeyFrame = isKeyFrame ? 1 : picturesSinceKeyFrame &+ 1
    return EncodedAccessUnit(
      bytes: UnsafeRawBufferPointer(start: units.pointee.p_payload, count: Int(byteCount)),
      isKeyFrame: isKeyFrame,
      timestamp: scratch.output.pointee.i_pts)
  }

  /// Whether the next picture will be a key frame in any case, as after every interval.
  public var isKeyFrameDue: Bool { picturesSinceKeyFrame >= keyFrameDistance }

  /// Checks the parameters that x264 uses, since it silently changes some of them.
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
}
