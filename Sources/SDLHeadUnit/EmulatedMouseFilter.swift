/// Recognises mouse events that a window system emulates from a touch, so that the touch does not count twice.
///
/// X servers emulate a mouse with the first finger for programs without multi-touch, and ximagesink forwards both: first the
/// mouse events of the last 50 ms, then the touch events. So an emulated press comes up to that time before or after its
/// touch, as does its release after a short tap. A user does not click and touch at the same place within that time.
struct EmulatedMouseFilter: Equatable, Sendable {
  /// Twice the 50 ms for which ximagesink collects events.
  static let window = Duration.milliseconds(100)
  /// In pixels of the picture. Mouse positions are whole pixels of a window that may be much smaller than the picture.
  static let distance = 16.0

  /// The last press and the last begin of a touch, while the other has not come.
  private var press: PictureTouch.Sample?
  private var touch: PictureTouch.Sample?
  /// Touches whose mouse events have been used, from press to release. Bounded for windows that lose the end of touches.
  private(set) var handled: [UInt32] = []
  static let maximumHandledCount = 10
  /// Whether the mouse button is held down by a touch that has been used.
  private(set) var isEmulatedPress = false

  /// Notes a press; true if it is emulated from the last touch.
  mutating func isEmulated(_ sample: PictureTouch.Sample) -> Bool {
    isEmulatedPress = Self.isSame(touch, sample)
    touch = nil
    press = isEmulatedPress ? nil : sample
    return isEmulatedPress
  }

  /// Notes a release; true if its press was emulated.
  mutating func isEmulatedRelease() -> Bool {
    defer { isEmulatedPress = false }
    return isEmulatedPress
  }

  /// Notes the begin of a touch; true if the last press was emulated from it.
  /// - Parameter isPressed: whether that press lasts.
  mutating func isSourceOfPress(_ id: UInt32, _ sample: PictureTouch.Sample, isPressed: Bool) -> Bool {
    _ = endHandled(id)
    let isSame = Self.isSame(press, sample)
    press = nil
    touch = isSame ? nil : sample
    if isSame, !isPressed { handled = handled.suffix(Self.maximumHandledCount - 1) + [id] }
    return isSame
  }

  func isHandled(_ id: UInt32) -> Bool { handled.contains(id) }

  /// Notes the end of a touch; true if its mouse events have been used.
  mutating func endHandled(_ id: UInt32) -> Bool {
    guard let index = handled.firstIndex(of: id) else { return false }
    handled.remove(at: index)
    return true
  }

  private static func isSame(_ one: PictureTouch.Sample?, _ other: PictureTouch.Sample) -> Bool {
    guard let one else { return false }
    return other.time - one.time <= window && abs(one.x - other.x) <= distance && abs(one.y - other.y) <= distance
  }
}
