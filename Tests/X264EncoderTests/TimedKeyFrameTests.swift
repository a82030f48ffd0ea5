import Synchronization
import TestSupport
import Testing
import X264Encoder

extension X264EncoderTests {
  /// Key frames by time, and pictures that are repeated in between.
  @Suite struct TimedKeyFrames {
    /// Of a repeat: a slice header, and macroblocks that are skipped.
    private static let repeatByteCount = 60

    private func settings(_ numerator: Int, _ denominator: Int) -> EncoderSettings {
      var settings = EncoderSettings.test()
      settings.frameRate = FrameRate(numerator: numerator, denominator: denominator)
      return settings
    }

    /// A picture every four seconds, and repeats twice a second: only the pictures are key frames, and the picture
    /// stays as good as it was.
    @Test(arguments: [(1, 4), (1, 1)]) func stillPicturesAreCheap(numerator: Int, denominator: Int) throws {
      let encoder = try settings(numerator, denominator).encoder()
      var units: [AccessUnit] = []
      var originals: [Picture] = []
      for step in 0..<24 {
        let index = step / 8
        let unit = try encoder.encode(
          try Panorama.smooth.planes(at: Panorama.pan(index * 10)), timestamp: Int64(step),
          at: .milliseconds(500 * step), as: step.isMultiple(of: 8) ? .frame : .repetition)
        units.append(AccessUnit(unit))
        originals.append(Panorama.smooth.picture(at: Panorama.pan(index * 10), width: 800, height: 480))
      }
      #expect(units.indices.filter { units[$0].isKeyFrame } == [0, 8, 16])
      // The first few make the picture better.
      for index in units.indices where index % 8 >= 4 {
        #expect(units[index].bytes.count <= Self.repeatByteCount, "\(index): \(units.map(\.bytes.count))")
      }
      let decoded = try StreamDecoder.decode(units.flatMap(\.bytes), width: 800, height: 480)
      try #require(decoded.count == units.count)
      let quality = zip(decoded, originals).map { Picture.psnr($0.luma, $1.luma) }
      for index in quality.indices { #expect(quality[index] > quality[index / 8 * 8] - 0.1, "\(quality)") }
      #expect(quality.allSatisfy { $0 > 30 }, "\(quality)")
    }

    /// Pictures come more seldom than the rate says.
    @Test func intervalIsTwoSeconds() throws {
      let encoder = try settings(30, 1).encoder()
      let keyFrames = try (0..<50).filter { index in
        try encoder.encode(
          try Panorama.smooth.planes(at: Panorama.pan(index)), timestamp: Int64(index), at: .milliseconds(200 * index)
        ).isKeyFrame
      }
      #expect(keyFrames == [0, 10, 20, 30, 40])
    }

    @Test func intervalInFramesIgnoresTime() throws {
      var settings = settings(30, 1)
      settings.keyFrameInterval = 7
      let encoder = try settings.encoder()
      let keyFrames = try (0..<22).filter { index in
        try encoder.encode(
          try Panorama.smooth.planes(at: Panorama.pan(index)), timestamp: Int64(index), at: .seconds(10 * index)
        ).isKeyFrame
      }
      #expect(keyFrames == [0, 7, 14, 21])
    }

    @Test func firstPictureIsAKeyFrameWhateverItIs() throws {
      let encoder = try settings(30, 1).encoder()
      let planes = try Panorama.smooth.planes(at: Panorama.pan(0))
      #expect(try encoder.encode(planes, timestamp: 0, as: .repetition).isKeyFrame)
      #expect(try !encoder.encode(planes, timestamp: 1, as: .repetition).isKeyFrame)
    }

    /// x264 warns when it changes a type that was asked for.
    @Test func nothingToWarnAbout() throws {
      let messages = Mutex<[String]>([])
      let encoder = try X264Encoder(settings: settings(30, 1), logLevel: .warning) { _, text in
        messages.withLock { $0.append(text) }
      }
      for index in 0..<150 {
        let kind: PictureKind = index == 95 ? .keyFrame : index % 20 == 7 ? .repetition : .frame
        _ = try encoder.encode(
          try Panorama.smooth.planes(at: Panorama.pan(index)), timestamp: Int64(index), at: .milliseconds(33 * index),
          as: kind)
        if index == 100 {
          try encoder.setRates(EncoderRates(bitrate: 400, frameRate: FrameRate(numerator: 10, denominator: 1)))
        }
      }
      #expect(messages.withLock { $0 } == [])
    }
  }
}
