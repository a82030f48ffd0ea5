import Testing

@testable import SDLApp

/// Where rectangles of the pictures are on the display (rows S of the acceptance cases), and which ids they have.
@Suite struct HapticGeometryTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var id: String
    var display: (Int, Int)
    var scale: Double?
    /// x, y, width, height in the pictures, and on the display; nil where nothing of it is.
    var given: [Double]
    var expected: [Double]?

    var testDescription: String { id }
  }

  private static func rectangle(_ sides: [Double]) -> HapticRectangle {
    HapticRectangle(id: 3, x: sides[0], y: sides[1], width: sides[2], height: sides[3])
  }

  @Test(arguments: [
    Row(
      id: "scale 1.25", display: (1280, 720), scale: 1.25, given: [10, 10, 100, 200], expected: [12.5, 12.5, 125, 250]),
    Row(id: "scale 1", display: (800, 480), scale: 1, given: [0, 0, 800, 480], expected: [0, 0, 800, 480]),
    Row(id: "no scale", display: (800, 480), scale: nil, given: [1, 2, 3, 4], expected: [1, 2, 3, 4]),
    Row(id: "scale 2", display: (960, 600), scale: 2, given: [1, 2, 3, 4], expected: [2, 4, 6, 8]),
    // The pictures are 532×252, and fill the display.
    Row(id: "scale 1.5", display: (800, 380), scale: 1.5, given: [0, 0, 532, 252], expected: [0, 0, 800, 380]),
    Row(
      id: "last quarter", display: (800, 380), scale: 1.5, given: [266, 126, 266, 126], expected: [400, 190, 400, 190]),
    Row(id: "cut", display: (800, 480), scale: 2, given: [-10, 230, 20, 20], expected: [0, 460, 20, 20]),
    Row(id: "larger", display: (800, 480), scale: 1, given: [-5, -5, 5000, 5000], expected: [0, 0, 800, 480]),
    Row(id: "beside", display: (800, 480), scale: 1, given: [800, 0, 10, 10], expected: nil),
    Row(id: "above", display: (800, 480), scale: 1, given: [0, -10, 10, 10], expected: nil),
    Row(id: "empty", display: (800, 480), scale: 1, given: [10, 10, 0, 10], expected: nil),
    Row(id: "no number", display: (800, 480), scale: 1, given: [.nan, 10, 10, 10], expected: nil),
  ])
  func onDisplay(row: Row) throws {
    var capability = VideoStreamingCapability()
    capability.preferredResolution = VideoSize(row.display.0, row.display.1)
    capability.scale = row.scale
    let stream = try #require(VideoDisplay.displays(of: capability).first?.streamSize)
    let geometry = try #require(VideoGeometry(stream: stream, displays: VideoDisplay.displays(of: capability)))
    #expect(geometry.onDisplay(Self.rectangle(row.given)) == row.expected.map(Self.rectangle))
  }

  @Test func unknownSize() {
    #expect(
      VideoGeometry(stream: VideoSize(640, 480), displays: VideoDisplay.displays(of: AppDriver.capability)) == nil)
    let geometry = VideoGeometry(stream: VideoSize(0, 0))
    #expect(geometry.onDisplay(Self.rectangle([0, 0, 1, 1])) == nil)
    #expect(!geometry.takesHapticRectangles)
  }

  /// The flag of the display in use; an additional one inherits it.
  @Test(
    arguments: [
      (nil, nil, false, false), (true, nil, true, true), (true, false, true, false), (false, true, false, true),
      (nil, true, false, true),
    ] as [(Bool?, Bool?, Bool, Bool)])
  func whetherRectanglesAreWanted(root: Bool?, additional: Bool?, atRoot: Bool, atAdditional: Bool) {
    var small = VideoStreamingCapability()
    small.preferredResolution = VideoSize(320, 240)
    small.hapticSpatialDataSupported = additional
    var capability = AppDriver.capability
    capability.hapticSpatialDataSupported = root
    capability.additionalCapabilities = [small]
    #expect(
      VideoGeometry(stream: VideoSize(800, 480), displays: VideoDisplay.displays(of: capability))?.takesHapticRectangles
        == atRoot)
    #expect(
      VideoGeometry(stream: VideoSize(320, 240), displays: VideoDisplay.displays(of: capability))?.takesHapticRectangles
        == atAdditional)
  }

  @Test(
    arguments: [
      ([], []), ([7], [7]), ([7, 3], [7, 3]), ([7, 7], [0, 1]), ([0, 0, 0], [0, 1, 2]), ([-1, 5], [0, 1]),
      ([2_000_000_001], [0]), ([2_000_000_000, 0], [2_000_000_000, 0]),
    ] as [([Int], [Int])])
  func ids(given: [Int], expected: [Int]) {
    let list = HapticRectangleList(given.map { HapticRectangle(id: $0, x: 1, y: 2, width: 3, height: 4) })
    #expect(list.rectangles.map(\.id) == expected)
    #expect(!list.isCut)
  }

  @Test func thousandAreKept() {
    let rectangles = (0..<1001).map { HapticRectangle(id: 5000 - $0, x: 0, y: 0, width: 1, height: 1) }
    let list = HapticRectangleList(rectangles)
    #expect(list.rectangles == Array(rectangles.prefix(1000)))
    #expect(list.isCut)
  }
}
