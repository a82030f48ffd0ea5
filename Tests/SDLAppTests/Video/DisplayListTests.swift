import SDLApp
import SDLHeadUnit
import Testing

/// From a head unit's JSON to its displays: inheritance, duplicates, and impossible values.
@Suite struct DisplayListTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// Members of the root besides its size, 800×480; empty for a root without one.
    var root: String
    /// Additional capabilities.
    var additional: String
    /// For each display: size of the stream, frame rate, bit rate, formats, haptics.
    var displays: [String]

    init(_ name: String, _ root: String, _ additional: String, _ displays: [String]) {
      (testDescription, self.root, self.additional, self.displays) = (name, root, additional, displays)
    }
  }

  static func capability(_ root: String, _ additional: String) throws -> VideoStreamingCapability {
    let list = additional.isEmpty ? "" : #","additionalVideoStreamingCapabilities":[\#(additional)]"#
    return VideoStreamingCapability(json: try JSONObject(parsing: Array("{\(root)\(list)}".utf8)))
  }

  static func size(_ width: String, _ height: String) -> String {
    #""preferredResolution":{"resolutionWidth":\#(width),"resolutionHeight":\#(height)}"#
  }

  private static let big = size("800", "480")
  private static let small = size("400", "240")
  private static let formats = #""supportedFormats":[{"protocol":"RTP","codec":"H264"}]"#

  private static func text(_ display: VideoDisplay) -> String {
    [
      display.streamSize.map { "\($0)" } ?? "nothing", display.frameRate.map { "\($0) fps" },
      display.maximumBitrate.map { "\($0) kbit/s" }, display.formats.map { "\($0)" },
      display.takesHapticData ? "haptics" : nil,
    ].compactMap(\.self).joined(separator: ", ")
  }

  @Test(arguments: [
    Row("a lone root", big, "", ["800×480"]),
    Row(
      "own values", big + #","preferredFPS":30,"maxBitrate":500"#,
      "{" + small + #","preferredFPS":60,"maxBitrate":900}"#,
      ["800×480, 30 fps, 500 kbit/s", "400×240, 60 fps, 900 kbit/s"]),
    Row(
      "inherited values", big + #","preferredFPS":30,"maxBitrate":500,"hapticSpatialDataSupported":true,"# + formats,
      "{" + small + "}",
      [
        "800×480, 30 fps, 500 kbit/s, [H264 over RTP], haptics",
        "400×240, 30 fps, 500 kbit/s, [H264 over RTP], haptics",
      ]),
    Row(
      "haptics of its own", big + #","hapticSpatialDataSupported":true"#,
      "{" + small + #","hapticSpatialDataSupported":false},{"# + size("640", "360") + "}",
      ["800×480, haptics", "400×240", "640×360, haptics"]),
    Row(
      "haptics of an additional one alone", big, "{" + small + #","hapticSpatialDataSupported":true}"#,
      ["800×480", "400×240, haptics"]),
    Row(
      "0 is absent", big + #","preferredFPS":30,"maxBitrate":500"#,
      "{" + small + #","preferredFPS":0,"maxBitrate":0,"supportedFormats":[]}"#,
      ["800×480, 30 fps, 500 kbit/s", "400×240, 30 fps, 500 kbit/s"]),
    Row(
      "formats of the root", big + "," + formats, "{" + small + #","supportedFormats":[]}"#,
      ["800×480, [H264 over RTP]", "400×240, [H264 over RTP]"]),
    Row("the scale is not inherited", big + #","scale":2"#, "{" + size("600", "400") + "}", ["400×240", "600×400"]),
    Row("nor is the size", big, #"{"scale":2},{"preferredFPS":10},{}"#, ["800×480"]),
    Row("a root without a size", #""preferredFPS":20"#, "{" + small + "}", ["400×240, 20 fps"]),
    Row("no size at all", #""preferredFPS":20"#, #"{"scale":1}"#, []),
    Row("the root's copy", big + #","scale":1"#, "{" + big + "}", ["800×480"]),
    Row(
      "copies with other rates", big, "{" + small + #","preferredFPS":10},{"# + small + #","preferredFPS":20}"#,
      ["800×480", "400×240, 10 fps"]),
    Row(
      "another diagonal", big, "{" + big + #","diagonalScreenSize":5},{"# + big + #","diagonalScreenSize":6}"#,
      ["800×480", "800×480", "800×480"]),
    Row(
      "another density", big, "{" + big + #","pixelPerInch":96},{"# + big + #","pixelPerInch":96}"#,
      ["800×480", "800×480"]),
    Row("another scale, same picture", big, "{" + size("1600", "960") + #","scale":2}"#, ["800×480", "800×480"]),
    Row("0 inches are unknown inches", big, "{" + big + #","diagonalScreenSize":0,"pixelPerInch":0}"#, ["800×480"]),
    Row(
      "scales out of range", big + #","scale":0"#, "{" + big + #","scale":0.5},{"# + big + #","scale":12}"#,
      ["800×480", "80×48"]),
    Row(
      "scales that are none", big + #","scale":NaN"#, "{" + big + #","scale":"2"},{"# + small + #","scale":null}"#,
      ["800×480", "400×240"]),
    Row("endless numbers", big + #","diagonalScreenSize":Infinity,"scale":1e400"#, "", ["800×480"]),
    Row(
      "0×0 and less", size("0", "0"),
      "{" + size("-800", "480") + "},{" + size("800", "0") + "},{" + size("20000", "480") + "},{" + small + "}",
      ["400×240"]),
    Row("too small to encode", big, "{" + size("20", "20") + #","scale":2},{"# + size("15", "400") + "}", ["800×480"]),
    Row(
      "wrong types", big + #","preferredFPS":"many","maxBitrate":[1],"supportedFormats":{},"pixelPerInch":true"#,
      #"null,1,"x",[],{"preferredResolution":[800,480]},{"preferredResolution":null}"#, ["800×480"]),
    Row("numbers with fractions", size("800.0", "480.4"), "", ["800×480"]),
    Row(
      "rates out of all reason", big + #","preferredFPS":1000000,"maxBitrate":99999999999"#, "", ["800×480, 240 fps"]),
    Row(
      "nested lists", big,
      "{" + small + #","additionalVideoStreamingCapabilities":[{"# + size("640", "360") + "}]}", ["800×480", "400×240"]),
  ])
  func displays(_ row: Row) throws {
    let capability = try Self.capability(row.root, row.additional)
    #expect(VideoDisplay.displays(of: capability).map(Self.text) == row.displays)
  }

  @Test("SDL Core's, in their order") func core() throws {
    let displays = VideoDisplay.displays(of: try #require(HeadUnitPreset.core.configuration.videoCapability))
    #expect(
      displays.compactMap(\.streamSize).map(\.description) == [
        "800×380", "800×380", "320×200", "480×320", "400×380", "800×240", "532×252", "400×190",
      ])
    #expect(displays.map(\.scale) == [1, 1, 1, 1, 1, 1, 1.5, 2])
    #expect(displays.allSatisfy { $0.frameRate == 15 && $0.maximumBitrate == 20_000 })
    #expect(displays.allSatisfy { $0.formats?.count == 5 && $0.formats?.first == .rawH264 })
    // The third entry has a false of its own.
    #expect(displays.map(\.takesHapticData) == [true, true, false, true, true, true, true, true])
  }

  @Test("generic_hmi's") func genericHMI() throws {
    let displays = VideoDisplay.displays(of: try #require(HeadUnitPreset.genericHMI.configuration.videoCapability))
    #expect(displays.compactMap(\.streamSize).map(\.description) == ["960×600", "640×400", "480×300"])
  }

  @Test("a screen instead of a capability") func legacy() throws {
    let displays = VideoDisplay.displays(of: nil, screen: VideoSize(800, 480))
    #expect(displays.map(Self.text) == ["800×480, [H264 over RAW]"])
    #expect(VideoDisplay.displays(of: nil, screen: nil).isEmpty)
    #expect(VideoDisplay.displays(of: nil, screen: VideoSize(0, 0)).isEmpty)
  }

  @Test("A capability without any size has that of the screen, and keeps the rest") func capabilityWithoutSize() throws
  {
    let capability = try Self.capability(#""preferredFPS":20,"scale":2,"hapticSpatialDataSupported":true"#, "{}")
    let displays = VideoDisplay.displays(of: capability, screen: VideoSize(800, 480))
    #expect(displays.map(Self.text) == ["800×480, 20 fps, haptics"])
    let sized = try Self.capability(Self.small, "")
    #expect(VideoDisplay.displays(of: sized, screen: VideoSize(800, 480)).map(Self.text) == ["400×240"])
  }

  /// 5000 entries, all different, or all the same. The specification allows a hundred.
  @Test(arguments: [true, false]) func hostileList(isVaried: Bool) throws {
    let entries = (0..<5000).map { "{" + Self.size(isVaried ? "\(100 + $0)" : "640", "480") + "}" }
    let capability = try Self.capability(Self.big, entries.joined(separator: ","))
    #expect(capability.unreadCapabilityCount == 4900)
    #expect(VideoDisplay.displays(of: capability).count == (isVaried ? 101 : 2))
    // Also for a capability that was not read from JSON.
    var entry = VideoStreamingCapability()
    entry.preferredResolution = VideoSize(640, 480)
    var huge = capability
    huge.additionalCapabilities = (0..<100_000).map { index in
      entry.diagonalScreenSize = Double(index + 1)
      return entry
    }
    #expect(VideoDisplay.displays(of: huge).count == 101)
  }
}

/// What upstream leaves of the displays.
@Suite struct VideoChoiceTests {
  private static let displays = [VideoSize(800, 480), VideoSize(400, 240), VideoSize(800, 480)].map {
    VideoDisplay(size: $0)
  }

  @Test func firstAcceptedDisplayStreams() {
    let choice = VideoChoice(Self.displays, reasons: [0: "too large", 7: "unknown", -1: "unknown"])
    #expect(choice.acceptedDisplays.compactMap(\.streamSize) == [VideoSize(400, 240), VideoSize(800, 480)])
    #expect(choice.rejections.map(\.description) == ["800×480: too large"])
    #expect(!choice.supportsNone && choice.rejectionReason == nil)
    // Of two displays for the same pictures one is left.
    #expect(choice.sizes.contains(VideoSize(800, 480)) && !choice.sizes.contains(VideoSize(640, 480)))
    #expect(choice.display(streaming: VideoSize(800, 480)) == Self.displays[2])
  }

  @Test func nothingIsAccepted() {
    let choice = VideoChoice(Self.displays, reasons: [0: "a", 1: "b", 2: "c"])
    #expect(choice.supportsNone && choice.sizes.isEmpty)
    let reason = choice.rejectionReason ?? ""
    #expect(reason.hasSuffix(" 800×480: a; 400×240: b; 800×480: c."), "\(reason)")
  }

  @Test func nothingIsKnown() {
    let choice = VideoChoice([])
    #expect(!choice.supportsNone && choice.rejectionReason == nil)
  }

  @Test func longRejectionReason() {
    let displays = (100..<300).map { VideoDisplay(size: VideoSize($0, 480)) }
    let reasons = Dictionary(uniqueKeysWithValues: displays.indices.map { ($0, "no") })
    #expect(VideoChoice(displays, reasons: reasons).rejectionReason?.hasSuffix("; and 100 more.") == true)
  }
}
