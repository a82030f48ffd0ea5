/// Of a screen or a window, in pixels.
package struct ScreenSize: Hashable, Sendable, CustomStringConvertible {
  package let width: Int
  package let height: Int

  package init(_ width: Int, _ height: Int) {
    (self.width, self.height) = (width, height)
  }

  package var description: String { "\(width)×\(height)" }

  /// The smallest size of the same shape that holds a window of `least`, as far as `maximum` allows.
  func enlarged(toHold least: ScreenSize, atMost maximum: ScreenSize) -> ScreenSize {
    guard width > 0, height > 0 else { return self }
    let ratio = { (other: ScreenSize) in
      (Double(other.width) / Double(width), Double(other.height) / Double(height))
    }
    let (needed, possible) = (ratio(least), ratio(maximum))
    let factor = max(1, min(max(needed.0, needed.1), min(possible.0, possible.1)))
    // A side that is needed exactly is not rounded to the next pixel.
    let side = { (length: Int) in Int((Double(length) * factor - 0.001).rounded(.up)) }
    return factor > 1 ? ScreenSize(side(width), side(height)) : self
  }

  /// No larger than `other` in either direction.
  func limited(to other: ScreenSize) -> ScreenSize {
    ScreenSize(min(width, other.width), min(height, other.height))
  }
}

/// A part of the screen, in its pixels.
package struct ScreenArea: Hashable, Sendable {
  package let x: Int
  package let y: Int
  package let width: Int
  package let height: Int

  package init(x: Int, y: Int, width: Int, height: Int) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }

  /// The part of it on a screen of that size; nil if there is none.
  func clipped(to size: ScreenSize) -> ScreenArea? {
    let (left, top) = (max(x, 0), max(y, 0))
    let (right, isRightCut) = x.addingReportingOverflow(width)
    let (bottom, isBottomCut) = y.addingReportingOverflow(height)
    guard !isRightCut, !isBottomCut, min(right, size.width) > left, min(bottom, size.height) > top else { return nil }
    return ScreenArea(x: left, y: top, width: min(right, size.width) - left, height: min(bottom, size.height) - top)
  }
}
