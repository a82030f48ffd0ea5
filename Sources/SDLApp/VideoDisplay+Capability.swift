/// From what a head unit announces.
extension VideoDisplay {
  /// The most entries of a capability that are looked at.
  static let mostEntries = VideoStreamingCapability.maximumAdditionalCapabilities + 1

  /// The displays of a capability: its own first, then the additional ones in their order, each once. Those without a
  /// usable size are left out. What an additional one does not say of rates, formats and haptics, the root says for it;
  /// but a missing scale is 1, and a missing diagonal unknown.
  public static func displays(of capability: VideoStreamingCapability) -> [VideoDisplay] {
    entries(of: capability).map(\.display)
  }

  /// The displays of a head unit whose capability is missing, or tells no size: its screen, if that is known. Without a
  /// capability it takes a byte stream.
  public static func displays(
    of capability: VideoStreamingCapability?, screen: VideoSize?
  ) -> [VideoDisplay] {
    let told = capability.map(displays(of:)) ?? []
    guard told.isEmpty, let screen else { return told }
    var root = capability ?? VideoStreamingCapability()
    root.preferredResolution = ImageResolution(screen.width, screen.height)
    root.scale = nil
    root.additionalCapabilities = nil
    if capability == nil { root.supportedFormats = [.rawH264] }
    return displays(of: root)
  }

  /// Each display with the entry that it comes from, as the head unit has told it.
  static func entries(
    of capability: VideoStreamingCapability
  ) -> [(display: VideoDisplay, entry: VideoStreamingCapability)] {
    var root = capability
    root.additionalCapabilities = nil
    var known: Set<Identity> = []
    return ([root] + (capability.additionalCapabilities ?? [])).prefix(mostEntries).compactMap { told in
      guard let display = VideoDisplay(told, root: root), known.insert(display.identity).inserted else { return nil }
      var entry = told
      // Nested lists are forbidden by SDL-0332.
      entry.additionalCapabilities = nil
      return (display, entry)
    }
  }

  private init?(_ entry: VideoStreamingCapability, root: VideoStreamingCapability) {
    guard let resolution = entry.preferredResolution else { return nil }
    self.init(
      size: VideoSize(resolution.width, resolution.height), scale: entry.scale, diagonal: entry.diagonalScreenSize,
      pixelsPerInch: entry.pixelPerInch)
    guard streamSize != nil else { return nil }
    inherit(entry)
    inherit(root)
    takesHapticData = entry.hapticSpatialDataSupported ?? root.hapticSpatialDataSupported ?? false
  }

  /// Takes what is missing so far. 0 counts as absent, and so does a list without formats.
  private mutating func inherit(_ capability: VideoStreamingCapability) {
    frameRate = frameRate ?? EncoderTargets.frameRate(announced: capability.preferredFPS)
    maximumBitrate = maximumBitrate ?? capability.maxBitrate.flatMap { $0 > 0 ? $0 : nil }
    if formats?.isEmpty ?? true { formats = capability.supportedFormats }
  }
}
