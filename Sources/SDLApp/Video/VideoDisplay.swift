/// One way in which the head unit can show video: an entry of its capability, with inherited members filled in.
public struct VideoDisplay: Equatable, Sendable {
  /// Size in head-unit pixels.
  public let size: VideoSize
  /// The factor by which the head unit enlarges the pictures, 1…10.
  public let scale: Double
  /// Size of the encoded pictures: the display's ÷ scale, rounded half up, then even; nil when that can't be encoded.
  public private(set) var streamSize: VideoSize?
  /// Inches; nil when the head unit announces none, or 0.
  public let diagonal: Double?
  /// Nil when the head unit announces none, or 0.
  public let pixelsPerInch: Double?
  /// The frames per second that the head unit prefers; nil when it announces none.
  public var frameRate: Int?
  /// The head unit's limit in kbit/s; nil when it has none.
  public var maximumBitrate: Int?
  /// In the head unit's order of preference; nil when it announces none.
  public var formats: [VideoStreamingFormat]?
  /// Whether the head unit asks for the parts of the picture that can be touched.
  public var takesHapticData = false
  /// From a list that a later size has replaced: asked for only once the head unit has refused the sizes that it
  /// announces now.
  public var isFallback = false

  /// The smallest side that is encoded.
  public static let minimumSide = 16
  /// The largest side that is encoded.
  public static let maximumSide = 8192
  /// The largest picture of any level of H.264 (`MaxFS` of level 6.2, table A-1), in macroblocks of 16×16 pixels.
  private static let maximumMacroblocks = 139_264

  /// Creates a display from any numbers that come from the network.
  /// - Parameters:
  ///   - size: in head-unit pixels.
  ///   - scale: clamped to 1…10; 1 if it is missing.
  ///   - diagonal: inches; 0 counts as missing.
  ///   - pixelsPerInch: 0 counts as missing.
  ///   - frameRate: frames per second; 0 counts as missing.
  public init(
    size: VideoSize, scale: Double? = nil, diagonal: Double? = nil, pixelsPerInch: Double? = nil, frameRate: Int? = nil
  ) {
    self.size = size
    self.scale = Self.clampedScale(scale)
    self.diagonal = diagonal.flatMap { $0 > 0 ? $0 : nil }
    self.pixelsPerInch = pixelsPerInch.flatMap { $0 > 0 ? $0 : nil }
    self.frameRate = EncoderTargets.frameRate(announced: frameRate)
    streamSize = nil
    streamSize = scaledSize.flatMap(Self.evenSize)
  }

  /// Size ÷ scale, rounded half up, but not yet even: what ranges are compared with. Nil when that
  /// exceeds an integer.
  public var scaledSize: VideoSize? {
    func side(_ pixels: Int) -> Int? { Int(exactly: (Double(pixels) / scale).rounded(.toNearestOrAwayFromZero)) }
    guard let width = side(size.width), let height = side(size.height) else { return nil }
    return VideoSize(width, height)
  }

  /// `scale` in the range that the specification allows; 1 if it is missing.
  private static func clampedScale(_ scale: Double?) -> Double {
    // Compared this way round because NaN is not at least 1 either.
    scale.map { $0 >= 1 ? min($0, 10) : 1 } ?? 1
  }

  private static func evenSize(_ size: VideoSize) -> VideoSize? {
    let even = VideoSize(size.width & ~1, size.height & ~1)
    let sides = minimumSide...maximumSide
    guard sides.contains(even.width), sides.contains(even.height) else { return nil }
    return ((even.width + 15) / 16) * ((even.height + 15) / 16) <= maximumMacroblocks ? even : nil
  }

  /// The same display, for a head unit that has acknowledged another size of the pictures than it has announced.
  public func streaming(_ size: VideoSize) -> VideoDisplay {
    var display = self
    display.streamSize = size
    return display
  }

  /// What makes two displays the same (SDL-0332).
  struct Identity: Hashable {
    var size: VideoSize
    var diagonal: Double?
    var pixelsPerInch: Double?
    var scale: Double
  }

  /// Whether this is the same display, whatever is said of rates and formats.
  public func isSame(as other: VideoDisplay) -> Bool { identity == other.identity }

  var identity: Identity {
    Identity(size: size, diagonal: diagonal, pixelsPerInch: pixelsPerInch, scale: scale)
  }
}

extension VideoDisplay: CustomStringConvertible {
  /// "800×380, scale 1.5, 5.0 in, 96.0 ppi".
  public var description: String {
    "\(size)" + (scale == 1 ? "" : ", scale \(scale)") + (diagonal.map { ", \($0) in" } ?? "")
      + (pixelsPerInch.map { ", \($0) ppi" } ?? "")
  }
}
