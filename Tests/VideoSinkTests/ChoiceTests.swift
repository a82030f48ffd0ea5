import GStreamerKit
import SDLApp
import SDLHeadUnit
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Which display is streamed, and which are reported as supported, with real elements. `VideoRangeTests` has the whole
/// table of ranges; here is each property once, and what only caps and queries can get wrong.
@Suite struct ChoiceTests {
  static let core = HeadUnitPreset.listedInCore.configuration.with { $0.activation = .zero }

  /// `core` with the sizes of sdl_ios' own range tests in addition.
  static let spec = core.with { configuration in
    configuration.videoCapability?.additionalCapabilities? += [
      entry(200, 400, inches: 4), entry(2000, 4000, inches: 4), entry(200, 200, inches: 2, scale: 1),
    ]
  }

  static func entry(_ width: Int, _ height: Int, inches: Double? = nil, scale: Double? = nil)
    -> VideoStreamingCapability
  {
    var entry = VideoStreamingCapability()
    entry.preferredResolution = VideoSize(width, height)
    entry.diagonalScreenSize = inches
    entry.scale = scale
    return entry
  }

  static func headUnit(
    _ width: Int, _ height: Int, inches: Double? = nil, scale: Double? = nil,
    additional: [VideoStreamingCapability] = [], _ change: (inout VideoStreamingCapability) -> Void = { _ in }
  ) -> HeadUnitConfiguration {
    HeadUnitConfiguration.small(width, height).with { configuration in
      configuration.videoCapability?.diagonalScreenSize = inches
      configuration.videoCapability?.scale = scale
      configuration.videoCapability?.additionalCapabilities = additional
      configuration.videoCapability = configuration.videoCapability?.with(change)
    }
  }

  static func pipeline(_ headUnit: TestHeadUnit, _ ranges: String) throws -> Pipeline {
    try Pipeline(
      """
      videotestsrc is-live=true ! sdlrangefilter name=filter \(ranges) \
      ! sdlvideosink name=sink uri=\(headUnit.uri) legacy-start-delay=1
      """)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var headUnit: HeadUnitConfiguration
    var ranges: String
    /// Streamed; nil when nothing may be.
    var size: String?
    /// The displays that are reported as supported: indices of the head unit's entries, 0 the root.
    var told: [Int]

    init(_ name: String, _ headUnit: HeadUnitConfiguration, _ ranges: String, _ size: String?, _ told: [Int]) {
      (testDescription, self.headUnit, self.ranges, self.size, self.told) = (name, headUnit, ranges, size, told)
    }
  }

  private static let noPortrait = "portrait::enabled=false"
  private static let noLandscape = "landscape::enabled=false"
  private static func both(_ ranges: String) -> String {
    ranges.split(separator: " ").flatMap { ["landscape::\($0)", "portrait::\($0)"] }.joined(separator: " ")
  }

  static let rows = [
    Row("no range", core, "", "800×380", [0, 1, 2, 3, 4, 5, 6, 7]),
    Row(
      "sizes", core,
      "landscape::min-width=500 landscape::min-height=200 landscape::max-width=800 landscape::max-height=400 \(noPortrait)",
      "800×380", [0, 1, 5, 6]),
    Row("no landscape", spec, noLandscape, "200×400", [8, 9, 10]),
    Row(
      "every property, for small squares", spec,
      both(
        "max-width=200 max-height=200 min-width=100 min-height=100 max-aspect-ratio=1 min-aspect-ratio=1 min-diagonal=1"
      ),
      "200×200", [10]),
    Row(
      "a head unit without sizes", headUnit(800, 480) { $0.preferredResolution = nil }, both("enabled=false"), nil, []),
    Row("a scaled width", headUnit(800, 380, scale: 1.5), "landscape::min-width=533", "532×252", [0]),
    Row(
      "one size in three scales",
      headUnit(960, 600, additional: [entry(960, 600, scale: 1.5), entry(960, 600, scale: 2)]),
      "landscape::max-width=500", "480×300", [2]),
    // Displays of equal size, which differ in what caps do not contain.
    Row(
      "by the diagonal",
      headUnit(800, 480, inches: 5, additional: [entry(640, 360, inches: 4), entry(800, 480, inches: 8)]),
      "landscape::min-diagonal=7", "800×480", [2]),
    Row(
      "by the ratio of the display",
      headUnit(800, 380, scale: 1.5, additional: [entry(532, 252)]), "landscape::max-aspect-ratio=2.106", "532×252",
      [0]),
    Row(
      "duplicates", headUnit(800, 480, additional: [entry(800, 480), entry(400, 240), entry(400, 240)]), "",
      "800×480", [0, 2]),
  ]

  @Test(arguments: rows) func choice(_ row: Row) throws {
    let headUnit = try TestHeadUnit(row.headUnit)
    let pipeline = try Self.pipeline(headUnit, row.ranges)
    try pipeline.play()
    if let size = row.size {
      let started = try pipeline.waitForElementMessage("sdl-stream-started")
      #expect("\(started["width"] ?? "")×\(started["height"] ?? "")" == size)
      try headUnit.waitForFrames(2)
      #expect(pipeline.drain().allSatisfy { $0.warning == nil }, "\(pipeline.drain())")
    } else {
      _ = try pipeline.waitForWarning()
      let sink = try pipeline.sink
      #expect(eventually { sink.statistics["frames-dropped-wrong-size"] >= 2 })
      #expect(!headUnit.record.events.contains { if case .videoStarted = $0 { true } else { false } })
      #expect(pipeline.drain().count { $0.warning != nil } == 1)
    }
    #expect(pipeline.drain().allSatisfy { $0.error == nil }, "\(pipeline.drain())")
    #expect(headUnit.record.violations == [])
    var root = row.headUnit.videoCapability
    root?.additionalCapabilities = nil
    let entries = [root].compactMap(\.self) + (row.headUnit.videoCapability?.additionalCapabilities ?? [])
    let told = headUnit.record.appCapabilities.map { $0.additionalCapabilities ?? [] }
    #expect(told == (row.told.isEmpty ? [] : [row.told.map { entries[$0] }]))
  }

  /// Without a filter, by upstream's caps alone.
  @Test func upstreamThatKnowsOneSize() throws {
    let headUnit = try TestHeadUnit(Self.core)
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! video/x-raw,width=480,height=320 \
      ! sdlvideosink name=sink uri=\(headUnit.uri)
      """)
    try pipeline.play()
    let started = try pipeline.waitForElementMessage("sdl-stream-started")
    #expect(started["width"] == "480")
    #expect(
      headUnit.record.appCapabilities.compactMap(\.additionalCapabilities) == [
        [
          Self.entry(480, 320, inches: 5)
            .with { $0.hapticSpatialDataSupported = true }
        ]
      ])
  }

  @Test("Rate and bitrate are those of the display that is streamed") func ownValues() throws {
    let headUnit = try TestHeadUnit(
      Self.headUnit(
        1280, 720,
        additional: [
          Self.entry(320, 240).with { ($0.preferredFPS, $0.maxBitrate) = (60, 300) }
        ]
      ) { ($0.preferredFPS, $0.maxBitrate) = (15, 10_000) })
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! video/x-raw,framerate=60/1 ! sdlrangefilter landscape::max-width=800 \
      ! sdlvideosink name=sink uri=\(headUnit.uri) bitrate=5000
      """)
    try pipeline.play()
    try headUnit.waitForFrames(60)
    let statistics = try pipeline.sink.statistics
    #expect(statistics["bitrate-target-kbps"] == 200)
    #expect(statistics["frames-dropped-frame-rate"] == 0)
    #expect(headUnit.record.violations == [])
  }

  @Test func filterIsTheAppsSayAlsoBeforeAScaler() throws {
    let headUnit = try TestHeadUnit(Self.core)
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! sdlrangefilter landscape::max-width=480 portrait::enabled=false \
      ! videoconvertscale ! queue ! sdlvideosink name=sink uri=\(headUnit.uri)
      """)
    try pipeline.play()
    let started = try pipeline.waitForElementMessage("sdl-stream-started")
    #expect(started["width"] == "320" && started["height"] == "200")
  }

  @Test func twoFilters() throws {
    let headUnit = try TestHeadUnit(Self.core)
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! sdlrangefilter landscape::max-width=480 \
      ! sdlrangefilter landscape::min-height=300 ! sdlvideosink name=sink uri=\(headUnit.uri)
      """)
    try pipeline.play()
    let started = try pipeline.waitForElementMessage("sdl-stream-started")
    #expect(started["width"] == "480" && started["height"] == "320")
    let told = headUnit.record.appCapabilities.compactMap(\.additionalCapabilities)
    #expect(told.map { $0.compactMap(\.preferredResolution?.width) } == [[480, 400]])
  }

  @Test("853×379 at a sink for 852×378") func oddSize() throws {
    let configuration = Self.headUnit(1280, 569, scale: 1.5)
    let headUnit = try TestHeadUnit(configuration)
    let odd = try Pipeline(
      "videotestsrc ! video/x-raw,width=853,height=379 ! sdlvideosink name=sink uri=\(headUnit.uri)")
    try odd.play()
    let error = try odd.waitForError()
    #expect(error.text.contains("853×379 can't be encoded: sides must be even"), "\(error)")
    let scaled = try Pipeline(
      """
      videotestsrc is-live=true ! video/x-raw,width=853,height=379 ! videoscale \
      ! sdlvideosink name=sink uri=\(headUnit.uri)
      """)
    try scaled.play()
    let started = try scaled.waitForElementMessage("sdl-stream-started")
    #expect(started["width"] == "852" && started["height"] == "378")
  }

  @Test("H.264 of another size, and of the right one") func encoded() throws {
    let wrong = try SinkHarness(Self.core, caps: EncodedUnit.caps(800, 480))
    try wrong.pipeline.play()
    let units = try encodedUnits(20, width: 800, height: 480)
    var index = 0
    var error: BusMessage.Fault?
    #expect(
      eventually {
        wrong.push(units[index % units.count].bytes, flags: units[index % units.count].flags)
        index += 1
        error = wrong.pipeline.drain().compactMap(\.error).first
        return error != nil
      })
    #expect(error?.text.contains("800×380") == true, "\(String(describing: error))")

    // The parameter sets count, not the caps.
    let right = try SinkHarness(Self.core, isLive: false, caps: EncodedUnit.caps(800, 480))
    try right.pipeline.play()
    let fitting = try encodedUnits(10, width: 800, height: 380, frameRate: 15)
    for unit in fitting { right.push(unit.bytes, flags: unit.flags) }
    right.source.end()
    try right.pipeline.waitForEnd()
    // What stands before the first parameter sets is left out.
    let video = right.headUnit.record.video
    #expect(video.count == fitting.count && video.dropFirst().elementsEqual(fitting.dropFirst().map(\.bytes)))
    #expect(try right.statistics["frames-encoded"] == 0)
  }

  @Test("A list of 5000 displays costs little") func hostileList() throws {
    let headUnit = try TestHeadUnit(
      Self.headUnit(320, 240, additional: (0..<5000).map { Self.entry(330 + $0, 240) }))
    let pipeline = try Self.pipeline(headUnit, "landscape::min-width=400 portrait::enabled=false")
    let began = MonotonicClock.now
    try pipeline.play()
    let started = try pipeline.waitForElementMessage("sdl-stream-started")
    #expect(started["width"] == "400")
    #expect(MonotonicClock.now - began < .seconds(10))
  }
}
