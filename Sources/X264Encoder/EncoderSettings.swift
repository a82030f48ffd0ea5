import Glibc

/// Whether this build has libx264: see `WITHOUT_X264` in `Package.swift`.
#if WITHOUT_X264
  package let isX264LinkedIn = false
#else
  package let isX264LinkedIn = true
#endif

/// Pictures per second as a fraction, such as 15/1 or 30000/1001.
package struct FrameRate: Equatable, Sendable {
  package var numerator: Int
  package var denominator: Int

  package init(numerator: Int, denominator: Int) {
    self.numerator = numerator
    self.denominator = denominator
  }

  /// The rate as a floating-point number, if it is valid.
  package var value: Double { Double(numerator) / Double(denominator) }

  /// The rate by which x264 shares out the bits: not so low that a picture's share exceeds the decoder's buffer.
  var sharing: FrameRate {
    let lowest = FrameRate(numerator: 1000, denominator: EncoderSettings.vbvMilliseconds)
    return value < lowest.value ? lowest : self
  }
}

/// The rates of an encoder, which can change while it is open.
package struct EncoderRates: Equatable, Sendable {
  /// Target in kbit/s.
  package var bitrate: Int
  package var frameRate: FrameRate
  /// The size of the decoder's buffer (VBV) that x264 assumes, in kbit, and thus the most that one picture may have;
  /// nil for 1.5 s of the bitrate, which suits key frames best. Clamped to at least one picture and at most 1.5 s of
  /// the bitrate.
  package var bufferSize: Int?

  package init(bitrate: Int, frameRate: FrameRate, bufferSize: Int? = nil) {
    self.bitrate = bitrate
    self.frameRate = frameRate
    self.bufferSize = bufferSize
  }
}

/// The role of a picture in the stream.
package enum PictureKind: Sendable {
  /// The next picture; a key frame when one is due.
  case frame
  /// An IDR picture, which starts a new key-frame interval.
  case keyFrame
  /// The last picture once more. It is never a key frame, unless it is the first picture of all: a still would cost as
  /// much as a moving picture.
  case repetition
}

/// A layout of 8-bit 4:2:0 pixels that x264 reads without conversion.
package enum PixelFormat: CaseIterable, Sendable {
  /// Planes Y, U, V.
  case i420
  /// Planes Y, V, U.
  case yv12
  /// Planes Y and interleaved U V.
  case nv12
  /// Planes Y and interleaved V U.
  case nv21

  /// Planes that a picture has in memory.
  package var planeCount: Int {
    switch self {
    case .i420, .yv12: 3
    case .nv12, .nv21: 2
    }
  }
}

/// The colour space, in the code points of ITU-T H.273, for the stream's video usability information.
///
/// A code that x264 can't write, or that 4:2:0 pictures can't have, is written as 2 (unspecified).
package struct ColorDescription: Equatable, Sendable {
  package var colourPrimaries: Int
  package var transferCharacteristics: Int
  package var matrixCoefficients: Int
  /// Whether luma uses 0…255 instead of 16…235.
  package var isFullRange: Bool

  package init(
    colourPrimaries: Int, transferCharacteristics: Int, matrixCoefficients: Int, isFullRange: Bool = false
  ) {
    self.colourPrimaries = colourPrimaries
    self.transferCharacteristics = transferCharacteristics
    self.matrixCoefficients = matrixCoefficients
    self.isFullRange = isFullRange
  }
}

/// The settings that an encoder is opened with. Only its rates can change while it is open.
package struct EncoderSettings: Equatable, Sendable {
  /// Picture width in pixels: even, at least 16.
  package var width: Int
  /// Picture height in pixels: even, at least 16.
  package var height: Int
  /// The rate of the pictures. x264 spends `bitrate` on this many pictures and ignores their timestamps.
  package var frameRate: FrameRate
  package var pixelFormat: PixelFormat
  /// Target in kbit/s.
  package var bitrate: Int
  /// As ``EncoderRates/bufferSize``.
  package var bufferSize: Int?
  /// For a moving map of 800×480 at 15 frames per second and 600 kbit/s, `superfast` is 4.5 dB better than `ultrafast`
  /// for 1 ms more per picture; `veryfast` adds 0.3 dB for another 2 ms.
  package var speedPreset: SpeedPreset
  /// Most frames from one key frame to the next; 0 means the frames of two seconds.
  package var keyFrameInterval: Int
  /// The number of slices of a picture, each encoded in a thread of its own; 0 chooses it by the size, see
  /// ``threadCount``.
  package var threads: Int
  /// Further x264 options in the form `name=value:name=value`, as x264enc takes them. See
  /// ``X264Encoder/validate(optionString:)``.
  package var optionString: String
  /// Nil writes no colour description.
  package var color: ColorDescription?

  package init(
    width: Int, height: Int, frameRate: FrameRate, pixelFormat: PixelFormat, bitrate: Int = 600,
    bufferSize: Int? = nil, speedPreset: SpeedPreset = .superfast, keyFrameInterval: Int = 0, threads: Int = 0,
    optionString: String = "", color: ColorDescription? = nil
  ) {
    self.width = width
    self.height = height
    self.frameRate = frameRate
    self.pixelFormat = pixelFormat
    self.bitrate = bitrate
    self.bufferSize = bufferSize
    self.speedPreset = speedPreset
    self.keyFrameInterval = keyFrameInterval
    self.threads = threads
    self.optionString = optionString
    self.color = color
  }
}

extension EncoderSettings {
  /// The pixels that a thread encodes in about 3 ms with the default preset. More threads need more slices, which cost
  /// bits, and memory, because x264 starts two more threads for each.
  private static let pixelsPerThread = 1280 * 360

  /// The number of encoding threads: `threads`, or one for every 460 800 pixels and never more than there are
  /// processors. A picture of 800×480 has one, 1280×720 two, 1920×1080 four.
  var threadCount: Int {
    guard threads == 0 else { return threads }
    let processors = max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)
    return min(max(width * height / Self.pixelsPerThread, 1), processors)
  }
}

extension EncoderSettings {
  /// The rates that it was opened with.
  package var rates: EncoderRates { EncoderRates(bitrate: bitrate, frameRate: frameRate, bufferSize: bufferSize) }

  /// In kbit/s; x264 silently reduces larger rates.
  package static let bitrateRange = 1...2_000_000

  /// Refuses settings that x264 would refuse with a vague message, change silently, or accept with a huge allocation.
  func validate() throws(EncoderError) {
    guard width >= 16, height >= 16 else {
      throw .invalidSize(width: width, height: height, reason: "each side needs at least 16 pixels, one macroblock")
    }
    guard width.isMultiple(of: 2), height.isMultiple(of: 2) else {
      throw .invalidSize(width: width, height: height, reason: "4:2:0 pictures need an even width and height")
    }
    // The largest side is x264's, the largest area that of H.264 level 6.2.
    guard width <= 16_384, height <= 16_384, Self.canEncode(width: width, height: height) else {
      throw .invalidSize(width: width, height: height, reason: "it is larger than any H.264 level allows")
    }
    // Twice the numerator is written as a 32-bit number.
    guard
      (1...0x7FFF_FFFF).contains(frameRate.numerator), (1...0x7FFF_FFFF).contains(frameRate.denominator),
      frameRate.numerator / frameRate.denominator <= 1000
    else {
      throw .invalidFrameRate(frameRate)
    }
    try Self.validate(bitrate: bitrate)
    guard (0...Int(Int32.max)).contains(keyFrameInterval) else { throw .invalidKeyFrameInterval(keyFrameInterval) }
    guard (0...Int(Int32.max)).contains(threads) else { throw .invalidThreadCount(threads) }
  }

  static func validate(bitrate: Int) throws(EncoderError) {
    guard bitrateRange.contains(bitrate) else { throw .invalidBitrate(bitrate) }
  }

  /// The meaning of `keyFrameInterval` 0.
  package static let automaticKeyFrameInterval = Duration.seconds(2)

  /// Most frames between key frames with `automatic` resolved to two seconds: at 15 frames per second, 30.
  package var keyFrameDistance: Int32 {
    guard keyFrameInterval == 0 else { return Int32(clamping: keyFrameInterval) }
    let twoSeconds = (2 * frameRate.numerator + frameRate.denominator / 2) / frameRate.denominator
    return Int32(clamping: max(twoSeconds, 1))
  }

  /// The size of the decoder's buffer (VBV) that x264 assumes, in kbit.
  ///
  /// `vbvMilliseconds` of the stream or the size in `rates`, but never less than one frame, which is what x264 needs.
  func vbvBufferSize(_ rates: EncoderRates) -> Int32 {
    let rate = frameRate.sharing
    let oneFrame = (rates.bitrate * rate.denominator + rate.numerator - 1) / rate.numerator
    let size = min(rates.bitrate * Self.vbvMilliseconds / 1000, rates.bufferSize ?? .max)
    return Int32(clamping: min(max(size, oneFrame, 1), Self.bitrateRange.upperBound))
  }

  /// Long enough that a key frame of a still, which may take half of it, looks like the pictures before it: a map of
  /// 800×480 at 600 kbit/s drops 8.6 dB at each key frame with x264enc's 600 ms, 4.4 dB with 1000 ms, 0.4 dB with this.
  /// Its price is that the worst second of hard moving pictures rises from 1.4 to 1.8 times the target.
  static let vbvMilliseconds = 1500

  /// The number that H.264 levels limit besides the bit rate.
  var macroblocksPerSecond: Int {
    ((width + 15) / 16) * ((height + 15) / 16) * frameRate.numerator / frameRate.denominator
  }

  /// Whether a picture of this size has no more macroblocks than H.264 level 6.2 allows.
  package static func canEncode(width: Int, height: Int) -> Bool {
    ((width + 15) / 16) * ((height + 15) / 16) <= 139_264
  }
}

/// The trade between processor time and quality. Numbers and nicks are those of the `speed-preset` property
/// of GStreamer's x264enc, so that a setting moves from one element to the other unchanged.
package enum SpeedPreset: Int32, CaseIterable, Sendable {
  /// x264's own defaults, which are those of `medium`.
  case none = 0
  case ultrafast
  case superfast
  case veryfast
  case faster
  case fast
  case medium
  case slow
  case slower
  case veryslow
  case placebo

  /// The name in a pipeline description. x264enc spells the first one with a capital letter.
  package var nick: String { x264Name ?? "None" }

  /// Its name for `x264_param_default_preset`; nil for no preset.
  var x264Name: String? {
    self == .none ? nil : "\(self)"
  }
}
