/// A "major.minor.patch" version of the SDL protocol.
package struct ProtocolVersion: Comparable, Hashable, Sendable, CustomStringConvertible {
  package var major: Int
  package var minor: Int
  package var patch: Int

  package init(_ major: Int, _ minor: Int = 0, _ patch: Int = 0) {
    self.major = major
    self.minor = minor
    self.patch = patch
  }

  /// Reads "5.4.1"; minor and patch may be missing; nil for anything else.
  package init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count) else { return nil }
    var numbers = [0, 0, 0]
    for (index, part) in parts.enumerated() {
      guard let number = UInt16(part) else { return nil }
      numbers[index] = Int(number)
    }
    self.init(numbers[0], numbers[1], numbers[2])
  }

  /// "5.4.1".
  package var description: String { "\(major).\(minor).\(patch)" }

  package static func < (lhs: Self, rhs: Self) -> Bool {
    (lhs.major, lhs.minor, lhs.patch) < (rhs.major, rhs.minor, rhs.patch)
  }
}
