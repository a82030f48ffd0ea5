/// Makes a mouse of the first finger, for sources that know no other.
public struct MouseEmulation: Equatable, Sendable {
  /// What the mouse does; its first button is down between press and release.
  public enum Action: Equatable, Sendable {
    case press(TouchPosition)
    case move(TouchPosition)
    case release(TouchPosition)
  }

  private var finger: (id: Int, position: TouchPosition)?

  /// No finger is down.
  public init() {}

  /// Whether the button is down.
  public var isPressed: Bool { finger != nil }

  /// What comes of a finger's action. A mouse knows no cancel, so that one becomes a release.
  public mutating func receive(_ action: TouchAction) -> Action? {
    switch action {
    case .down(let touch) where finger == nil:
      finger = (touch.id, touch.position)
      return .press(touch.position)
    case .motion(let touch) where touch.id == finger?.id:
      finger?.position = touch.position
      return .move(touch.position)
    case .up(let touch) where touch.id == finger?.id:
      finger = nil
      return .release(touch.position)
    case .cancel:
      defer { finger = nil }
      return finger.map { .release($0.position) }
    case .down, .motion, .up, .frame: return nil
    }
  }

  public static func == (one: MouseEmulation, other: MouseEmulation) -> Bool {
    one.finger?.id == other.finger?.id && one.finger?.position == other.finger?.position
  }
}
