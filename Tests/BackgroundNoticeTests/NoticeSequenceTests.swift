import BackgroundNotice
import H264
import TestSupport
import Testing
import X264Encoder

@Suite struct NoticeSequenceTests {
  private static let text = NoticeText.standard(appName: "Navigation")

  private static func settings(
    _ width: Int = 800, _ height: Int = 480, bitrate: Int = 600, framesPerSecond: Int = 15,
    preset: SpeedPreset = .superfast, options: String = "", color: ColorDescription? = nil
  ) -> EncoderSettings {
    EncoderSettings(
      width: width, height: height, frameRate: FrameRate(numerator: framesPerSecond, denominator: 1),
      pixelFormat: .nv12, bitrate: bitrate, speedPreset: preset, optionString: options, color: color)
  }

  private static func sequence(
    _ settings: EncoderSettings, text: String = text, count: Int = NoticeSequence.standardCount
  ) throws -> NoticeSequence {
    try NoticeSequence(text: text, settings: settings, count: count) { _, message in Issue.record("\(message)") }
  }

  @Test(arguments: [(800, 480, 600), (1920, 1080, 3000), (532, 252, 600), (16, 16, 600), (800, 480, 60)])
  func decodedPicturesAreTheDrawnOne(width: Int, height: Int, bitrate: Int) throws {
    let sequence = try Self.sequence(Self.settings(width, height, bitrate: bitrate), count: 12)
    let decoded = try StreamDecoder.decode(sequence.accessUnits.flatMap(\.bytes), width: width, height: height)
    let original = sequence.picture.asPicture
    try #require(decoded.count == 12)
    #expect(NoticePicture(text: Self.text, width: width, height: height) == sequence.picture)
    for picture in decoded {
      // A tenth of the rate costs precision.
      #expect(Picture.psnr(picture.luma, original.luma) > (bitrate < 100 ? 20 : 35))
      #expect(picture.blueChroma == original.blueChroma && picture.redChroma == original.redChroma)
    }
  }

  @Test(arguments: [5, 15, 30, 60], [SpeedPreset.ultrafast, .superfast, .medium])
  func oneKeyFrameAndSmallRepeats(framesPerSecond: Int, preset: SpeedPreset) throws {
    let units = try Self.sequence(Self.settings(framesPerSecond: framesPerSecond, preset: preset)).accessUnits
    #expect(units.map(\.isKeyFrame) == [true] + Array(repeating: false, count: 29))
    for unit in units {
      let summary = unit.bytes.withUnsafeBytes { AccessUnitSummary(scanning: $0) }
      #expect(summary.isKeyFrame == unit.isKeyFrame)
      #expect(summary.hasSequenceParameterSet == unit.isKeyFrame)
      #expect(summary.hasPictureParameterSet == unit.isKeyFrame)
    }
    #expect(units.dropFirst().allSatisfy { $0.bytes.count < 100 })
  }

  @Test(arguments: [60, 150, 600, 5000])
  func theKeyFrameTakesThreeQuartersOfASecond(bitrate: Int) throws {
    let units = try Self.sequence(Self.settings(bitrate: bitrate), count: 1).accessUnits
    #expect(units.count == 1)
    #expect(units[0].bytes.count * 8 <= bitrate * 750)
  }

  /// A decoder that gets the same parameter set again continues.
  @Test(arguments: [SpeedPreset.ultrafast, .superfast, .medium, .slow], ["", "ref=2:qpmin=10:qpmax=40:8x8dct=0"])
  func theStreamHasTheSameSequenceParameterSet(preset: SpeedPreset, options: String) throws {
    let color = ColorDescription(colourPrimaries: 1, transferCharacteristics: 1, matrixCoefficients: 1)
    let settings = Self.settings(preset: preset, options: options, color: color)
    let notice = try Self.sequence(settings, count: 2).accessUnits[0]
    let encoder = try X264Encoder(settings: settings) { _, _ in }
    let pixels = [UInt8](repeating: 90, count: 800 * 480)
    let stream = try pixels.withUnsafeBytes { bytes in
      let plane = Plane(base: try #require(bytes.baseAddress), stride: 800)
      return Array(try encoder.encode(Planes(plane, plane), timestamp: 0).bytes)
    }
    #expect(try Self.sequenceParameterSet(in: notice.bytes) == Self.sequenceParameterSet(in: stream))
  }

  private static func sequenceParameterSet(in bytes: [UInt8]) throws -> [UInt8] {
    let summary = bytes.withUnsafeBytes { AccessUnitSummary(scanning: $0) }
    return Array(bytes[try #require(summary.sequenceParameterSet)])
  }

  @Test func theSameEveryTime() throws {
    let first = try Self.sequence(Self.settings())
    #expect(try Self.sequence(Self.settings()).accessUnits == first.accessUnits)
    #expect(try Self.sequence(Self.settings(), text: "Other").accessUnits != first.accessUnits)
  }

  @Test func fullRangeStreamsGetFullRangePictures() throws {
    let color = ColorDescription(
      colourPrimaries: 1, transferCharacteristics: 1, matrixCoefficients: 1, isFullRange: true)
    let picture = try Self.sequence(Self.settings(color: color), count: 1).picture
    #expect(picture.luma.min() == 0 && picture.luma.max() == 255)
  }

  @Test func whatDoesNotFitIsEncodedBlack() throws {
    let sequence = try Self.sequence(Self.settings(1000, 100), count: 3)
    let decoded = try StreamDecoder.decode(sequence.accessUnits.flatMap(\.bytes), width: 1000, height: 100)
    #expect(decoded.count == 3)
    #expect(decoded.allSatisfy { $0 == sequence.picture.asPicture && $0.luma.allSatisfy { $0 == 16 } })
  }

  @Test(arguments: [Int.min, -1, 0, 1])
  func thereIsAlwaysAKeyFrame(count: Int) throws {
    #expect(try Self.sequence(Self.settings(64, 64), count: count).accessUnits.map(\.isKeyFrame) == [true])
  }

  @Test func impossibleSettingsAreRefused() {
    #expect(throws: EncoderError.invalidFrameRate(FrameRate(numerator: 0, denominator: 1))) {
      try Self.sequence(Self.settings(framesPerSecond: 0))
    }
    #expect(throws: EncoderError.self) { try Self.sequence(Self.settings(100_000, 100_000)) }
  }
}
