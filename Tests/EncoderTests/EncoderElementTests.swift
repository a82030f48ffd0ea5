import GStreamerKit
import Testing
import X264Encoder

@testable import Plugin
@testable import PluginTestSupport

/// What each element of the table is told, against a description of its properties: most of them need hardware.
@Suite struct EncoderElementTests {
  private static let any = EncoderProperty.Values.other

  private static func range(_ range: ClosedRange<Int64>) -> EncoderProperty.Values { .integers(range) }

  /// The properties of each element that matter here, as gst-inspect lists them.
  private static let descriptions: [String: [String: EncoderProperty.Values]] = [
    "nvh264enc": [
      "bitrate": range(0...2_048_000), "gop-size": range(-1...2_147_483_647), "zerolatency": any,
      "rc-mode": .names(["default", "constqp", "cbr", "vbr", "vbr-minqp", "cbr-ld-hq", "cbr-hq", "vbr-hq"]),
      "preset": .names(["default", "hp", "hq", "low-latency", "low-latency-hq", "low-latency-hp", "lossless"]),
      "bframes": range(0...4), "rc-lookahead": range(0...32),
    ],
    "qsvh264enc": [
      "bitrate": range(0...2_147_483_647), "gop-size": range(0...2_147_483_647), "low-latency": any,
      "rate-control": .names(["cbr", "vbr", "cqp", "avbr"]), "b-frames": range(0...16), "rc-lookahead": range(10...100),
    ],
    "vah264enc": [
      "bitrate": range(0...2_048_000), "key-int-max": range(0...1024), "rate-control": .names(["cbr", "vbr", "cqp"]),
      "b-frames": range(0...31), "ref-frames": range(0...16),
    ],
    "vah264lpenc": [
      "bitrate": range(0...2_048_000), "key-int-max": range(0...1024), "rate-control": .names(["vbr", "cqp"]),
      "b-frames": range(0...31), "ref-frames": range(0...16),
    ],
    "vaapih264enc": [
      "bitrate": range(0...2_048_000), "keyframe-period": range(0...2_147_483_647),
      "rate-control": .names(["cqp", "cbr", "vbr"]), "max-bframes": range(0...10), "refs": range(1...16),
      "quality-level": range(1...7),
    ],
    "v4l2h264enc": ["extra-controls": any],
    "nvv4l2h264enc": [
      "bitrate": range(0...4_294_967_295), "iframeinterval": range(0...4_294_967_295),
      "idrinterval": range(0...4_294_967_295), "control-rate": .names(["variable_bitrate", "constant_bitrate"]),
      "preset-level": .names(["DisablePreset", "UltraFastPreset", "FastPreset", "MediumPreset", "SlowPreset"]),
      "num-B-Frames": range(0...2), "insert-sps-pps": any, "maxperf-enable": any,
    ],
    "omxh264enc": [
      "target-bitrate": range(0...4_294_967_295), "interval-intraframes": range(0...4_294_967_295),
      "control-rate": .names(["disable", "variable", "constant", "variable-skip-frames", "constant-skip-frames"]),
      "b-frames": range(0...4_294_967_295), "periodicity-idr": range(0...4_294_967_295), "inline-header": any,
    ],
  ]

  private func settings(_ name: String, bitrate: Int, interval: Int) throws -> [String: String] {
    let description = try #require(Self.descriptions[name])
    let element = EncoderElement.named(name)
    let settings = element.settings(bitrate: bitrate, keyFrameInterval: interval) {
      description[$0].map(EncoderProperty.init)
    }
    return Dictionary(uniqueKeysWithValues: settings.map { ($0.property, $0.value) })
  }

  @Test(arguments: [
    (
      "nvh264enc",
      [
        "bitrate": "600", "gop-size": "60", "zerolatency": "true", "rc-mode": "cbr", "preset": "low-latency-hq",
        "bframes": "0", "rc-lookahead": "0",
      ]
    ),
    (
      "qsvh264enc",
      [
        "bitrate": "600", "gop-size": "60", "low-latency": "true", "rate-control": "cbr", "b-frames": "0",
        "rc-lookahead": "10",
      ]
    ),
    (
      "vah264enc", ["bitrate": "600", "key-int-max": "60", "rate-control": "cbr", "b-frames": "0", "ref-frames": "1"]
    ),
    // A processor whose low-power encoder has no constant bitrate.
    ("vah264lpenc", ["bitrate": "600", "key-int-max": "60", "b-frames": "0", "ref-frames": "1"]),
    (
      "vaapih264enc",
      [
        "bitrate": "600", "keyframe-period": "60", "rate-control": "cbr", "max-bframes": "0", "refs": "1",
        "quality-level": "7",
      ]
    ),
    (
      "v4l2h264enc",
      [
        "extra-controls":
          "controls,video_bitrate=600000,video_bitrate_mode=1,video_gop_size=60,h264_i_frame_period=60,"
          + "video_b_frames=0,repeat_sequence_header=1"
      ]
    ),
    (
      "nvv4l2h264enc",
      [
        "bitrate": "600000", "iframeinterval": "60", "idrinterval": "60", "control-rate": "constant_bitrate",
        "preset-level": "UltraFastPreset", "num-B-Frames": "0", "insert-sps-pps": "true",
      ]
    ),
    (
      "omxh264enc",
      [
        "target-bitrate": "600000", "interval-intraframes": "60", "control-rate": "constant", "inline-header": "true",
      ]
    ),
  ]) func hardware(_ name: String, _ expected: [String: String]) throws {
    #expect(try settings(name, bitrate: 600, interval: 60) == expected)
  }

  /// What only the devices show: the drivers of a Jetson and of a Raspberry Pi ignore the event for a key frame, the
  /// former takes pictures in its own memory alone, and the latter takes the lowest level of the caps.
  @Test func driversWithNeedsOfTheirOwn() {
    let jetson = EncoderElement.named("nvv4l2h264enc")
    #expect(jetson.keyFrameRequest == .signal("force-IDR") && jetson.uploader == "nvvidconv")
    let pi = EncoderElement.named("v4l2h264enc")
    #expect(
      pi.keyFrameRequest
        == .setting(EncoderElement.Setting(property: "extra-controls", value: "controls,force_key_frame=1")))
    #expect(EncoderElement.known.filter(\.needsLevel) == [pi])
    #expect(EncoderElement.known.filter { $0.uploader != nil } == [jetson])
    #expect(EncoderElement.known.filter { $0.keyFrameRequest != nil } == [jetson, pi])
  }

  /// The property was renamed, and the sets in front of each key frame became optional (GStreamer 1.24).
  @Test func newerVersionOfAnElement() {
    let settings = EncoderElement.named("nvh264enc").settings(bitrate: 600, keyFrameInterval: 60) {
      ["b-frames", "repeat-sequence-header"].contains($0) ? EncoderProperty(values: .other) : nil
    }
    #expect(
      settings.map { "\($0.property)=\($0.value)" }.sorted() == ["b-frames=0", "repeat-sequence-header=true"])
  }

  /// `auto` takes the first that there is: the processor has better things to do.
  @Test func hardwareComesFirst() {
    let software = EncoderElement.known.drop(while: \.isHardware)
    #expect(software.map(\.name) == ["x264enc", "openh264enc"])
    #expect(software.allSatisfy { !$0.isHardware })
  }

  @Test func numbersAreMovedIntoTheRange() throws {
    let settings = try settings("vah264enc", bitrate: 1_000_000_000, interval: 5000)
    #expect(settings["bitrate"] == "2048000" && settings["key-int-max"] == "1024")
  }

  @Test(arguments: [
    ("vah264enc", "bitrate", "250"), ("nvv4l2h264enc", "bitrate", "250000"),
    ("omxh264enc", "target-bitrate", "250000"),
    // The other controls stay: some drivers refuse them while they run.
    ("v4l2h264enc", "extra-controls", "controls,video_bitrate=250000"),
  ]) func changes(_ name: String, _ property: String, _ value: String) throws {
    let find = { (property: String) in Self.descriptions[name]?[property].map(EncoderProperty.init) }
    #expect(
      EncoderElement.named(name).change(bitrate: 250, find)
        == EncoderElement.Setting(property: property, value: value))
    #expect(EncoderElement.named(name).change(bitrate: 250) { _ in nil } == nil)
    #expect(EncoderElement.named("theirh264enc").change(bitrate: 250, find) == nil)
  }

  /// An element that the table does not have is told nothing but the caps.
  @Test func unknownElement() {
    let element = EncoderElement.named("theirh264enc")
    #expect(element.settings(bitrate: 600, keyFrameInterval: 60) { _ in EncoderProperty(values: .other) }.isEmpty)
  }

  /// The names are those of the installed versions, and the elements take the values.
  @Test(arguments: [
    (
      "x264enc",
      [
        "bitrate": "600", "key-int-max": "60", "tune": "zerolatency", "speed-preset": "superfast", "bframes": "0",
        "rc-lookahead": "0", "vbv-buf-capacity": "1500", "qp-min": "22", "aud": "false",
      ]
    ),
    (
      "openh264enc",
      [
        "bitrate": "600000", "gop-size": "60", "rate-control": "bitrate", "complexity": "low",
        "enable-frame-skip": "false", "scene-change-detection": "false", "background-detection": "false",
        "qp-min": "22",
      ]
    ),
  ]) func installed(_ name: String, _ expected: [String: String]) throws {
    let element = try Element(name)
    let settings = EncoderElement.named(name).settings(bitrate: 600, keyFrameInterval: 60) {
      EncoderProperty(element.object, $0)
    }
    #expect(Dictionary(uniqueKeysWithValues: settings.map { ($0.property, $0.value) }) == expected)
    for setting in settings {
      element.set(setting.property, setting.value)
      // Flags are shown by their descriptions.
      let value = setting.value == "zerolatency" ? "Zero latency" : setting.value
      #expect(element[setting.property] == value)
    }
  }

  @Test(arguments: [
    (480, 320, 30, "3"), (800, 480, 25, "3"), (800, 480, 30, "3.1"), (1280, 720, 30, "3.1"), (1280, 720, 60, "3.2"),
    (1920, 720, 30, "4"), (1920, 1080, 30, "4"), (1920, 1080, 60, "4.2"),
    // A strip that has few macroblocks, and is too long for level 3.
    (2048, 160, 30, "3.1"),
  ]) func lowestLevel(_ width: Int, _ height: Int, _ rate: Int, _ expected: String) {
    let choices = levels(width, height, rate)
    #expect(choices.first?.first == expected && choices.first?.last == "5.2")
  }

  /// Table A-1 of H.264: the most macroblocks per second (MaxMBPS); a picture of the most macroblocks (MaxFS), and the
  /// next larger one that is a rectangle and not too long; the most macroblocks of a side (the root of 8 MaxFS).
  /// What is beyond needs a higher level; 4.1 has the limits of 4, and after 5.2 there is none.
  @Test(
    arguments: [
      ("3", 40_500, (45, 36), (56, 29), 113, "3.1"), ("3.1", 108_000, (60, 60), (68, 53), 169, "3.2"),
      ("3.2", 216_000, (80, 64), (197, 26), 202, "4"), ("4", 245_760, (128, 64), (241, 34), 256, "4.2"),
      ("4.2", 522_240, (128, 68), (130, 67), 263, "5"), ("5", 589_824, (160, 138), (311, 71), 420, "5.1"),
      ("5.1", 983_040, (192, 192), (365, 101), 543, "5.2"),
    ] as [(String, Int, (Int, Int), (Int, Int), Int, String)])
  func limitsOfTheLevels(
    _ level: String, _ perSecond: Int, _ largest: (Int, Int), _ tooLarge: (Int, Int), _ side: Int, _ next: String
  ) {
    // Sizes are in macroblocks; a picture of one allows every number of them per second.
    func lowest(_ width: Int, _ height: Int, _ rate: Int = 1) -> String? {
      levels(16 * width, 16 * height, rate).first?.first
    }
    #expect(lowest(1, 1, perSecond) == level)
    #expect(lowest(1, 1, perSecond + 1) == next)
    #expect(lowest(largest.0, largest.1) == level)
    #expect(lowest(tooLarge.0, tooLarge.1) == next)
    #expect(lowest(side, 1) == level && lowest(1, side) == level)
    #expect(lowest(side + 1, 1) == next && lowest(1, side + 1) == next)
  }

  /// An element that has none of those that suffice gets the highest of the others.
  @Test func lowerLevels() {
    #expect(levels(1920, 1080, 60) == [["4.2", "5", "5.1", "5.2"], ["4.1"], ["4"], ["3.2"], ["3.1"], ["3"]])
    #expect(levels(16_384, 2304, 60).prefix(2) == [["5.2"], ["5.1"]])
  }

  private func levels(_ width: Int, _ height: Int, _ rate: Int) -> [[String]] {
    StreamLevel.choices(
      for: EncoderSettings(
        width: width, height: height, frameRate: FrameRate(numerator: rate, denominator: 1), pixelFormat: .i420))
  }

  @Test func theNextCandidateThatTakesThePictures() throws {
    let choices = ["a", "b", "c", "d"].map { EncoderChoice.element(EncoderElement($0)) }
    var candidates = EncoderCandidates(choices)
    #expect(candidates.first == choices[0])
    #expect(try candidates.passOver(.element("a fails.")) { $0 != choices[1] })
    #expect(candidates.first == choices[2])
    // Upstream may have another format.
    #expect(try !candidates.passOver(.element("c fails.")) { _ in false })
    #expect(candidates.first == choices[3])
    #expect(throws: EncoderError.element("a fails. c fails. d fails.")) {
      try candidates.passOver(.element("d fails.")) { _ in true }
    }
    #expect(candidates.first == choices[3])
    var one = EncoderCandidates([.linked])
    #expect(throws: EncoderError.encodingFailed) { try one.passOver(.encodingFailed) { _ in true } }
  }

  @Test(arguments: [
    // In the order of the table.
    ("", ["a", "b", "c"]), ("nonsense", ["a", "b", "c"]), ("b:5:6,:,c", ["a", "b", "c"]),
    ("b:NONE", ["a", "c"]), ("b:0", ["a", "c"]), ("c:MAX", ["c", "a", "b"]), ("b:primary,c:257", ["c", "b", "a"]),
    ("a:none,b:none,c:none", []),
  ]) func ranksOfTheUser(_ text: String, _ expected: [String]) {
    let elements = ["a", "b", "c"].map { EncoderElement($0) }
    #expect(FeatureRanks(text).ordered(elements).map(\.name) == expected)
  }
}
