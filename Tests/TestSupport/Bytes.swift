/// The parts one behind the other. A chain of `+` between literals takes the compiler long, or too long.
package func joined(_ parts: [UInt8]...) -> [UInt8] {
  parts.flatMap { $0 }
}

extension [UInt8] {
  /// Bytes written as pairs of hexadecimal digits; everything else in the text only separates them.
  package init(hex: String) {
    let digits = hex.compactMap(\.hexDigitValue).map(UInt8.init)
    precondition(digits.count % 2 == 0, "half a byte in \(hex)")
    self = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  /// Like the function of strings; quick where tests, which are not optimised, compare large frames.
  package func hasSuffix(_ suffix: [UInt8]) -> Bool {
    count >= suffix.count && self[(count - suffix.count)...].elementsEqual(suffix)
  }
}
