import SDLApp
import SDLHeadUnit
import Testing

/// Which displays an app's ranges accept.
@Suite struct VideoRangeTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var id: String
    var fixture: [VideoDisplay]
    var landscape: VideoRange
    var portrait: VideoRange
    /// Indices of the displays that are accepted.
    var accepted: [Int]

    init(_ id: String, _ fixture: [VideoDisplay], _ landscape: VideoRange, _ portrait: VideoRange, _ accepted: [Int]) {
      self.id = id
      self.fixture = fixture
      self.landscape = landscape
      self.portrait = portrait
      self.accepted = accepted
    }

    var testDescription: String { id }
  }

  /// The capability that SDL Core ships: displays 0…7.
  static let core = HeadUnitPreset.core.configuration.videoCapability.map(VideoDisplay.displays(of:)) ?? []
  /// With the sizes of sdl_ios' own range tests: displays 8…10.
  static let spec =
    core + [
      VideoDisplay(size: VideoSize(200, 400), diagonal: 4), VideoDisplay(size: VideoSize(2000, 4000), diagonal: 4),
      VideoDisplay(size: VideoSize(200, 200), scale: 1, diagonal: 2),
    ]

  static let any = VideoRange()
  static let disabled = range { $0.isEnabled = false }

  static func range(_ change: (inout VideoRange) -> Void) -> VideoRange {
    var range = VideoRange()
    change(&range)
    return range
  }

  static func range(_ minimum: VideoSize?, _ maximum: VideoSize?, ratio: ClosedRange<Double>? = nil) -> VideoRange {
    range {
      $0.minimumWidth = minimum?.width
      $0.minimumHeight = minimum?.height
      $0.maximumWidth = maximum?.width
      $0.maximumHeight = maximum?.height
      $0.minimumAspectRatio = ratio?.lowerBound
      $0.maximumAspectRatio = ratio?.upperBound
    }
  }

  private static func display(_ width: Int, _ height: Int, _ diagonal: Double? = nil) -> [VideoDisplay] {
    [VideoDisplay(size: VideoSize(width, height), diagonal: diagonal)]
  }

  private static let smallSquares = range {
    $0 = range(VideoSize(100, 100), VideoSize(200, 200), ratio: 1...1)
    $0.minimumDiagonal = 1
  }
  private static let sevenInches = range { $0.minimumDiagonal = 7 }

  @Test(arguments: [
    Row("no bounds", core, any, any, [0, 1, 2, 3, 4, 5, 6, 7]),
    Row(
      "landscape from 500×200 to 800×400", core, range(VideoSize(500, 200), VideoSize(800, 400)), disabled,
      [0, 1, 5, 6]),
    Row("ratio from 1 to 2.5", core, range(nil, nil, ratio: 1...2.5), disabled, [0, 1, 2, 3, 4, 6, 7]),
    Row("ratio up to 2.5", core, range { $0.maximumAspectRatio = 2.5 }, disabled, [0, 1, 2, 3, 4, 6, 7]),
    Row("at least 400×200", core, range(VideoSize(400, 200), nil), disabled, [0, 1, 3, 4, 5, 6]),
    Row("at most 480×320", core, range(nil, VideoSize(480, 320)), disabled, [2, 3, 7]),
    Row("portrait only, of landscape displays", core, disabled, any, []),
    Row("portrait only", spec, disabled, any, [8, 9, 10]),
    Row("landscape only", spec, any, disabled, [0, 1, 2, 3, 4, 5, 6, 7, 10]),
    Row(
      "landscape from 320×200 to 350×220", spec, range(VideoSize(320, 200), VideoSize(350, 220)), any, [2, 8, 9, 10]),
    Row("small squares", spec, smallSquares, smallSquares, [10]),
    Row("a ratio of 1", spec, range(nil, nil, ratio: 1...1), range(nil, nil, ratio: 1...1), [10]),
    Row("nothing", spec, disabled, disabled, []),
    Row("16:9 as 1.7777778", display(1280, 720), range { $0.maximumAspectRatio = 1.7777778 }, disabled, [0]),
    Row("800:380 as 2.105263", display(800, 380), range(nil, nil, ratio: 2.105263...2.105263), disabled, [0]),
    Row("one pixel wider than high", display(1001, 1000), disabled, any, []),
    Row("one pixel higher than wide", display(1999, 2000), disabled, any, [0]),
    Row("one of 2000 pixels wider than high", display(2000, 1999), disabled, any, []),
    Row("unknown diagonal", display(800, 480), sevenInches, any, [0]),
    Row("diagonal of 0", display(800, 480, 0), sevenInches, any, [0]),
    Row("seven inches", display(800, 480, 7), sevenInches, any, [0]),
    Row("less than seven inches", display(800, 480, 6.9), sevenInches, any, []),
    // The scaled size is compared before it is made even.
    Row("display 6 is as wide as 533", core, range { $0.minimumWidth = 533 }, disabled, [0, 1, 5, 6]),
    Row("display 6 is wider than 532", [core[6]], range { $0.maximumWidth = 532 }, disabled, []),
    // The ratio is that of the display: 533 ÷ 253 would be 2.107.
    Row("the ratio of display 6", [core[6]], range { $0.maximumAspectRatio = 2.106 }, disabled, [0]),
    // Portrait ratios are those of the display turned.
    Row("ratio of a portrait", display(480, 800), disabled, range(nil, nil, ratio: 1.6...1.7), [0]),
    // Four decimals are enough: 800 ÷ 380 is 2.10526….
    Row("four decimals", display(800, 380), range(nil, nil, ratio: 2.1053...2.1053), disabled, [0]),
    Row("beyond four decimals", display(800, 380), range { $0.minimumAspectRatio = 2.1054 }, disabled, []),
    Row("1.7778 is 16:9", display(1280, 720), range(nil, nil, ratio: 1.7778...1.7778), disabled, [0]),
    Row("1.7777 is below 16:9", display(1280, 720), range { $0.maximumAspectRatio = 1.7777 }, disabled, []),
    Row("one pixel too low", display(800, 479), range { $0.minimumHeight = 480 }, any, []),
    // Numbers that no head unit should send.
    Row("NaN inches", display(800, 480, .nan), sevenInches, any, [0]),
    Row("minus one inch", display(800, 480, -1), sevenInches, any, [0]),
    Row("endless", display(800, 480, .infinity), sevenInches, any, [0]),
    Row("no size", display(0, 0), any, any, []), Row("no height", display(800, 0), any, any, []),
    Row("negative", display(-800, 480), any, any, []), Row("absurd", display(.max, .min), any, any, []),
    // Bounds that `validate` refuses reject nothing by mistake.
    Row(
      "NaN bounds", display(800, 480, 5), range { ($0.minimumDiagonal, $0.maximumAspectRatio) = (.nan, .nan) }, any, [0]
    ),
  ])
  func acceptedDisplays(_ row: Row) {
    let filter = VideoRangeFilter(
      ranges: VideoRanges(landscape: row.landscape, portrait: row.portrait), headUnit: .displays(row.fixture))
    #expect(filter.acceptedDisplays == row.accepted.map { row.fixture[$0] })
    #expect(filter.supportsNone == row.accepted.isEmpty)
  }

  @Test func shippedCapabilityOfCore() throws {
    #expect(Self.core.count == 8)
    #expect(Self.core.first?.streamSize == VideoSize(800, 380))
    // 15 fps, which is inherited.
    #expect(Self.core.allSatisfy { $0.frameRate == 15 })
    #expect(Self.core[6].scaledSize == VideoSize(533, 253) && Self.core[6].streamSize == VideoSize(532, 252))
    #expect(Self.core[7].scaledSize == VideoSize(400, 190))
  }

  private func entry(_ size: VideoSize?, _ rate: Int?) -> VideoStreamingCapability {
    var entry = VideoStreamingCapability()
    entry.preferredResolution = size
    entry.preferredFPS = rate
    return entry
  }

  @Test("what is streamed of a root and an additional capability")
  func rootOutOfRange() {
    var root = entry(VideoSize(1920, 720), 30)
    root.additionalCapabilities = [
      entry(nil, nil), entry(VideoSize(800, 480), 60), entry(VideoSize(800, 480), 60),
    ]
    let displays = VideoDisplay.displays(of: root)
    #expect(displays.map(\.frameRate) == [30, 60])
    let ranges = VideoRanges(landscape: Self.range(nil, VideoSize(800, 480)), portrait: Self.disabled)
    let accepted = VideoRangeFilter(ranges: ranges, headUnit: .displays(displays)).acceptedDisplays
    #expect(accepted.map(\.streamSize) == [VideoSize(800, 480)])
    #expect(accepted.first?.frameRate == 60)
    #expect(VideoDisplay.displays(of: entry(nil, 30)).isEmpty)
  }

  @Test(
    "The first failing test, with both numbers",
    arguments: [
      (0, "width 800 is above landscape::max-width 700"), (2, "width 320 is below landscape::min-width 500"),
      (8, "portrait::enabled is false"),
      (10, "width 200 is below landscape::min-width 500 and portrait::enabled is false"),
    ])
  func reasons(_ index: Int, _ reason: String) {
    let landscape = Self.range(VideoSize(500, 300), VideoSize(700, 400))
    let ranges = VideoRanges(landscape: landscape, portrait: Self.disabled)
    #expect(ranges.evaluate(Self.spec[index]).description == reason)
  }

  @Test(
    "invalid bounds",
    arguments: [
      (range { $0.minimumWidth = -5 }, ["min-width -5", "10000"]),
      (range { $0.maximumHeight = .max }, ["max-height \(Int.max)", "10000"]),
      (range { $0.minimumDiagonal = -1 }, ["min-diagonal -1.0"]),
      (range { $0.minimumDiagonal = .infinity }, ["min-diagonal inf"]),
      (range { $0.minimumDiagonal = .nan }, ["min-diagonal nan"]),
      (range { $0.maximumAspectRatio = 0.5 }, ["max-aspect-ratio 0.5", "1.0"]),
    ])
  func refused(_ range: VideoRange, _ numbers: [String]) {
    let text = #expect(throws: VideoRange.Invalid.self) { try range.validate() }?.description ?? ""
    for number in numbers { #expect(text.contains(number), "\(text)") }
  }

  @Test func validBounds() throws {
    for range in [Self.any, Self.disabled, Self.range(VideoSize(800, 480), VideoSize(800, 480), ratio: 1.5...1.5)] {
      try range.validate()
      #expect(range.conflicts.isEmpty)
    }
  }

  @Test func minimumsAboveTheirMaximums() {
    var range = Self.range(VideoSize(350, 220), VideoSize(320, 200))
    (range.minimumAspectRatio, range.maximumAspectRatio) = (2, 1.5)
    #expect(
      range.conflicts == [
        "min-width 350 is above max-width 320", "min-height 220 is above max-height 200",
        "min-aspect-ratio 2.0 is above max-aspect-ratio 1.5",
      ])
    #expect(!VideoRanges(portrait: range).isValid)
  }

  @Test(
    "Three decimals, unless more distinguish a number from its bound",
    arguments: [
      (VideoSize(640, 480), 1.5, "aspect ratio 1.333 is below landscape::min-aspect-ratio 1.5"),
      (VideoSize(800, 380), 2.1054, "aspect ratio 2.1053 is below landscape::min-aspect-ratio 2.1054"),
      (VideoSize(640, 480), 5.0 / 3, "aspect ratio 1.333 is below landscape::min-aspect-ratio 1.667"),
    ])
  func decimals(_ size: VideoSize, _ bound: Double, _ text: String) {
    let ranges = VideoRanges(landscape: Self.range { $0.minimumAspectRatio = bound })
    #expect(ranges.evaluate(VideoPicture(size)).description == text)
    let display = VideoDisplay(size: size, scale: 4.0 / 3, diagonal: 20.0 / 3, pixelsPerInch: 160.0 / 3)
    #expect("\(display)" == "\(size), scale 1.333, 6.667 in, 53.333 ppi")
  }

  @Test func bothDisabled() {
    let ranges = VideoRanges(landscape: Self.disabled, portrait: Self.disabled)
    let text = "both ranges are disabled, as landscape::enabled and portrait::enabled are false"
    #expect(ranges.evaluate(VideoPicture(VideoSize(800, 480))).description == text)
    #expect(ranges.evaluate(Self.core[0]).description == text)
  }
}

/// Ranges as caps can express them.
@Suite struct VideoSizeBoxTests {
  private static let everything = VideoSizeBox(width: 1...8192, height: 1...8192)

  static let cases: [VideoRanges] = [
    VideoRanges(),
    VideoRanges(
      landscape: VideoRangeTests.range(VideoSize(500, 200), VideoSize(800, 400)), portrait: VideoRangeTests.disabled),
    VideoRanges(portrait: VideoRangeTests.disabled), VideoRanges(landscape: VideoRangeTests.disabled),
    VideoRanges(landscape: VideoRangeTests.range(nil, nil, ratio: 1...1), portrait: VideoRangeTests.disabled),
    VideoRanges(
      landscape: VideoRangeTests.range(nil, nil, ratio: 1.5...1.7),
      portrait: VideoRangeTests.range(nil, nil, ratio: 3...4)),
    VideoRanges(landscape: VideoRangeTests.range(VideoSize(900, 100), VideoSize(1000, 200), ratio: 1.5...2)),
    VideoRanges(
      landscape: VideoRangeTests.range(VideoSize(1000, 500), nil, ratio: 1.999...2), portrait: VideoRangeTests.disabled),
    VideoRanges(
      landscape: VideoRangeTests.disabled, portrait: VideoRangeTests.range(VideoSize(500, 0), VideoSize(501, 600))),
  ]

  /// Each accepted size is in a box, and the first box holds nothing else.
  @Test(arguments: cases.indices) func allAccepted(_ index: Int) {
    let ranges = Self.cases[index]
    let boxes = ranges.boxes(within: Self.everything)
    func isIn(_ box: VideoSizeBox, _ size: VideoSize) -> Bool {
      box.width.contains(size.width) && box.height.contains(size.height)
    }
    var accepted = 0
    for width in stride(from: 1, through: 4096, by: 13) {
      for height in stride(from: 1, through: 4096, by: 13) {
        let size = VideoSize(width, height)
        let isAccepted = ranges.evaluate(VideoPicture(size)).isAccepted
        if isAccepted { accepted += 1 }
        #expect(!isAccepted || boxes.contains { isIn($0, size) }, "\(size)")
        if let first = boxes.first, isIn(first, size) { #expect(isAccepted, "\(size) in \(first)") }
      }
    }
    if accepted > 0 { #expect(!boxes.isEmpty) }
  }

  @Test func nothing() {
    #expect(
      VideoRanges(landscape: VideoRangeTests.disabled, portrait: VideoRangeTests.disabled).boxes(
        within: Self.everything
      ).isEmpty)
    let impossible = VideoRanges(
      landscape: VideoRangeTests.range(VideoSize(900, 100), VideoSize(1000, 200), ratio: 1.5...2),
      portrait: VideoRangeTests.disabled)
    #expect(impossible.boxes(within: Self.everything).isEmpty)
  }

  @Test func sourcesWithoutAPreferenceFindThePortrait() throws {
    let first = try #require(VideoRanges(landscape: VideoRangeTests.disabled).boxes(within: Self.everything).first)
    #expect(first.width.contains(240) && first.height.contains(320))
  }
}

/// Pictures whose pixels may not be square, and what a scaler should make of them.
@Suite struct VideoPictureTests {
  private static func picture(_ width: Int, _ height: Int, _ pixels: Fraction? = nil) -> VideoPicture {
    VideoPicture(VideoSize(width, height), pixelAspectRatio: pixels ?? Fraction(clamping: 1))
  }
  private static let wide = Fraction(64, 45)

  /// Orientation and ratio are the display's, the bounds of the sides are the pixels'.
  @Test func pixelsOfAnyShape() {
    let range = VideoRangeTests.range(nil, VideoSize(720, 576), ratio: 1.7778...1.7778)
    let ranges = VideoRanges(landscape: range, portrait: VideoRangeTests.disabled)
    #expect(ranges.evaluate(Self.picture(720, 576, Self.wide)).isAccepted)
    #expect(!ranges.evaluate(Self.picture(720, 576)).isAccepted)
    #expect(ranges.evaluate(Self.picture(720, 405)).isAccepted)
    let portraits = VideoRanges(landscape: VideoRangeTests.disabled)
    #expect(!portraits.evaluate(Self.picture(560, 576, Self.wide)).isAccepted)
    #expect(portraits.evaluate(Self.picture(640, 480, Fraction(1, 2))).isAccepted)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var landscape = VideoRange()
    var portrait = VideoRange()
    var input: VideoPicture
    var box = VideoSizeBox(width: 1...Int(Int32.max), height: 1...Int(Int32.max))
    var pixels: Fraction?
    var pictures: [String]
  }

  static let rows = [
    Row(testDescription: "no bounds", input: picture(641, 480), pictures: ["641×480", "642×480"]),
    Row(
      testDescription: "smaller", landscape: VideoRangeTests.range(nil, VideoSize(800, 480)),
      input: picture(1920, 1080), pictures: ["800×450"]),
    Row(
      testDescription: "larger", landscape: VideoRangeTests.range(VideoSize(800, 1), nil), input: picture(640, 480),
      pictures: ["800×600"]),
    Row(
      testDescription: "the height decides", landscape: VideoRangeTests.range(nil, VideoSize(4000, 480)),
      input: picture(1920, 1080), pictures: ["854×480"]),
    Row(
      testDescription: "odd bounds", landscape: VideoRangeTests.range(nil, VideoSize(801, 481)),
      input: picture(1920, 1080), pictures: ["800×450"]),
    Row(
      testDescription: "exactly 16:9",
      landscape: VideoRangeTests.range(nil, VideoSize(750, 800), ratio: 1.7778...1.7778),
      input: picture(1920, 1080), pictures: ["736×414"]),
    Row(
      testDescription: "wider than allowed", landscape: VideoRangeTests.range(nil, nil, ratio: 1...1.5),
      input: picture(1920, 1080), pictures: ["1920×1280"]),
    Row(
      testDescription: "narrower than allowed", landscape: VideoRangeTests.range(nil, nil, ratio: 2...3),
      input: picture(1920, 1080), pictures: ["2160×1080"]),
    Row(
      testDescription: "portrait only", landscape: VideoRangeTests.disabled, input: picture(1920, 1080),
      pictures: ["1920×1920"]),
    Row(
      testDescription: "a portrait", portrait: VideoRangeTests.range(nil, VideoSize(480, 800)),
      input: picture(1080, 1920), pictures: ["450×800"]),
    Row(
      testDescription: "television", landscape: VideoRangeTests.range(nil, VideoSize(800, 800)),
      input: picture(720, 576, wide), pictures: ["720×576 with pixels of 64:45", "800×450"]),
    Row(
      testDescription: "pixels of another shape", landscape: VideoRangeTests.range(nil, VideoSize(800, 800)),
      input: picture(1280, 720), pixels: Fraction(2), pictures: ["640×720 with pixels of 2:1"]),
    Row(
      testDescription: "possible sizes", input: picture(1920, 1080),
      box: VideoSizeBox(width: 1...640, height: 1...8192),
      pictures: ["640×360"]),
    Row(
      testDescription: "no even size", input: picture(1920, 1080),
      box: VideoSizeBox(width: 641...641, height: 1...8192),
      pictures: []),
    Row(
      testDescription: "nothing", landscape: VideoRangeTests.disabled, portrait: VideoRangeTests.disabled,
      input: picture(1920, 1080), pictures: []),
    Row(testDescription: "no size", input: picture(0, 0), pictures: []),
    Row(
      testDescription: "extreme", landscape: VideoRangeTests.range(nil, VideoSize(10_000, 10_000)),
      input: picture(Int(Int32.max), 1, Fraction(Int(Int32.max))), pictures: []),
  ]

  @Test(arguments: rows) func nearest(_ row: Row) {
    let ranges = VideoRanges(landscape: row.landscape, portrait: row.portrait)
    let pictures = ranges.pictures(near: row.input, within: row.box, pixelAspectRatio: row.pixels)
    #expect(pictures.map(\.description) == row.pictures)
    #expect(pictures.allSatisfy { ranges.evaluate($0).isAccepted })
  }
}

/// Which answers caps that are in flight may have been chosen from.
@Suite struct VideoRangeFilterHistoryTests {
  private func filter(_ minimumWidth: Int) -> VideoRangeFilter {
    var range = VideoRange()
    range.minimumWidth = minimumWidth
    return VideoRangeFilter(ranges: VideoRanges(landscape: range))
  }

  @Test func formerFiltersAreForgottenWhenTheirCapsAreReplaced() {
    var history = VideoRangeFilterHistory()
    history.use(filter(100))
    history.use(filter(100))
    #expect(history.former.isEmpty && !history.formerlyAccepted(VideoPicture(VideoSize(320, 240))))
    history.use(filter(400))
    #expect(history.former == [filter(100)] && history.formerlyAccepted(VideoPicture(VideoSize(320, 240))))
    // Old caps: upstream is asked again, but once only.
    let asks = [320, 320, 640].map { history.capsArrived(VideoPicture(VideoSize($0, 240))) }
    #expect(asks == [true, false, false])
    #expect(history.former.isEmpty && !history.formerlyAccepted(VideoPicture(VideoSize(320, 240))))
  }

  @Test func theOldestFilterStays() {
    var history = VideoRangeFilterHistory()
    for width in 1...1000 { history.use(filter(width)) }
    #expect(history.former == [filter(1)] + (993...999).map(filter))
    #expect(history.current == filter(1000))
  }
}
