/// Recognizes gestures of one and two fingers. Further fingers are ignored, and so is the finger that stays down after
/// a pinch.
///
/// The movement of a pan or pinch is reported by ``progress()``, whenever the caller asks; everything else at once.
package struct GestureRecognizer: Equatable, Sendable {
  /// The longest time between the lifting of the finger in the two taps of a double tap.
  static let tapTime = Duration.milliseconds(400)
  /// The largest distance between the two taps of a double tap, in pixels, on each axis.
  static let tapDistance = 50.0
  /// The largest distance from where the finger came down that is no pan yet, in pixels, on each axis.
  static let panDistance = 8.0

  private enum State: Equatable {
    case idle
    case single(id: Int, began: TouchPosition)
    case pan(id: Int, reported: TouchPosition, current: TouchPosition)
    case pinch(Pinch)
  }

  private struct Pinch: Equatable {
    var ids: [Int]
    var positions: [TouchPosition]
    /// The distance of the fingers at the last report; nil if it was 0, which can't be a divisor.
    var distance: Double?
    var hasMoved = false

    var center: TouchPosition { positions[0].middle(positions[1]) }
    var presentDistance: Double { positions[0].distance(to: positions[1]) }
  }

  private struct Tap: Equatable {
    var position: TouchPosition
    /// When the finger was lifted, by the head unit's clock.
    var time: Duration?
    /// When that was received, by the app's clock.
    var arrival: Duration
  }

  private var state = State.idle
  /// The position of the finger in state `single`.
  private var lastPosition = TouchPosition(x: 0, y: 0)
  /// A tap that a second one may follow.
  private var firstTap: Tap?

  package init() {}

  /// When ``advance(to:)`` has a tap to report.
  package var nextDeadline: Duration? { firstTap.map { $0.arrival + Self.tapTime } }

  /// Reports a tap whose second tap has not come in time.
  package mutating func advance(to now: Duration) -> [Gesture] {
    guard let tap = firstTap, tap.arrival + Self.tapTime <= now else { return [] }
    firstTap = nil
    return [.tap(tap.position)]
  }

  /// Takes the next action; returns the gestures that begin, continue or end with it.
  package mutating func receive(_ action: TouchAction, now: Duration) -> [Gesture] {
    switch action {
    case .down(let touch): down(touch)
    case .motion(let touch): motion(touch)
    case .up(let touch): up(touch, now: now)
    case .cancel: cancel()
    case .frame: []
    }
  }

  /// The movement of a pan or pinch since the last report; empty if there was none.
  package mutating func progress() -> [Gesture] {
    switch state {
    case .pan(let id, let reported, let current) where reported != current:
      state = .pan(id: id, reported: current, current: current)
      return [.pan(from: reported, to: current)]
    case .pinch(var pinch) where pinch.hasMoved:
      pinch.hasMoved = false
      let distance = pinch.presentDistance
      let scale = pinch.distance.map { distance / $0 } ?? 1
      // A distance of 0 can't be compared with.
      guard distance > 0 else {
        state = .pinch(pinch)
        return []
      }
      pinch.distance = distance
      state = .pinch(pinch)
      return [.pinch(center: pinch.center, scale: scale)]
    default: return []
    }
  }

  /// Cancels the gesture under way, and forgets a first tap.
  package mutating func cancel() -> [Gesture] {
    defer { state = .idle }
    firstTap = nil
    switch state {
    case .idle, .single: return []
    case .pan(_, _, let current): return [.panCancel(current)]
    case .pinch(let pinch): return [.pinchCancel(pinch.center)]
    }
  }

  private mutating func down(_ touch: Touch) -> [Gesture] {
    switch state {
    case .idle:
      state = .single(id: touch.id, began: touch.position)
      lastPosition = touch.position
      return []
    case .single(let id, _):
      return begin(pinchOf: id, lastPosition, touch)
    case .pan(let id, _, let current):
      let end = progress() + [.panEnd(current)]
      return end + begin(pinchOf: id, current, touch)
    case .pinch: return []
    }
  }

  private mutating func begin(pinchOf id: Int, _ position: TouchPosition, _ second: Touch) -> [Gesture] {
    var pinch = Pinch(ids: [id, second.id], positions: [position, second.position])
    pinch.distance = pinch.presentDistance > 0 ? pinch.presentDistance : nil
    state = .pinch(pinch)
    return [.pinchStart(pinch.center)]
  }

  private mutating func motion(_ touch: Touch) -> [Gesture] {
    switch state {
    case .single(touch.id, let began):
      lastPosition = touch.position
      guard !touch.position.isWithin(Self.panDistance, of: began) else { return [] }
      state = .pan(id: touch.id, reported: touch.position, current: touch.position)
      return [.panStart(touch.position)]
    case .pan(touch.id, let reported, _):
      state = .pan(id: touch.id, reported: reported, current: touch.position)
      return []
    case .pinch(var pinch):
      guard let index = pinch.ids.firstIndex(of: touch.id) else { return [] }
      if pinch.positions[index] != touch.position { pinch.hasMoved = true }
      pinch.positions[index] = touch.position
      state = .pinch(pinch)
      return []
    default: return []
    }
  }

  private mutating func up(_ touch: Touch, now: Duration) -> [Gesture] {
    switch state {
    case .single(touch.id, _):
      state = .idle
      return tapped(Tap(position: touch.position, time: touch.time, arrival: now))
    case .pan(touch.id, let reported, _):
      state = .pan(id: touch.id, reported: reported, current: touch.position)
      defer { state = .idle }
      return progress() + [.panEnd(touch.position)]
    case .pinch(let pinch) where pinch.ids.contains(touch.id):
      let last = motion(touch) + progress()
      guard case .pinch(let ended) = state else { return last }
      state = .idle
      return last + [.pinchEnd(ended.center)]
    default: return []
    }
  }

  private mutating func tapped(_ tap: Tap) -> [Gesture] {
    guard let first = firstTap else {
      firstTap = tap
      return []
    }
    // By the head unit's clock if possible, because transmission times vary.
    let pause = first.time.flatMap { earlier in tap.time.map { $0 - earlier } } ?? (tap.arrival - first.arrival)
    guard (.zero...Self.tapTime).contains(pause), tap.position.isWithin(Self.tapDistance, of: first.position) else {
      firstTap = tap
      return [.tap(first.position)]
    }
    firstTap = nil
    return [.doubleTap(first.position.middle(tap.position))]
  }
}

extension TouchPosition {
  fileprivate func middle(_ other: TouchPosition) -> TouchPosition {
    TouchPosition(x: (x + other.x) / 2, y: (y + other.y) / 2)
  }

  fileprivate func distance(to other: TouchPosition) -> Double {
    let (width, height) = (x - other.x, y - other.y)
    return (width * width + height * height).squareRoot()
  }

  /// Whether neither coordinate differs by more.
  fileprivate func isWithin(_ distance: Double, of other: TouchPosition) -> Bool {
    abs(x - other.x) <= distance && abs(y - other.y) <= distance
  }
}

/// A gesture of one or two fingers, with the rules of sdl_ios' touch manager. Positions are in pixels of the app's
/// pictures.
package enum Gesture: Equatable, Sendable {
  /// The position is where the finger was lifted. Reported when no second tap has come in time.
  case tap(TouchPosition)
  /// The position is the middle between the two taps.
  case doubleTap(TouchPosition)
  /// The position is where the finger was first farther than 8 pixels from where it came down.
  case panStart(TouchPosition)
  case pan(from: TouchPosition, to: TouchPosition)
  case panEnd(TouchPosition)
  /// Instead of the end.
  case panCancel(TouchPosition)
  /// The position is the middle between the two fingers.
  case pinchStart(TouchPosition)
  /// The fingers' distance has changed by this factor since the last time.
  case pinch(center: TouchPosition, scale: Double)
  case pinchEnd(TouchPosition)
  /// Instead of the end.
  case pinchCancel(TouchPosition)
}
