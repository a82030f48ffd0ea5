import Testing
import X264Encoder

extension X264EncoderTests {
  /// Another frame rate while the encoder runs.
  @Suite struct RateChange {
    private func rates(_ bitrate: Int, _ frameRate: Int) -> EncoderRates {
      EncoderRates(bitrate: bitrate, frameRate: FrameRate(numerator: frameRate, denominator: 1))
    }

    private func encoder(_ width: Int = 800, _ height: Int = 480, frameRate: Int) throws -> X264Encoder {
      var settings = EncoderSettings.test(width, height)
      settings.frameRate = FrameRate(numerator: frameRate, denominator: 1)
      return try settings.encoder()
    }

    /// The change makes no key frame, and the bits per second stay the same.
    @Test(arguments: [(30, 10), (15, 10), (30, 15), (10, 13)])
    func bitsPerSecondStay(before: Int, after: Int) throws {
      let encoder = try encoder(frameRate: before)
      #expect(try encoder.encodePan(0..<10, over: Panorama.grainy).filter(\.isKeyFrame).count == 1)
      try encoder.setRates(rates(600, after))
      let units = try encoder.encodePan(10..<10 + 12 * after, over: Panorama.grainy)
      #expect(!units[0].isKeyFrame)
      let measured = units.suffix(10 * after).reduce(0) { $0 + $1.bytes.count } * 8 / 10_000
      #expect(abs(measured - 600) < 60, "\(measured) kbit/s")
    }

    /// Two seconds at the real rate.
    @Test func keyFramesFollow() throws {
      let encoder = try encoder(64, 64, frameRate: 30)
      var units = try encoder.encodePan(0..<10)
      try encoder.setRates(rates(600, 10))
      units += try encoder.encodePan(10..<50)
      #expect(units.indices.filter { units[$0].isKeyFrame } == [0, 20, 40])
      for index in [0, 20, 40] {
        #expect(units[index].types.starts(with: [.sequenceParameterSet, .pictureParameterSet]))
      }
      // Back to the rates in the headers.
      try encoder.setRates(rates(600, 30))
      #expect(!encoder.isKeyFrameDue())
      units += try encoder.encodePan(50..<62)
      #expect(units.indices.filter { units[$0].isKeyFrame } == [0, 20, 40])
    }

    /// A link gets narrow: from 4 Mbit/s to 540 kbit/s, and 108 kbit at most for one picture.
    @Test func largeFallIsObeyedWithinFewPictures() throws {
      var settings = EncoderSettings.test(bitrate: 4000)
      settings.frameRate = FrameRate(numerator: 30, denominator: 1)
      let encoder = try settings.encoder()
      _ = try encoder.encodePan(0..<50, over: Panorama.grainy)
      try encoder.setRates(EncoderRates(bitrate: 540, frameRate: settings.frameRate, bufferSize: 108))
      // With a key frame at 60.
      let sizes = try encoder.encodePan(50..<140, over: Panorama.grainy).map(\.bytes.count)
      #expect(sizes.allSatisfy { $0 <= 108_000 / 8 }, "\(sizes)")
      let halfSeconds = stride(from: 5, to: 80, by: 15).map { start in Self.rate(sizes[start..<start + 15]) }
      #expect(halfSeconds.allSatisfy { $0 <= 760 }, "\(halfSeconds) kbit/s")
      #expect(Self.rate(sizes[5...]) <= 600)
      // And back.
      try encoder.setRates(EncoderRates(bitrate: 4000, frameRate: settings.frameRate))
      let later = try encoder.encodePan(140..<200, over: Panorama.grainy).map(\.bytes.count)
      #expect(Self.rate(later[15...]) >= 3000, "\(later)")
    }

    /// Noise from the first key frame on, and again after a still, for which the buffer is full.
    @Test(arguments: [15, 30]) func noSecondHasMoreThanBitrateAndBuffer(frameRate: Int) throws {
      var settings = EncoderSettings.test(bitrate: 667)
      settings.bufferSize = 333
      settings.frameRate = FrameRate(numerator: frameRate, denominator: 1)
      let encoder = try settings.encoder()
      var units = try encoder.encodePan(0..<5 * frameRate, over: Panorama.noise)
      for index in 5 * frameRate..<9 * frameRate {
        let still = try Panorama.smooth.planes(at: (x: 0, y: 0))
        units.append(AccessUnit(try encoder.encode(still, timestamp: Int64(index))))
      }
      units += try encoder.encodePan(9 * frameRate..<14 * frameRate, over: Panorama.noise)
      let sizes = units.map { $0.bytes.count * 8 }
      let seconds = (0...sizes.count - frameRate).map { sizes[$0..<$0 + frameRate].reduce(0, +) }
      #expect(seconds.allSatisfy { $0 <= 1_000_000 }, "\(seconds.max() ?? 0) bits in a second")
      // The bitrate is used.
      #expect(sizes.prefix(5 * frameRate).reduce(0, +) >= 4 * 667_000)
    }

    /// kbit/s of pictures at 30 per second, from their sizes in bytes.
    private static func rate(_ sizes: ArraySlice<Int>) -> Int {
      sizes.reduce(0, +) * 8 * 30 / (sizes.count * 1000)
    }

    /// A picture needs its share of the bitrate, and more than 1.5 s of it is of no use.
    @Test(arguments: [(-1, 20), (0, 20), (1, 20), (108, 108), (900, 900), (Int.max, 900)])
    func bufferSizes(asked: Int, used: Int) throws {
      let encoder = try EncoderSettings.test(64, 64).encoder()
      let rates = EncoderRates(bitrate: 600, frameRate: FrameRate(numerator: 30, denominator: 1), bufferSize: asked)
      try encoder.setRates(rates)
      #expect(encoder.rates == rates)
      // x264 takes them over with the next picture.
      _ = try encoder.encodePan(0..<1)
      #expect(encoder.bufferSize == used)
    }

    /// A picture's share of the bitrate would exceed the decoder's buffer, of which x264 would warn.
    @Test func slowestPictures() throws {
      var settings = EncoderSettings.test(64, 64)
      settings.frameRate = FrameRate(numerator: 1, denominator: 1_000_000)
      let encoder = try settings.encoder()
      #expect(try encoder.encodePan(0..<2).count == 2)
      #expect(encoder.bufferSize == 900)
      // And of those that follow each other faster.
      try encoder.setRates(EncoderRates(bitrate: 600, frameRate: FrameRate(numerator: 1, denominator: 1)))
      _ = try encoder.encodePan(2..<3)
      #expect(encoder.bufferSize == 900)
    }

    @Test func dueKeyFrameIsKnownBefore() throws {
      let encoder = try encoder(64, 64, frameRate: 15)
      for index in 0..<70 {
        let isDue = encoder.isKeyFrameDue()
        #expect(isDue == (index > 0 && index % 30 == 0))
        #expect(try encoder.encodePan(index..<index + 1)[0].isKeyFrame == (isDue || index == 0))
      }
    }

    @Test func levelLimitsTheFrameRate() throws {
      // H.264, table A-1: level 1.3 has 11880 macroblocks per second, that is 39.6 pictures of 20×15.
      let encoder = try encoder(320, 240, frameRate: 15)
      #expect(try encoder.encodePan(0..<1)[0].sequenceParameterSet().levelIDC == 13)
      let tooFast = FrameRate(numerator: 40, denominator: 1)
      #expect(throws: EncoderError.frameRateAboveLevel(requested: tooFast, level: 13)) {
        try encoder.setRates(EncoderRates(bitrate: 600, frameRate: tooFast))
      }
      #expect(encoder.rates == rates(600, 15))
    }

    @Test(arguments: [(0, 1), (15, 0), (-15, 1), (Int.max, Int.max), (1001, 1)])
    func impossibleRates(numerator: Int, denominator: Int) throws {
      let encoder = try EncoderSettings.test(64, 64).encoder()
      let rate = FrameRate(numerator: numerator, denominator: denominator)
      #expect(throws: EncoderError.invalidFrameRate(rate)) {
        try encoder.setRates(EncoderRates(bitrate: 300, frameRate: rate))
      }
      #expect(encoder.rates == rates(600, 15))
    }

    /// One picture in an hour, and the largest numbers.
    @Test(arguments: [(1, 3600), (1, 0x7FFF_FFFF), (0x7FFF_FFFF, 0x7FFF_FFFF)])
    func extremes(numerator: Int, denominator: Int) throws {
      let encoder = try EncoderSettings.test(64, 64, bitrate: 1).encoder()
      let rate = FrameRate(numerator: numerator, denominator: denominator)
      try? encoder.setRates(EncoderRates(bitrate: 1, frameRate: rate))
      try? encoder.setRates(EncoderRates(bitrate: 2_000_000, frameRate: rate))
      #expect(try encoder.encodePan(0..<3).count == 3)
    }
  }
}
