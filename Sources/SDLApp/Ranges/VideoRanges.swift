/// The displays that an app supports: a range for each orientation.
package struct VideoRanges: Equatable, Sendable {
  /// For displays that are wider than high.
  package var landscape: VideoRange
  /// For displays that are higher than wide.
  package var portrait: VideoRange

  /// Creates the ranges; without arguments, everything is supported.
  package init(landscape: VideoRange = VideoRange(), portrait: VideoRange = VideoRange()) {
    self.landscape = landscape
    self.portrait = portrait
  }

  package var isUnlimited: Bool { landscape.isUnlimited && portrait.isUnlimited }

  /// Whether no minimum is above its maximum.
  package var isValid: Bool { landscape.conflicts.isEmpty && portrait.conflicts.isEmpty }

  /// Whether no display is accepted, because the app supports neither orientation.
  package var isDisabled: Bool { !landscape.isEnabled && !portrait.isEnabled }

  package subscript(orientation: VideoOrientation) -> VideoRange {
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
  package func evaluate(_ display: VideoDisplay) -> VideoRangeResult {
    guard let scaled = display.scaledSize, let ratio = VideoPicture(scaled).displayRatio else {
      return .rejected([VideoRangeRejection(.landscape, .noSize)])
    }
    return evaluate(ratio) { $0.failure(of: display) }
  }

  /// Evaluates a picture of whose display nothing is known.
  package func evaluate(_ picture: VideoPicture) -> VideoRangeResult {
    guard let ratio = picture.displayRatio else { return .rejected([VideoRangeRejection(.landscape, .noSize)]) }
    return evaluate(ratio) { $0.failure(of: picture) }
  }

  private func evaluate(_ ratio: Double, _ failure: (VideoRange) -> VideoRangeFailure?) -> VideoRangeResult {
    guard !isDisabled else {
      return .rejected(VideoOrientation.allCases.map { VideoRangeRejection($0, .disabled) })
    }
    var rejections: [VideoRangeRejection] = []
    for orientation in Self.orientations(ofRatio: ratio) {
      guard let failure = failure(self[orientation]) else { return .accepted }
      rejections.append(VideoRangeRejection(orientation, failure))
    }
    return .rejected(rejections)
  }

  /// The orientations of a width ÷ height; both for a square.
  ///
  /// A deviation of about 0.05 % still counts as a square (sdl_ios).
  static func orientations(ofRatio ratio: Double) -> [VideoOrientation] {
    let square = ratio * ratio
    return square < 0.999 ? [.portrait] : square > 1.001 ? [.landscape] : [.landscape, .portrait]
  }
}

/// The condition of a range that a display does not meet, with the display's number and the bound.
package enum VideoRangeFailure: Equatable, Sendable {
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
package enum VideoOrientation: String, CaseIterable, Sendable {
  case landscape
  case portrait
}

/// Why the range of one orientation does not accept a display.
package struct VideoRangeRejection: Equatable, Sendable, CustomStringConvertible {
  package var orientation: VideoOrientation
  /// The first condition that is not met.
  package var failure: VideoRangeFailure

  package init(_ orientation: VideoOrientation, _ failure: VideoRangeFailure) {
    self.orientation = orientation
    self.failure = failure
  }

  /// "width 320 is below landscape::min-width 500".
  package var description: String {
    let range = orientation.rawValue
    return switch failure {
    case .disabled: "\(range)::enabled is false"
    case .noSize: "it has no size"
    case .minimumWidth(let value, let bound): "width \(value) is below \(range)::min-width \(bound)"
    case .minimumHeight(let value, let bound): "height \(value) is below \(range)::min-height \(bound)"
    case .maximumWidth(let value, let bound): "width \(value) is above \(range)::max-width \(bound)"
    case .maximumHeight(let value, let bound): "height \(value) is above \(range)::max-height \(bound)"
    case .minimumDiagonal(let value, let bound):
      "diagonal \(value.text(besides: bound)) in is below \(range)::min-diagonal \(bound.text(besides: value)) in"
    case .minimumAspectRatio(let value, let bound):
      "aspect ratio \(value.text(besides: bound)) is below \(range)::min-aspect-ratio \(bound.text(besides: value))"
    case .maximumAspectRatio(let value, let bound):
      "aspect ratio \(value.text(besides: bound)) is above \(range)::max-aspect-ratio \(bound.text(besides: value))"
    }
  }
}

extension Double {
  /// With three decimals at most, for users: "1.778", "7.0".
  var shortText: String { rounded(decimals: 3).description }

  /// The same, but with as many decimals as distinguish it from `other`.
  fileprivate func text(besides other: Double) -> String {
    for decimals in 3...9 where rounded(decimals: decimals) != other.rounded(decimals: decimals) {
      return rounded(decimals: decimals).description
    }
    return description
  }

  private func rounded(decimals: Int) -> Double {
    let factor = (0..<decimals).reduce(1.0) { product, _ in 10 * product }
    return (self * factor).rounded() / factor
  }
}

package enum VideoRangeResult: Equatable, Sendable {
  case accepted
  /// For each range that was checked, the first condition that is not met. A square is rejected by both.
  case rejected([VideoRangeRejection])

  package var isAccepted: Bool { self == .accepted }
}

extension VideoRangeResult: CustomStringConvertible {
  /// The rejections as text for warnings.
  package var description: String {
    switch self {
    case .accepted: "accepted"
    case .rejected(let rejections) where rejections.count > 1 && rejections.allSatisfy { $0.failure == .disabled }:
      "both ranges are disabled, as landscape::enabled and portrait::enabled are false"
    case .rejected(let rejections): rejections.map(\.description).joined(separator: " and ")
    }
  }
}
