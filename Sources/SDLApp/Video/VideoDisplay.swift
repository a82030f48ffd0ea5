/// One way in which the head unit can show video: an entry of its capability, with inherited members filled in.
package struct VideoDisplay: Equatable, Sendable {
  /// Size in head-unit pixels.
  package let size: VideoSize
  /// The factor by which the head unit enlarges the pictures, 1…10.
  package let scale: Double
  /// Size of the encoded pictures: the display's ÷ scale, rounded half up, then even; nil when that can't be encoded.
  package private(set) var streamSize: VideoSize?
  /// Inches; nil when the head unit announces none, or 0.
  package let diagonal: Double?
  /// Nil when the head unit announces none, or 0.
  package let pixelsPerInch: Double?
  /// The frames per second that the head unit prefers; nil when it announces none.
  package var frameRate: Int?
  /// The head unit's limit in kbit/s; nil when it has none.
  package var maximumBitrate: Int?
  /// In the head unit's order of preference; nil when it announces none.
  package var formats: [VideoStreamingFormat]?
  /// Whether the head unit wants the touchable rectangles of the picture.
  package var takesHapticData = false
  /// From a list that a later size has replaced: requested only once the head unit has refused the sizes that it
  /// announces now.
  package var isFallback = false

  /// The smallest side that is encoded.
  package static let minimumSide = 16
  /// The largest side that is encoded.
  package static let maximumSide = 8192
  /// The largest picture of any level of H.264 (`MaxFS` of level 6.2, table A-1), in macroblocks of 16×16 pixels.
  private static let maximumMacroblocks = 139_264

  /// Creates a display from any numbers that come from the network.
  /// - Parameters:
  ///   - size: in head-unit pixels.
  ///   - scale: clamped to 1…10; 1 if it is missing.
  ///   - diagonal: inches; 0 counts as missing.
  ///   - pixelsPerInch: 0 counts as missing.
  ///   - frameRate: frames per second; 0 counts as missing.
  package init(
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
  package var scaledSize: VideoSize? {
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
  package func streaming(_ size: VideoSize) -> VideoDisplay {
    var display = self
    display.streamSize = size
    return display
  }

  /// The members that identify a display (SDL-0332).
  struct Identity: Hashable {
    var size: VideoSize
    var diagonal: Double?
    var pixelsPerInch: Double?
    var scale: Double
  }

  /// Whether this is the same display, apart from rates and formats.
  package func isSame(as other: VideoDisplay) -> Bool { identity == other.identity }

  var identity: Identity {
    Identity(size: size, diagonal: diagonal, pixelsPerInch: pixelsPerInch, scale: scale)
  }
}

extension VideoDisplay: CustomStringConvertible {
  /// "800×380, scale 1.5, 5.0 in, 96.0 ppi".
  package var description: String {
    "\(size)" + (scale == 1 ? "" : ", scale \(scale.shortText)") + (diagonal.map { ", \($0.shortText) in" } ?? "")
      + (pixelsPerInch.map { ", \($0.shortText) ppi" } ?? "")
  }
}

/// The displays that a head unit announces.
extension VideoDisplay {
  /// The most entries of a capability that are read.
  static let mostEntries = VideoStreamingCapability.maximumAdditionalCapabilities + 1

  /// The displays of a capability: its own first, then the additional ones in their order, each once; last, as
  /// ``isFallback``, those of a list that a later size has replaced. Displays without a usable size are left out.
  /// Rates, formats and haptics that an additional entry leaves out are those of the capability itself; but a missing
  /// scale is 1, and a missing diagonal unknown.
  package static func displays(of capability: VideoStreamingCapability) -> [VideoDisplay] {
    let announced = entries(of: capability).map(\.display)
    return announced + fallbacks(of: capability, besides: announced)
  }

  /// The displays of a head unit whose capability is missing, or has no size that can be streamed: its screen, if that
  /// is known. Without a capability it takes a byte stream (SDL-0058).
  package static func displays(
    of capability: VideoStreamingCapability?, screen: VideoSize?
  ) -> [VideoDisplay] {
    guard let screen else { return capability.map(displays(of:)) ?? [] }
    if let capability, !entries(of: capability).isEmpty { return displays(of: capability) }
    var root = capability ?? VideoStreamingCapability()
    root.preferredResolution = screen
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
    guard let size = entry.preferredResolution else { return nil }
    self.init(
      size: size, scale: entry.scale, diagonal: entry.diagonalScreenSize, pixelsPerInch: entry.pixelPerInch)
    guard streamSize != nil else { return nil }
    inherit(entry)
    inherit(root)
    takesHapticData = entry.hapticSpatialDataSupported ?? root.hapticSpatialDataSupported ?? false
  }

  /// Adds missing members. 0 counts as absent, and so does a list without formats.
  private mutating func inherit(_ capability: VideoStreamingCapability) {
    frameRate = frameRate ?? EncoderTargets.frameRate(announced: capability.preferredFPS)
    maximumBitrate = maximumBitrate ?? capability.maxBitrate.flatMap { $0 > 0 ? $0 : nil }
    if formats?.isEmpty ?? true { formats = capability.supportedFormats }
  }
}

extension VideoStreamingCapability {
  /// This capability with the members of an update that arrives while `display` is streamed.
  ///
  /// An update without size and list is about the display in use, as in sdl_ios, even if that is not the capability's
  /// own: while 800×380 from the additional list is streamed, a scale of 2 means 400×190. Rates, formats and haptics
  /// change for the capability itself too, because entries inherit them; its own scale, diagonal and density do not.
  /// - Parameter display: nil when nothing is streamed or requested; then the update is about the capability's own.
  func updated(by update: VideoStreamingCapability, inUse display: VideoDisplay?) -> VideoStreamingCapability {
    guard update.preferredResolution == nil, update.additionalCapabilities == nil, let display,
      VideoDisplay(self, root: self)?.isSame(as: display) != true
    else { return updated(by: update) }
    func indexInUse(_ entries: [VideoStreamingCapability]?) -> Int? {
      entries?.firstIndex { VideoDisplay($0, root: self)?.isSame(as: display) == true }
    }
    var inherited = update
    inherited.scale = nil
    inherited.diagonalScreenSize = nil
    inherited.pixelPerInch = nil
    var merged = updated(by: inherited)
    if let index = indexInUse(additionalCapabilities) {
      merged.additionalCapabilities?[index] = additionalCapabilities?[index].updated(by: update) ?? update
    } else if let index = indexInUse(formerCapabilities) {
      merged.formerCapabilities[index] = formerCapabilities[index].updated(by: update)
    } else {
      return updated(by: update)
    }
    return merged
  }
}
