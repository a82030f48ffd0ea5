/// One way in which the head unit can show video: a capability without what it says of formats and bitrates.
public struct VideoDisplay: Hashable, Sendable {
  /// Size in head-unit pixels.
  public var size: VideoSize
  /// The head unit enlarges the pictures by this, 1…10.
  public var scale: Double
  /// Inches; nil when the head unit does not say, or says 0.
  public var diagonal: Double?
  /// Nil when the head unit does not say.
  public var pixelsPerInch: Double?
  /// Frames per second that the head unit would like; nil when it does not say.
  public var frameRate: Int?

  /// `scale` may be anything that came from the network, as may `diagonal`; a missing scale is 1.
  public init(
    size: VideoSize, scale: Double? = nil, diagonal: Double? = nil, pixelsPerInch: Double? = nil, frameRate: Int? = nil
  ) {
    self.size = size
    self.scale = VideoOffer.clampedScale(scale)
    self.diagonal = diagonal.flatMap { $0 > 0 ? $0 : nil }
    self.pixelsPerInch = pixelsPerInch
    self.frameRate = frameRate
  }

  /// Size ÷ scale, rounded half up, but not yet even: what ranges are compared with.
  public var scaledSize: VideoSize? { VideoOffer.scaledSize(size, scale: scale) }

  /// Size of the encoded pictures; nil when they would be too small.
  public var streamSize: VideoSize? { VideoOffer(displaySize: size, scale: scale, frameRate: nil)?.size }

  /// The displays of a capability: its own first, then the additional ones in their order. Two are the same when size,
  /// diagonal, density and scale are (SDL-0332); those without a usable size are left out. Only the frame rate is
  /// inherited from the root.
  public static func displays(of capability: VideoStreamingCapability) -> [VideoDisplay] {
    var displays: [VideoDisplay] = []
    for entry in [capability] + (capability.additionalCapabilities ?? []) {
      guard let resolution = entry.preferredResolution else { continue }
      let display = VideoDisplay(
        size: VideoSize(resolution.width, resolution.height), scale: entry.scale, diagonal: entry.diagonalScreenSize,
        pixelsPerInch: entry.pixelPerInch,
        frameRate: EncoderTargets.frameRate(announced: entry.preferredFPS)
          ?? EncoderTargets.frameRate(announced: capability.preferredFPS))
      guard display.streamSize != nil, !displays.contains(where: { $0.isSame(as: display) }) else { continue }
      displays.append(display)
    }
    return displays
  }

  private func isSame(as other: VideoDisplay) -> Bool {
    size == other.size && scale == other.scale && diagonal == other.diagonal && pixelsPerInch == other.pixelsPerInch
  }
}

extension VideoDisplay: CustomStringConvertible {
  /// "800×380, scale 1.5, 5.0 in, 96.0 ppi".
  public var description: String {
    "\(size)" + (scale == 1 ? "" : ", scale \(scale)") + (diagonal.map { ", \($0) in" } ?? "")
      + (pixelsPerInch.map { ", \($0) ppi" } ?? "")
  }
}
