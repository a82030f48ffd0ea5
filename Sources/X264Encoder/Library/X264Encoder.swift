import CX264
import Glibc
import Synchronization

/// One encoded picture, parameter sets included.
package struct EncodedAccessUnit {
  /// NAL units with four-byte start codes, one after the other; valid until the next call to the encoder.
  package let bytes: UnsafeRawBufferPointer
  /// Whether the picture is an IDR picture; it then begins with its parameter sets.
  package let isKeyFrame: Bool
  /// NAL units in `bytes`; each thread of the encoder makes a slice.
  package let unitCount: Int
  /// Whether the picture was encoded with the smallest quantiser that the settings allow, so that it can't be encoded
  /// better.
  package let hasFinestQuantizer: Bool
  /// The timestamp that was passed with the picture.
  package let timestamp: Int64
}

/// libx264 for a live stream to a head unit: H.264 constrained baseline, one access unit out for each picture in.
///
/// Not for use by two threads at once. Bit rate and frame rate may change between pictures. x264 puts a message of
/// about 700 bytes with its version into the first access unit, after the parameter sets; its API has no switch for
/// that.
package final class X264Encoder {
  /// The settings that it was opened with, and that the stream's headers describe.
  package let settings: EncoderSettings
  /// The present target rates.
  package private(set) var rates: EncoderRates
  private let encoder: OpaquePointer
  private let log: EncoderLog
  /// Allocated once, so that encoding allocates nothing.
  private let scratch: Scratch
  /// The smallest QP that x264 may choose (H.264, 7.4.3).
  private let finestQuantizer: Int32
  /// The last key frame; nil before the first.
  private var lastKeyFrame: LastKeyFrame?

  private struct LastKeyFrame {
    /// The pictures since then, repetitions left out; the key frame counts as one.
    var pictureCount = 1
    /// Nil if it was not said.
    var time: Duration?
  }

  /// Opens x264.
  ///
  /// - Parameter logLevel: messages below this level are not formatted.
  /// - Throws: ``EncoderError`` when a setting or an option is impossible or x264 does not open.
  package init(
    settings: EncoderSettings, logLevel: LogLevel = .info, log handler: @escaping LogHandler
  ) throws(EncoderError) {
    try settings.validate()
    let log = EncoderLog(handler: handler)
    let parameters = try EncoderParameters(preset: settings.speedPreset)
    try parameters.apply(optionString: settings.optionString)
    parameters.apply(settings)
    log.install(in: parameters.pointer, level: logLevel)
    guard let encoder = cx264_encoder_open(parameters.pointer) else {
      throw .openFailed(log.lastError ?? "it gives no reason. Memory or threads may have run out.")
    }
    let scratch = Scratch(pixelFormat: settings.pixelFormat)
    do throws(EncoderError) {
      // Leaves the encoder's parameters in `scratch`.
      try Self.verify(encoder, settings: settings, using: scratch.parameters)
    } catch {
      x264_encoder_close(encoder)
      throw error
    }
    self.settings = settings
    rates = settings.rates
    self.encoder = encoder
    self.log = log
    self.scratch = scratch
    finestQuantizer = scratch.parameters.pointee.rc.i_qp_min
  }

  deinit {
    x264_encoder_close(encoder)
  }

  /// Checks an option string without opening an encoder, so that it can be refused where it is set.
  ///
  /// - Throws: ``EncoderError/unknownOption(name:)``, ``EncoderError/badOptionValue(name:value:)`` or
  ///   ``EncoderError/forbiddenOption(name:reason:)``.
  package static func validate(optionString: String) throws(EncoderError) {
    try EncoderParameters(preset: .none).apply(optionString: optionString)
  }

  /// Encodes one picture; x264 is done with `planes` on return.
  ///
  /// - Parameters:
  ///   - timestamp: comes back with the access unit; x264 itself counts frames.
  ///   - time: when the picture is sent, on any clock; for ``isKeyFrameDue(at:)``.
  package func encode(
    _ planes: Planes, timestamp: Int64, at time: Duration? = nil, as kind: PictureKind = .frame
  ) throws(EncoderError) -> EncodedAccessUnit {
    let input = scratch.input
    try planes.describe(in: &input.pointee.img, settings: settings)
    input.pointee.i_pts = timestamp
    input.pointee.i_type = type(of: kind, at: time)
    var units: UnsafeMutablePointer<x264_nal_t>?
    var unitCount: Int32 = 0
    let byteCount = x264_encoder_encode(encoder, &units, &unitCount, input, scratch.output)
    // Without delayed frames there is always a unit; its NAL units lie one after the other.
    guard byteCount > 0, let units, unitCount > 0 else { throw .encodingFailed }
    let isKeyFrame = scratch.output.pointee.b_keyframe != 0
    if isKeyFrame {
      lastKeyFrame = LastKeyFrame(time: time)
    } else if kind != .repetition {
      lastKeyFrame?.pictureCount &+= 1
    }
    return EncodedAccessUnit(
      bytes: UnsafeRawBufferPointer(start: units.pointee.p_payload, count: Int(byteCount)),
      isKeyFrame: isKeyFrame,
      unitCount: Int(unitCount),
      // x264 stores the QP plus one, since 0 leaves the choice to it when a picture goes in.
      hasFinestQuantizer: scratch.output.pointee.i_qpplus1 - 1 <= finestQuantizer,
      timestamp: scratch.output.pointee.i_pts)
  }

  /// Automatic types include key frames at changes of scene, which a repetition is not.
  private func type(of kind: PictureKind, at time: Duration?) -> Int32 {
    guard lastKeyFrame != nil else { return X264_TYPE_IDR }
    return switch kind {
    case .frame: isKeyFrameDue(at: time) ? X264_TYPE_IDR : X264_TYPE_AUTO
    case .keyFrame: X264_TYPE_IDR
    case .repetition: X264_TYPE_P
    }
  }

  /// Whether the next picture will be a key frame in any case, as after every interval. The automatic interval is over
  /// after the pictures of two seconds, or two seconds, whichever comes first: pictures may come more seldom than
  /// announced.
  ///
  /// - Parameter time: when that picture is sent, on the clock of ``encode(_:timestamp:at:as:)``; nil counts pictures
  ///   only.
  package func isKeyFrameDue(at time: Duration? = nil) -> Bool {
    guard let lastKeyFrame else { return false }
    if lastKeyFrame.pictureCount >= keyFrameDistance { return true }
    guard settings.keyFrameInterval == 0, let time, let last = lastKeyFrame.time else { return false }
    return time - last >= EncoderSettings.automaticKeyFrameInterval
  }

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

/// Changes of the rates.
///
/// x264 counts pictures and ignores time. So another frame rate means another number of bits per picture, which x264
/// accepts without a key frame, and another distance between key frames, which is counted here. Only the frame rate in
/// the stream's headers, a hint for decoders, is then outdated until a new encoder is opened, best when
/// ``isKeyFrameDue(at:)``.
extension X264Encoder {
  /// Changes the targets from the next picture on, without a key frame. Cheap enough to be called before each picture.
  ///
  /// - Throws: ``EncoderError/bitrateAboveLevel(requested:limit:)`` or
  ///   ``EncoderError/frameRateAboveLevel(requested:level:)`` when the stream's level does not allow them, and
  ///   ``EncoderError/invalidBitrate(_:)`` or ``EncoderError/invalidFrameRate(_:)``; the old rates then stay.
  package func setRates(_ rates: EncoderRates) throws(EncoderError) {
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
    let ratio = settings.frameRate.sharing.value / rates.frameRate.sharing.value
    let equivalent = Int(max((Double(rates.bitrate) * ratio).rounded(), 1))
    try EncoderSettings.validate(bitrate: equivalent)
    parameters.setRate(equivalent, bufferSize: changed.vbvBufferSize(rates))
    guard x264_encoder_reconfig(encoder, parameters) == 0 else { throw .reconfigurationFailed }
    self.rates = rates
  }

  /// The size of the VBV buffer that x264 uses, in kbit; that of new rates from their first picture on.
  package var bufferSize: Int {
    x264_encoder_parameters(encoder, scratch.parameters)
    return Int(scratch.parameters.pointee.rc.i_vbv_buffer_size)
  }

  /// The pictures from one key frame to the next; no more than x264 was opened with.
  private var keyFrameDistance: Int {
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

/// The structures that x264 is called with, allocated once.
private final class Scratch {
  let input: UnsafeMutablePointer<x264_picture_t>
  let output: UnsafeMutablePointer<x264_picture_t>
  /// The result of `x264_encoder_parameters`. Strings in it belong to x264.
  let parameters: UnsafeMutablePointer<x264_param_t>

  init(pixelFormat: PixelFormat) {
    input = .allocate(capacity: 1)
    output = .allocate(capacity: 1)
    parameters = .allocate(capacity: 1)
    x264_picture_init(input)
    x264_picture_init(output)
    parameters.initialize(to: x264_param_t())
    input.pointee.img.i_csp = pixelFormat.x264ColourSpace
    input.pointee.img.i_plane = Int32(pixelFormat.planeCount)
  }

  deinit {
    input.deallocate()
    output.deallocate()
    parameters.deallocate()
  }
}

/// The severity of a message of x264, with x264's numbers.
package enum LogLevel: Int32, Comparable, Sendable {
  case error = 0
  case warning = 1
  case info = 2
  /// One message for every picture.
  case debug = 3

  package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// Receives one message without its line end. x264 may call it from its own threads.
package typealias LogHandler = @Sendable (LogLevel, String) -> Void

/// Turns x264's printf-style messages into text for a handler and remembers the last error.
///
/// x264 holds it unretained: it must outlive the encoder.
final class EncoderLog: Sendable {
  private let handler: LogHandler
  private let last = Mutex<String?>(nil)
  /// Written before x264 knows of it, and read alone from then on.
  nonisolated(unsafe) private let target = UnsafeMutablePointer<cx264_log_target>.allocate(capacity: 1)

  init(handler: @escaping LogHandler) {
    self.handler = handler
    target.initialize(
      to: cx264_log_target(
        receive: { context, level, text in
          guard let context, let text else { return }
          Unmanaged<EncoderLog>.fromOpaque(context).takeUnretainedValue().receive(level, String(cString: text))
        }, context: Unmanaged.passUnretained(self).toOpaque()))
  }

  deinit {
    target.deallocate()
  }

  /// The last message of level error, because x264's functions only return -1.
  var lastError: String? { last.withLock { $0 } }

  func install(in parameters: UnsafeMutablePointer<x264_param_t>, level: LogLevel) {
    parameters.pointee.i_log_level = level.rawValue
    cx264_set_log(parameters, target)
  }

  private func receive(_ level: Int32, _ text: String) {
    let line = text.last?.isNewline == true ? String(text.dropLast()) : text
    let level = LogLevel(rawValue: level) ?? .debug
    if level == .error {
      last.withLock { $0 = line }
    }
    handler(level, line)
  }
}

extension PixelFormat {
  var x264ColourSpace: Int32 {
    switch self {
    case .i420: X264_CSP_I420
    case .yv12: X264_CSP_YV12
    case .nv12: X264_CSP_NV12
    case .nv21: X264_CSP_NV21
    }
  }
}

extension Planes {
  /// Points `image` at the planes.
  func describe(in image: inout x264_image_t, settings: EncoderSettings) throws(EncoderError) {
    let isPlanar = settings.pixelFormat.planeCount == 3
    guard isPlanar == (third != nil) else {
      throw .invalidPlanes(reason: "it does not have \(settings.pixelFormat.planeCount) planes")
    }
    let chromaRow = isPlanar ? settings.width / 2 : settings.width
    let first = try first.checked(rowBytes: settings.width)
    let second = try second.checked(rowBytes: chromaRow)
    image.plane.0 = first.pixels
    image.plane.1 = second.pixels
    image.i_stride.0 = first.stride
    image.i_stride.1 = second.stride
    if let third = try third?.checked(rowBytes: chromaRow) {
      image.plane.2 = third.pixels
      image.i_stride.2 = third.stride
    }
  }
}

extension Plane {
  /// x264 takes a pointer to mutable pixels, but only reads them.
  fileprivate func checked(
    rowBytes: Int
  ) throws(EncoderError) -> (pixels: UnsafeMutablePointer<UInt8>, stride: Int32) {
    guard stride >= rowBytes, let stride = Int32(exactly: stride) else {
      throw .invalidPlanes(reason: "a stride of \(stride) bytes can't hold rows of \(rowBytes) bytes")
    }
    return (UnsafeMutableRawPointer(mutating: base).assumingMemoryBound(to: UInt8.self), stride)
  }
}
