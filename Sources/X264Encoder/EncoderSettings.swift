import CX264
import Glibc

/// Pictures per second as a fraction, such as 15/1 or 30000/1001.
public struct FrameRate: Equatable, Sendable {
  public var numerator: Int
  public var denominator: Int

  public init(numerator: Int, denominator: Int) {
    self.numerator = numerator
    self.denominator = denominator
  }
}

/// A layout of 8-bit 4:2:0 pixels that x264 reads without conversion.
public enum PixelFormat: CaseIterable, Sendable {
  /// Planes Y, U, V.
  case i420
  /// Planes Y, V, U.
  case yv12
  /// Planes Y and interleaved U V.
  case nv12
  /// Planes Y and interleaved V U.
  case nv21

  /// Planes that a picture has in memory.
  public var planeCount: Int {
    switch self {
    case .i420, .yv12: 3
    case .nv12, .nv21: 2
    }
  }

  var x264ColourSpace: Int32 {
    switch self {
    case .i420: X264_CSP_I420
    case .yv12: X264_CSP_YV12
    case .nv12: X264_CSP_NV12
    case .nv21: X264_CSP_NV21
    }
  }
}

/// The colour space, in the code points of ITU-T H.273, for the stream's video usability information.
///
/// A code that x264 can't write, or that 4:2:0 pictures can't have, is written as 2 (unspecified).
public struct ColorDescription: Equatable, Sendable {
  public var colourPrimaries: Int
  public var transferCharacteristics: Int
  public var matrixCoefficients: Int
  /// Whether luma uses 0…255 instead of 16…235.
  public var isFullRange: Bool

  public init(
    colourPrimaries: Int, transferCharacteristics: Int, matrixCoefficients: Int, isFullRange: Bool = false
  ) {
    self.colourPrimaries = colourPrimaries
    self.transferCharacteristics = transferCharacteristics
    self.matrixCoefficients = matrixCoefficients
    self.isFullRange = isFullRange
  }
}

/// The settings that an encoder is opened with. Only bit rate and frame rate can change while it is open.
public struct EncoderSettings: Equatable, Sendable {
  /// Picture width in pixels: even, at least 16.
  public var width: Int
  /// Picture height in pixels: even, at least 16.
  public var height: Int
  /// The rate of the pictures. x264 spends `bitrate` on this many pictures and ignores their timestamps.
  public var frameRate: FrameRate
  public var pixelFormat: PixelFormat
  /// Target in kbit/s.
  public var bitrate: Int
  /// For a moving map of 800×480 at 15 frames per second and 600 kbit/s, `superfast` is 4.5 dB better than `ultrafast`
  /// for 1 ms more per picture; `veryfast` adds 0.3 dB for another 2 ms.
  public var speedPreset: SpeedPreset
  /// Most frames from one key frame to the next; 0 means the frames of two seconds.
  public var keyFrameInterval: Int
  /// The number of slices of a picture, each encoded in a thread of its own; 0 for a number that suits the size, see
  /// ``threadCount``.
  public var threads: Int
  /// Further x264 options in the form `name=value:name=value`, as x264enc takes them. See ``X264Encoder/validate(optionString:)``.
  public var optionString: String
  /// Nil writes no colour description.
  public var color: ColorDescription?

  public init(
    width: Int, height: Int, frameRate: FrameRate, pixelFormat: PixelFormat, bitrate: Int = 600,
    speedPreset: SpeedPreset = .superfast, keyFrameInterval: Int = 0, threads: Int = 0, optionString: String = "",
    color: ColorDescription? = nil
  ) {
    self.width = width
    self.height = height
    self.frameRate = frameRate
    self.pixelFormat = pixelFormat
    self.bitrate = bitrate
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
