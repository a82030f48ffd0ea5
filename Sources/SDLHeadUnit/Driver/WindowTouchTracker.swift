import SDLMessages

/// Turns the events of a window into touches: a mouse is a finger while its button is down, fingers that move at the
/// same time are in one touch, and each begins before it moves or ends.
///
/// Some of GStreamer's sinks send a frame event after the events that belong together (ximagesink, Qt), others never do
/// (GTK). So events are held for a frame event only after the first one has come.
///
/// Window systems emulate a mouse with the first finger. While a finger is down, mouse events are ignored; those that
/// come before their touch event are recognised by ``EmulatedMouseFilter``.
package struct WindowTouchTracker: Equatable, Sendable {
  /// The source of a touch.
  private enum Pointer: Hashable {
    case mouse
    case touch(UInt32)
  }

  private struct Step: Equatable {
    var kind: OnTouchEvent.Kind
    var id: Int
    var sample: PictureTouch.Sample
  }

  /// Events that are held; more are sent without a frame event.
  static let maximumWaiting = 200

  /// A touch that continues an emulated press, until its own events are as late as those of the mouse.
  private struct Takeover: Equatable {
    var id: UInt32
    var begin: Duration
    /// The last position in a touch event.
    var last: PictureTouch.Sample?
  }

  private var open: [Pointer: PictureTouch.Finger] = [:]
  private var waiting: [Step] = []
  private var hasFrames = false
  private var mouseFilter = EmulatedMouseFilter()
  private var takeover: Takeover?

  package init() {}

  /// Handles an event of the window.
  /// - Returns: the touches to send, which may be none; nil if the event is not handled, so that others may.
  package mutating func receive(_ input: WindowInput, time: Duration) -> [PictureTouch]? {
    guard input.isFinite else { return nil }
    func at(_ x: Double, _ y: Double) -> PictureTouch.Sample { PictureTouch.Sample(x: x, y: y, time: time) }
    switch input {
    case .press where isOnlyFingers, .move where isOnlyFingers: return []
    case .press(let x, let y):
      if mouseFilter.isEmulated(at(x, y)) { return [] }
      return begin(.mouse, at(x, y)) ? flush() : nil
    case .move(let x, let y):
      return mouseFilter.isEmulatedPress ? [] : move(.mouse, at(x, y)) ? flush() : nil
    case .release(let x, let y):
      if mouseFilter.isEmulatedRelease() || isOnlyFingers { return [] }
      return end(.mouse, at(x, y)) ? flush() : nil
    case .down(let id, let x, let y):
      if mouseFilter.isSourceOfPress(id, at(x, y), isPressed: open[.mouse] != nil) {
        open[.touch(id)] = open.removeValue(forKey: .mouse)
        takeover = Takeover(id: id, begin: time)
        return flushUnlessFramed()
      }
      return begin(.touch(id), at(x, y)) ? flushUnlessFramed() : nil
    case .motion(let id, let x, let y):
      if mouseFilter.isHandled(id) || repeatsMouse(id, at(x, y)) { return [] }
      return move(.touch(id), at(x, y)) ? flushUnlessFramed() : nil
    case .up(let id, let x, let y):
      if takeover?.id == id { takeover = nil }
      if mouseFilter.endHandled(id) { return [] }
      return end(.touch(id), at(x, y)) ? flushUnlessFramed() : nil
    case .frame:
      hasFrames = true
      endTakeover()
      return flush()
    case .cancel: return interrupt(time: time)
    }
  }

  /// Cancels all touches, because the pictures that they belong to are gone.
  package mutating func interrupt(time: Duration) -> [PictureTouch] {
    mouseFilter = EmulatedMouseFilter()
    takeover = nil
    let before = flush()
    guard !open.isEmpty else { return before }
    let fingers = open.values.sorted { $0.id < $1.id }.map { finger in
      PictureTouch.Finger(
        id: finger.id, samples: finger.samples.map { PictureTouch.Sample(x: $0.x, y: $0.y, time: time) })
    }
    open = [:]
    return before + [PictureTouch(kind: .cancel, fingers: fingers)]
  }

  private var isOnlyFingers: Bool { open[.mouse] == nil && !open.isEmpty }

  /// Whether the event repeats a movement of the emulated mouse, which has been sent.
  private mutating func repeatsMouse(_ id: UInt32, _ sample: PictureTouch.Sample) -> Bool {
    guard let takeover, takeover.id == id, sample.time - takeover.begin <= EmulatedMouseFilter.window else {
      return false
    }
    self.takeover?.last = sample
    return true
  }

  /// Sends the last position of the touch, if the mouse was elsewhere.
  private mutating func endTakeover() {
    guard let takeover = takeover.take(), let last = takeover.last, let sent = open[.touch(takeover.id)]?.samples.last,
      abs(last.x - sent.x) > 1 || abs(last.y - sent.y) > 1
    else { return }
    _ = move(.touch(takeover.id), last)
  }

  private mutating func begin(_ pointer: Pointer, _ sample: PictureTouch.Sample) -> Bool {
    // Its end was lost.
    if open[pointer] != nil { return move(pointer, sample) }
    let used = Set(open.values.map(\.id))
    guard let id = OnTouchEvent.ids.first(where: { !used.contains($0) }) else { return false }
    open[pointer] = PictureTouch.Finger(id: id, samples: [sample])
    waiting.append(Step(kind: .begin, id: id, sample: sample))
    return true
  }

  private mutating func move(_ pointer: Pointer, _ sample: PictureTouch.Sample) -> Bool {
    guard let id = open[pointer]?.id else { return false }
    open[pointer]?.samples = [sample]
    waiting.append(Step(kind: .move, id: id, sample: sample))
    return true
  }

  private mutating func end(_ pointer: Pointer, _ sample: PictureTouch.Sample) -> Bool {
    guard let finger = open.removeValue(forKey: pointer) else { return false }
    waiting.append(Step(kind: .end, id: finger.id, sample: sample))
    return true
  }

  private mutating func flushUnlessFramed() -> [PictureTouch] {
    hasFrames && waiting.count < Self.maximumWaiting ? [] : flush()
  }

  /// As few touches as possible, without changing the order of one finger's events.
  private mutating func flush() -> [PictureTouch] {
    var touches: [PictureTouch] = []
    for step in waiting {
      let last = touches.lastIndex { $0.fingers.contains { $0.id == step.id } }
      if let index = touches[(last ?? 0)...].firstIndex(where: { $0.kind == step.kind }) {
        touches[index].add(step.sample, of: step.id)
      } else {
        touches.append(
          PictureTouch(kind: step.kind, fingers: [PictureTouch.Finger(id: step.id, samples: [step.sample])]))
      }
    }
    waiting.removeAll(keepingCapacity: true)
    return touches
  }
}

extension PictureTouch {
  fileprivate mutating func add(_ sample: Sample, of id: Int) {
    if let index = fingers.firstIndex(where: { $0.id == id }) {
      fingers[index].samples.append(sample)
    } else {
      fingers.append(Finger(id: id, samples: [sample]))
    }
  }
}

/// Recognises mouse events that a window system emulates from a touch, so that the touch does not count twice.
///
/// X servers emulate a mouse with the first finger for programs without multi-touch, and ximagesink forwards both:
/// first the mouse events of the last 50 ms, then the touch events. So an emulated press comes up to that time before
/// or after its touch, as does its release after a short tap. A user does not click and touch at the same place within
/// that time.
struct EmulatedMouseFilter: Equatable, Sendable {
  /// Twice the 50 ms for which ximagesink collects events.
  static let window = Duration.milliseconds(100)
  /// In pixels of the picture. Mouse positions are whole pixels of a window that may be much smaller than the picture.
  static let distance = 16.0

  /// The last press and the last begin of a touch, while the other has not come.
  private var press: PictureTouch.Sample?
  private var touch: PictureTouch.Sample?
  /// Touches whose mouse events have been used, from press to release. Bounded for windows that lose the end of
  /// touches.
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

/// An event of the mouse or of fingers in a window that shows the app's pictures (GstNavigation), in pixels of the
/// pictures.
package enum WindowInput: Equatable, Sendable {
  /// The mouse's first button.
  case press(x: Double, y: Double)
  case move(x: Double, y: Double)
  case release(x: Double, y: Double)
  /// A finger, with the window's id for it.
  case down(UInt32, x: Double, y: Double)
  case motion(UInt32, x: Double, y: Double)
  case up(UInt32, x: Double, y: Double)
  /// The events since the last one belong together.
  case frame
  /// The touches of all fingers are cancelled.
  case cancel

  var isFinite: Bool {
    switch self {
    case .press(let x, let y), .move(let x, let y), .release(let x, let y), .down(_, let x, let y),
      .motion(_, let x, let y), .up(_, let x, let y):
      x.isFinite && y.isFinite
    case .frame, .cancel: true
    }
  }
}
