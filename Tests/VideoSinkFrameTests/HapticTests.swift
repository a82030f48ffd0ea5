import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Touchable rectangles, from frames and from the property, as a head unit receives them.
@Suite struct HapticTests {
  private static func configuration(
    _ width: Int = 320, _ height: Int = 240, scale: Double? = nil, isSupported: Bool = true
  ) -> HeadUnitConfiguration {
    .small(width, height).with {
      $0.videoCapability?.scale = scale
      $0.videoCapability?.hapticSpatialDataSupported = isSupported
    }
  }

  /// A region of a frame.
  struct Region {
    var type = "sdl-haptic"
    var id: Int32 = 0
    var sides: (UInt32, UInt32, UInt32, UInt32)
  }

  /// Pushes the next picture with regions; it may have another size than the head unit's.
  private static func push(
    _ regions: [Region], _ harness: SinkHarness, _ width: Int = 320, _ height: Int = 240
  ) throws {
    let bytes = Picture(width, height, harness.index).bytes
    let buffer = try #require(harness.source.buffer(of: bytes))
    for region in regions {
      let (x, y, width, height) = region.sides
      let meta = gst_buffer_add_video_region_of_interest_meta(buffer, region.type, x, y, width, height)
      try #require(meta).pointee.id = region.id
    }
    harness.push(buffer)
  }

  /// Pushes pictures with these regions until the head unit has as many lists; the last of them.
  private static func lists(
    _ count: Int, pushing regions: [Region], _ harness: SinkHarness, _ width: Int = 320, _ height: Int = 240
  ) throws -> [HapticRectangle]? {
    try #require(
      eventually {
        guard harness.headUnit.record.hapticLists.count < count else { return true }
        try? push(regions, harness, width, height)
        g_usleep(5000)
        return false
      }, "\(harness.headUnit.record.hapticLists)")
    return harness.headUnit.record.hapticLists.last
  }

  private static func rectangle(_ id: Int, _ x: Double, _ y: Double, _ width: Double, _ height: Double)
    -> HapticRectangle
  {
    HapticRectangle(id: id, x: x, y: y, width: width, height: height)
  }

  @Test func regionsOfFrames() throws {
    // With repeats, for pictures that are dropped because they come at once.
    let harness = try SinkHarness(Self.configuration(), properties: "sync=false")
    try harness.start()
    let regions = [
      Region(id: 5, sides: (10, 20, 30, 40)), Region(type: "face", id: 5, sides: (1, 2, 3, 4)),
      Region(id: 2, sides: (300, 200, 100, 100)),
    ]
    #expect(
      try Self.lists(1, pushing: regions, harness)
        == [Self.rectangle(5, 10, 20, 30, 40), Self.rectangle(2, 300, 200, 20, 40)])
    for _ in 0..<20 { try Self.push(regions, harness) }
    try harness.headUnit.waitForFrames(20)
    #expect(harness.headUnit.record.hapticLists.count == 1)
    #expect(
      try Self.lists(2, pushing: [Region(sides: (1, 1, 2, 2)), Region(sides: (5, 5, 2, 2))], harness)
        == [Self.rectangle(0, 1, 1, 2, 2), Self.rectangle(1, 5, 5, 2, 2)])
    // A frame without any.
    #expect(try Self.lists(3, pushing: [], harness) == [])
    #expect(harness.headUnit.record.violations == [])
  }

  @Test func propertyFromTheStart() throws {
    let harness = try SinkHarness(
      Self.configuration(), properties: "sync=false haptic-rectangles=\"<<10,10,100,50>,<10,80,100,50>>\"")
    try harness.start()
    let first = try harness.headUnit.wait(for: "list") { $0.hapticLists.first }
    #expect(first == [Self.rectangle(0, 10, 10, 100, 50), Self.rectangle(1, 10, 80, 100, 50)])
    try harness.pipeline.sink.set("haptic-rectangles", "<<1,2,3,4>>")
    let second = try harness.headUnit.wait(for: "second list") { $0.hapticLists.dropFirst().first }
    #expect(second == [Self.rectangle(0, 1, 2, 3, 4)])
    try harness.pipeline.sink.set("haptic-rectangles", "<>")
    #expect(try harness.headUnit.wait(for: "third list") { $0.hapticLists.dropFirst(2).first } == [])
  }

  /// The property applies only while frames have no regions.
  @Test func framesComeFirst() throws {
    let harness = try SinkHarness(Self.configuration(), properties: "sync=false haptic-rectangles=\"<<1,2,3,4>>\"")
    try harness.start()
    _ = try harness.headUnit.wait(for: "list") { $0.hapticLists.first }
    #expect(
      try Self.lists(2, pushing: [Region(sides: (5, 6, 7, 8))], harness) == [Self.rectangle(0, 5, 6, 7, 8)])
    try harness.pipeline.sink.set("haptic-rectangles", "<<9,9,9,9>>")
    #expect(try Self.lists(3, pushing: [], harness) == [Self.rectangle(0, 9, 9, 9, 9)])
  }

  /// Regions of frames turn with the picture, also while no frame has others.
  @Test func regionsOfTurnedFrames() throws {
    let harness = try SinkHarness(Self.configuration(), properties: "sync=false video-direction=180")
    try harness.start()
    let regions = [Region(sides: (5, 6, 7, 8))]
    #expect(try Self.lists(1, pushing: regions, harness) == [Self.rectangle(0, 308, 226, 7, 8)])
    try harness.pipeline.sink.set("video-direction", "identity")
    #expect(try Self.lists(2, pushing: regions, harness) == [Self.rectangle(0, 5, 6, 7, 8)])
    try harness.pipeline.sink.set("video-direction", "horiz")
    let list = try harness.headUnit.wait(for: "list") { $0.hapticLists.count > 2 ? $0.hapticLists.last : nil }
    #expect(list == [Self.rectangle(0, 308, 6, 7, 8)])
  }

  /// The picture that is seen in PAUSED brings its regions. H.264 is sent as it is, whatever direction is wanted.
  @Test(arguments: [false, true]) func regionsOfTheOnlyFrame(isEncoded: Bool) throws {
    let harness = try SinkHarness(
      Self.configuration(), isLive: false, caps: isEncoded ? EncodedUnit.caps() : Picture.caps(320, 240),
      properties: "sync=false video-direction=\(isEncoded ? "90r" : "identity")")
    harness.pipeline.setState(GST_STATE_PAUSED)
    let bytes = isEncoded ? try #require(try encodedUnits(1).first).bytes : Picture(320, 240, 0).bytes
    let buffer = try #require(harness.source.buffer(of: bytes))
    try nonNull(gst_buffer_add_video_region_of_interest_meta(buffer, "sdl-haptic", 5, 6, 7, 8)).pointee.id = 3
    harness.push(buffer)
    let list = try harness.headUnit.wait(for: "list") { $0.hapticLists.last }
    #expect(list == [Self.rectangle(3, 5, 6, 7, 8)])
  }

  @Test func encodedInput() throws {
    let headUnit = try TestHeadUnit(Self.configuration())
    let pipeline = try Pipeline(
      "videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=30/1 ! x264enc tune=zerolatency ! "
        + "h264parse ! sdlvideosink name=sink sync=false uri=\(headUnit.uri) haptic-rectangles=\"<<1,2,3,4>>\"")
    try pipeline.play()
    #expect(try headUnit.wait(for: "list") { $0.hapticLists.first } == [Self.rectangle(0, 1, 2, 3, 4)])
    #expect(headUnit.record.violations == [])
  }

  @Test("Nothing without the head unit's flag") func unsupported() throws {
    let harness = try SinkHarness(
      Self.configuration(isSupported: false), properties: "sync=false haptic-rectangles=\"<<1,2,3,4>>\"")
    try harness.start()
    for _ in 0..<5 { try Self.push([Region(sides: (5, 6, 7, 8))], harness) }
    try harness.headUnit.waitForFrames(5)
    try harness.settle()
    #expect(harness.headUnit.record.hapticLists.isEmpty)
    #expect(harness.headUnit.record.violations == [])
  }

  @Test func reconnection() throws {
    let harness = try SinkHarness(Self.configuration(), properties: "sync=false haptic-rectangles=\"<<1,2,3,4>>\"")
    try harness.start()
    _ = try harness.headUnit.wait(for: "list") { $0.hapticLists.first }
    harness.headUnit.server.perform(.cut)
    let second = try harness.headUnit.wait(for: "second list") { $0.hapticLists.dropFirst().first }
    #expect(second == [Self.rectangle(0, 1, 2, 3, 4)])
  }

  @Test func thousandAreSent() throws {
    let harness = try SinkHarness(Self.configuration())
    try harness.start()
    harness.pipeline.drain()
    let regions = (0..<1005 as Range<UInt32>).map { Region(sides: ($0 % 300, $0 / 300, 1, 1)) }
    let list = try Self.lists(1, pushing: regions, harness)
    #expect(list?.count == 1000)
    #expect(list?.map(\.id) == Array(0..<1000))
    for _ in 0..<3 { try Self.push(regions.reversed(), harness) }
    try harness.headUnit.wait(for: "second list") { $0.hapticLists.count == 2 ? true : nil }
    let warnings = harness.pipeline.drain().compactMap(\.warning)
    #expect(warnings.count == 1 && warnings.first?.text.contains("1000") == true, "\(warnings)")
  }

  @Test(arguments: ["<<1,2,3>>", "<<1,2,3,4,5>>", "<<1,2,-3,4>>", "<<1,2,3,-4>>", "<<>>"])
  func refusedValues(text: String) throws {
    let pipeline = try Pipeline("videotestsrc ! sdlvideosink name=sink haptic-rectangles=\"<<1,2,3,4>>\"")
    let before = try pipeline.sink["haptic-rectangles"]
    try pipeline.sink.set("haptic-rectangles", text)
    #expect(try pipeline.waitForWarning().text.contains("<x,y,width,height>"))
    #expect(try pipeline.sink["haptic-rectangles"] == before)
  }

  @Test func allocationQueryOffersTheMeta() throws {
    let sink = try Element("sdlvideosink")
    let caps = gst_caps_from_string(Picture.caps())
    defer { gst_caps_unref(caps) }
    let query = try nonNull(gst_query_new_allocation(caps, 0))
    defer { gst_query_unref(query) }
    let proposer = try #require(VideoSink.of(OpaquePointer(sink.pointer)))
    #expect(proposer.proposeAllocation(query))
    let type = gst_video_region_of_interest_meta_api_get_type()
    #expect(gst_query_find_allocation_meta(query, type, nil) != 0)
  }
}
