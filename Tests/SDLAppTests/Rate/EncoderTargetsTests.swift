import SDLApp
import Testing

/// Defaults, preferences and limits together (rows E of the acceptance cases).
@Suite struct EncoderTargetsTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var id: String
    /// kbit/s and pictures per second of the app and of the head unit.
    var app: (bitrate: Int?, frameRate: Int?) = (nil, nil)
    var headUnit: (bitrate: Int?, frameRate: Int?) = (nil, nil)
    var policy = BitratePolicy.defaultCapped
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
    Row(id: "defaults", expected: (600, 15)),
    Row(id: "defaults, iOS policy", policy: .headUnitMaximum, expected: (600, 15)),
    Row(id: "maximum above the default", headUnit: (20_000, 15), expected: (600, 15)),
    Row(
      id: "maximum above the default, iOS policy", headUnit: (20_000, 15), policy: .headUnitMaximum,
      expected: (20_000, 15)),
    Row(id: "app below the maximum", app: (3000, nil), headUnit: (5000, nil), expected: (3000, 15)),
    Row(
      id: "app below the maximum, iOS policy", app: (3000, nil), headUnit: (5000, nil), policy: .headUnitMaximum,
      expected: (3000, 15)),
    Row(id: "app above the maximum", app: (8000, nil), headUnit: (5000, nil), expected: (5000, 15)),
    Row(id: "app alone", app: (8000, nil), expected: (8000, 15)),
    Row(id: "app below the default", app: (300, nil), expected: (300, 15)),
    Row(id: "app wants a higher frame rate", app: (nil, 60), headUnit: (nil, 30), expected: (600, 30)),
    Row(id: "app wants a lower frame rate", app: (nil, 15), headUnit: (nil, 30), expected: (600, 15)),
    Row(id: "frame rate of the app alone", app: (nil, 60), expected: (600, 60)),
    Row(id: "zeros", headUnit: (0, 0), expected: (600, 15)),
    Row(id: "zeros, iOS policy", headUnit: (0, 0), policy: .headUnitMaximum, expected: (600, 15)),
    Row(id: "zero from the app", app: (0, nil), headUnit: (400, 25), expected: (400, 25)),
    Row(id: "implausible maximum", headUnit: (400_000, 30), policy: .headUnitMaximum, expected: (1824, 30)),
    Row(id: "implausible maximum, default policy", headUnit: (400_000, 30), expected: (600, 30)),
    Row(
      id: "implausible maximum at half the rate", app: (nil, 15), headUnit: (400_000, 30), policy: .headUnitMaximum,
      expected: (912, 15)
    ),
    Row(
      id: "implausible maximum, scaled by 2", headUnit: (400_000, 30), policy: .headUnitMaximum,
      size: VideoSize(400, 190),
      largest: VideoSize(800, 380), expected: (456, 30)),
    Row(
      id: "implausible maximum beside a large display", headUnit: (400_000, 30), policy: .headUnitMaximum,
      largest: VideoSize(1920, 1080), expected: (1824, 30)),
    Row(id: "implausible maximum, asked for", app: (500_000, nil), headUnit: (400_000, 30), expected: (400_000, 30)),
    Row(id: "limit below the default", headUnit: (400, nil), expected: (400, 15)),
    Row(id: "limit of 1 kbit/s", app: (600, nil), headUnit: (1, 1), expected: (1, 1)),
    Row(
      id: "plausible for its display, not for the scaled picture", headUnit: (20_000, 15), policy: .headUnitMaximum,
      size: VideoSize(400, 190), largest: VideoSize(800, 380), expected: (20_000, 15)),
    Row(
      id: "plausible at its rate, not at the app's", app: (nil, 1), headUnit: (20_000, 15), policy: .headUnitMaximum,
      expected: (20_000, 1)),
    Row(id: "exactly uncompressed", headUnit: (54_720, 15), policy: .headUnitMaximum, expected: (54_720, 15)),
    Row(id: "just above uncompressed", headUnit: (54_721, 15), policy: .headUnitMaximum, expected: (912, 15)),
    Row(id: "negative", app: (1000, nil), headUnit: (-1, -1), expected: (1000, 15)),
    Row(id: "negative from the app", app: (-5, -5), expected: (600, 15)),
    Row(id: "largest", app: (1000, nil), headUnit: (.max, .max), expected: (1000, 240)),
    Row(id: "largest with iOS policy", headUnit: (.max, .max), policy: .headUnitMaximum, expected: (14_592, 240)),
    Row(id: "largest from the app", app: (.max, .max), expected: (2_000_000, 15)),
    Row(id: "absurd but representable from the app", app: (.max, 2_000_000_000), expected: (2_000_000, 240)),
    Row(id: "smallest", app: (1000, nil), headUnit: (.min, .min), expected: (1000, 15)),
    Row(
      id: "no picture", headUnit: (400_000, 30), policy: .headUnitMaximum, size: VideoSize(0, 0), expected: (1, 30)),
    Row(
      id: "picture beyond arithmetic", headUnit: (.max, 30), policy: .headUnitMaximum, size: VideoSize(.max, .max),
      expected: (2_000_000, 30)),
    Row(
      id: "negative picture", headUnit: (100, 30), policy: .headUnitMaximum, size: VideoSize(.min, .min),
      expected: (1, 30)),
  ])
  func merge(_ row: Row) {
    let targets = row.targets
    #expect(targets.bitrate == row.expected.bitrate)
    #expect(targets.frameRate == Fraction(clamping: row.expected.frameRate))
  }

  /// The numbers of the warning, and when there is one.
  @Test func implausibleBitrateHasItsNumbers() throws {
    var row = Row(id: "implausible maximum", headUnit: (400_000, 30), policy: .headUnitMaximum, expected: (1824, 30))
    let bitrate = try #require(row.targets.implausibleBitrate)
    #expect(bitrate.announced == 400_000 && bitrate.uncompressed == 109_440 && bitrate.isConsequential)
    row.policy = .defaultCapped
    #expect(row.targets.implausibleBitrate?.isConsequential == false)
    row.policy = .headUnitMaximum
    row.app.bitrate = 500_000
    #expect(row.targets.implausibleBitrate?.isConsequential == false)
    row.headUnit.bitrate = 20_000
    #expect(row.targets.implausibleBitrate == nil)
    row.headUnit.bitrate = nil
    #expect(row.targets.implausibleBitrate == nil)
  }

  /// A transport that carries 800 kbit/s, such as Bluetooth: it bounds what user and head unit would like, and nothing else.
  @Test(
    arguments: [
      (nil, nil, .defaultCapped, 600, 600), (500, nil, .defaultCapped, 500, 500), (3000, nil, .defaultCapped, 800, 800),
      (3000, 10_000, .headUnitMaximum, 800, 800), (nil, 10_000, .headUnitMaximum, 800, 800),
      (nil, 300, .headUnitMaximum, 300, 300), (nil, 10_000, .defaultCapped, 600, 800),
      (nil, 700, .defaultCapped, 600, 700),
    ] as [(Int?, Int?, BitratePolicy, Int, Int)])
  func narrowTransport(preferred: Int?, announced: Int?, policy: BitratePolicy, bitrate: Int, ceiling: Int) {
    let targets = EncoderTargets(
      preferences: EncoderPreferences(bitrate: preferred, frameRate: Fraction(30), automaticBitrate: policy),
      limits: EncoderLimits(maximumBitrate: announced, preferredFrameRate: 30, transportBitrate: 800),
      size: VideoSize(800, 380))
    #expect(targets.bitrate == bitrate && targets.ceiling == ceiling, "\(targets)")
  }

  /// How far the bitrate may rise on a good link: 800 × 380 at 30 pictures per second deserves 912 kbit/s.
  @Test(arguments: [
    (nil, 0, BitratePolicy.defaultCapped, 600), (10_000, 0, .defaultCapped, 912), (700, 0, .defaultCapped, 700),
    (300, 0, .defaultCapped, 300), (400_000, 0, .defaultCapped, 600), (10_000, 450, .defaultCapped, 450),
    (2000, 0, .headUnitMaximum, 2000),
  ])
  func ceiling(announced: Int?, bitrate: Int, policy: BitratePolicy, expected: Int) {
    var row = Row(id: "ceiling", headUnit: (announced, 30), policy: policy, expected: (0, 0))
    row.app.bitrate = bitrate
    #expect(row.targets.ceiling == expected && row.targets.bitrate <= expected)
  }

  /// Nothing of a former head unit, or of a former limit, remains.
  @Test(arguments: BitratePolicy.allCases) func e13(policy: BitratePolicy) {
    let none = EncoderTargets(size: VideoSize(800, 380))
    var row = Row(id: "changed", headUnit: (2000, 30), policy: policy, expected: (0, 0))
    #expect(row.targets.bitrate == (policy == .headUnitMaximum ? 2000 : 600))
    row.headUnit = (nil, nil)
    #expect(row.targets == none)
    row.headUnit = (200, 5)
    #expect(row.targets.bitrate == 200)
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
