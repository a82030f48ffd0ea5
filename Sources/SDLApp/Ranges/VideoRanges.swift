/// The displays that an app supports: a range for each orientation.
public struct VideoRanges: Equatable, Sendable {
  /// For displays that are wider than high.
  public var landscape: VideoRange
  /// For displays that are higher than wide.
  public var portrait: VideoRange

  /// Creates the ranges; without arguments, everything is supported.
  public init(landscape: VideoRange = VideoRange(), portrait: VideoRange = VideoRange()) {
    self.landscape = landscape
    self.portrait = portrait
  }

  /// Whether every display is accepted.
  public var isUnlimited: Bool { landscape.isUnlimited && portrait.isUnlimited }

  /// The range for an orientation.
  public subscript(orientation: VideoOrientation) -> VideoRange {
    get {
      switch orientation {
      case .landscape: landscape
      case .portrait: portrait
      }
    }
    set {
      switch orientation {
      case .landscape: landscape = newValue
      case .portrait: portrait = newValue
      }
    }
  }

  /// Evaluates the range of a display's orientation, or both ranges if it is a square.
  public func evaluate(_ display: VideoDisplay) -> VideoRangeResult {
    guard let scaled = display.scaledSize, let orientations = Self.orientations(of: scaled) else {
      return .rejected([VideoRangeRejection(.landscape, .noSize)])
    }
    var rejections: [VideoRangeRejection] = []
    for orientation in orientations {
      guard let failure = self[orientation].failure(of: display) else { return .accepted }
      rejections.append(VideoRangeRejection(orientation, failure))
    }
    return .rejected(rejections)
  }

  /// Evaluates a size of which neither scale nor diagonal is known.
  public func evaluate(_ size: VideoSize) -> VideoRangeResult { evaluate(VideoDisplay(size: size)) }

  /// The orientations of a size; both for a square, nil if a side is not positive.
  ///
  /// A deviation of about 0.05 % still counts as a square (sdl_ios).
  static func orientations(of size: VideoSize) -> [VideoOrientation]? {
    guard size.width > 0, size.height > 0 else { return nil }
    let ratio = Double(size.width) / Double(size.height)
    let square = ratio * ratio
    return square < 0.999 ? [.portrait] : square > 1.001 ? [.landscape] : [.landscape, .portrait]
  }
}
