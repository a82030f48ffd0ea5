import SDLMessages
import Testing

@testable import SDLHeadUnit

@Suite struct WindowTouchTrackerTests {
  /// Events of a window, with the sizes of the display and of the pictures.
  struct Case: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var display = VideoSize(320, 240)
    var picture = VideoSize(320, 240)
    var inputs: [WindowInput]
    /// In the form of the command `touch`: "BEGIN 0 80 160".
    var sent: [String]
    /// Indices of inputs that are not handled.
    var unused: [Int] = []
  }

  private static let cases: [Case] = [
    Case(
      testDescription: "mouse",
      inputs: [
        .move(x: 1, y: 1), .press(x: 10, y: 20), .move(x: 11, y: 21), .release(x: 12, y: 22), .move(x: 1, y: 1),
        .release(x: 1, y: 1),
      ],
      sent: ["BEGIN 0 10 20", "MOVE 0 11 21", "END 0 12 22"], unused: [0, 4, 5]),
    Case(
      testDescription: "pressed twice", inputs: [.press(x: 1, y: 1), .press(x: 2, y: 2), .release(x: 2, y: 2)],
      sent: ["BEGIN 0 1 1", "MOVE 0 2 2", "END 0 2 2"]),
    Case(
      testDescription: "fingers of a window without frames",
      inputs: [.down(7000, x: 1, y: 1), .down(9, x: 2, y: 2), .motion(9, x: 3, y: 3), .up(7000, x: 1, y: 1)],
      sent: ["BEGIN 0 1 1", "BEGIN 1 2 2", "MOVE 1 3 3", "END 0 1 1"]),
    Case(
      testDescription: "frames",
      inputs: [
        .frame, .down(5, x: 1, y: 1), .down(6, x: 2, y: 2), .frame, .motion(5, x: 3, y: 3), .motion(6, x: 4, y: 4),
        .motion(5, x: 5, y: 5), .frame, .up(5, x: 5, y: 5), .up(6, x: 4, y: 4), .frame,
      ],
      sent: ["BEGIN 0 1 1 1 2 2", "MOVE 0 3 3 0 5 5 1 4 4", "END 0 5 5 1 4 4"]),
    Case(
      testDescription: "order of one finger in a frame",
      inputs: [
        .frame, .down(1, x: 1, y: 1), .motion(1, x: 2, y: 2), .down(2, x: 9, y: 9), .up(1, x: 2, y: 2),
        .down(3, x: 5, y: 5), .frame,
      ],
      sent: ["BEGIN 0 1 1 1 9 9", "MOVE 0 2 2", "END 0 2 2", "BEGIN 0 5 5"]),
    Case(
      testDescription: "a free id is used again",
      inputs: [
        .down(1, x: 1, y: 1), .down(2, x: 2, y: 2), .up(1, x: 1, y: 1), .down(3, x: 3, y: 3), .up(2, x: 2, y: 2),
      ],
      sent: ["BEGIN 0 1 1", "BEGIN 1 2 2", "END 0 1 1", "BEGIN 0 3 3", "END 1 2 2"]),
    Case(
      testDescription: "events without a begin",
      inputs: [.motion(1, x: 1, y: 1), .up(1, x: 1, y: 1)], sent: [], unused: [0, 1]),
    Case(
      testDescription: "eleven fingers", inputs: [.frame] + (0...10).map { .down($0, x: 0, y: 0) } + [.frame],
      sent: ["BEGIN " + (0...9).map { "\($0) 0 0" }.joined(separator: " ")], unused: [11]),
    Case(
      testDescription: "cancel", inputs: [.down(4, x: 1, y: 1), .down(5, x: 2, y: 2), .cancel, .up(4, x: 1, y: 1)],
      sent: ["BEGIN 0 1 1", "BEGIN 1 2 2", "CANCEL 0 1 1 1 2 2"], unused: [3]),
    Case(
      testDescription: "a finger with emulated mouse events",
      inputs: [
        .down(1, x: 1, y: 1), .press(x: 1, y: 1), .motion(1, x: 2, y: 2), .move(x: 2, y: 2), .up(1, x: 2, y: 2),
        .release(x: 2, y: 2),
      ],
      sent: ["BEGIN 0 1 1", "MOVE 0 2 2", "END 0 2 2"], unused: [5]),
    // As recorded from ximagesink with a touch screen.
    Case(
      testDescription: "mouse events before those of their finger",
      inputs: [
        .move(x: 99, y: 99), .press(x: 99, y: 99), .down(7, x: 100, y: 100), .frame, .move(x: 149, y: 119),
        .motion(7, x: 150, y: 120), .frame, .down(8, x: 300, y: 200), .frame, .move(x: 159, y: 129),
        .motion(7, x: 160, y: 130), .frame, .motion(8, x: 310, y: 210), .frame, .move(x: 159, y: 129),
        .release(x: 159, y: 129), .up(7, x: 160, y: 130), .frame, .motion(8, x: 320, y: 210), .frame,
        .up(8, x: 320, y: 210), .frame,
      ],
      sent: [
        "BEGIN 0 99 99", "MOVE 0 150 120", "BEGIN 1 300 200", "MOVE 0 160 130", "MOVE 1 310 210", "END 0 160 130",
        "MOVE 1 319 210", "END 1 319 210",
      ], unused: [0]),
    Case(
      testDescription: "a path that the mouse has reported",
      inputs: [
        .frame, .press(x: 100, y: 99), .move(x: 110, y: 99), .move(x: 120, y: 99), .down(7, x: 100, y: 100),
        .motion(7, x: 110, y: 100), .motion(7, x: 120.4, y: 99.6), .frame, .motion(7, x: 125, y: 100), .frame,
        .up(7, x: 125, y: 100), .frame,
      ],
      sent: ["BEGIN 0 100 99", "MOVE 0 110 99", "MOVE 0 120 99", "MOVE 0 125 100", "END 0 125 100"]),
    Case(
      testDescription: "a path beyond that of the mouse",
      inputs: [
        .frame, .press(x: 100, y: 99), .down(7, x: 100, y: 100), .motion(7, x: 110, y: 100), .motion(7, x: 120, y: 100),
        .frame, .up(7, x: 120, y: 100), .frame,
      ],
      sent: ["BEGIN 0 100 99", "MOVE 0 120 100", "END 0 120 100"]),
    Case(
      testDescription: "a tap, mouse events first",
      inputs: [
        .move(x: 99, y: 99), .press(x: 99, y: 99), .release(x: 99, y: 99), .down(7, x: 100, y: 100), .frame,
        .motion(7, x: 101, y: 100), .frame, .up(7, x: 101, y: 100), .frame, .press(x: 20, y: 20),
        .release(x: 20, y: 20),
      ],
      sent: ["BEGIN 0 99 99", "END 0 99 99", "BEGIN 0 20 20", "END 0 20 20"], unused: [0]),
    Case(
      testDescription: "a tap, mouse events last",
      inputs: [
        .down(7, x: 100, y: 100), .frame, .up(7, x: 100, y: 100), .frame, .move(x: 99, y: 99), .press(x: 99, y: 99),
        .move(x: 98, y: 99), .release(x: 98, y: 99), .press(x: 99, y: 99), .release(x: 99, y: 99),
      ],
      sent: ["BEGIN 0 100 100", "END 0 100 100", "BEGIN 0 99 99", "END 0 99 99"], unused: [4]),
    Case(
      testDescription: "a finger while the mouse of the one before is still pressed",
      inputs: [
        .down(7, x: 9, y: 9), .up(7, x: 9, y: 9), .press(x: 9, y: 9), .down(8, x: 9, y: 9), .release(x: 9, y: 9),
        .up(8, x: 9, y: 9), .move(x: 9, y: 9),
      ],
      sent: ["BEGIN 0 9 9", "END 0 9 9", "BEGIN 0 9 9", "END 0 9 9"], unused: [6]),
    Case(
      testDescription: "a click and a finger elsewhere",
      inputs: [
        .press(x: 10, y: 10), .down(7, x: 100, y: 100), .release(x: 10, y: 10), .press(x: 10, y: 10),
        .up(7, x: 100, y: 100),
      ],
      sent: ["BEGIN 0 10 10", "BEGIN 1 100 100", "END 0 10 10", "END 1 100 100"]),
    Case(
      testDescription: "cancelled in the middle",
      inputs: [
        .press(x: 10, y: 10), .down(7, x: 10, y: 10), .cancel, .release(x: 10, y: 10), .up(7, x: 10, y: 10),
      ],
      sent: ["BEGIN 0 10 10", "CANCEL 0 10 10"], unused: [3, 4]),
    Case(
      testDescription: "cancelled during an emulated press",
      inputs: [
        .down(7, x: 10, y: 10), .up(7, x: 10, y: 10), .press(x: 10, y: 10), .cancel, .move(x: 11, y: 10),
        .release(x: 11, y: 10),
      ],
      sent: ["BEGIN 0 10 10", "END 0 10 10"], unused: [4, 5]),
    Case(
      testDescription: "cancelled after a tap, mouse events first",
      inputs: [
        .press(x: 10, y: 10), .release(x: 10, y: 10), .down(7, x: 10, y: 10), .cancel, .motion(7, x: 50, y: 10),
        .up(7, x: 50, y: 10),
      ],
      sent: ["BEGIN 0 10 10", "END 0 10 10"], unused: [4, 5]),
    Case(
      testDescription: "cancelled before the mouse events come",
      inputs: [.down(7, x: 10, y: 10), .cancel, .press(x: 10, y: 10), .release(x: 10, y: 10)],
      sent: ["BEGIN 0 10 10", "CANCEL 0 10 10", "BEGIN 0 10 10", "END 0 10 10"]),
    Case(
      testDescription: "cancelled before the touch of a click comes",
      inputs: [.press(x: 10, y: 10), .cancel, .down(7, x: 10, y: 10), .up(7, x: 10, y: 10)],
      sent: ["BEGIN 0 10 10", "CANCEL 0 10 10", "BEGIN 0 10 10", "END 0 10 10"]),
    Case(
      testDescription: "cancelled before the frame",
      inputs: [
        .frame, .down(7, x: 1, y: 1), .up(7, x: 1, y: 1), .cancel, .down(7, x: 2, y: 2), .cancel,
        .down(7, x: 3, y: 3), .frame,
      ],
      sent: ["BEGIN 0 1 1", "END 0 1 1", "BEGIN 0 2 2", "CANCEL 0 2 2", "BEGIN 0 3 3"]),
    Case(
      testDescription: "a finger that continued a press is up, and down again",
      inputs: [
        .press(x: 10, y: 10), .down(7, x: 10, y: 10), .up(7, x: 10, y: 10), .down(7, x: 100, y: 100),
        .motion(7, x: 110, y: 100),
      ],
      sent: ["BEGIN 0 10 10", "END 0 10 10", "BEGIN 0 100 100", "MOVE 0 110 100"]),
    Case(
      testDescription: "another finger than the one that continued a press is up",
      inputs: [
        .press(x: 10, y: 10), .down(7, x: 10, y: 10), .down(8, x: 100, y: 100), .up(8, x: 100, y: 100),
        .motion(7, x: 11, y: 10), .frame,
      ],
      sent: ["BEGIN 0 10 10", "BEGIN 1 100 100", "END 1 100 100"]),
    Case(
      testDescription: "one pixel beside a path of the mouse, and two",
      inputs: [
        .frame, .press(x: 10, y: 10), .down(7, x: 10, y: 10), .motion(7, x: 11, y: 9), .frame, .up(7, x: 11, y: 9),
        .frame, .press(x: 50, y: 50), .down(7, x: 50, y: 50), .motion(7, x: 51, y: 52), .frame,
      ],
      sent: ["BEGIN 0 10 10", "END 0 11 9", "BEGIN 0 50 50", "MOVE 0 51 52"]),
    Case(
      testDescription: "coordinates that are not finite",
      inputs: [.press(x: .nan, y: 1), .down(1, x: 1, y: .infinity)], sent: [], unused: [0, 1]),
    Case(
      testDescription: "scale 1.5", display: VideoSize(480, 360),
      inputs: [.press(x: 0, y: 0), .move(x: 33, y: 33.4), .move(x: 319, y: 239), .release(x: 100, y: 200)],
      sent: ["BEGIN 0 0 0", "MOVE 0 50 50", "MOVE 0 479 359", "END 0 150 300"]),
    Case(
      testDescription: "each axis by itself", display: VideoSize(800, 380), picture: VideoSize(532, 252),
      inputs: [.press(x: 266, y: 126), .release(x: 531.6, y: 251.9)], sent: ["BEGIN 0 400 190", "END 0 799 379"]),
    Case(
      testDescription: "outside",
      inputs: [.press(x: -5, y: 1e300), .release(x: 320, y: -0.4)], sent: ["BEGIN 0 0 239", "END 0 319 0"]),
  ]

  @Test(arguments: cases) func table(_ example: Case) {
    var tracker = WindowTouchTracker()
    var sent: [String] = []
    var unused: [Int] = []
    for (index, input) in example.inputs.enumerated() {
      guard let touches = tracker.receive(input, time: .milliseconds(index)) else {
        unused.append(index)
        continue
      }
      sent += touches.map { Self.text($0.onDisplay(example.display, picture: example.picture)) }
    }
    #expect(sent == example.sent)
    #expect(unused == example.unused)
  }

  private static func text(_ event: OnTouchEvent) -> String {
    let places = event.fingers.flatMap { finger in finger.samples.map { " \(finger.id) \($0.x) \($0.y)" } }
    return (event.kind?.rawValue ?? "?") + places.joined()
  }

  @Test func timesAreThoseOfTheInputs() {
    var tracker = WindowTouchTracker()
    _ = tracker.receive(.frame, time: .zero)
    _ = tracker.receive(.down(1, x: 1, y: 1), time: .microseconds(7_900))
    _ = tracker.receive(.motion(1, x: 2, y: 2), time: .milliseconds(20))
    let touches = tracker.receive(.frame, time: .milliseconds(30)) ?? []
    let size = VideoSize(10, 10)
    #expect(touches.flatMap { $0.onDisplay(size, picture: size).fingers }.flatMap(\.samples).map(\.time) == [7, 20])
    let cancelled = tracker.interrupt(time: .milliseconds(40))
    #expect(cancelled.first?.fingers.first?.samples == [PictureTouch.Sample(x: 2, y: 2, time: .milliseconds(40))])
    #expect(tracker.interrupt(time: .zero) == [])
  }

  /// A finger where the mouse was pressed earlier is not the same touch, nor is the reverse.
  @Test(arguments: [(100, 1), (101, 2)])
  func onlyWhatComesTogetherIsTheSame(milliseconds: Int, begins: Int) {
    let tap: [WindowInput] = [.down(1, x: 5, y: 5), .up(1, x: 5, y: 5)]
    let click: [WindowInput] = [.press(x: 5, y: 5), .release(x: 5, y: 5)]
    for (first, second) in [(tap, click), (click, tap)] {
      var tracker = WindowTouchTracker()
      let touches =
        first.flatMap { tracker.receive($0, time: .zero) ?? [] }
        + second.flatMap { tracker.receive($0, time: .milliseconds(milliseconds)) ?? [] }
      #expect(touches.count { $0.kind == .begin } == begins)
      #expect(touches.count { $0.kind == .end } == begins)
    }
  }

  /// Nor is one farther away than a pixel of a small window may be in the picture.
  @Test(arguments: [
    (16.0, 16.0, 1), (-16, -16, 1), (16.5, 0, 2), (-16.5, 0, 2), (0, 16.5, 2), (0, -16.5, 2),
  ])
  func onlyWhatIsCloseTogetherIsTheSame(right: Double, down: Double, begins: Int) {
    let tap: [WindowInput] = [.down(1, x: 100, y: 100), .up(1, x: 100, y: 100)]
    let click: [WindowInput] = [.press(x: 100 + right, y: 100 + down), .release(x: 100 + right, y: 100 + down)]
    for inputs in [tap + click, click + tap] {
      var tracker = WindowTouchTracker()
      let touches = inputs.flatMap { tracker.receive($0, time: .zero) ?? [] }
      #expect(touches.count { $0.kind == .begin } == begins)
      #expect(touches.count { $0.kind == .end } == begins)
    }
  }

  /// In a window without frames, a finger that continues a press only repeats the mouse for that time.
  @Test func aFingerThatContinuesAPressMovesByItself() {
    var tracker = WindowTouchTracker()
    _ = tracker.receive(.press(x: 5, y: 5), time: .zero)
    #expect(tracker.receive(.down(1, x: 5, y: 5), time: .milliseconds(50)) == [])
    #expect(tracker.receive(.motion(1, x: 20, y: 5), time: .milliseconds(150)) == [])
    let touches = tracker.receive(.motion(1, x: 30, y: 5), time: .milliseconds(151))
    #expect(touches?.map(\.kind) == [.move])
    #expect(touches?.first?.fingers.first?.samples.last?.x == 30)
  }

  /// A window that has sent a frame once, and never again.
  @Test func doesNotWaitForever() {
    var tracker = WindowTouchTracker()
    _ = tracker.receive(.frame, time: .zero)
    _ = tracker.receive(.down(1, x: 1, y: 1), time: .zero)
    let samples = (1...1000).flatMap { tracker.receive(.motion(1, x: Double($0), y: 1), time: .zero) ?? [] }
      .flatMap(\.fingers).map(\.samples.count)
    #expect(samples.reduce(0, +) > 1000 - 200)
    // With the begin in the first ones.
    #expect(samples == [1, 199, 200, 200, 200, 200])
  }

  /// A window that loses the ends of touches does not make the filter grow.
  @Test func touchesWithoutAnEndAreForgotten() {
    var filter = EmulatedMouseFilter()
    for id in 0..<1000 as Range<UInt32> {
      let sample = PictureTouch.Sample(x: 10, y: 10, time: .seconds(Int(id)))
      let isEmulated = [filter.isEmulated(sample), filter.isEmulatedRelease()]
      let isSource = filter.isSourceOfPress(id, sample, isPressed: false)
      #expect(isEmulated == [false, false] && isSource && filter.isHandled(id))
    }
    #expect(filter.handled == Array(990..<1000))
  }
}
