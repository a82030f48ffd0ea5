/// Prepares touches for the source that draws the pictures: motion waits for the next frame, so that there is one
/// motion per frame instead of as many as the head unit sends; and gestures are recognized.
package struct TouchInput: Equatable, Sendable {
  /// The events to deliver, in order.
  package enum Output: Equatable, Sendable {
    case touch(TouchAction)
    case gesture(Gesture)
  }

  /// The longest time that motion waits. Some sources send frames only when they are touched.
  static let longestWait = Duration.milliseconds(100)

  /// Whether motion waits for ``frameShown()``.
  package var isSynced = true
  private var recognizer: GestureRecognizer?
  /// The last position of each finger that has moved since the last frame, in the order of their first motion.
  private var motions: [Touch] = []
  /// When the first of ``motions`` was received.
  private var waitsSince: Duration = .zero

  package init() {}

  package var isWaiting: Bool { !motions.isEmpty }

  /// When ``advance(to:)`` has something to do.
  package var nextDeadline: Duration? {
    (isWaiting ? waitsSince + Self.longestWait : nil).earlier(recognizer?.nextDeadline)
  }

  /// Switches the recognition of gestures on or off.
  package mutating func setRecognizing(_ isRecognizing: Bool) {
    guard isRecognizing != (recognizer != nil) else { return }
    recognizer = isRecognizing ? GestureRecognizer() : nil
  }

  /// Takes actions that happened at the same time.
  package mutating func receive(_ actions: [TouchAction], now: Duration) -> [Output] {
    guard isSynced, actions.allSatisfy(\.isMotion) else {
      return frameShown() + actions.map(Output.touch) + recognize(actions, isSynced: isSynced, now: now)
    }
    if motions.isEmpty { waitsSince = now }
    for case .motion(let touch) in actions {
      if let index = motions.firstIndex(where: { $0.id == touch.id }) {
        motions[index] = touch
      } else {
        motions.append(touch)
      }
    }
    return recognize(actions, isSynced: true, now: now)
  }

  private mutating func recognize(_ actions: [TouchAction], isSynced: Bool, now: Duration) -> [Output] {
    guard var recognizer else { return [] }
    defer { self.recognizer = recognizer }
    return actions.flatMap { action in
      recognizer.receive(action, now: now) + (isSynced ? [] : recognizer.progress())
    }.map(Output.gesture)
  }

  /// A frame has been shown: delivers the motion that has waited for it.
  package mutating func frameShown() -> [Output] {
    guard isWaiting else { return [] }
    defer { motions.removeAll(keepingCapacity: true) }
    return motions.map { .touch(.motion($0)) } + [.touch(.frame)]
      + (recognizer?.progress() ?? []).map(Output.gesture)
  }

  package mutating func advance(to now: Duration) -> [Output] {
    let overdue = isWaiting && waitsSince + Self.longestWait <= now ? frameShown() : []
    return overdue + (recognizer?.advance(to: now) ?? []).map(Output.gesture)
  }

  /// The pictures are gone: forgets waiting motion, and cancels the gesture under way.
  package mutating func interrupt() -> [Output] {
    motions.removeAll()
    return (recognizer?.cancel() ?? []).map(Output.gesture)
  }
}

extension TouchAction {
  fileprivate var isMotion: Bool {
    switch self {
    case .motion, .frame: true
    case .down, .up, .cancel: false
    }
  }
}

/// Translates the head unit's time stamps to the app's clock. Intervals are kept; the transmission time is taken to be
/// the shortest so far.
package struct TouchClock: Equatable, Sendable {
  /// With a longer apparent transmission time, the head unit must have reset its clock.
  static let longestTransmission = Duration.seconds(5)

  private var offset: Duration?

  package init() {}

  /// The time of an event by the app's clock.
  /// - Parameters:
  ///   - time: its time stamp, by the head unit's clock.
  ///   - arrival: when it was received, by the app's clock.
  package mutating func local(_ time: Duration, arrival: Duration) -> Duration {
    let newest = arrival - time
    guard let known = offset, known <= newest, newest - known <= Self.longestTransmission else {
      offset = newest
      return arrival
    }
    return time + known
  }
}
