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

/// The condition of a range that a display does not meet, with the display's number and the bound.
public enum VideoRangeFailure: Equatable, Sendable {
  case disabled
  /// The display has no size that could be encoded.
  case noSize
  /// Pixels.
  case minimumWidth(Int, bound: Int)
  case minimumHeight(Int, bound: Int)
  case maximumWidth(Int, bound: Int)
  case maximumHeight(Int, bound: Int)
  /// Inches.
  case minimumDiagonal(Double, bound: Double)
  /// Longer side ÷ shorter side.
  case minimumAspectRatio(Double, bound: Double)
  case maximumAspectRatio(Double, bound: Double)
}

/// Whether a picture is wider than high.
public enum VideoOrientation: String, CaseIterable, Sendable {
  case landscape
  case portrait
}

/// Why the range of one orientation does not accept a display.
public struct VideoRangeRejection: Equatable, Sendable, CustomStringConvertible {
  /// The orientation of the range.
  public var orientation: VideoOrientation
  /// The first condition that is not met.
  public var failure: VideoRangeFailure

  /// Creates the rejection by the range of `orientation`.
  public init(_ orientation: VideoOrientation, _ failure: VideoRangeFailure) {
    self.orientation = orientation
    self.failure = failure
  }

  /// "width 320 is below landscape::min-width 500".
  public var description: String {
    let range = orientation.rawValue
    return switch failure {
    case .disabled: "\(range)::enabled is false"
    case .noSize: "it has no size"
    case .minimumWidth(let value, let bound): "width \(value) is below \(range)::min-width \(bound)"
    case .minimumHeight(let value, let bound): "height \(value) is below \(range)::min-height \(bound)"
    case .maximumWidth(let value, let bound): "width \(value) is above \(range)::max-width \(bound)"
    case .maximumHeight(let value, let bound): "height \(value) is above \(range)::max-height \(bound)"
    case .minimumDiagonal(let value, let bound): "diagonal \(value) in is below \(range)::min-diagonal \(bound) in"
    case .minimumAspectRatio(let value, let bound): "aspect ratio \(value) is below \(range)::min-aspect-ratio \(bound)"
    case .maximumAspectRatio(let value, let bound): "aspect ratio \(value) is above \(range)::max-aspect-ratio \(bound)"
    }
  }
}

/// The result of ``VideoRanges`` for a display.
public enum VideoRangeResult: Equatable, Sendable {
  case accepted
  /// For each range that was checked, the first condition that is not met. A square is rejected by both.
  case rejected([VideoRangeRejection])

  /// Whether no range rejects the display.
  public var isAccepted: Bool { self == .accepted }
}

extension VideoRangeResult: CustomStringConvertible {
  /// The rejections as text for warnings.
  public var description: String {
    switch self {
    case .accepted: "accepted"
    case .rejected(let rejections): rejections.map(\.description).joined(separator: " and ")
    }
  }
}
