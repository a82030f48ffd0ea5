/// A position in the app's pictures, in pixels.
public struct TouchPosition: Hashable, Sendable {
  public var x: Double
  public var y: Double

  /// Creates a position, in pixels from the upper left corner.
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}

public struct Touch: Equatable, Sendable {
  /// 0…9; different for each finger that is down.
  public var id: Int
  public var position: TouchPosition
  /// When it was there, by the head unit's clock; nil when the head unit sends no time.
  public var time: Duration?

  public init(id: Int, position: TouchPosition, time: Duration? = nil) {
    self.id = id
    self.position = position
    self.time = time
  }
}

/// A change of one finger, or of all. For each finger `down` comes first, then any `motion`, then `up` or `cancel`.
public enum TouchAction: Equatable, Sendable {
  case down(Touch)
  case motion(Touch)
  case up(Touch)
  /// The actions since the last `frame` happened at the same time.
  case frame
  /// Forget all fingers that are down, with the gestures that they have begun.
  case cancel
}
