import CGStreamerApp
import GStreamerKit
import Testing
import X264Encoder

@testable import Plugin
@testable import PluginTestSupport
@testable import SDLApp

/// Pictures in an encoder, without a pipeline.
@Suite struct RawEncoderTests {
  private let bench: FrameBench
  private let encoder: RawEncoder

  init() throws {
    bench = try FrameBench()
    encoder = RawEncoder(bench.output)
  }

  private static func targets(_ bitrate: Int? = 300, _ frameRate: Int = 15, maximum: Int? = 900) -> EncoderTargets {
    EncoderTargets(
      preferences: EncoderPreferences(bitrate: bitrate, frameRate: Fraction(clamping: frameRate)),
      limits: EncoderLimits(maximumBitrate: maximum), size: VideoSize(64, 64))
  }

  private func put(
    _ width: Int = 64, _ height: Int = 64, _ targets: EncoderTargets = targets(), of byteCount: Int? = nil,
    for frame: FramePayload.Kind = .frame, to encoder: RawEncoder? = nil
  ) throws -> Bool {
    let bytes = Picture(width, height, 1).bytes
    let buffer = try nonNull(gst_buffer_new_memdup(bytes, gsize(byteCount ?? bytes.count)))
    defer { gst_buffer_unref(buffer) }
    var info = GstVideoInfo()
    gst_video_info_set_format(&info, GST_VIDEO_FORMAT_I420, guint(width), guint(height))
    return try (encoder ?? self.encoder).put(buffer, info, targets, as: .frame, for: frame)
  }

  private func take() -> (put: RawEncoder.Put?, isKeyFrame: Bool) {
    let payload = bench.output.takePayload(.frame)
    defer { bench.output.giveBack(payload) }
    return (encoder.take(into: payload), payload.isKeyFrame)
  }

  /// Each frame is counted once; a repetition is none.
  @Test(arguments: ["the end", "another width", "another height"]) func whatIsNotTakenIsGivenUp(at event: String) throws
  {
    for _ in 0..<3 { bench.sink.count { $0.frameArrived() } }
    for kind in [FramePayload.Kind.frame, .repeated, .frame] {
      let isPut = try put(for: kind)
      #expect(isPut)
    }
    #expect(encoder.hasPending && encoder.hasFinished && encoder.settings != nil)
    switch event {
    case "the end":
      for _ in 0..<2 { encoder.close() }
      #expect(!encoder.hasPending && !encoder.hasFinished && !encoder.isSettled && encoder.settings == nil)
    default:
      let size = event == "another width" ? VideoSize(80, 64) : VideoSize(64, 80)
      let isPut = try put(size.width, size.height)
      #expect(isPut && encoder.settings?.width == size.width && encoder.settings?.height == size.height)
      let (put, isKeyFrame) = take()
      #expect(put?.number == 3 && isKeyFrame && !encoder.hasPending)
    }
    let counters = bench.sink.counters
    #expect(counters.dropped(.discarded) == 2 && counters.framesDropped == 2 && counters.framesQueued == 1)
  }

  /// The encoder has made nothing of the pictures before it.
  @Test func theLastPictureIsTaken() throws {
    for _ in 0..<3 { bench.sink.count { $0.frameArrived() } }
    for kind in [FramePayload.Kind.frame, .repeated, .frame] {
      bench.clock.advance(by: .milliseconds(10))
      let isPut = try put(for: kind)
      #expect(isPut)
    }
    let last = bench.clock.now
    #expect(encoder.lastPending == last)
    bench.clock.advance(by: .milliseconds(10))
    let put = take().put
    #expect(put?.number == 2 && put?.kind == .frame && put?.began == last)
    #expect(!encoder.hasPending && !encoder.hasFinished && take().put == nil)
    let counters = bench.sink.counters
    #expect(counters.dropped(.noPicture) == 1 && counters.framesDropped == 1 && counters.framesQueued == 2)
  }

  @Test func whatCannotBeReadIsNotWaitedFor() throws {
    let isPut = try put(of: 100)
    #expect(!isPut && !encoder.hasPending && !encoder.hasFinished && take().put == nil)
  }

  /// A key frame would cost the most where the link carries less.
  @Test(arguments: [(250, 15, 900), (300, 15, 800), (300, 10, 900)])
  func otherRatesNeedNoKeyFrame(bitrate: Int, frameRate: Int, maximum: Int) throws {
    var isPut = try put()
    #expect(isPut && take().isKeyFrame)
    let targets = Self.targets(bitrate, frameRate, maximum: maximum)
    isPut = try put(64, 64, targets)
    let (put, isKeyFrame) = take()
    #expect(isPut && put?.number == 1 && !isKeyFrame)
    let expected = EncoderRates(
      bitrate: bitrate, frameRate: FrameRate(numerator: frameRate, denominator: 1), bufferSize: maximum - bitrate)
    #expect(bench.sink.counters.rates == expected && encoder.settings?.rates == expected)
  }

  /// A link may rise up to the ceiling without a new encoder, and what one picture may have stays within the maximum.
  @Test func aLinkBeginsBelowTheCeiling() throws {
    let bench = try FrameBench(isLive: true)
    let grant = bench.grant(1)
    try bench.setGrant(grant)
    let targets = EncoderTargets(
      limits: EncoderLimits(maximumBitrate: 9000, preferredFrameRate: 30), size: VideoSize(800, 480))
    #expect(targets.start < targets.ceiling)
    bench.output.observeLink(targets)
    let encoder = RawEncoder(bench.output)
    let isPut = try put(64, 64, targets, to: encoder)
    #expect(isPut && encoder.settings?.bitrate == targets.ceiling)
    let rates = bench.sink.counters.rates
    #expect(rates?.bitrate == targets.start)
    #expect(rates?.bufferSize.map { $0 <= 9000 - targets.ceiling } == true)
  }

  /// Only upstream can send more pictures, and only if more are wanted than it sends.
  @Test(
    arguments: [(15, 30, 10, true), (15, 30, 29, true), (15, 30, 30, false), (30, 15, 10, false), (15, 30, nil, false)]
      as [(Int, Int, Int?, Bool)])
  func upstreamMayBeFaster(former: Int, present: Int, input: Int?, isAsked: Bool) {
    bench.output.setInput(input.map { Fraction(clamping: $0) }, isEncoded: false, nil)
    func isAskedNow() -> Bool {
      bench.takeResults().announcements.contains { if case .reconfigure = $0 { true } else { false } }
    }
    encoder.follow(Self.targets(300, former))
    #expect(!isAskedNow())
    encoder.follow(Self.targets(300, present))
    #expect(isAskedNow() == isAsked)
    // Not once more.
    encoder.follow(Self.targets(300, present))
    encoder.follow(Self.targets(200, present))
    #expect(!isAskedNow())
  }
}
