import Testing
import X264Encoder

extension X264EncoderTests {
  /// Bits per second at 15 frames per second, of moving pictures and of a still.
  @Suite struct Bitrate {
    @Test(arguments: [300, 3000])
    func movingPicturesKeepTheTarget(bitrate: Int) throws {
      let units = try EncoderSettings.test(bitrate: bitrate).encoder().encodePan(0..<150, over: Panorama.grainy)
      #expect(abs(Self.rate(units) - Double(bitrate)) < 0.1 * Double(bitrate))
      // A key frame may take half of the buffer of one and a half seconds on top of a second's worth.
      for start in 0...units.count - 15 {
        #expect(Self.rate(Array(units[start..<start + 15])) < 2 * Double(bitrate))
      }
    }

    @Test func liveChangeNeedsNoKeyFrame() throws {
      let encoder = try EncoderSettings.test(bitrate: 600).encoder()
      var units: [AccessUnit] = []
      for (index, bitrate) in [600, 300, 3000, 600].enumerated() {
        try encoder.setBitrate(bitrate)
        units += try encoder.encodePan(index * 75..<(index + 1) * 75, over: Panorama.grainy)
        // The rate control needs the first two seconds; the last three have one or two key frames.
        #expect(abs(Self.rate(units.suffix(45)) - Double(bitrate)) < 0.2 * Double(bitrate))
      }
      #expect(units.indices.filter { units[$0].isKeyFrame } == Array(stride(from: 0, to: 300, by: 30)))
    }

    @Test func levelLimitsTheLiveChange() throws {
      let encoder = try EncoderSettings.test(320, 176, bitrate: 300).encoder()
      let level = try encoder.encodePan(0..<1)[0].sequenceParameterSet().levelIDC
      #expect(level == 12)
      // H.264, table A-1: level 1.2 has 384 kbit/s.
      try encoder.setBitrate(384)
      #expect(throws: EncoderError.bitrateAboveLevel(requested: 385, limit: 384)) { try encoder.setBitrate(385) }
      #expect(throws: EncoderError.invalidBitrate(0)) { try encoder.setBitrate(0) }
      _ = try encoder.encodePan(1..<3)
    }

    @Test func repeatsOfAStillAreTiny() throws {
      let encoder = try EncoderSettings.test().encoder()
      let units = try (0..<60).map { index in
        let planes = try Panorama.smooth.planes(at: (x: 100, y: 60))
        return AccessUnit(try encoder.encode(planes, timestamp: Int64(index)))
      }
      #expect(units[45...].allSatisfy { $0.bytes.count < 100 })
    }

    /// kbit/s.
    private static func rate(_ units: some Collection<AccessUnit>) -> Double {
      Double(units.reduce(0) { $0 + $1.bytes.count }) * 8 * 15 / Double(units.count) / 1000
    }
  }
}
