import CGStreamerApp
import GStreamerKit
import SDLApp
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// What upstream is asked for, and what the application hears, about H.264 that is passed on.
@Suite struct PassthroughRequestTests {
  private static let delta: [UInt8] = [0, 0, 0, 1, 0x41, 0x9A, 0x24, 0x6C]
  /// Without parameter sets.
  private static let bareKeyFrame: [UInt8] = [0, 0, 0, 1, 0x65, 0x88, 0x84, 0x21]

  private let bench: FrameBench
  private let passthrough: H264Passthrough

  init() throws {
    bench = try FrameBench(isLive: true)
    passthrough = H264Passthrough(bench.output)
  }

  /// What follows from a frame: requests, and texts of warnings.
  private func results(of unit: [UInt8]) throws -> [String] {
    let buffer = try nonNull(gst_buffer_new_memdup(unit, gsize(unit.count)))
    defer { gst_buffer_unref(buffer) }
    if unit == Self.delta { gst_buffer_set_flags(buffer, GST_BUFFER_FLAG_DELTA_UNIT) }
    if let payload = try? passthrough.payload(.frame, of: buffer, for: bench.grant(1)) {
      bench.output.giveBack(payload)
      return ["shown"]
    }
    return announcements
  }

  private var announcements: [String] {
    bench.takeResults().announcements.map { announcement in
      switch announcement {
      case .keyFrameRequest: "request"
      case .warning(let warning): warning.text
      default: "\(announcement)"
      }
    }
  }

  @Test func aMissingKeyFrameIsRequestedOnceAndMissedAfterFiveSeconds() throws {
    #expect(try results(of: Self.delta) == ["request"])
    #expect(try results(of: Self.delta) == [])
    bench.clock.advance(by: .milliseconds(4999))
    #expect(try results(of: Self.delta) == [])
    bench.clock.advance(by: .milliseconds(1))
    let warnings = try results(of: Self.delta)
    #expect(warnings.count == 1 && warnings[0].contains("for 5 s no key frame has come"), "\(warnings)")
    // Another service asks again; the application knows.
    passthrough.forgetKeyFrameRequest()
    #expect(try results(of: Self.delta) == ["request"])
    bench.clock.advance(by: .seconds(5))
    #expect(try results(of: Self.delta) == [])
  }

  /// One that came in between tells why.
  @Test func keyFramesWithoutParameterSetsAreMissedAsSuch() throws {
    #expect(try results(of: Self.delta) == ["request"])
    #expect(try results(of: Self.bareKeyFrame) == [])
    bench.clock.advance(by: .seconds(5))
    let warnings = try results(of: Self.delta)
    #expect(warnings.count == 1 && warnings[0].contains("without parameter sets"), "\(warnings)")
  }

  /// Upstream may send nothing before it is asked.
  @Test func aSilentUpstreamIsAskedOnce() throws {
    #expect(passthrough.mustRequestKeyFrame(now: bench.clock.now))
    #expect(!passthrough.mustRequestKeyFrame(now: bench.clock.now))
    // The time counts from there.
    #expect(try results(of: Self.delta) == [])
    bench.clock.advance(by: .seconds(5))
    #expect(try results(of: Self.delta).count == 1)
    passthrough.forgetKeyFrameRequest()
    #expect(passthrough.mustRequestKeyFrame(now: bench.clock.now))
    // A frame was sent, so none is needed.
    let grant = bench.grant(1)
    try bench.setGrant(grant)
    #expect(bench.queue(for: grant) == nil)
    passthrough.forgetKeyFrameRequest()
    #expect(!passthrough.mustRequestKeyFrame(now: bench.clock.now))
  }

  /// A tolerance of 5 %; the rate is known from the caps.
  @Test(arguments: [(63, 0), (64, 1)]) func rateAboveTheLimit(halves: Int, warnings: Int) {
    bench.output.setInput(Fraction(halves, 2), isEncoded: true, nil)
    for _ in 0..<2 { passthrough.observeRate(0, limit: Fraction(clamping: 30)) }
    let announcements = announcements
    #expect(announcements.count == warnings, "\(announcements)")
    // Without a limit any rate is right.
    bench.output.setInput(Fraction(clamping: 240), isEncoded: true, nil)
    passthrough.observeRate(0, limit: nil)
    #expect(self.announcements == [])
  }

  /// A film is shown faster than its caps say.
  @Test(arguments: [2.0, -2.0]) func rateOfTrickModes(_ rate: Double) {
    bench.sink.baseSink.pointee.segment.rate = rate
    bench.output.setInput(Fraction(clamping: 20), isEncoded: true, nil)
    passthrough.observeRate(0, limit: Fraction(clamping: 30))
    #expect(announcements.count == 1)
  }

  @Test func measuredRate() {
    var meter = FrameRateMeter()
    #expect([0, 500_000_000, 999_999_999, 1_000_000_000].map { meter.observe($0) } == [nil, nil, nil, 3])
    // The next second begins where the last one ended.
    #expect(meter.observe(1_500_000_000) == nil && meter.observe(2_000_000_000) == 2)
    // A jump back begins another one.
    #expect(meter.observe(500_000_000) == nil && meter.observe(1_499_999_999) == nil)
    #expect(meter.observe(2_500_000_000) == 1)
  }
}
