import SDLMessages

/// Rules for a list of touchable rectangles that SDL Core does not check.
struct HapticRules {
  /// The present capability, with its additional ones.
  let capability: VideoStreamingCapability?
  let screen: ImageResolution

  /// At most one fault of each kind.
  func faults(of rectangles: [HapticRectangle]) -> [HapticFault] {
    let entries = capability.map { [$0] + ($0.additionalCapabilities ?? []) } ?? []
    let isSupported = entries.contains { $0.hapticSpatialDataSupported ?? false }
    // Each side by itself, because it is not known here which of the sizes the app streams for.
    let sizes = entries.compactMap(\.preferredResolution)
    let display = ImageResolution(
      sizes.map(\.width).max() ?? screen.width, sizes.map(\.height).max() ?? screen.height)
    let outside = rectangles.first { !Self.isWithin(display, $0) }
    return (isSupported ? [] : [.notSupported])
      + (Self.repeatedID(of: rectangles).map { [.repeatedID($0)] } ?? [])
      + (outside.map { [.outsideDisplay($0, display: display)] } ?? [])
  }

  /// For the rounding of floating-point sums, in pixels.
  private static let tolerance = 1e-6

  private static func isWithin(_ display: ImageResolution, _ rectangle: HapticRectangle) -> Bool {
    rectangle.x >= 0 && rectangle.y >= 0 && rectangle.width >= 0 && rectangle.height >= 0
      && rectangle.x + rectangle.width <= Double(display.width) + tolerance
      && rectangle.y + rectangle.height <= Double(display.height) + tolerance
  }

  private static func repeatedID(of rectangles: [HapticRectangle]) -> Int? {
    var seen: Set<Int> = []
    return rectangles.first { !seen.insert($0.id).inserted }?.id
  }
}

extension HeadUnitSession {
  /// The rules for the present display.
  var hapticRules: HapticRules {
    var present = capability
    // A window has its own size; the sizes that were offered before it are gone.
    if let window { present = (present ?? VideoStreamingCapability()).updated(by: window) }
    if window != nil { present?.additionalCapabilities = nil }
    return HapticRules(capability: present, screen: configuration.screen)
  }
}
