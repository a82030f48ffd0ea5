import H264
import TestSupport
import Testing
import X264Encoder

extension X264EncoderTests {
  /// The NAL units and headers of the stream.
  @Suite struct StreamFormat {
    @Test func keyFramesBeginWithParameterSets() throws {
      let units = try EncoderSettings.test().encoder().encodePan(0..<61)
      #expect(units.indices.filter { units[$0].isKeyFrame } == [0, 30, 60])
      for unit in units {
        #expect(unit.bytes.starts(with: [0, 0, 0, 1]))
        #expect(unit.types.contains(.idrSlice) == unit.isKeyFrame)
      }
      // x264 writes its version once, after the parameter sets.
      #expect(
        units[0].types == [.sequenceParameterSet, .pictureParameterSet, .supplementalEnhancementInformation, .idrSlice])
      #expect(units[30].types == [.sequenceParameterSet, .pictureParameterSet, .idrSlice])
      #expect(units[1].types == [.nonIDRSlice])
    }

    @Test func parameterSetsHaveLongStartCodes() throws {
      let unit = try EncoderSettings.test().encoder().encodePan(0..<1)[0]
      let starts = unit.bytes.withUnsafeBytes { AnnexB($0).map(\.range.lowerBound) }
      for start in starts.prefix(2) {
        #expect(unit.bytes[start - 4..<start].elementsEqual([0, 0, 0, 1]))
      }
    }

    @Test(arguments: [(800, 380), (532, 252), (16, 16), (800, 480), (1024, 640)])
    func sizeAndProfile(width: Int, height: Int) throws {
      let unit = try EncoderSettings.test(width, height).encoder().encodePan(0..<1)[0]
      let parameters = try unit.sequenceParameterSet()
      #expect(parameters.width == width)
      #expect(parameters.height == height)
      #expect(parameters.profileIDC == 66)
      // constraint_set1_flag: with it, baseline is constrained baseline.
      #expect(parameters.constraintFlags & 0x40 != 0)
      #expect(parameters.numReorderFrames == 0)
      #expect(parameters.frameMBSOnly)
    }

    @Test func largePicturesOpen() throws {
      let settings = EncoderSettings.test(4096, 2160, bitrate: 8000)
      let grey = [UInt8](repeating: 128, count: 4096 * 2160)
      let encoder = try settings.encoder()
      let unit = try grey.withUnsafeBytes { bytes in
        let base = try #require(bytes.baseAddress)
        let chroma = Plane(base: base, stride: 2048)
        return AccessUnit(try encoder.encode(Planes(Plane(base: base, stride: 4096), chroma, chroma), timestamp: 0))
      }
      let parameters = try unit.sequenceParameterSet()
      #expect(parameters.width == 4096)
      #expect(parameters.height == 2160)
      #expect(parameters.levelIDC == 51)
    }

    @Test func forcedKeyFrameStartsANewInterval() throws {
      let encoder = try EncoderSettings.test().encoder()
      var keyFrames: [Int] = []
      for index in 0..<50 {
        let planes = try Panorama.smooth.planes(at: Panorama.pan(index))
        let unit = try encoder.encode(planes, timestamp: Int64(index) * 1000, as: index == 7 ? .keyFrame : .frame)
        #expect(unit.timestamp == Int64(index) * 1000)
        if unit.isKeyFrame {
          keyFrames.append(index)
          _ = try AccessUnit(unit).sequenceParameterSet()
        }
      }
      #expect(keyFrames == [0, 7, 37])
    }

    @Test(arguments: [(0, 15, 1, 30), (0, 30000, 1001, 60), (0, 1, 3, 1), (5, 15, 1, 5)])
    func keyFrameInterval(interval: Int, numerator: Int, denominator: Int, expected: Int) throws {
      var settings = EncoderSettings.test(64, 64)
      settings.frameRate = FrameRate(numerator: numerator, denominator: denominator)
      settings.keyFrameInterval = interval
      let units = try settings.encoder().encodePan(0..<2 * expected + 1)
      #expect(units.indices.filter { units[$0].isKeyFrame } == [0, expected, 2 * expected])
    }

    @Test(arguments: [(15, 1), (30000, 1001)])
    func frameRateIsInTheStream(numerator: Int, denominator: Int) throws {
      var settings = EncoderSettings.test(64, 64)
      settings.frameRate = FrameRate(numerator: numerator, denominator: denominator)
      let caps = try StreamDecoder.parsedCaps(settings.encoder().encodePan(0..<2).flatMap(\.bytes))
      #expect(caps.contains("framerate=(fraction)\(numerator)/\(denominator)"))
      #expect(caps.contains("profile=(string)constrained-baseline"))
    }

    @Test func colorDescription() throws {
      var settings = EncoderSettings.test(64, 64)
      #expect(try parameters(settings).colourPrimaries == nil)
      settings.color = ColorDescription(colourPrimaries: 1, transferCharacteristics: 13, matrixCoefficients: 6)
      let limited = try parameters(settings)
      #expect(limited.colourPrimaries == 1)
      #expect(limited.transferCharacteristics == 13)
      #expect(limited.matrixCoefficients == 6)
      #expect(limited.videoFullRange == false)
      // 22 is too new for x264, 3 is reserved, matrix 0 is not for 4:2:0.
      settings.color = ColorDescription(
        colourPrimaries: 22, transferCharacteristics: 1, matrixCoefficients: 0, isFullRange: true)
      let full = try parameters(settings)
      #expect(full.colourPrimaries == 2)
      #expect(full.transferCharacteristics == 1)
      #expect(full.matrixCoefficients == 2)
      #expect(full.videoFullRange == true)
    }

    /// The last ones of H.273 that x264 knows: DCI-P3 as displays have it, HLG, ICtCp.
    @Test(arguments: [([12, 18, 14], [12, 18, 14]), ([4, 4, 4], [4, 4, 4])])
    func colorsThatX264Knows(codes: [Int], written: [UInt8]) throws {
      var settings = EncoderSettings.test(64, 64)
      settings.color = ColorDescription(
        colourPrimaries: codes[0], transferCharacteristics: codes[1], matrixCoefficients: codes[2])
      let set = try parameters(settings)
      #expect([set.colourPrimaries, set.transferCharacteristics, set.matrixCoefficients] == written)
    }

    private func parameters(_ settings: EncoderSettings) throws -> SequenceParameterSet {
      try settings.encoder().encodePan(0..<1)[0].sequenceParameterSet()
    }
  }
}
