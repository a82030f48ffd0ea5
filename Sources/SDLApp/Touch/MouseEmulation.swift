/// Turns the first finger into a mouse, for sources that handle mouse events only.
package struct MouseEmulation: Equatable, Sendable {
  /// A mouse event; the first button is down between press and release.
  package enum Action: Equatable, Sendable {
    case press(TouchPosition)
    case move(TouchPosition)
    case release(TouchPosition)
  }

  private var finger: (id: Int, position: TouchPosition)?

  package init() {}

  package var isPressed: Bool { finger != nil }

  /// The mouse event for a finger's action; nil for none. A cancel becomes a release, because a mouse has none.
  package mutating func receive(_ action: TouchAction) -> Action? {
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

  package static func == (one: MouseEmulation, other: MouseEmulation) -> Bool {
    one.finger?.id == other.finger?.id && one.finger?.position == other.finger?.position
  }
}
