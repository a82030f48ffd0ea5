/// Of a screen or a window, in pixels.
public struct ScreenSize: Hashable, Sendable, CustomStringConvertible {
  public let width: Int
  public let height: Int

  public init(_ width: Int, _ height: Int) {
    (self.width, self.height) = (width, height)
  }

  public var description: String { "\(width)×\(height)" }

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
