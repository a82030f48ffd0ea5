import Testing

@testable import SDLApp

/// Gestures from touches (rows T of the acceptance cases).
@Suite struct GestureTests {
  enum Step: Sendable {
    case down(Int, Double, Double)
    case move(Int, Double, Double)
    /// With the head unit's time stamp, in milliseconds.
    case up(Int, Double, Double, Int? = nil)
    case cancel
    /// A frame is shown.
    case tick
    /// Milliseconds.
    case wait(Int)
    case synced(Bool)
    case interrupt
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var id: String
    var steps: [Step]
    var gestures: [String]

    init(_ id: String, _ steps: [Step], _ gestures: [String]) {
      self.id = id
      self.steps = steps
      self.gestures = gestures
    }

    var testDescription: String { id }
  }

  private static let tap: [Step] = [.down(0, 100, 100), .up(0, 100, 100)]

  @Test(arguments: [
    Row("tap", [.down(0, 100, 100), .move(0, 108, 108), .up(0, 108, 108), .wait(400)], ["400 tap (108,108)"]),
    Row("tap, not yet", [.down(0, 100, 100), .up(0, 100, 100), .wait(399)], []),
    Row(
      "pan",
      [.down(0, 100, 100), .move(0, 109, 100), .move(0, 120, 100), .tick, .up(0, 121, 100)],
      ["0 pan-start (109,100)", "0 pan (109,100)→(120,100)", "0 pan (120,100)→(121,100)", "0 pan-end (121,100)"]),
    Row("a pan needs 9 pixels", [.down(0, 50, 50), .move(0, 58, 50), .move(0, 59, 50)], ["0 pan-start (59,50)"]),
    Row(
      "double tap",
      [.down(0, 100, 100), .up(0, 100, 100, 1000), .down(0, 150, 150), .up(0, 150, 150, 1350), .wait(1000)],
      ["0 double-tap (125,125)"]),
    Row(
      "double tap at the limits",
      [.down(0, 100, 100), .up(0, 100, 100, 1000), .down(0, 150, 50), .up(0, 150, 50, 1400), .wait(1000)],
      ["0 double-tap (125,75)"]),
    Row(
      "too late for a double tap",
      [.down(0, 100, 100), .up(0, 100, 100, 1000), .down(0, 100, 100), .up(0, 100, 100, 1401), .wait(400)],
      ["0 tap (100,100)", "400 tap (100,100)"]),
    Row(
      "too far for a double tap",
      [.down(0, 100, 100), .up(0, 100, 100, 1000), .down(0, 151, 100), .up(0, 151, 100, 1100), .wait(400)],
      ["0 tap (100,100)", "400 tap (151,100)"]),
    Row("double tap without time stamps", tap + [.wait(350)] + tap, ["350 double-tap (100,100)"]),
    Row("two taps", tap + [.wait(500)] + tap + [.wait(500)], ["400 tap (100,100)", "900 tap (100,100)"]),
    Row("three taps", tap + tap + tap + [.wait(400)], ["0 double-tap (100,100)", "400 tap (100,100)"]),
    Row(
      "a pan comes back to its beginning",
      [.down(0, 100, 100), .move(0, 120, 100), .move(0, 101, 100), .tick, .up(0, 100, 100)],
      [
        "0 pan-start (120,100)", "0 pan (120,100)→(101,100)", "0 pan (101,100)→(100,100)", "0 pan-end (100,100)",
      ]),
    Row(
      "a pan to the corner", [.down(0, 20, 20), .move(0, 10, 10), .move(0, 0, 0), .tick],
      ["0 pan-start (10,10)", "0 pan (10,10)→(0,0)"]),
    Row(
      "the box is not a circle",
      [.down(0, 100, 100), .move(0, 108, 92), .move(0, 92, 108), .up(0, 92, 108), .wait(400)],
      ["400 tap (92,108)"]),
    Row(
      "pinch from one point", [.down(0, 50, 50), .down(1, 50, 50), .move(1, 60, 50), .tick, .move(1, 70, 50), .tick],
      ["0 pinch-start (50,50)", "0 pinch (55,50) ×1.0", "0 pinch (60,50) ×2.0"]),
    Row(
      "fingers meet", [.down(0, 50, 50), .down(1, 60, 50), .move(1, 50, 50), .tick, .move(1, 70, 50), .tick],
      ["0 pinch-start (55,50)", "0 pinch (60,50) ×2.0"]),
    Row(
      "pinch once for each frame",
      [.down(0, 0, 0), .down(1, 10, 0), .move(1, 15, 0), .move(1, 20, 0), .tick, .tick, .move(1, 40, 0), .tick],
      ["0 pinch-start (5,0)", "0 pinch (10,0) ×2.0", "0 pinch (20,0) ×2.0"]),
    Row(
      "the finger that is left after a pinch",
      [
        .down(0, 0, 0), .down(1, 10, 0), .up(0, 0, 0), .move(1, 90, 0), .up(1, 90, 0), .wait(500),
        .down(0, 100, 100), .up(0, 100, 100), .wait(400),
      ],
      ["0 pinch-start (5,0)", "0 pinch-end (5,0)", "900 tap (100,100)"]),
    Row(
      "BEGIN beside the finger that is left",
      [
        .down(0, 0, 0), .down(1, 10, 0), .up(0, 0, 0), .down(0, 100, 100), .up(0, 100, 100), .up(1, 10, 0), .wait(400),
      ],
      ["0 pinch-start (5,0)", "0 pinch-end (5,0)", "400 tap (100,100)"]),
    Row(
      "pan, cancelled", [.down(0, 0, 0), .move(0, 20, 0), .cancel, .up(0, 20, 0), .wait(500)],
      ["0 pan-start (20,0)", "0 pan-cancel (20,0)"]),
    Row(
      "pinch, cancelled", [.down(0, 0, 0), .down(1, 10, 0), .cancel, .move(1, 20, 0), .tick],
      ["0 pinch-start (5,0)", "0 pinch-cancel (5,0)"]),
    Row("tap, cancelled", tap + [.cancel, .wait(500)], []),
    Row("finger that is down, cancelled", [.down(0, 0, 0), .cancel, .wait(500)], []),
    Row(
      "a third finger",
      [.down(0, 0, 0), .down(1, 10, 0), .down(2, 99, 99), .move(2, 0, 0), .move(1, 20, 0), .tick, .up(2, 0, 0)],
      ["0 pinch-start (5,0)", "0 pinch (10,0) ×2.0"]),
    Row(
      "any two ids", [.down(7, 0, 0), .down(3, 10, 0), .up(3, 10, 0)], ["0 pinch-start (5,0)", "0 pinch-end (5,0)"]),
    Row(
      "a pan becomes a pinch",
      [.down(0, 0, 0), .move(0, 20, 0), .move(0, 30, 0), .down(1, 40, 0)],
      ["0 pan-start (20,0)", "0 pan (20,0)→(30,0)", "0 pan-end (30,0)", "0 pinch-start (35,0)"]),
    Row(
      "each motion", [.synced(false), .down(0, 0, 0), .move(0, 20, 0), .move(0, 30, 0), .move(0, 45, 0)],
      ["0 pan-start (20,0)", "0 pan (20,0)→(30,0)", "0 pan (30,0)→(45,0)"]),
    Row(
      "no frame comes", [.down(0, 0, 0), .move(0, 20, 0), .move(0, 30, 0), .wait(100)],
      ["0 pan-start (20,0)", "100 pan (20,0)→(30,0)"]),
    Row(
      "suspended", [.down(0, 0, 0), .move(0, 20, 0), .interrupt, .wait(500)],
      ["0 pan-start (20,0)", "0 pan-cancel (20,0)"]),
    Row("suspended before the second tap", tap + [.interrupt, .wait(500)], []),
  ])
  func gestures(row: Row) {
    var bench = Bench()
    for step in row.steps { bench.perform(step) }
    #expect(bench.gestures == row.gestures)
  }

  @Test func offByDefault() {
    var input = TouchInput()
    let touch = Touch(id: 0, position: TouchPosition(x: 1, y: 1))
    _ = input.receive([.down(touch), .frame], now: .zero)
    _ = input.receive([.up(touch), .frame], now: .zero)
    #expect(input.nextDeadline == nil)
    #expect(input.advance(to: .seconds(1)) == [])
  }

  /// A ``TouchInput`` with a clock.
  private struct Bench {
    var input = TouchInput()
    var now = Duration.zero
    /// Each with the time before it, in milliseconds.
    var gestures: [String] = []

    init() {
      input.setRecognizing(true)
    }

    mutating func perform(_ step: Step) {
      switch step {
      case .down(let id, let x, let y): send(.down(touch(id, x, y)))
      case .move(let id, let x, let y): send(.motion(touch(id, x, y)))
      case .up(let id, let x, let y, let time): send(.up(touch(id, x, y, time)))
      case .cancel: note(input.receive([.cancel], now: now))
      case .tick: note(input.frameShown())
      case .synced(let isSynced): input.isSynced = isSynced
      case .interrupt: note(input.interrupt())
      case .wait(let milliseconds):
        let end = now + .milliseconds(milliseconds)
        while let deadline = input.nextDeadline, deadline <= end {
          now = max(now, deadline)
          note(input.advance(to: now))
        }
        now = end
      }
    }

    private func touch(_ id: Int, _ x: Double, _ y: Double, _ time: Int? = nil) -> Touch {
      Touch(id: id, position: TouchPosition(x: x, y: y), time: time.map { .milliseconds($0) })
    }

    private mutating func send(_ action: TouchAction) {
      note(input.receive([action, .frame], now: now))
    }

    private mutating func note(_ outputs: [TouchInput.Output]) {
      for case .gesture(let gesture) in outputs {
        let milliseconds = now.components.seconds * 1000 + now.components.attoseconds / 1_000_000_000_000_000
        gestures.append("\(milliseconds) \(gesture.text)")
      }
    }
  }
}

extension Gesture {
  fileprivate var text: String {
    switch self {
    case .tap(let position): "tap \(position.text)"
    case .doubleTap(let position): "double-tap \(position.text)"
    case .panStart(let position): "pan-start \(position.text)"
    case .pan(let from, let to): "pan \(from.text)→\(to.text)"
    case .panEnd(let position): "pan-end \(position.text)"
    case .panCancel(let position): "pan-cancel \(position.text)"
    case .pinchStart(let center): "pinch-start \(center.text)"
    case .pinch(let center, let scale): "pinch \(center.text) ×\(scale)"
    case .pinchEnd(let center): "pinch-end \(center.text)"
    case .pinchCancel(let center): "pinch-cancel \(center.text)"
    }
  }
}

extension TouchPosition {
  /// Coordinates rounded to whole numbers.
  fileprivate var text: String { "(\(Int(x)),\(Int(y)))" }
}
