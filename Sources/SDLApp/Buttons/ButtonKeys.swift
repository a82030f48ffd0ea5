import SDLMessages

/// A key goes down or up, as on a keyboard: one that is held goes down again and again.
package enum KeyAction: Equatable, Sendable {
  case press(ButtonName)
  case release(ButtonName)
}

/// Makes keys of the car's buttons.
///
/// OnButtonEvent reports that a button goes down and up: its key follows, and repeats while the button is held, as on a
/// keyboard; OnButtonPress reports a long press only when it is over. For a button with OnButtonPress alone, the key is
/// pressed and released at once, with one repeat for a long press.
struct ButtonKeys: Sendable {
  /// From the press to the first repeat.
  static let delay = Duration.milliseconds(500)
  /// From one repeat to the next.
  static let interval = Duration.milliseconds(100)
  /// A button that is held for longer counts as one whose release was lost.
  static let longestHold = Duration.seconds(10)

  private struct Hold {
    var end: Duration
    var nextRepeat: Duration
  }

  private var held: [ButtonName: Hold] = [:]
  /// The buttons that OnButtonEvent has reported as down.
  private var toldByEvent: Set<ButtonName> = []

  var nextDeadline: Duration? { held.values.lazy.map { min($0.nextRepeat, $0.end) }.min() }

  mutating func receive(_ notification: ButtonNotification, now: Duration) -> [KeyAction] {
    let button = notification.button
    switch notification.signal {
    case .down:
      toldByEvent.insert(button)
      // Its release was lost.
      let former = held[button] == nil ? [] : [KeyAction.release(button)]
      held[button] = Hold(end: now + Self.longestHold, nextRepeat: now + Self.delay)
      return former + [.press(button)]
    case .up: return held.removeValue(forKey: button) == nil ? [] : [.release(button)]
    case .shortPress, .longPress:
      guard !toldByEvent.contains(button) else { return [] }
      let isLong = notification.signal == .longPress
      return [.press(button)] + (isLong ? [.press(button)] : []) + [.release(button)]
    }
  }

  /// Time has passed. Even after a long time, each key is repeated once.
  mutating func advance(now: Duration) -> [KeyAction] {
    ButtonName.allCases.compactMap { button in
      guard let hold = held[button] else { return nil }
      if hold.end <= now {
        held[button] = nil
        return .release(button)
      }
      guard hold.nextRepeat <= now else { return nil }
      held[button]?.nextRepeat = now + Self.interval
      return .press(button)
    }
  }

  /// Releases held keys, because their release will not be reported.
  mutating func releaseAll() -> [KeyAction] {
    defer { held = [:] }
    return ButtonName.allCases.filter { held[$0] != nil }.map { .release($0) }
  }
}
