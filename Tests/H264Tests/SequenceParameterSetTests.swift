import H264
import Testing
import TestSupport

/// A sequence parameter set of a real encoder, with the values that FFmpeg's `trace_headers` prints.
struct EncoderSample: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var hex: String
  var profileIDC: UInt8
  var constraintFlags: UInt8 = 0
  var levelIDC: UInt8
  var chromaFormatIDC = 1
  var bitDepth = 8
  var references = 4
  var frameMBSOnly = true
  var size: [Int]
  var reorder = 2
  var fullRange: Bool? = false
  /// Primaries, transfer, matrix.
  var colour: [UInt8]?

  var bytes: [UInt8] { [UInt8](hex: hex) }

  static let all = [
    EncoderSample(
      testDescription: "x264 ultrafast zerolatency 800×380",
      hex: "67 42 C0 16 DA 03 20 C7 EF 01 6A 0C 0C 0D 4A 00 00 03 00 02 00 00 03 00 3D 1E 2C 5D 40",
      profileIDC: 66, constraintFlags: 0xC0, levelIDC: 22, references: 1, size: [800, 380], reorder: 0,
      colour: [6, 6, 6]),
    EncoderSample(
      testDescription: "x264 main 854×480",
      hex: "67 4D 40 1F EC A0 6C 1E F3 78 0B 50 60 60 6A 50 00 00 03 00 10 00 00 03 03 C8 F1 83 19 60",
      profileIDC: 77, constraintFlags: 0x40, levelIDC: 31, size: [854, 480], colour: [6, 6, 6]),
    EncoderSample(
      testDescription: "x264 high 1920×1080",
      hex: "67 64 00 28 AC D9 40 78 02 27 E5 C0 5A 80 80 80 A0 00 00 03 00 20 00 00 07 91 E3 06 32 C0",
      profileIDC: 100, levelIDC: 40, size: [1920, 1080], colour: [1, 1, 1]),
    EncoderSample(
      testDescription: "FFmpeg libx264 interlaced 1920×1080",
      hex: "67 64 00 28 AC D9 40 78 04 4F DE 02 20 00 00 03 00 20 00 00 06 43 E2 C5 B2 C0",
      profileIDC: 100, levelIDC: 40, frameMBSOnly: false, size: [1920, 1080], fullRange: nil),
    EncoderSample(
      testDescription: "FFmpeg libx264 full range sRGB 1278×718",
      hex: "67 64 00 1F AC D9 40 50 05 BE AB 01 6E 02 1A 02 80 00 00 03 00 80 00 00 19 07 8C 18 CB",
      profileIDC: 100, levelIDC: 31, size: [1278, 718], fullRange: true, colour: [1, 13, 1]),
    EncoderSample(
      testDescription: "FFmpeg libx264 monochrome 130×98",
      hex: "67 64 00 0B F3 65 09 3F 8F 8F C0 5B 20 00 00 03 00 20 00 00 06 41 E2 85 32 C0",
      profileIDC: 100, levelIDC: 11, chromaFormatIDC: 0, size: [130, 98], fullRange: true),
    EncoderSample(
      testDescription: "FFmpeg libx264 wide pixels, overscan, chroma location, HRD 720×576",
      hex: """
        67 64 00 1E AC D9 40 B4 12 6F FC 01 00 00 B7 92 DC 00 00 03 00 04 00 00 03 00 C9 80 80 07 A1 00 01 E8 4E 4C 30 0F
        8B 16 CB
        """,
      profileIDC: 100, levelIDC: 30, size: [720, 576]),
    EncoderSample(
      testDescription: "x264 with HRD 1280×720",
      hex: """
        67 64 00 1F AC D9 40 50 05 BB 01 6A 02 02 02 80 00 00 03 00 80 00 00 19 70 20 00 7A 12 00 09 27 D1 61 80 3C 60 C6
        58
        """,
      profileIDC: 100, levelIDC: 31, size: [1280, 720], colour: [1, 1, 1]),
    EncoderSample(
      testDescription: "x264 high 4:2:2 322×241",
      hex: "67 7A 00 0D BC D9 41 50 87 88 84 30 16 A0 C0 C0 C8 00 00 03 00 08 00 00 03 01 94 78 A1 4C B0",
      profileIDC: 122, levelIDC: 13, chromaFormatIDC: 2, size: [322, 241], colour: [6, 6, 6]),
    EncoderSample(
      testDescription: "x264 high 4:4:4 322×242",
      hex: "67 F4 00 0D 91 9B 28 2A 10 F1 F1 F8 0B 50 60 60 64 00 00 03 00 04 00 00 03 00 CA 3C 50 A6 58",
      profileIDC: 244, levelIDC: 13, chromaFormatIDC: 3, size: [322, 242], colour: [6, 6, 6]),
    EncoderSample(
      testDescription: "x264 high 10 bit 1280×720",
      hex: "67 6E 00 1F A6 CD 94 05 00 5B B0 16 A0 20 20 28 00 00 03 00 08 00 00 03 01 94 78 C1 8C B0",
      profileIDC: 110, levelIDC: 31, bitDepth: 10, size: [1280, 720], colour: [1, 1, 1]),
    EncoderSample(
      testDescription: "OpenH264 802×382",
      hex: "67 42 C0 16 8C 8D 40 66 18 B1 15 00 F0 88 46 A0",
      profileIDC: 66, constraintFlags: 0xC0, levelIDC: 22, references: 1, size: [802, 382], reorder: 0, fullRange: nil),
    EncoderSample(
      testDescription: "FFmpeg libx264 baseline 176×144",
      hex: "67 42 C0 0B D9 02 C4 EC 04 40 00 00 03 00 40 00 00 0C 83 C5 0A 92",
      profileIDC: 66, constraintFlags: 0xC0, levelIDC: 11, references: 3, size: [176, 144], reorder: 0, fullRange: nil),
  ]
}

@Suite struct SequenceParameterSetTests {
  @Test(arguments: EncoderSample.all) func encoders(sample: EncoderSample) throws {
    let set = try SequenceParameterSet(nalUnit: sample.bytes)
    #expect([set.width, set.height] == sample.size)
    #expect(set.profileIDC == sample.profileIDC)
    #expect(set.constraintFlags == sample.constraintFlags)
    #expect(set.levelIDC == sample.levelIDC)
    #expect(set.id == 0)
    #expect(set.chromaFormatIDC == sample.chromaFormatIDC)
    #expect(set.bitDepthLuma == sample.bitDepth && set.bitDepthChroma == sample.bitDepth)
    #expect(set.maximumReferenceFrames == sample.references)
    #expect(set.frameMBSOnly == sample.frameMBSOnly)
    #expect(set.numReorderFrames == sample.reorder)
    #expect(set.videoFullRange == sample.fullRange)
    #expect(set.colourPrimaries == sample.colour?[0])
    #expect(set.transferCharacteristics == sample.colour?[1])
    #expect(set.matrixCoefficients == sample.colour?[2])
  }

  /// A parameter set truncated before its last syntax element is refused.
  @Test(arguments: EncoderSample.all) func truncated(sample: EncoderSample) throws {
    let whole = try SequenceParameterSet(nalUnit: sample.bytes)
    for length in 0..<sample.bytes.count {
      let cut = sample.bytes.prefix(length)
      if length + 1 == sample.bytes.count, let set = try? SequenceParameterSet(nalUnit: cut) {
        #expect(set == whole)
      } else {
        #expect(throws: SequenceParameterSet.Malformed.truncated) { try SequenceParameterSet(nalUnit: cut) }
      }
    }
  }

  @Test func readsFromMemoryAndSlicesToo() throws {
    let sample = EncoderSample.all[0]
    let whole = try SequenceParameterSet(nalUnit: sample.bytes)
    let fromMemory = try sample.bytes.withUnsafeBytes { try SequenceParameterSet(nalUnit: $0) }
    #expect(fromMemory == whole)
    #expect(try SequenceParameterSet(nalUnit: ([0, 0, 1] + sample.bytes)[3...]) == whole)
  }

  @Test(arguments: ["68 CE 3C 80", "65 88 84", "E7 42 C0 16 DA 03 20", "6F 42 C0 16 DA 03 20"])
  func otherNALUnits(hex: String) {
    #expect(throws: SequenceParameterSet.Malformed.notSequenceParameterSet) {
      try SequenceParameterSet(nalUnit: [UInt8](hex: hex))
    }
  }

  /// Random bytes after a valid start, and real sets with changed bytes: a result or an error, never a trap, and never
  /// a size that no decoder supports.
  @Test func hostileBytes() {
    var generator = SeededGenerator(seed: 3)
    let samples = EncoderSample.all.map(\.bytes)
    let profiles: [UInt8] = [66, 77, 100, 110, 122, 244]
    for round in 0..<20_000 {
      var bytes: [UInt8]
      if round % 2 == 0 {
        bytes = (0..<Int.random(in: 0...80, using: &generator)).map { _ in .random(in: 0...255, using: &generator) }
        bytes = [0x67, profiles[round / 2 % profiles.count], 0, 31] + bytes
      } else {
        bytes = samples[round / 2 % samples.count]
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
          bytes[Int.random(in: 1..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
        }
      }
      guard let set = try? SequenceParameterSet(nalUnit: bytes) else { continue }
      #expect((1...16384).contains(set.width) && (1...32768).contains(set.height), "\(bytes)")
    }
  }

  /// Only the start of an endless NAL unit is read.
  @Test func endlessNALUnit() {
    let bytes = [UInt8](hex: "67 42 C0 16") + [UInt8](repeating: 0, count: 1 << 20)
    #expect(throws: SequenceParameterSet.Malformed.outOfRange("seq_parameter_set_id")) {
      try SequenceParameterSet(nalUnit: bytes)
    }
  }
}
