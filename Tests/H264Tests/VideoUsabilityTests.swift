import TestSupport
import Testing

@testable import H264

/// What a sequence parameter set says about the display of its pictures, and the names of profiles.
@Suite struct VideoUsabilityTests {
  /// H.264, 7.3.2.1.1: those whose parameter sets have `chroma_format_idc` and what follows it.
  private static let profilesWithChromaFormat: [UInt32] = [
    100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135,
  ]

  /// A parameter set of 800×480 whose usability information has the parts that are written.
  private static func read(
    profile: UInt32 = 77, flags: UInt32 = 0, chromaFormat: UInt32 = 1, lumaBits: UInt32 = 8, chromaBits: UInt32 = 8,
    aspect: [(value: UInt32, bitCount: Int)]? = nil, timing: (units: UInt32, scale: UInt32)? = nil,
    hasVideoBuffer: Bool = false
  ) throws -> SequenceParameterSet {
    var writer = BitWriter()
    for value in [profile, flags, 31] { writer.bits(value, 8) }
    writer.unsigned(0)
    if profilesWithChromaFormat.contains(profile) {
      for value in [chromaFormat, lumaBits - 8, chromaBits - 8] { writer.unsigned(value) }
      for _ in 0..<2 { writer.flag(false) }
    }
    for value: UInt32 in [0, 2, 1] { writer.unsigned(value) }
    writer.flag(false)
    for value: UInt32 in [49, 29] { writer.unsigned(value) }
    for flag in [true, true, false, true] { writer.flag(flag) }
    writer.flag(aspect != nil)
    for (value, bitCount) in aspect ?? [] { writer.bits(value, bitCount) }
    // Overscan, signal type, and the place of the chroma samples.
    for flag in [false, false, true] { writer.flag(flag) }
    for _ in 0..<2 { writer.unsigned(5) }
    writer.flag(timing != nil)
    if let timing {
      for value in [timing.units, timing.scale] { writer.bits(value, 32) }
      writer.flag(true)
    }
    writer.flag(false)
    writer.flag(hasVideoBuffer)
    if hasVideoBuffer {
      writer.unsigned(1)
      writer.bits(0x44, 8)
      for value: UInt32 in [1000, 2000, 3000, 4000] {
        writer.unsigned(value)
        if value % 2000 == 0 { writer.flag(false) }
      }
      writer.bits(0, 20)
      writer.flag(false)
    }
    for flag in [false, true, true] { writer.flag(flag) }
    for value: UInt32 in [0, 0, 10, 10, 3, 4] { writer.unsigned(value) }
    return try SequenceParameterSet(nalUnit: writer.nalUnit(header: 0x67))
  }

  /// A tick is the duration of a field. Recordings get the rate as it is.
  @Test(
    arguments: [
      (1, 60, [30, 1]), (1001, 60_000, [30_000, 1001]), (2, 50, [25, 2]), (1, 1, [1, 2]), (1, 2000, [1000, 1]),
      (.max, .max, [1, 2]), (1, 2002, nil), (0, 60, nil), (1, 0, nil),
    ] as [(UInt32, UInt32, [Int]?)])
  func frameRates(units: UInt32, scale: UInt32, rate: [Int]?) throws {
    let set = try Self.read(timing: (units, scale))
    #expect(set.frameRate.map { [$0.numerator, $0.denominator] } == rate)
    #expect(set.numReorderFrames == 3, "what follows is read, too")
  }

  /// Table E-1, and the numbers themselves.
  @Test(
    arguments: [
      ([1], [1, 1]), ([2], [12, 11]), ([3], [10, 11]), ([4], [16, 11]), ([5], [40, 33]), ([6], [24, 11]),
      ([7], [20, 11]), ([8], [32, 11]), ([9], [80, 33]), ([10], [18, 11]), ([11], [15, 11]), ([12], [64, 33]),
      ([13], [160, 99]), ([14], [4, 3]), ([15], [3, 2]), ([16], [2, 1]), ([0], nil),
      ([17], nil), ([254], nil), ([255, 16, 11], [16, 11]), ([255, 7, 7], [7, 7]), ([255, 0, 1], nil),
      ([255, 1, 0], nil),
    ] as [([UInt32], [Int]?)])
  func pixels(numbers: [UInt32], ratio: [Int]?) throws {
    let set = try Self.read(aspect: numbers.enumerated().map { ($1, $0 == 0 ? 8 : 16) })
    #expect(set.sampleAspectRatio.map { [$0.width, $0.height] } == ratio)
    #expect(set.sampleAspectRatio?.isSquare == ratio.map { $0[0] == $0[1] })
    #expect(set.numReorderFrames == 3)
  }

  @Test func nothingButTheRestrictions() throws {
    let set = try Self.read()
    #expect(set.sampleAspectRatio == nil && set.frameRate == nil && set.videoFullRange == nil)
    #expect(set.numReorderFrames == 3)
  }

  /// The buffer of a decoder for the picture data alone, in two schedules.
  @Test func bufferOfTheDecoder() throws {
    let set = try Self.read(timing: (1, 50), hasVideoBuffer: true)
    #expect(set.numReorderFrames == 3 && set.frameRate?.numerator == 25)
  }

  /// As GStreamer's caps have them: an error tells the user which profile a stream has.
  @Test(
    arguments: [
      (44, 0, "cavlc-4:4:4-intra"), (66, 0, "baseline"), (66, 0x40, "constrained-baseline"), (66, 0xBC, "baseline"),
      (77, 0, "main"), (83, 0, "scalable-baseline"), (86, 0, "scalable-high"), (88, 0, "extended"), (100, 0, "high"),
      (100, 0x04, "high"), (100, 0x08, "progressive-high"), (100, 0x0C, "constrained-high"), (110, 0, "high-10"),
      (110, 0x10, "high-10-intra"), (118, 0, "multiview-high"), (122, 0, "high-4:2:2"), (122, 0x10, "high-4:2:2-intra"),
      (128, 0, "stereo-high"), (244, 0, "high-4:4:4"), (244, 0x10, "high-4:4:4-intra"), (99, 0, "99"),
    ] as [(UInt32, UInt32, String)])
  func profileNames(profile: UInt32, flags: UInt32, name: String) throws {
    #expect(try Self.read(profile: profile, flags: flags).profileName == name)
  }

  /// Read in another way, the size of the pictures would be wrong.
  @Test func profilesWithAFormatOfTheirOwn() throws {
    for profile in Self.profilesWithChromaFormat {
      let set = try Self.read(profile: profile, chromaFormat: 2, lumaBits: 9, chromaBits: 10)
      #expect(set.chromaFormatIDC == 2 && set.bitDepthLuma == 9 && set.bitDepthChroma == 10, "\(profile)")
      #expect(set.width == 800 && set.height == 480, "\(profile)")
    }
    for profile: UInt32 in [66, 77, 88] {
      let set = try Self.read(profile: profile)
      #expect(set.chromaFormatIDC == 1 && set.width == 800 && set.height == 480, "\(profile)")
    }
  }

  /// Decoders of head units take 8 bits and 4:2:0, or less.
  @Test func commonProfiles() throws {
    for profile: UInt32 in [66, 77, 100] { #expect(try Self.read(profile: profile).isCommonProfile, "\(profile)") }
    #expect(try Self.read(profile: 100, chromaFormat: 0).isCommonProfile)
    for profile: UInt32 in [88, 110, 122] { #expect(try !Self.read(profile: profile).isCommonProfile, "\(profile)") }
    #expect(try !Self.read(profile: 100, chromaFormat: 2).isCommonProfile)
    #expect(try !Self.read(profile: 100, lumaBits: 9).isCommonProfile)
    #expect(try !Self.read(profile: 100, chromaBits: 9).isCommonProfile)
  }
}
