/// A number of pictures per second, such as 15/1 or 30000/1001; always above 0.
public struct Fraction: Equatable, Sendable {
  public let numerator: Int
  public let denominator: Int

  /// Nil unless both are within 1…2³¹ − 1, as in a GstFraction, which also keeps products from overflowing.
  public init?(_ numerator: Int, _ denominator: Int = 1) {
    let range = 1...Int(Int32.max)
    guard range.contains(numerator), range.contains(denominator) else { return nil }
    self.numerator = numerator
    self.denominator = denominator
  }

  /// The whole number in the range that is nearest to `number`.
  public init(clamping number: Int) {
    numerator = min(max(number, 1), Int(Int32.max))
    denominator = 1
  }

  /// The rate as a floating-point number.
  public var value: Double { Double(numerator) / Double(denominator) }

  /// The time from one picture to the next, in nanoseconds.
  public var interval: UInt64 { UInt64(denominator) * 1_000_000_000 / UInt64(numerator) }
}

extension Fraction: Comparable {
  public static func < (first: Fraction, second: Fraction) -> Bool {
    first.numerator * second.denominator < second.numerator * first.denominator
  }
}

extension Fraction: CustomStringConvertible {
  /// "15", "29.97".
  public var description: String {
    let hundredths = Int((value * 100).rounded())
    let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
    return rest == 0 ? "\(whole)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
  }
}
