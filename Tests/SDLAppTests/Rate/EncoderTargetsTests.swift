import SDLApp
import Testing

/// Defaults, preferences and limits together.
@Suite struct EncoderTargetsTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var id: String
    /// kbit/s and pictures per second of the app and of the head unit.
    var app: (bitrate: Int?, frameRate: Int?) = (nil, nil)
    var headUnit: (bitrate: Int?, frameRate: Int?) = (nil, nil)
    var policy = BitratePolicy.headUnitMaximum
    var size = VideoSize(800, 380)
    var largest: VideoSize?
    var expected: (bitrate: Int, frameRate: Int)

    var testDescription: String { id }

    var targets: EncoderTargets {
      EncoderTargets(
        preferences: EncoderPreferences(
          bitrate: app.bitrate, frameRate: app.frameRate.flatMap { Fraction($0) }, automaticBitrate: policy),
        limits: EncoderLimits(
          maximumBitrate: headUnit.bitrate, preferredFrameRate: headUnit.frameRate, largestPicture: largest),
        size: size)
    }
  }

  @Test(arguments: [
    Row(id: "nothing said", expected: (600, 15)),
    Row(id: "nothing said, capped", policy: .defaultCapped, expected: (600, 15)),
    Row(id: "maximum", headUnit: (20_000, 30), expected: (912, 30)),
    Row(id: "maximum, capped", headUnit: (20_000, 30), policy: .defaultCapped, expected: (600, 30)),
    Row(id: "maximum for few pixels", headUnit: (20_000, 15), expected: (600, 15)),
    Row(id: "maximum below what the size needs", headUnit: (700, 30), expected: (467, 30)),
    Row(id: "app below the maximum", app: (3000, nil), headUnit: (5000, nil), expected: (3000, 15)),
    Row(
      id: "app below the maximum, capped", app: (3000, nil), headUnit: (5000, nil), policy: .defaultCapped,
      expected: (3000, 15)),
    Row(id: "app above the maximum", app: (8000, nil), headUnit: (5000, nil), expected: (3334, 15)),
    Row(id: "app alone", app: (8000, nil), expected: (8000, 15)),
    Row(id: "app below the default", app: (300, nil), expected: (300, 15)),
    Row(id: "app wants a higher frame rate", app: (nil, 60), headUnit: (nil, 30), expected: (600, 30)),
    Row(id: "app wants a lower frame rate", app: (nil, 15), headUnit: (20_000, 30), expected: (600, 15)),
    Row(id: "frame rate of the app alone", app: (nil, 60), expected: (600, 60)),
    Row(id: "zeros", headUnit: (0, 0), expected: (600, 15)),
    Row(id: "zero from the app", app: (0, nil), headUnit: (400, 25), expected: (267, 25)),
    Row(id: "implausible maximum", headUnit: (400_000, 30), expected: (912, 30)),
    Row(id: "implausible maximum, capped", headUnit: (400_000, 30), policy: .defaultCapped, expected: (600, 30)),
    Row(id: "implausible maximum, asked for", app: (500_000, nil), headUnit: (400_000, 30), expected: (266_667, 30)),
    Row(id: "limit below the default", headUnit: (400, nil), expected: (267, 15)),
    Row(id: "limit of 1 kbit/s", app: (600, nil), headUnit: (1, 1), expected: (1, 1)),
    Row(id: "negative", app: (1000, nil), headUnit: (-1, -1), expected: (1000, 15)),
    Row(id: "negative from the app", app: (-5, -5), expected: (600, 15)),
    Row(id: "largest", app: (1000, nil), headUnit: (.max, .max), expected: (1000, 240)),
    Row(id: "largest, automatic", headUnit: (.max, .max), expected: (7296, 240)),
    Row(id: "largest from the app", app: (.max, .max), expected: (2_000_000, 15)),
    Row(id: "absurd but representable from the app", app: (.max, 2_000_000_000), expected: (2_000_000, 240)),
    Row(id: "smallest", app: (1000, nil), headUnit: (.min, .min), expected: (1000, 15)),
    Row(id: "no picture", headUnit: (400_000, 30), size: VideoSize(0, 0), expected: (600, 30)),
    Row(
      id: "picture beyond arithmetic", headUnit: (.max, 30), size: VideoSize(.max, .max), expected: (2_000_000, 30)),
    Row(id: "negative picture", headUnit: (100, 30), size: VideoSize(.min, .min), expected: (67, 30)),
  ])
  func merge(_ row: Row) {
    let targets = row.targets
    #expect(targets.bitrate == row.expected.bitrate)
    #expect(targets.frameRate == Fraction(clamping: row.expected.frameRate))
  }

  /// Its pictures, at its rate, whatever the app streams of them.
  @Test(
    arguments: [
      (Row(id: "far above uncompressed", headUnit: (400_000, 30), expected: (0, 0)), 109_440),
      (Row(id: "just above uncompressed", headUnit: (54_721, 15), expected: (0, 0)), 54_720),
      (Row(id: "exactly uncompressed", headUnit: (54_720, 15), expected: (0, 0)), nil),
      (
        Row(
          id: "as much as a transport carries", headUnit: (100_000, 60), size: VideoSize(1920, 1080), expected: (0, 0)),
        nil
      ),
      (
        Row(
          id: "more than a transport carries", headUnit: (100_001, 60), size: VideoSize(1920, 1080), expected: (0, 0)),
        1_492_992
      ),
      (
        Row(
          id: "uncompressed for the scaled picture, not for the display", headUnit: (20_000, 15),
          size: VideoSize(400, 190), largest: VideoSize(800, 380), expected: (0, 0)), nil
      ),
      (
        Row(
          id: "uncompressed at the app's rate, not at its own", app: (nil, 1), headUnit: (20_000, 15), expected: (0, 0)),
        nil
      ),
      (Row(id: "none", expected: (0, 0)), nil),
    ] as [(Row, Int?)])
  func implausible(_ row: Row, uncompressed: Int?) {
    #expect(row.targets.implausibleBitrate?.uncompressed == uncompressed)
    #expect(row.targets.implausibleBitrate.map { $0.announced == row.headUnit.bitrate } ?? true)
  }

  /// A transport that carries 800 kbit/s, such as Bluetooth: it bounds what user and head unit would like, and nothing
  /// else.
  @Test(
    arguments: [
      (nil, nil, .defaultCapped, 600, 600), (500, nil, .defaultCapped, 500, 500), (3000, nil, .defaultCapped, 800, 800),
      (3000, 10_000, .headUnitMaximum, 800, 800), (nil, 10_000, .headUnitMaximum, 800, 800),
      (nil, 300, .headUnitMaximum, 200, 200), (nil, 10_000, .defaultCapped, 600, 800),
      (nil, 700, .defaultCapped, 467, 467),
    ] as [(Int?, Int?, BitratePolicy, Int, Int)])
  func narrowTransport(preferred: Int?, announced: Int?, policy: BitratePolicy, bitrate: Int, ceiling: Int) {
    let targets = EncoderTargets(
      preferences: EncoderPreferences(bitrate: preferred, frameRate: Fraction(30), automaticBitrate: policy),
      limits: EncoderLimits(maximumBitrate: announced, preferredFrameRate: 30, transportBitrate: 800),
      size: VideoSize(800, 380))
    #expect(targets.bitrate == bitrate && targets.ceiling == ceiling, "\(targets)")
  }

  /// How far the bitrate may rise on a good link: 800 × 380 at 30 pictures per second look good with 912 kbit/s, and
  /// gain nothing beyond 1824.
  @Test(arguments: [
    (nil, 0, BitratePolicy.defaultCapped, 600), (10_000, 0, .defaultCapped, 912), (700, 0, .defaultCapped, 467),
    (300, 0, .defaultCapped, 200), (400_000, 0, .defaultCapped, 600), (10_000, 450, .defaultCapped, 450),
    (nil, 0, .headUnitMaximum, 600), (1500, 0, .headUnitMaximum, 1000), (10_000, 0, .headUnitMaximum, 1824),
    (300, 0, .headUnitMaximum, 200), (400_000, 0, .headUnitMaximum, 1824), (10_000, 450, .headUnitMaximum, 450),
  ])
  func ceiling(announced: Int?, bitrate: Int, policy: BitratePolicy, expected: Int) {
    var row = Row(id: "ceiling", headUnit: (announced, 30), policy: policy, expected: (0, 0))
    row.app.bitrate = bitrate
    #expect(row.targets.ceiling == expected && row.targets.bitrate <= expected)
  }

  /// 1920 × 1080 pictures at 60 per second.
  @Test func largePicturesBeginWithLess() {
    var row = Row(id: "large", headUnit: (20_000, 60), size: VideoSize(1920, 1080), expected: (0, 0))
    #expect(row.targets.start == 2500 && row.targets.bitrate == 12_441 && row.targets.ceiling == 13_334)
    row.app.bitrate = 8000
    #expect(row.targets.start == 8000 && row.targets.ceiling == 8000)
  }

  /// The highest bitrate and the VBV buffer together are no more than the maximum.
  @Test(
    arguments: [
      (nil, 0, 600, nil), (1, 0, 1, 1), (2, 0, 2, 1), (1000, 0, 667, 333), (1000, 5000, 667, 333),
      (1000, 100, 100, 900), (10_000, 0, 1824, 8176), (.max, 0, 1824, .max - 1824),
    ] as [(Int?, Int, Int, Int?)])
  func everySecond(announced: Int?, bitrate: Int, ceiling: Int, bufferSize: Int?) {
    var row = Row(id: "second", headUnit: (announced, 30), expected: (0, 0))
    row.app.bitrate = bitrate
    let targets = row.targets
    #expect(targets.ceiling == ceiling && targets.bufferSize(upTo: targets.ceiling) == bufferSize)
  }

  /// Nothing of a former head unit, or of a former limit, remains.
  @Test(arguments: BitratePolicy.allCases) func changes(policy: BitratePolicy) {
    let none = EncoderTargets(size: VideoSize(800, 380))
    var row = Row(id: "changed", headUnit: (2000, 30), policy: policy, expected: (0, 0))
    #expect(row.targets.bitrate == (policy == .headUnitMaximum ? 912 : 600))
    row.headUnit = (nil, nil)
    #expect(row.targets == none)
    row.headUnit = (200, 5)
    #expect(row.targets.bitrate == 134)
    row.headUnit = (nil, nil)
    #expect(row.targets == none)
  }

  @Test(arguments: [
    (Fraction(30_000, 1001), 15, Fraction(15)), (Fraction(30_000, 1001), 30, Fraction(30_000, 1001)),
    (Fraction(1, 2), 30, Fraction(1, 2)), (Fraction(1, 2), nil, Fraction(1, 2)),
    (Fraction(2_147_483_647), 2_147_483_647, Fraction(240)),
    (Fraction(1, 2_147_483_647), nil, Fraction(1, 2_147_483_647)),
  ])
  func fractions(preferred: Fraction?, announced: Int?, expected: Fraction?) {
    #expect(EncoderTargets.frameRate(preferred: preferred, announced: announced) == expected)
  }

  @Test func impossibleFractions() {
    #expect(Fraction(0) == nil && Fraction(-1) == nil && Fraction(1, 0) == nil && Fraction(.max) == nil)
    #expect(Fraction(1, .min) == nil && Fraction(2_147_483_648, 1) == nil)
    #expect(Fraction(30_000, 1001)?.description == "29.97" && Fraction(15)?.description == "15")
    #expect(Fraction(24_000, 1001)?.interval == 41_708_333 && Fraction(1, 20)?.description == "0.05")
  }
}
