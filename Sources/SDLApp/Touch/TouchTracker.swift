/// Turns the head unit's touches into a valid sequence of actions, whatever the head unit sends.
///
/// A BEGIN of a finger that is down counts as MOVE when it comes with a BEGIN of another finger, because head units
/// send BEGIN for all fingers when one is added; otherwise its END was lost, and is inserted. MOVE and END without
/// BEGIN are ignored. CANCEL applies to all fingers, as in GStreamer; a finger that is still down has to begin again.
struct TouchTracker: Equatable, Sendable {
  /// The positions of the fingers that are down, by their ids.
  private var open: [Int: TouchPosition] = [:]

  /// The actions in `event`, in pixels of the stream.
  mutating func receive(_ event: OnTouchEvent, _ geometry: VideoGeometry) -> [TouchAction] {
    guard let kind = event.kind else { return [] }
    if kind == .cancel { return cancel(event.fingers) }
    var actions = kind == .begin ? endLost(event.fingers) : []
    for finger in event.fingers {
      let touches = finger.samples.map { sample in
        Touch(id: finger.id, position: geometry.inPicture(sample), time: sample.time.map { .milliseconds($0) })
      }
      track(kind, finger.id, touches, &actions)
    }
    return actions.isEmpty ? [] : actions + [.frame]
  }

  private mutating func track(
    _ kind: OnTouchEvent.Kind, _ id: Int, _ touches: [Touch], _ actions: inout [TouchAction]
  ) {
    var rest = touches[...]
    if open[id] == nil {
      guard kind == .begin, let first = rest.popFirst() else { return }
      open[id] = first.position
      actions.append(.down(first))
    }
    let end = kind == .end ? rest.popLast() : nil
    // BEGIN of another finger repeats this one where it was.
    for touch in rest where kind != .begin || touch.position != open[id] {
      open[id] = touch.position
      actions.append(.motion(touch))
    }
    guard kind == .end, let last = open.removeValue(forKey: id) else { return }
    actions.append(.up(end ?? Touch(id: id, position: last)))
  }

  /// Ends `fingers` where they were last, if all of them are down.
  private mutating func endLost(_ fingers: [OnTouchEvent.Finger]) -> [TouchAction] {
    guard fingers.allSatisfy({ open[$0.id] != nil }) else { return [] }
    let ups = fingers.compactMap { finger -> TouchAction? in
      guard let first = finger.samples.first, let last = open.removeValue(forKey: finger.id) else { return nil }
      return .up(Touch(id: finger.id, position: last, time: first.time.map { .milliseconds($0) }))
    }
    return ups.isEmpty ? [] : ups + [.frame]
  }

  /// A CANCEL of fingers that are not down is for another app.
  private mutating func cancel(_ fingers: [OnTouchEvent.Finger]) -> [TouchAction] {
    guard open.isEmpty || fingers.isEmpty || fingers.contains(where: { open[$0.id] != nil }) else { return [] }
    open = [:]
    return [.cancel]
  }

  /// Forgets all fingers, because the pictures are gone or have changed.
  /// - Returns: Whether any were down.
  mutating func interrupt() -> Bool {
    defer { open = [:] }
    return !open.isEmpty
  }
}

/// A position in the app's pictures, in pixels.
package struct TouchPosition: Hashable, Sendable {
  package var x: Double
  package var y: Double

  /// Creates a position, in pixels from the upper left corner.
  package init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}

package struct Touch: Equatable, Sendable {
  /// 0…9; different for each finger that is down.
  package var id: Int
  package var position: TouchPosition
  /// When it was there, by the head unit's clock; nil when the head unit sends no time.
  package var time: Duration?

  package init(id: Int, position: TouchPosition, time: Duration? = nil) {
    self.id = id
    self.position = position
    self.time = time
  }
}

/// A change of one finger, or of all. For each finger `down` comes first, then any `motion`, then `up` or `cancel`.
package enum TouchAction: Equatable, Sendable {
  case down(Touch)
  case motion(Touch)
  case up(Touch)
  /// The actions since the last `frame` happened at the same time.
  case frame
  /// Forget all fingers that are down, with the gestures that they have begun.
  case cancel
}
