import Glibc
import Testing

@testable import X264Encoder

extension X264EncoderTests {
  /// Settings that are refused before x264 is opened.
  @Suite struct Settings {
    @Test(arguments: [(15, 16), (16, 14), (0, 0), (-2, 16), (801, 480), (800, 479), (16386, 16), (16384, 16384)])
    func sizes(width: Int, height: Int) throws {
      let error = try #require(throws: EncoderError.self) { try EncoderSettings.test(width, height).encoder() }
      guard case .invalidSize(width, height, let reason) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(error.description.contains(reason))
    }

    @Test(arguments: [(0, 1), (15, 0), (-15, 1), (15, -1), (1001, 1), (1 << 31, 1 << 30), (Int.max, Int.max)])
    func frameRates(numerator: Int, denominator: Int) {
      var settings = EncoderSettings.test()
      settings.frameRate = FrameRate(numerator: numerator, denominator: denominator)
      #expect(throws: EncoderError.invalidFrameRate(settings.frameRate)) { try settings.encoder() }
    }

    @Test func numbers() {
      #expect(throws: EncoderError.invalidBitrate(0)) { try EncoderSettings.test(bitrate: 0).encoder() }
      #expect(throws: EncoderError.invalidBitrate(.max)) { try EncoderSettings.test(bitrate: .max).encoder() }
      #expect(throws: EncoderError.invalidThreadCount(-1)) { try EncoderSettings.test(threads: -1).encoder() }
      var settings = EncoderSettings.test()
      settings.keyFrameInterval = -1
      #expect(throws: EncoderError.invalidKeyFrameInterval(-1)) { try settings.encoder() }
    }

    /// Without a setting, a number of threads that suits the size, up to the number of processors.
    @Test(arguments: [
      (64, 64, 0, 1), (800, 480, 0, 1), (1280, 720, 0, 2), (1920, 1080, 0, 4), (64, 64, 3, 3), (1280, 720, 1, 1),
    ])
    func threads(width: Int, height: Int, threads: Int, count: Int) {
      let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
      let settings = EncoderSettings.test(width, height, threads: threads)
      #expect(settings.threadCount == (threads == 0 ? min(count, processors) : threads))
    }

    /// One picture in a minute needs a buffer far above a second's worth; the largest numbers must not overflow.
    @Test(arguments: [(1, 60, 600), (1000, 1, 1), (0x7FFF_FFFF, 0x7FFF_FFFF, 2_000_000)])
    func extremesOpen(numerator: Int, denominator: Int, bitrate: Int) throws {
      var settings = EncoderSettings.test(64, 64, bitrate: bitrate)
      settings.frameRate = FrameRate(numerator: numerator, denominator: denominator)
      #expect(try settings.encoder().encodePan(0..<3).count == 3)
    }

    @Test func planesMustFit() throws {
      let encoder = try EncoderSettings.test(64, 64).encoder()
      let planes = try Panorama.smooth.planes(at: (x: 0, y: 0))
      var narrow = planes
      narrow.second.stride = 31
      var missing = planes
      missing.third = nil
      for wrong in [narrow, missing] {
        let error = try #require(throws: EncoderError.self) { _ = try encoder.encode(wrong, timestamp: 0) }
        guard case .invalidPlanes = error else {
          Issue.record("\(error)")
          return
        }
      }
      #expect(try encoder.encode(planes, timestamp: 0).isKeyFrame)
    }

    /// What the user reads.
    @Test(
      arguments: [
        (
          .frameRateAboveLevel(requested: FrameRate(numerator: 60, denominator: 1), level: 31),
          "level 3.1 does not allow 60/1 frames"
        ),
        (.bitrateAboveLevel(requested: 900, limit: 384), "allows 384 kbit/s, not 900"),
        (.invalidBitrate(0), "from 1 to 2000000"), (.badOptionValue(name: "ref", value: "x"), "not take the value “x”"),
        (.badOptionValue(name: "ref", value: nil), "needs a value: ref="),
        (.invalidSize(width: 9, height: 8, reason: "why"), "9×8: why."),
      ] as [(EncoderError, String)])
    func textsOfErrors(error: EncoderError, part: String) {
      #expect(error.description.contains(part), "\(error)")
    }

    @Test func presetsHaveTheNumbersOfX264enc() {
      #expect(SpeedPreset.allCases.map(\.rawValue) == Array(0...10))
      #expect(SpeedPreset(rawValue: 0)?.nick == "None")
      #expect(SpeedPreset(rawValue: 1)?.nick == "ultrafast")
      #expect(SpeedPreset(rawValue: 10)?.nick == "placebo")
    }
  }
}
