/// Of a screen or a window, in pixels.
public struct ScreenSize: Hashable, Sendable, CustomStringConvertible {
  public let width: Int
  public let height: Int

  public init(_ width: Int, _ height: Int) {
    (self.width, self.height) = (width, height)
  }

  public var description: String { "\(width)×\(height)" }

  /// No larger than `other` in either direction.
  func limited(to other: ScreenSize) -> ScreenSize {
    ScreenSize(min(width, other.width), min(height, other.height))
  }
}
