/// The displays that a head unit announces.
extension VideoDisplay {
  /// The most entries of a capability that are looked at.
  static let mostEntries = VideoStreamingCapability.maximumAdditionalCapabilities + 1

  /// The displays of a capability: its own first, then the additional ones in their order, each once; last, as
  /// ``isFallback``, those of a list that a later size has replaced. Displays without a usable size are left out. Rates,
  /// formats and haptics that an additional entry leaves out are those of the capability itself; but a missing scale is 1,
  /// and a missing diagonal unknown.
  public static func displays(of capability: VideoStreamingCapability) -> [VideoDisplay] {
    let announced = entries(of: capability).map(\.display)
    return announced + fallbacks(of: capability, besides: announced)
  }

  /// The displays of a head unit whose capability is missing, or has no size that can be streamed: its screen, if that
  /// is known. Without a capability it takes a byte stream (SDL-0058).
  public static func displays(
    of capability: VideoStreamingCapability?, screen: VideoSize?
  ) -> [VideoDisplay] {
    guard let screen else { return capability.map(displays(of:)) ?? [] }
    if let capability, !entries(of: capability).isEmpty { return displays(of: capability) }
    var root = capability ?? VideoStreamingCapability()
    root.preferredResolution = ImageResolution(screen.width, screen.height)
    root.scale = nil
    root.additionalCapabilities = nil
    if capability == nil { root.supportedFormats = [.rawH264] }
    return displays(of: root)
  }

  /// The announced displays, each with the entry that it comes from, as the head unit sent it.
  static func entries(
    of capability: VideoStreamingCapability
  ) -> [(display: VideoDisplay, entry: VideoStreamingCapability)] {
    var root = capability
    root.additionalCapabilities = nil
    root.formerCapabilities = []
    var known: Set<Identity> = []
    return ([root] + (capability.additionalCapabilities ?? [])).prefix(mostEntries).compactMap { announced in
      guard let display = VideoDisplay(announced, root: root), known.insert(display.identity).inserted else {
        return nil
      }
      var entry = announced
      // Nested lists are forbidden by SDL-0332.
      entry.additionalCapabilities = nil
      return (display, entry)
    }
  }

  private static func fallbacks(
    of capability: VideoStreamingCapability, besides announced: [VideoDisplay]
  ) -> [VideoDisplay] {
    var known = Set(announced.map(\.identity))
    return capability.formerCapabilities.prefix(mostEntries).compactMap { entry in
      guard var display = VideoDisplay(entry, root: capability), known.insert(display.identity).inserted else {
        return nil
      }
      display.isFallback = true
      return display
    }
  }

  init?(_ entry: VideoStreamingCapability, root: VideoStreamingCapability) {
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
