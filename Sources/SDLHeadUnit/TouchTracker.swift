import SDLMessages

/// Turns what happens in a window into touches: a mouse is a finger while its button is down, fingers that move at the same
/// time are in one touch, and each is down before it moves or goes.
///
/// Of GStreamer's sinks some say with a frame event what belongs together (ximagesink, Qt), others never do (GTK). So nothing
/// waits for a frame until the first one has come.
///
/// Windows tell of the first finger as a mouse, too. While a finger is down, the mouse is not listened to. In ximagesink the
/// mouse comes first, at times even with its release; `PointerEcho` knows that it was the finger.
public struct WindowFingers: Equatable, Sendable {
  /// What has a finger.
  private enum Pointer: Hashable {
    case mouse
    case touch(UInt32)
  }

  private struct Step: Equatable {
    var kind: OnTouchEvent.Kind
    var id: Int
    var sample: PictureTouch.Sample
  }

  /// More of them do not wait, whatever the window promises.
  static let maximumWaiting = 200

  /// A finger that is the mouse's press, told of until now as a mouse.
  private struct Retold: Equatable {
    var id: UInt32
    var begin: Duration
    /// Where the window says the finger is by now.
    var last: PictureTouch.Sample?
  }

  private var open: [Pointer: PictureTouch.Finger] = [:]
  private var waiting: [Step] = []
  private var hasFrames = false
  private var echo = PointerEcho()
  private var retold: Retold?

  /// Nothing is touched, and nothing is known of the window.
  public init() {}

  /// Takes in what happened; nil when it means nothing here, so that others may have it. Otherwise what is to be told, which
  /// may be nothing.
  public mutating func receive(_ input: WindowInput, time: Duration) -> [PictureTouch]? {
    guard input.isFinite else { return nil }
    func at(_ x: Double, _ y: Double) -> PictureTouch.Sample { PictureTouch.Sample(x: x, y: y, time: time) }
    switch input {
    case .press where isOnlyFingers, .move where isOnlyFingers: return []
    case .press(let x, let y):
      if echo.isPressOfFinger(at(x, y)) { return [] }
      return begin(.mouse, at(x, y)) ? flush() : nil
    case .move(let x, let y):
      return echo.isMouseFinger ? [] : move(.mouse, at(x, y)) ? flush() : nil
    case .release(let x, let y):
      if echo.isReleaseOfFinger() || isOnlyFingers { return [] }
      return end(.mouse, at(x, y)) ? flush() : nil
    case .down(let id, let x, let y):
      if echo.isFingerOfPress(id, at(x, y), isPressed: open[.mouse] != nil) {
        open[.touch(id)] = open.removeValue(forKey: .mouse)
        retold = Retold(id: id, begin: time)
        return flushUnlessFramed()
      }
      return begin(.touch(id), at(x, y)) ? flushUnlessFramed() : nil
    case .motion(let id, let x, let y):
      if echo.isTold(id) || isRetold(id, at(x, y)) { return [] }
      return move(.touch(id), at(x, y)) ? flushUnlessFramed() : nil
    case .up(let id, let x, let y):
      if retold?.id == id { retold = nil }
      if echo.endTold(id) { return [] }
      return end(.touch(id), at(x, y)) ? flushUnlessFramed() : nil
    case .frame:
      hasFrames = true
      endRetold()
      return flush()
    case .cancel: return interrupt(time: time)
    }
  }

  /// The pictures are gone, and what is done to them means nothing any more.
  public mutating func interrupt(time: Duration) -> [PictureTouch] {
    echo = PointerEcho()
    retold = nil
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

  /// Whether the mouse has told of this place. Otherwise the finger would go its first way twice.
  private mutating func isRetold(_ id: UInt32, _ sample: PictureTouch.Sample) -> Bool {
    guard let retold, retold.id == id, sample.time - retold.begin <= PointerEcho.window else { return false }
    self.retold?.last = sample
    return true
  }

  /// Where the finger has gone in the end counts, if the mouse did not say so.
  private mutating func endRetold() {
    guard let retold = retold.take(), let last = retold.last, let told = open[.touch(retold.id)]?.samples.last,
      abs(last.x - told.x) > 1 || abs(last.y - told.y) > 1
    else { return }
    _ = move(.touch(retold.id), last)
  }

  private mutating func begin(_ pointer: Pointer, _ sample: PictureTouch.Sample) -> Bool {
    // An end that was lost.
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

  /// As few touches as possible, without changing the order of what one finger does.
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
