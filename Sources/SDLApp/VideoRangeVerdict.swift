/// A test of a range that a display has failed, with both numbers: the display's and the bound.
public enum VideoRangeTest: Equatable, Sendable {
  case disabled
  /// The display has no size that could be encoded.
  case noSize
  case minimumWidth(Int, bound: Int)
  case minimumHeight(Int, bound: Int)
  case maximumWidth(Int, bound: Int)
  case maximumHeight(Int, bound: Int)
  /// Inches.
  case minimumDiagonal(Double, bound: Double)
  case minimumAspectRatio(Double, bound: Double)
  case maximumAspectRatio(Double, bound: Double)
}

/// Which way a picture is turned.
public enum VideoOrientation: String, CaseIterable, Sendable {
  case landscape
  case portrait
}

/// A range's objection.
public struct VideoRangeRejection: Equatable, Sendable, CustomStringConvertible {
  public var range: VideoOrientation
  public var test: VideoRangeTest

  /// Memberwise.
  public init(_ range: VideoOrientation, _ test: VideoRangeTest) {
    self.range = range
    self.test = test
  }

  /// "width 320 is below landscape::min-width 500".
  public var description: String {
    switch test {
    case .disabled: "\(range.rawValue)::enabled is false"
    case .noSize: "it has no size"
    case .minimumWidth(let value, let bound): "width \(value) is below \(range.rawValue)::min-width \(bound)"
    case .minimumHeight(let value, let bound): "height \(value) is below \(range.rawValue)::min-height \(bound)"
    case .maximumWidth(let value, let bound): "width \(value) is above \(range.rawValue)::max-width \(bound)"
    case .maximumHeight(let value, let bound): "height \(value) is above \(range.rawValue)::max-height \(bound)"
    case .minimumDiagonal(let value, let bound):
      "diagonal \(value) in is below \(range.rawValue)::min-diagonal \(bound) in"
    case .minimumAspectRatio(let value, let bound):
      "aspect ratio \(value) is below \(range.rawValue)::min-aspect-ratio \(bound)"
    case .maximumAspectRatio(let value, let bound):
      "aspect ratio \(value) is above \(range.rawValue)::max-aspect-ratio \(bound)"
    }
  }
}

/// What the ranges say of a display.
public enum VideoRangeVerdict: Equatable, Sendable {
  case accepted
  /// The first failing test; of both ranges for a square, which either could have accepted.
  case rejected([VideoRangeRejection])

  public var isAccepted: Bool { self == .accepted }
}

extension VideoRangeVerdict: CustomStringConvertible {
  /// For people.
  public var description: String {
    switch self {
    case .accepted: "accepted"
    case .rejected(let rejections): rejections.map(\.description).joined(separator: " and ")
    }
  }
}
