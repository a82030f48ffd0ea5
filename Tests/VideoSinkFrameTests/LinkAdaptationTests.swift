import SDLApp
import Testing
import X264Encoder

@testable import Plugin

/// What an encoder is told of the link, and what the application hears of it.
@Suite struct LinkAdaptationTests {
  private static let size = VideoSize(800, 480)

  /// With a bitrate of the user's.
  private func targets(_ bitrate: Int, _ frameRate: Int = 30) -> EncoderTargets {
    EncoderTargets(
      preferences: EncoderPreferences(bitrate: bitrate, frameRate: Fraction(clamping: frameRate)), size: Self.size)
  }

  /// With a bitrate that begins with half of its ceiling, and depends on the width of the pictures.
  private func automaticTargets(width: Int = 800) -> EncoderTargets {
    EncoderTargets(
      preferences: EncoderPreferences(frameRate: Fraction(clamping: 30)), limits: EncoderLimits(maximumBitrate: 30_000),
      size: VideoSize(width, 480))
  }

  private func wanted(
    _ targets: EncoderTargets, frameRate: Fraction = Fraction(clamping: 30), minimum: Int = 200, isAdaptive: Bool = true
  ) -> LinkAdaptation.Wanted {
    LinkAdaptation.Wanted(
      targets: targets, frameRate: frameRate,
      settings: LinkSettings(isAdaptive: isAdaptive, minimumBitrate: UInt32(minimum)))
  }

  private func sample(_ milliseconds: Int) -> LinkSample {
    LinkSample(time: .milliseconds(milliseconds), handedByteCount: 0, unacknowledgedByteCount: 0, isBlocked: false)
  }

  /// As in the message `sdl-bitrate` and the statistics.
  @Test(
    arguments: [
      (.ceiling, "ceiling"), (.probing, "probing"), (.link, "link"), (.belowMinimum, "below-minimum"),
      (.stalled, "stalled"),
    ] as [(RateTargets.Reason, String)])
  func namesOfReasons(reason: RateTargets.Reason, name: String) {
    #expect(reason.name == name)
  }

  @Test func onlyNoticeableChangesAreReportedAndNotTooOften() {
    var link = LinkAdaptation()
    /// The present report and the former one; empty for no report.
    func take(_ bitrate: Int, _ frameRate: Int = 30, at milliseconds: Int) -> [LinkReport?] {
      link.follow(targets(bitrate, frameRate), frameRate: Fraction(clamping: frameRate))
      return link.takeReport(now: .milliseconds(milliseconds)).map { [$0.present, $0.former] } ?? []
    }
    let first = LinkReport(bitrate: 600, frameRate: 30)
    #expect(take(600, at: 0) == [first, nil])
    #expect(take(600, at: 1000) == [])
    // 5 % are not enough.
    #expect(take(630, at: 1000) == [] && take(570, at: 1000) == [])
    #expect(take(631, at: 299) == [])
    let second = LinkReport(bitrate: 631, frameRate: 30)
    #expect(take(631, at: 300) == [second, first])
    #expect(take(631, 31, at: 1000) == [])
    #expect(take(631, 32, at: 599) == [])
    #expect(take(631, 32, at: 600) == [LinkReport(bitrate: 631, frameRate: 32), second])
  }

  /// An encoder upstream is bound to it.
  @Test func theCeilingIsReportedAndSetExactly() {
    var link = LinkAdaptation()
    func take(_ bitrate: Int, at milliseconds: Int) -> [Int?] {
      link.update(sample(milliseconds), wanted(targets(bitrate)), epoch: 1)
      return link.takeReport(now: .milliseconds(milliseconds)).map { [$0.former?.bitrate, $0.present.bitrate] } ?? []
    }
    #expect(take(600, at: 0) == [nil, 600])
    #expect(link.report?.reason == .ceiling && link.rates?.bitrate == 600)
    #expect(take(601, at: 300) == [600, 601])
    #expect(link.rates?.bitrate == 601)
    #expect(take(601, at: 600) == [])
  }

  @Test func aFixedBitrateStays() {
    var link = LinkAdaptation()
    let targets = automaticTargets()
    link.update(sample(0), wanted(targets, minimum: targets.start * 2), epoch: 1)
    #expect(link.rates != nil && link.frameRateLimit != nil && link.report?.reason == .belowMinimum)
    link.update(sample(10), wanted(targets, minimum: targets.start * 2, isAdaptive: false), epoch: 1)
    #expect(link.rates == nil && link.frameRateLimit == nil)
    #expect(link.report == LinkReport(bitrate: targets.bitrate, frameRate: 30))
  }

  /// What the application hears is new once the link does not matter any more, whatever the rates.
  @Test func withoutALinkTheTargetsHold() {
    var link = LinkAdaptation()
    let targets = targets(600)
    link.update(sample(0), wanted(targets), epoch: 1)
    #expect(link.takeReport(now: .zero)?.present.reason == .ceiling)
    link.follow(targets, frameRate: Fraction(clamping: 30))
    #expect(link.rates == nil && link.report == LinkReport(bitrate: 600, frameRate: 30))
    #expect(link.takeReport(now: .milliseconds(299))?.present == nil)
    let report = link.takeReport(now: .milliseconds(300))
    #expect(report?.present.reason == nil && report?.former?.reason == .ceiling)
  }

  /// Below the user's minimum there are fewer pictures, of the minimum's quality. A difference of less than 2 % does
  /// not count.
  @Test func fewerPicturesBelowTheMinimum() {
    let targets = automaticTargets()
    for (minimum, limit) in [(targets.start, nil), (targets.start * 4 / 3, 22.5), (targets.start * 2, 15)]
      as [(Int, Double?)]
    {
      var link = LinkAdaptation()
      link.update(sample(0), wanted(targets, minimum: minimum), epoch: 1)
      #expect(link.frameRateLimit?.value == limit)
      #expect(link.rates?.frameRate.value == limit ?? 30 && link.rates?.bitrate == targets.start)
      #expect(link.report?.bitrate == minimum && link.report?.frameRate == limit ?? 30)
    }
    // 29.4 would be too few.
    var link = LinkAdaptation()
    link.update(sample(0), wanted(targets, minimum: targets.start * 51 / 50), epoch: 1)
    #expect(link.frameRateLimit == nil)
  }

  /// Of the same start, as a property that changes.
  @Test func anotherMinimumHoldsAtOnce() {
    var link = LinkAdaptation()
    let targets = automaticTargets()
    link.update(sample(0), wanted(targets), epoch: 1)
    #expect(link.frameRateLimit == nil)
    link.update(sample(10), wanted(targets, minimum: targets.start * 2), epoch: 1)
    #expect(link.frameRateLimit?.value == 15)
  }

  /// What was found of one connection says nothing of the next one.
  @Test func anotherServiceBeginsAnew() {
    var link = LinkAdaptation()
    let targets = automaticTargets()
    link.update(sample(0), wanted(targets), epoch: 1)
    let full = LinkSample(time: .milliseconds(10), handedByteCount: 0, isBlocked: true)
    link.update(full, wanted(targets), epoch: 1)
    #expect(link.report?.reason == .link && link.rates.map { $0.bitrate < targets.start } == true)
    // The same one goes on with it.
    link.update(sample(20), wanted(targets), epoch: 1)
    #expect(link.rates.map { $0.bitrate < targets.start } == true)
    link.update(sample(30), wanted(targets), epoch: 2)
    #expect(link.report?.reason == .probing && link.report?.bitrate == targets.start)
    #expect(link.rates?.bitrate == targets.start)
  }

  /// An encoder is not disturbed for less than 2 %.
  @Test func smallChangesAreNotSet() {
    var link = LinkAdaptation()
    let first = automaticTargets()
    link.update(sample(0), wanted(first), epoch: 1)
    #expect(link.rates?.bitrate == first.start && link.report?.reason == .probing)
    link.update(sample(10), wanted(automaticTargets(width: 804)), epoch: 1)
    #expect(link.rates?.bitrate == first.start && link.report?.bitrate == automaticTargets(width: 804).start)
    link.update(sample(20), wanted(automaticTargets(width: 832)), epoch: 1)
    #expect(link.rates?.bitrate == automaticTargets(width: 832).start)
    // The rate of the pictures alone.
    for (halves, expected) in [(61, 30), (62, 31)] as [(Int, Double)] {
      let frameRate = Fraction(halves, 2) ?? Fraction(clamping: 1)
      link.update(sample(30), wanted(automaticTargets(width: 832), frameRate: frameRate), epoch: 1)
      #expect(link.rates?.frameRate.value == expected)
    }
  }
}
