extension String {
  /// The most combining marks in a row of the Stream-Safe Text Format (UAX #15); no language has as many.
  private static let mostMarks = 30
  /// The first character with a combining mark begins with this byte, and none with a smaller one.
  private static let firstMarkByte: UInt8 = 0xCC

  /// The text of a peer in Unicode's Stream-Safe Text Format: U+034F separates more than 30 combining marks in a row.
  ///
  /// To compare or hash texts, Swift sorts the marks that follow each other, in a time that grows with the square of
  /// their number: 128 KiB of them took seven seconds.
  package var streamSafe: String {
    guard utf8.count > Self.mostMarks, !utf8.allSatisfy({ $0 < Self.firstMarkByte }) else { return self }
    var safe = UnicodeScalarView()
    var marks = 0
    for scalar in unicodeScalars {
      marks = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : marks + 1
      if marks > Self.mostMarks {
        safe.append("\u{034F}")
        marks = 1
      }
      safe.append(scalar)
    }
    return String(safe)
  }
}
