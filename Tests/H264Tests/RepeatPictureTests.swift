@testable import H264
import Testing
import TestSupport

@Suite struct RepeatPictureTests {
  /// x264, constrained baseline, 800×380, four bits of `frame_num`, order count type 2.
  private static let sequence =
    "00 00 00 01 67 42 C0 16 DA 03 20 C7 EF 01 6A 0C 0C 0D 4A 00 00 03 00 02 00 00 03 00 3D 1E 2C 5D 40"
  private static let picture = "00 00 00 01 68 CE 3C 80"
  private static let keyFrame = [UInt8](hex: sequence + picture + "00 00 01 65 88 84 21 A0")

  private static func slice(_ frameNumber: UInt32, header: UInt8 = 0x41, type: UInt32 = 5, marking: [UInt32] = [])
    -> [UInt8]
  {
    var writer = BitWriter()
    writer.unsigned(0)
    writer.unsigned(type)
    writer.unsigned(0)
    writer.bits(frameNumber, 4)
    writer.flag(false)
    writer.flag(false)
    writer.flag(!marking.isEmpty)
    for value in marking { writer.unsigned(value) }
    writer.bits(0x5A5A, 16)
    return [0, 0, 1] + writer.nalUnit(header: header)
  }

  private static func expected(_ frameNumber: UInt32) -> [UInt8] {
    var writer = BitWriter()
    for value: UInt32 in [0, 5, 0] { writer.unsigned(value) }
    writer.bits(frameNumber, 4)
    writer.flag(true)
    writer.unsigned(0)
    writer.flag(false)
    writer.signed(0)
    writer.unsigned(1)
    writer.unsigned(50 * 24)
    return [0, 0, 0, 1, 0x09, 0x30, 0, 0, 0, 1] + writer.nalUnit(header: 0x01)
  }

  private func result(_ units: [[UInt8]]) -> [UInt8]? {
    var repeatPicture = RepeatPicture()
    for unit in units { unit.withUnsafeBytes { _ = repeatPicture.observe($0) } }
    return repeatPicture.accessUnit()
  }

  @Test func countsOnBehindEveryReference() {
    for count in 0..<40 {
      let units = [Self.keyFrame] + (0..<count).map { Self.slice(UInt32($0 + 1) % 16) }
      #expect(result(units) == Self.expected(UInt32(count + 1) % 16))
    }
  }

  /// The same with lengths in front of the NAL units.
  @Test(arguments: 1...4) func anyFraming(_ byteCount: Int) {
    let endOfSequence: [UInt8] = [0, 0, 1, 0x0A]
    for (units, isRepeatable) in [
      ([Self.keyFrame, Self.slice(1), Self.slice(2)], true), ([Self.keyFrame, Self.slice(1) + endOfSequence], false),
    ] {
      var repeatPicture = RepeatPicture()
      for unit in units {
        let prefixed = unit.withUnsafeBytes { bytes in
          AnnexB(bytes).flatMap { lengthPrefixed(Array(bytes[$0.range]), byteCount: byteCount) }
        }
        prefixed.withUnsafeBytes { _ = repeatPicture.observe($0, framing: .lengths(byteCount: byteCount)) }
      }
      #expect(repeatPicture.accessUnit() == (isRepeatable ? Self.expected(3) : nil))
    }
  }

  @Test func nothingBeforeAKeyFrame() {
    #expect(result([]) == nil)
    #expect(result([[UInt8](hex: Self.sequence + Self.picture), Self.slice(1)]) == nil)
    #expect(result([[UInt8](hex: "00 00 01 65 88 84 21 A0")]) == nil)
  }

  @Test(arguments: [
    slice(2), slice(0), slice(1, header: 0x01), slice(1, header: 0xC1), slice(1, type: 6), slice(1, type: 3),
    slice(1, header: 0x42), slice(1, marking: [5, 0]), slice(1, marking: [6, 0, 0]),
    joined(slice(1), [0, 0, 1, 0x0A]), joined(slice(1), [0, 0, 1, 0x0B, 0]),
    joined([0, 0, 1, 0x6E, 0x80], slice(1)), [0, 0, 1, 0x41],
    joined([0, 0, 1, 0x68, 0xCE, 0x00], slice(1)), joined([0, 0, 1, 0x67, 0x42], slice(1)),
  ])
  func nothingBehind(unit: [UInt8]) {
    #expect(result([Self.keyFrame, unit]) == nil)
    #expect(result([Self.keyFrame, unit, Self.keyFrame]) == Self.expected(1))
  }

  @Test func otherPicturesMayLeaveTheReferences() {
    // Of other pictures, with an operand that would be the next operation if one were passed over.
    for marking: [UInt32] in [[1, 6, 0], [2, 6, 0], [3, 0, 6, 0], [4, 6, 0]] {
      #expect(result([Self.keyFrame, Self.slice(1, marking: marking)]) == Self.expected(2), "\(marking)")
    }
  }

  @Test func aPictureWithoutReferenceIsPassing() {
    #expect(result([Self.keyFrame, Self.slice(1, header: 0x01), Self.slice(1)]) == Self.expected(2))
  }

  /// Real units with changed and missing bytes never trap.
  @Test func hostileBytes() {
    var generator = SeededGenerator(seed: 5)
    let sets = EncoderSample.all.map {
      joined([0, 0, 1], $0.bytes, [UInt8](hex: Self.picture), [0, 0, 1, 0x65, 0x88, 0x84, 0x21])
    }
    var answers = 0
    var repeatPicture = RepeatPicture()
    for _ in 0..<8000 {
      var unit =
        switch Int.random(in: 0...2, using: &generator) {
        case 0: Self.keyFrame
        case 1: sets[Int.random(in: 0..<sets.count, using: &generator)]
        default:
          Self.slice(.random(in: 0...15, using: &generator), marking: [.random(in: 0...6, using: &generator), 0, 0])
        }
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        unit[Int.random(in: 0..<unit.count, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      unit.removeLast(Int.random(in: 0...3, using: &generator))
      unit.withUnsafeBytes { _ = repeatPicture.observe($0) }
      if repeatPicture.accessUnit() != nil { answers += 1 }
    }
    #expect(answers > 100)
  }
}

/// Skipped macroblocks with arithmetic coding, beside the encoder of the specification: decoders conceal a wrong end.
@Suite struct SkipRunTests {
  /// H.264, 9.3.4.2 to 9.3.4.5, with the lower end and outstanding bits that `SkipRun` does without.
  private struct ReferenceEncoder {
    /// Table 9-44, `rangeTabLPS`, for `pStateIdx` 44 to 62.
    static let lessProbableRanges = [
      [14, 18, 21, 24], [14, 17, 20, 23], [13, 16, 19, 22], [12, 15, 18, 21], [12, 14, 17, 20], [11, 14, 16, 19],
      [11, 13, 15, 18], [10, 12, 15, 17], [10, 12, 14, 16], [9, 11, 13, 15], [9, 11, 12, 14], [8, 10, 12, 14],
      [8, 9, 11, 13], [7, 9, 11, 12], [7, 9, 10, 12], [7, 8, 10, 11], [6, 8, 9, 11], [6, 7, 9, 10], [6, 7, 8, 9],
    ]
    private var low = 0
    private var range = 510
    private var outstanding = 0
    private var isFirst = true
    private var state = 0
    private(set) var bits: [Bool] = []

    private mutating func put(_ bit: Bool) {
      if isFirst { isFirst = false } else { bits.append(bit) }
      bits += Array(repeating: !bit, count: outstanding)
      outstanding = 0
    }

    private mutating func renormalise() {
      while range < 256 {
        if low < 256 {
          put(false)
        } else if low >= 512 {
          low -= 512
          put(true)
        } else {
          low -= 256
          outstanding += 1
        }
        range <<= 1
        low <<= 1
      }
    }

    mutating func skip() {
      range -= Self.lessProbableRanges[state][range >> 6 & 3]
      state = min(state + 1, Self.lessProbableRanges.count - 1)
      renormalise()
    }

    mutating func endOfSlice(_ isEnd: Bool) {
      range -= 2
      guard isEnd else { return renormalise() }
      low += range
      range = 2
      renormalise()
      put(low >> 9 & 1 == 1)
      let last = low >> 7 & 3 | 1
      bits += [last >> 1 == 1, last & 1 == 1]
    }
  }

  /// With 234 numbers of macroblocks, such as 584 to 596 and 1024, the zeros end with a byte of 3, in front of which an
  /// emulation prevention byte has to be.
  @Test func everyCount() {
    var escaped: [Int] = []
    // One after the other up to the last state: the end of the code has the exact interval.
    for count in Array(1...20) + [64, 99, 396, 584, 592, 596, 597, 1024, 1500, 3600, 8160] {
      var reference = ReferenceEncoder()
      for macroblock in 0..<count {
        reference.skip()
        reference.endOfSlice(macroblock == count - 1)
      }
      var writer = PayloadBitWriter()
      SkipRun.write(count, to: &writer)
      var expected = BitWriter()
      // The stop bit is the last one.
      for bit in reference.bits.dropLast() { expected.flag(bit) }
      let unit = expected.nalUnit(header: 1)
      #expect(writer.nalUnit(header: 1) == [0, 0, 0, 1] + unit, "\(count)")
      #expect(reference.bits.last == true, "\(count)")
      if unit.suffix(5).starts(with: [0, 0, 3, 3]) { escaped.append(count) }
    }
    #expect(escaped == [584, 592, 596, 1024])
  }
}

/// H.264, 7.4.1: nothing in a NAL unit looks like a start code, or like an emulation prevention byte.
@Suite struct EmulationPreventionTests {
  @Test(arguments: [
    ("00 00 01", "00 00 03 01"), ("00 00 02", "00 00 03 02"), ("00 00 03", "00 00 03 03"), ("00 00 04", "00 00 04"),
    ("00 00 00 01", "00 00 03 00 01"), ("00 00 00 00 01", "00 00 03 00 00 03 01"),
    ("00 00 03 00 00 03", "00 00 03 03 00 00 03 03"), ("00 03 00 01", "00 03 00 01"), ("FF 00 00 03", "FF 00 00 03 03"),
    ("00 00 FF 03", "00 00 FF 03"),
  ])
  func bytes(_ payload: String, _ expected: String) {
    var writer = PayloadBitWriter()
    for byte in [UInt8](hex: payload) { writer.bits(Int(byte), 8) }
    #expect(writer.nalUnit(header: 0x41) == [0, 0, 0, 1, 0x41] + [UInt8](hex: expected))
  }
}
