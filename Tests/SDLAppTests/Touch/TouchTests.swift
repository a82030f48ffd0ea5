import Testing

@testable import SDLApp

/// Touches from the head unit to the app's pictures (rows S and T of the acceptance cases).
@Suite struct TouchTests {
  private static let fullPicture = VideoGeometry(stream: VideoSize(800, 480))

  /// "begin 0 10 20; move 0 11 21 0 12 22" as messages.
  private static func events(_ text: String) throws -> [OnTouchEvent] {
    try text.split(separator: ";").map { part in
      let words = part.split(separator: " ").map(String.init)
      let kind = try #require(words.first.flatMap { OnTouchEvent.Kind(rawValue: $0.uppercased()) })
      let numbers = words.dropFirst().compactMap { Int($0) }
      var fingers: [OnTouchEvent.Finger] = []
      for start in stride(from: 0, to: numbers.count, by: 3) {
        let sample = OnTouchEvent.Sample(x: numbers[start + 1], y: numbers[start + 2])
        if let index = fingers.firstIndex(where: { $0.id == numbers[start] }) {
          fingers[index].samples.append(sample)
        } else {
          fingers.append(OnTouchEvent.Finger(id: numbers[start], samples: [sample]))
        }
      }
      return OnTouchEvent(kind: kind, fingers: fingers)
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var id: String
    var events: String
    var actions: [String]

    init(_ id: String, _ events: String, _ actions: [String]) {
      self.id = id
      self.events = events
      self.actions = actions
    }

    var testDescription: String { id }
  }

  @Test(arguments: [
    Row(
      "one finger", "begin 0 10 20; move 0 11 21; end 0 12 22",
      ["down 0 (10.0, 20.0)", "frame", "motion 0 (11.0, 21.0)", "frame", "up 0 (12.0, 22.0)", "frame"]),
    Row(
      "several samples of one finger", "begin 0 5 5; move 0 10 10 0 20 20 0 30 30",
      [
        "down 0 (5.0, 5.0)", "frame", "motion 0 (10.0, 10.0)", "motion 0 (20.0, 20.0)", "motion 0 (30.0, 30.0)",
        "frame",
      ]),
    Row(
      "several samples at the beginning and the end", "begin 0 10 10 0 20 20; end 0 30 30 0 40 40",
      [
        "down 0 (10.0, 10.0)", "motion 0 (20.0, 20.0)", "frame", "motion 0 (30.0, 30.0)", "up 0 (40.0, 40.0)", "frame",
      ]),
    Row(
      "two fingers", "begin 0 1 1; begin 1 9 9; move 0 2 2 1 8 8; end 0 2 2 1 8 8",
      [
        "down 0 (1.0, 1.0)", "frame", "down 1 (9.0, 9.0)", "frame", "motion 0 (2.0, 2.0)", "motion 1 (8.0, 8.0)",
        "frame", "up 0 (2.0, 2.0)", "up 1 (8.0, 8.0)", "frame",
      ]),
    Row("last id", "begin 9 1 1; end 9 1 1", ["down 9 (1.0, 1.0)", "frame", "up 9 (1.0, 1.0)", "frame"]),
    Row("MOVE and END without BEGIN", "move 0 1 1; end 0 1 1; move 3 1 1", []),
    Row(
      "one finger is known", "begin 1 1 1; move 0 5 5 1 2 2",
      ["down 1 (1.0, 1.0)", "frame", "motion 1 (2.0, 2.0)", "frame"]),
    Row(
      "BEGIN names all fingers", "begin 0 1 1; begin 0 1 1 1 9 9; end 0 1 1",
      ["down 0 (1.0, 1.0)", "frame", "down 1 (9.0, 9.0)", "frame", "up 0 (1.0, 1.0)", "frame"]),
    Row(
      "BEGIN names all fingers, one elsewhere", "begin 0 1 1; begin 0 2 2 1 9 9",
      ["down 0 (1.0, 1.0)", "frame", "motion 0 (2.0, 2.0)", "down 1 (9.0, 9.0)", "frame"]),
    Row(
      "BEGIN twice", "begin 0 1 1; begin 0 5 5; end 0 5 5; end 0 5 5",
      [
        "down 0 (1.0, 1.0)", "frame", "up 0 (1.0, 1.0)", "frame", "down 0 (5.0, 5.0)", "frame", "up 0 (5.0, 5.0)",
        "frame",
      ]),
    Row(
      "BEGIN twice, after a MOVE", "begin 0 1 1; move 0 3 3; begin 0 5 5",
      [
        "down 0 (1.0, 1.0)", "frame", "motion 0 (3.0, 3.0)", "frame", "up 0 (3.0, 3.0)", "frame", "down 0 (5.0, 5.0)",
        "frame",
      ]),
    Row(
      "BEGIN of two twice, in another order", "begin 0 1 1 1 2 2; begin 1 4 4 0 3 3",
      [
        "down 0 (1.0, 1.0)", "down 1 (2.0, 2.0)", "frame", "up 1 (2.0, 2.0)", "up 0 (1.0, 1.0)", "frame",
        "down 1 (4.0, 4.0)", "down 0 (3.0, 3.0)", "frame",
      ]),
    Row("BEGIN twice, without a place", "begin 0 1 1; begin", ["down 0 (1.0, 1.0)", "frame"]),
    Row(
      "MOVE on the spot", "begin 0 1 1; move 0 1 1", ["down 0 (1.0, 1.0)", "frame", "motion 0 (1.0, 1.0)", "frame"]),
    Row("END without a place", "begin 0 1 1; end", ["down 0 (1.0, 1.0)", "frame"]),
    Row(
      "CANCEL", "begin 0 1 1; cancel 0 1 1; move 0 2 2; end 0 2 2; begin 0 3 3",
      ["down 0 (1.0, 1.0)", "frame", "cancel", "down 0 (3.0, 3.0)", "frame"]),
    Row(
      "CANCEL of one is that of all", "begin 0 1 1 1 2 2; cancel 1 2 2; move 0 3 3",
      ["down 0 (1.0, 1.0)", "down 1 (2.0, 2.0)", "frame", "cancel"]),
    Row("CANCEL of others", "begin 0 1 1; cancel 4 1 1", ["down 0 (1.0, 1.0)", "frame"]),
    Row("CANCEL of none", "begin 0 1 1; cancel", ["down 0 (1.0, 1.0)", "frame", "cancel"]),
    Row("CANCEL after the end", "cancel 0 1 1", ["cancel"]),
    Row("outside", "begin 0 800 480", ["down 0 (799.0, 479.0)", "frame"]),
  ])
  func order(row: Row) throws {
    var tracker = TouchTracker()
    let actions = try Self.events(row.events).flatMap { tracker.receive($0, Self.fullPicture) }
    #expect(actions.map(\.text) == row.actions)
  }

  @Test func endWithoutPlaceIsWhereTheFingerWas() {
    var tracker = TouchTracker()
    let begin = OnTouchEvent(kind: .begin, fingers: [.init(id: 2, samples: [.init(x: 7, y: 8)])])
    let move = OnTouchEvent(kind: .move, fingers: [.init(id: 2, samples: [.init(x: 9, y: 4)])])
    let end = OnTouchEvent(kind: .end, fingers: [.init(id: 2, samples: [])])
    for (events, up) in [([begin], "up 2 (7.0, 8.0)"), ([begin, move], "up 2 (9.0, 4.0)")] {
      for event in events { _ = tracker.receive(event, Self.fullPicture) }
      #expect(tracker.receive(end, Self.fullPicture).map(\.text) == [up, "frame"])
    }
  }

  @Test func timesAreKept() {
    var tracker = TouchTracker()
    let samples = [1, 2, nil].map { OnTouchEvent.Sample(x: 1, y: 1, time: $0) }
    let begin = OnTouchEvent(kind: .begin, fingers: [.init(id: 0, samples: Array(samples.prefix(1)))])
    let move = OnTouchEvent(kind: .move, fingers: [.init(id: 0, samples: samples)])
    let actions = tracker.receive(begin, Self.fullPicture) + tracker.receive(move, Self.fullPicture)
    let times: [Duration?] = actions.compactMap { action in
      switch action {
      case .down(let touch), .motion(let touch): .some(touch.time)
      default: nil
      }
    }
    #expect(times == [.milliseconds(1), .milliseconds(1), .milliseconds(2), nil])
  }

  /// Display, scale, touch, position in the picture.
  @Test(
    arguments: [
      ("scale 1.25", (1280, 720), 1.25, (100, 200), (80, 160)),
      ("scale 1", (800, 480), 1, (799, 479), (799, 479)),
      ("scale 1.5, even size", (800, 380), 1.5, (400, 190), (266, 126)),
      ("scale 1.5, corner", (800, 380), 1.5, (800, 380), (531, 251)),
      ("scale 2", (960, 600), 2, (101, 51), (50.5, 25.5)),
      ("beyond", (800, 480), 1, (10_000, 10_000), (799, 479)),
      ("origin", (800, 480), 1.25, (0, 0), (0, 0)),
    ] as [(String, (Int, Int), Double, (Int, Int), (Double, Double))])
  func place(id: String, display: (Int, Int), scale: Double, touch: (Int, Int), expected: (Double, Double)) throws {
    var capability = VideoStreamingCapability()
    capability.preferredResolution = VideoSize(display.0, display.1)
    capability.scale = scale
    let stream = try #require(VideoDisplay.displays(of: capability).first?.streamSize)
    let geometry = try #require(VideoGeometry(stream: stream, displays: VideoDisplay.displays(of: capability)))
    let position = geometry.inPicture(OnTouchEvent.Sample(x: touch.0, y: touch.1))
    #expect(position == TouchPosition(x: expected.0, y: expected.1), "\(id)")
  }

  @Test func everyPixelIsWithinThePicture() throws {
    var capability = VideoStreamingCapability()
    capability.preferredResolution = VideoSize(1279, 569)
    capability.scale = 1.5
    let stream = try #require(VideoDisplay.displays(of: capability).first?.streamSize)
    let geometry = try #require(VideoGeometry(stream: stream, displays: VideoDisplay.displays(of: capability)))
    for x in 0...1300 {
      let position = geometry.inPicture(OnTouchEvent.Sample(x: x, y: x))
      #expect((0...Double(stream.width - 1)).contains(position.x))
      #expect((0...Double(stream.height - 1)).contains(position.y))
    }
  }
}
