/// One picture format that the head unit takes, ready for negotiation.
public struct VideoOffer: Hashable, Sendable {
  /// Size of the encoded pictures: the display's size ÷ scale, rounded half up, then even.
  public var size: VideoSize
  /// Size in head-unit pixels.
  public var displaySize: VideoSize
  /// The head unit enlarges the pictures by this, 1…10.
  public var scale: Double
  /// Frames per second that the head unit would like; nil when it does not say.
  public var frameRate: Int?

  /// The smallest side that is encoded.
  public static let minimumSide = 16

  /// An offer for a display of `displaySize`; nil when nothing of at least 16×16 pixels would be left.
  public init?(displaySize: VideoSize, scale: Double?, frameRate: Int?) {
    let scale = Self.clampedScale(scale)
    guard let scaled = Self.scaledSize(displaySize, scale: scale) else { return nil }
    let size = VideoSize(scaled.width & ~1, scaled.height & ~1)
    guard size.width >= Self.minimumSide, size.height >= Self.minimumSide else { return nil }
    self.size = size
    self.displaySize = displaySize
    self.scale = scale
    self.frameRate = EncoderTargets.frameRate(announced: frameRate)
  }

  /// A head unit's scale, which is 1…10 and 1 if absent.
  static func clampedScale(_ scale: Double?) -> Double {
    // Compared this way round because NaN is not at least 1 either.
    scale.map { $0 >= 1 ? min($0, 10) : 1 } ?? 1
  }

  /// Size ÷ scale, rounded half up; nil for numbers out of all reason.
  static func scaledSize(_ size: VideoSize, scale: Double) -> VideoSize? {
    func side(_ pixels: Int) -> Int? { Int(exactly: (Double(pixels) / scale).rounded(.toNearestOrAwayFromZero)) }
    guard let width = side(size.width), let height = side(size.height) else { return nil }
    return VideoSize(width, height)
  }

  /// The offers of a capability: its own size first, then the additional ones in their order, each once. An additional
  /// one without a frame rate has the root's; without a scale its scale is 1, and without a size it offers nothing.
  public static func offers(of capability: VideoStreamingCapability) -> [VideoOffer] {
    var offers: [VideoOffer] = []
    for entry in [capability] + (capability.additionalCapabilities ?? []) {
      guard let resolution = entry.preferredResolution,
        let offer = VideoOffer(
          displaySize: VideoSize(resolution.width, resolution.height), scale: entry.scale,
          frameRate: EncoderTargets.frameRate(announced: entry.preferredFPS) ?? capability.preferredFPS),
        !offers.contains(where: { $0.size == offer.size && $0.frameRate == offer.frameRate })
      else { continue }
      offers.append(offer)
    }
    return offers
  }
}
