/// What an app supports of one orientation. Bounds are inclusive, and nil is no bound; a new range has none.
///
/// The rules are those of sdl_ios' `SDLVideoStreamingRange` and its manager, without their defects: every bound stands
/// alone, and a ratio of exactly 1 is one.
public struct VideoRange: Equatable, Sendable {
  /// A range that is not enabled takes nothing.
  public var isEnabled = true
  /// Pixels of the encoded picture.
  public var minimumWidth: Int?
  public var minimumHeight: Int?
  public var maximumWidth: Int?
  public var maximumHeight: Int?
  /// Inches. Head units that do not tell theirs pass.
  public var minimumDiagonal: Double?
  /// The display's longer side ÷ its shorter one.
  public var minimumAspectRatio: Double?
  public var maximumAspectRatio: Double?

  /// The largest bounds that make sense: SDL's pictures have sides of at most 10000 pixels.
  public static let largestSide = 10_000
  public static let largestAspectRatio = 10_000.0
  /// Inches.
  public static let largestDiagonal = 1000.0

  /// Bounds of ratios are written with some six digits, so they hold up to this part of themselves.
  static let aspectRatioTolerance = 1e-5

  /// Takes everything.
  public init() {}

  /// Takes everything that the orientation allows.
  public var isUnlimited: Bool { self == VideoRange() }
}

extension VideoRange {
  /// The first test that `display` fails, in the order of the rules; nil when it passes all.
  func failure(of display: VideoDisplay) -> VideoRangeTest? {
    guard isEnabled else { return .disabled }
    guard let scaled = display.scaledSize else { return .noSize }
    return sizeFailure(scaled) ?? diagonalFailure(display.diagonal) ?? aspectRatioFailure(display.size)
  }

  private func sizeFailure(_ size: VideoSize) -> VideoRangeTest? {
    if let minimumWidth, size.width < minimumWidth { return .minimumWidth(size.width, bound: minimumWidth) }
    if let minimumHeight, size.height < minimumHeight { return .minimumHeight(size.height, bound: minimumHeight) }
    if let maximumWidth, size.width > maximumWidth { return .maximumWidth(size.width, bound: maximumWidth) }
    if let maximumHeight, size.height > maximumHeight { return .maximumHeight(size.height, bound: maximumHeight) }
    return nil
  }

  private func diagonalFailure(_ diagonal: Double?) -> VideoRangeTest? {
    guard let diagonal, let minimumDiagonal, diagonal < minimumDiagonal else { return nil }
    return .minimumDiagonal(diagonal, bound: minimumDiagonal)
  }

  private func aspectRatioFailure(_ size: VideoSize) -> VideoRangeTest? {
    let ratio = Double(max(size.width, size.height)) / Double(min(size.width, size.height))
    if let minimumAspectRatio, ratio < minimumAspectRatio * (1 - Self.aspectRatioTolerance) {
      return .minimumAspectRatio(ratio, bound: minimumAspectRatio)
    }
    if let maximumAspectRatio, ratio > maximumAspectRatio * (1 + Self.aspectRatioTolerance) {
      return .maximumAspectRatio(ratio, bound: maximumAspectRatio)
    }
    return nil
  }
}

extension VideoRange {
  /// A range that could never be meant.
  public struct Invalid: Error, Equatable, CustomStringConvertible {
    /// What is wrong, with the numbers.
    public var description: String
  }

  /// Throws when a bound is out of all reason or a minimum is above its maximum.
  public func check() throws(Invalid) {
    for (name, value) in [
      ("min-width", minimumWidth), ("min-height", minimumHeight), ("max-width", maximumWidth),
      ("max-height", maximumHeight),
    ] {
      guard let value, !(1...Self.largestSide).contains(value) else { continue }
      throw Invalid(description: "\(name) \(value) is not within 1 and \(Self.largestSide) (0 is no bound)")
    }
    try Self.check("min-diagonal", minimumDiagonal, 0, Self.largestDiagonal)
    // A ratio below 1 would be that of a rotated display.
    try Self.check("min-aspect-ratio", minimumAspectRatio, 1, Self.largestAspectRatio)
    try Self.check("max-aspect-ratio", maximumAspectRatio, 1, Self.largestAspectRatio)
    try Self.check("width", minimumWidth, notAbove: maximumWidth)
    try Self.check("height", minimumHeight, notAbove: maximumHeight)
    try Self.check("aspect-ratio", minimumAspectRatio, notAbove: maximumAspectRatio)
  }

  private static func check(_ name: String, _ value: Double?, _ least: Double, _ most: Double) throws(Invalid) {
    // NaN is within nothing.
    guard let value, !(least...most).contains(value) else { return }
    throw Invalid(description: "\(name) \(value) is not within \(least) and \(most) (0 is no bound)")
  }

  private static func check<Bound: Comparable>(
    _ name: String, _ minimum: Bound?, notAbove maximum: Bound?
  ) throws(Invalid) {
    guard let minimum, let maximum, minimum > maximum else { return }
    throw Invalid(description: "min-\(name) \(minimum) is above max-\(name) \(maximum)")
  }
}
