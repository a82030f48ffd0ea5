/// What an app supports: a range for each orientation.
public struct VideoRanges: Equatable, Sendable {
  public var landscape: VideoRange
  public var portrait: VideoRange

  /// Without arguments, everything is supported.
  public init(landscape: VideoRange = VideoRange(), portrait: VideoRange = VideoRange()) {
    self.landscape = landscape
    self.portrait = portrait
  }

  /// Whether nothing could fail.
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

  /// Judges one display: by the range of its orientation, or by both if it is a square.
  public func verdict(on display: VideoDisplay) -> VideoRangeVerdict {
    guard let scaled = display.scaledSize, let orientations = Self.orientations(of: scaled) else {
      return .rejected([VideoRangeRejection(.landscape, .noSize)])
    }
    var rejections: [VideoRangeRejection] = []
    for orientation in orientations {
      guard let test = self[orientation].failure(of: display) else { return .accepted }
      rejections.append(VideoRangeRejection(orientation, test))
    }
    return .rejected(rejections)
  }

  /// Judges a size of which nothing else is known.
  public func verdict(on size: VideoSize) -> VideoRangeVerdict { verdict(on: VideoDisplay(size: size)) }

  /// Nil for what is no size. A deviation of about 0.05 % still counts as a square (sdl_ios).
  static func orientations(of size: VideoSize) -> [VideoOrientation]? {
    guard size.width > 0, size.height > 0 else { return nil }
    let ratio = Double(size.width) / Double(size.height)
    let square = ratio * ratio
    return square < 0.999 ? [.portrait] : square > 1.001 ? [.landscape] : [.landscape, .portrait]
  }
}
