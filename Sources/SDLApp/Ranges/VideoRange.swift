/// The displays of one orientation that an app supports. Bounds are inclusive, and nil is no bound.
///
/// The rules are those of sdl_ios' `SDLVideoStreamingRange` and its manager, without their defects: every bound works
/// by itself, and a ratio of exactly 1 is valid.
package struct VideoRange: Equatable, Sendable {
  /// Whether the app supports the orientation at all.
  package var isEnabled = true
  /// Pixels of the encoded picture.
  package var minimumWidth: Int?
  /// Pixels of the encoded picture.
  package var minimumHeight: Int?
  /// Pixels of the encoded picture.
  package var maximumWidth: Int?
  /// Pixels of the encoded picture.
  package var maximumHeight: Int?
  /// Inches. A display of unknown diagonal is accepted.
  package var minimumDiagonal: Double?
  /// The display's longer side ÷ its shorter one, so at least 1.
  package var minimumAspectRatio: Double?
  /// The display's longer side ÷ its shorter one, so at least 1.
  package var maximumAspectRatio: Double?

  /// The largest valid bound of a side, in pixels: the limit of `ImageResolution` in the RPC specification.
  package static let largestSide = 10_000
  /// The largest valid bound of a ratio.
  package static let largestAspectRatio = 10_000.0
  /// The largest valid bound of a diagonal, in inches.
  package static let largestDiagonal = 1000.0

  /// Half of the fourth decimal: bounds of ratios are written with four, such as 1.7778 for 16:9.
  static let aspectRatioTolerance = 0.00005

  package init() {}

  /// Whether every display of the orientation is accepted.
  package var isUnlimited: Bool { self == VideoRange() }
}

extension VideoRange {
  /// The first condition that `display` does not meet, in sdl_ios' order; nil when it meets all.
  func failure(of display: VideoDisplay) -> VideoRangeFailure? {
    guard isEnabled else { return .disabled }
    guard let scaled = display.scaledSize else { return .noSize }
    return sizeFailure(scaled) ?? diagonalFailure(display.diagonal)
      ?? aspectRatioFailure(Double(display.size.width) / Double(display.size.height))
  }

  /// The same for a picture without a known display.
  func failure(of picture: VideoPicture) -> VideoRangeFailure? {
    guard isEnabled else { return .disabled }
    guard let ratio = picture.displayRatio else { return .noSize }
    return sizeFailure(picture.size) ?? aspectRatioFailure(ratio)
  }

  private func sizeFailure(_ size: VideoSize) -> VideoRangeFailure? {
    if let minimumWidth, size.width < minimumWidth { return .minimumWidth(size.width, bound: minimumWidth) }
    if let minimumHeight, size.height < minimumHeight { return .minimumHeight(size.height, bound: minimumHeight) }
    if let maximumWidth, size.width > maximumWidth { return .maximumWidth(size.width, bound: maximumWidth) }
    if let maximumHeight, size.height > maximumHeight { return .maximumHeight(size.height, bound: maximumHeight) }
    return nil
  }

  private func diagonalFailure(_ diagonal: Double?) -> VideoRangeFailure? {
    guard let diagonal, let minimumDiagonal, diagonal < minimumDiagonal else { return nil }
    return .minimumDiagonal(diagonal, bound: minimumDiagonal)
  }

  private func aspectRatioFailure(_ displayRatio: Double) -> VideoRangeFailure? {
    let ratio = max(displayRatio, 1 / displayRatio)
    if let minimumAspectRatio, ratio < minimumAspectRatio - Self.aspectRatioTolerance {
      return .minimumAspectRatio(ratio, bound: minimumAspectRatio)
    }
    if let maximumAspectRatio, ratio > maximumAspectRatio + Self.aspectRatioTolerance {
      return .maximumAspectRatio(ratio, bound: maximumAspectRatio)
    }
    return nil
  }
}

/// Bounds that are no valid range.
extension VideoRange {
  package struct Invalid: Error, Equatable, CustomStringConvertible {
    /// What is wrong, with the numbers.
    package var description: String
  }

  /// Checks each bound by itself.
  ///
  /// - Throws: ``Invalid`` when a bound is outside of its valid values.
  package func validate() throws(Invalid) {
    for (name, value) in [
      ("min-width", minimumWidth), ("min-height", minimumHeight), ("max-width", maximumWidth),
      ("max-height", maximumHeight),
    ] {
      guard let value, !(1...Self.largestSide).contains(value) else { continue }
      throw Invalid(description: "\(name) \(value) is not between 1 and \(Self.largestSide) (0: no limit)")
    }
    try Self.validate("min-diagonal", minimumDiagonal, 0, Self.largestDiagonal)
    // A ratio below 1 belongs to a rotated display.
    try Self.validate("min-aspect-ratio", minimumAspectRatio, 1, Self.largestAspectRatio)
    try Self.validate("max-aspect-ratio", maximumAspectRatio, 1, Self.largestAspectRatio)
  }

  private static func validate(_ name: String, _ value: Double?, _ least: Double, _ most: Double) throws(Invalid) {
    // NaN is within nothing.
    guard let value, !(least...most).contains(value) else { return }
    throw Invalid(description: "\(name) \(value) is not between \(least) and \(most) (0: no limit)")
  }

  /// The minimums above their maximums, which no picture fits: "min-width 800 is above max-width 400", in whichever
  /// order they were set.
  package var conflicts: [String] {
    [
      Self.conflict("width", minimumWidth, maximumWidth), Self.conflict("height", minimumHeight, maximumHeight),
      Self.conflict("aspect-ratio", minimumAspectRatio, maximumAspectRatio),
    ].compactMap(\.self)
  }

  private static func conflict<Bound: Comparable>(_ name: String, _ minimum: Bound?, _ maximum: Bound?) -> String? {
    guard let minimum, let maximum, minimum > maximum else { return nil }
    return "min-\(name) \(minimum) is above max-\(name) \(maximum)"
  }
}
