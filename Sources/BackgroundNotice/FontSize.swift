/// The largest font size with which a wrapped text fits into the height, and its lines into the width.
struct FontSize {
  /// In pixels.
  static let range = 1...300

  /// Words are broken only if the font becomes more than this many times larger by it: a name that is a little too long is
  /// set smaller, but a web address must not make the whole text illegible.
  static let gainThatBreaksWords = 3

  let pixels: Int
  let wrap: WrappedText.Wrap

  /// Nil when the text does not even fit with the smallest font.
  init?(for text: borrowing WrappedText, heightLimit: Double) {
    let broken = Self.largest { size in
      text.fits(fontSize: size, wrap: .wordsAndCharacters, heightLimit: heightLimit)
    }
    guard let broken else { return nil }
    let whole = Self.largest(upTo: broken) { size in
      text.fits(fontSize: size, wrap: .words, heightLimit: heightLimit)
    }
    if let whole, broken / Self.gainThatBreaksWords < whole {
      (pixels, wrap) = (whole, .words)
    } else {
      (pixels, wrap) = (broken, .wordsAndCharacters)
    }
  }

  /// The largest size that fits, found by bisection: apart from a few kerned pairs, a text that fits also fits with a
  /// smaller font.
  static func largest(upTo limit: Int = range.upperBound, where fits: (Int) -> Bool) -> Int? {
    guard !fits(limit) else { return limit }
    // Below `low` everything fits, and nothing from `high` on.
    var (low, high) = (range.lowerBound - 1, limit)
    while high - low > 1 {
      let middle = (low + high) / 2
      if fits(middle) { low = middle } else { high = middle }
    }
    return low < range.lowerBound ? nil : low
  }
}

extension WrappedText {
  fileprivate borrowing func fits(fontSize: Int, wrap: Wrap, heightLimit: Double) -> Bool {
    set(fontSize: fontSize, wrap: wrap)
    return height <= heightLimit && keepsLineWidth
  }
}
