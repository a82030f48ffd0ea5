/// Which presses of a window's mouse and which fingers are the same thing, told twice.
///
/// X servers make a mouse of the first finger for programs that know no others, and ximagesink passes on both: all that the
/// mouse did in the last 50 ms, then all that the fingers did in that time. So a press comes up to that time before or after
/// its finger, and for a short tap its release does, too. Nobody clicks and touches at the same place that soon.
struct PointerEcho: Equatable, Sendable {
  /// Twice the time that a window may collect events for.
  static let window = Duration.milliseconds(100)
  /// In pixels of the picture; mice are rounded to pixels of a window that may be much smaller than the picture.
  static let distance = 16.0

  /// A press, or a finger's beginning, that has no counterpart yet.
  private var press: PictureTouch.Sample?
  private var finger: PictureTouch.Sample?
  /// Fingers that the mouse has told of from the beginning to the end.
  private var told: Set<UInt32> = []
  /// Whether the mouse's present press is a finger that has been told of.
  private(set) var isMouseFinger = false

  /// Takes note of a press; true if it is a finger that was told of already.
  mutating func isPressOfFinger(_ sample: PictureTouch.Sample) -> Bool {
    isMouseFinger = Self.isSame(finger, sample)
    finger = nil
    press = isMouseFinger ? nil : sample
    return isMouseFinger
  }

  /// True at the end of such a press.
  mutating func isReleaseOfFinger() -> Bool {
    defer { isMouseFinger = false }
    return isMouseFinger
  }

  /// Takes note of a finger's beginning; true if it is the mouse's last press, told of already.
  ///
  /// - Parameter isPressed: whether that press goes on.
  mutating func isFingerOfPress(_ id: UInt32, _ sample: PictureTouch.Sample, isPressed: Bool) -> Bool {
    told.remove(id)
    let isSame = Self.isSame(press, sample)
    press = nil
    finger = isSame ? nil : sample
    if isSame, !isPressed { told.insert(id) }
    return isSame
  }

  func isTold(_ id: UInt32) -> Bool { told.contains(id) }

  /// The finger has gone; true if that had been told.
  mutating func endTold(_ id: UInt32) -> Bool { told.remove(id) != nil }

  private static func isSame(_ one: PictureTouch.Sample?, _ other: PictureTouch.Sample) -> Bool {
    guard let one else { return false }
    return other.time - one.time <= window && abs(one.x - other.x) <= distance && abs(one.y - other.y) <= distance
  }
}
