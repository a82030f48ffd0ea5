/// A place in the app's pictures, in pixels.
public struct TouchPosition: Hashable, Sendable {
  public var x: Double
  public var y: Double

  /// Memberwise.
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}

/// A finger at a place.
public struct Touch: Equatable, Sendable {
  /// 0…9; different for each finger that is down.
  public var id: Int
  public var position: TouchPosition
  /// By the head unit's own clock; nil when it does not say.
  public var time: Duration?

  /// Memberwise.
  public init(id: Int, position: TouchPosition, time: Duration? = nil) {
    self.id = id
    self.position = position
    self.time = time
  }
}

/// What fingers do, one after the other: `down` first, then any `motion`, at last `up` or `cancel`.
public enum TouchAction: Equatable, Sendable {
  case down(Touch)
  case motion(Touch)
  case up(Touch)
  /// All since the last one happened at the same time.
  case frame
  /// The fingers that are down do not count any more, nor does what they have begun.
  case cancel
}
