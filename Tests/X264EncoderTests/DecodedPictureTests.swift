import TestSupport
import Testing
import X264Encoder

extension X264EncoderTests {
  /// An independent decoder returns the pictures that were encoded.
  @Suite struct DecodedPictures {
    @Test(arguments: PixelFormat.allCases, [0, 6])
    func everyFormatAndPadding(format: PixelFormat, padding: Int) throws {
      // 532 is not a multiple of 16: the last macroblocks are cropped.
      let (width, height) = (532, 252)
      let encoder = try EncoderSettings.test(width, height, format: format, bitrate: 1500).encoder()
      var stream: [UInt8] = []
      var originals: [Picture] = []
      for index in 0..<8 {
        let original = Panorama.smooth.picture(at: Panorama.pan(index), width: width, height: height)
        let memory = try PictureMemory(original, format: format, padding: padding)
        stream += AccessUnit(try encoder.encode(memory.planes, timestamp: Int64(index))).bytes
        originals.append(original)
      }
      try expectSame(try StreamDecoder.decode(stream, width: width, height: height), originals)
    }

    @Test(arguments: [0, 1, 2, 4])
    func everyThreadCount(threads: Int) throws {
      let encoder = try EncoderSettings.test(bitrate: 2000, threads: threads).encoder()
      let units = try encoder.encodePan(0..<8)
      if threads > 0 {
        #expect(units.allSatisfy { $0.types.count { $0.startsSlice } == threads })
      }
      let originals = (0..<8).map { Panorama.smooth.picture(at: Panorama.pan($0), width: 800, height: 480) }
      try expectSame(try StreamDecoder.decode(units.flatMap(\.bytes), width: 800, height: 480), originals)
    }

    @Test(arguments: SpeedPreset.allCases)
    func everySpeedPreset(preset: SpeedPreset) throws {
      var settings = EncoderSettings.test(320, 176, bitrate: 1000)
      settings.speedPreset = preset
      let units = try settings.encoder().encodePan(0..<4)
      let originals = (0..<4).map { Panorama.smooth.picture(at: Panorama.pan($0), width: 320, height: 176) }
      try expectSame(try StreamDecoder.decode(units.flatMap(\.bytes), width: 320, height: 176), originals)
    }

    private func expectSame(_ decoded: [Picture], _ originals: [Picture]) throws {
      try #require(decoded.count == originals.count)
      for (decoded, original) in zip(decoded, originals) {
        #expect(Picture.psnr(decoded.luma, original.luma) > 30)
        #expect(Picture.psnr(decoded.blueChroma, original.blueChroma) > 30)
        #expect(Picture.psnr(decoded.redChroma, original.redChroma) > 30)
        // The test pictures would reveal exchanged chroma planes.
        #expect(Picture.psnr(decoded.blueChroma, original.redChroma) < 20)
      }
    }
  }
}
