import TestSupport
import Testing

@testable import H264

/// Streams of all kinds, put together bit by bit: which can be repeated, and with which numbers.
@Suite struct RepeatableStreamTests {
  /// Pictures of 320×240 without arithmetic coding; `frame_num` and the order count have four bits.
  struct Stream: Sendable {
    var profile: UInt32 = 77
    var chromaFormat: UInt32 = 1
    var hasSeparatePlanes = false
    var lumaBits: UInt32 = 8
    var chromaBits: UInt32 = 8
    var orderCountType: UInt32 = 0
    var references: UInt32 = 1
    var isProgressive = true
    /// Nil without usability information.
    var reordering: UInt32? = 0
    var hasBottomFieldOrder = false
    var hasWeights = false
    var hasRedundantPictures = false
    var id: UInt32 = 0

    var sequenceParameterSet: [UInt8] {
      var writer = BitWriter()
      for value in [profile, 0, 31] { writer.bits(value, 8) }
      writer.unsigned(id)
      if profile >= 100 {
        writer.unsigned(chromaFormat)
        if chromaFormat == 3 { writer.flag(hasSeparatePlanes) }
        for bits in [lumaBits, chromaBits] { writer.unsigned(bits - 8) }
        for _ in 0..<2 { writer.flag(false) }
      }
      writer.unsigned(0)
      writer.unsigned(orderCountType)
      if orderCountType == 0 { writer.unsigned(0) }
      if orderCountType == 1 {
        writer.flag(true)
        for value: UInt32 in [0, 0, 0] { writer.unsigned(value) }
      }
      writer.unsigned(references)
      writer.flag(false)
      for value: UInt32 in [19, 14] { writer.unsigned(value) }
      writer.flag(isProgressive)
      if !isProgressive { writer.flag(false) }
      for flag in [true, false, reordering != nil] { writer.flag(flag) }
      if let reordering {
        // Nothing but the restrictions of the bit stream.
        for index in 0..<10 { writer.flag(index >= 8) }
        for value in [0, 0, 10, 10, reordering, 4] { writer.unsigned(value) }
      }
      return [0, 0, 1] + writer.nalUnit(header: 0x67)
    }

    var pictureParameterSet: [UInt8] {
      var writer = BitWriter()
      for value in [0, id] { writer.unsigned(value) }
      writer.flag(false)
      writer.flag(hasBottomFieldOrder)
      for value: UInt32 in [0, 0, 0] { writer.unsigned(value) }
      writer.flag(hasWeights)
      writer.bits(0, 2)
      for _ in 0..<3 { writer.signed(0) }
      for flag in [false, false, hasRedundantPictures] { writer.flag(flag) }
      return [0, 0, 1] + writer.nalUnit(header: 0x68)
    }

    /// What slices have from `frame_num` to the list of references.
    private func writeNumbers(_ frameNumber: UInt32, _ orderCount: UInt32, _ writer: inout BitWriter) {
      writer.bits(frameNumber, 4)
      if orderCountType == 0 {
        writer.bits(orderCount % 16, 4)
        if hasBottomFieldOrder { writer.signed(0) }
      }
      if hasRedundantPictures { writer.unsigned(0) }
    }

    private func writeWeights(_ writer: inout BitWriter) {
      guard hasWeights else { return }
      for _ in 0..<(chromaFormat == 0 ? 1 : 2) { writer.unsigned(0) }
      for _ in 0..<(chromaFormat == 0 ? 1 : 2) { writer.flag(false) }
    }

    func keyFrame(_ orderCount: UInt32 = 0) -> [UInt8] {
      var writer = BitWriter()
      for value: UInt32 in [0, 7, 0] { writer.unsigned(value) }
      writer.bits(0, 4)
      writer.unsigned(0)
      if orderCountType == 0 {
        writer.bits(orderCount, 4)
        if hasBottomFieldOrder { writer.signed(0) }
      }
      if hasRedundantPictures { writer.unsigned(0) }
      for _ in 0..<2 { writer.flag(false) }
      writer.bits(0x5A5A, 16)
      return sequenceParameterSet + pictureParameterSet + [0, 0, 1] + writer.nalUnit(header: 0x65)
    }

    /// - Parameter type: 5 is P, 6 is B.
    func slice(_ frameNumber: UInt32, _ orderCount: UInt32, header: UInt8 = 0x41, type: UInt32 = 5) -> [UInt8] {
      var writer = BitWriter()
      for value in [0, type, 0] { writer.unsigned(value) }
      writeNumbers(frameNumber, orderCount, &writer)
      for _ in 0..<2 { writer.flag(false) }
      writeWeights(&writer)
      writer.flag(false)
      writer.bits(0x5A5A, 16)
      return [0, 0, 1] + writer.nalUnit(header: header)
    }

    /// The picture that shows the last one again.
    func repeated(_ frameNumber: UInt32, _ orderCount: UInt32) -> [UInt8] {
      var writer = BitWriter()
      for value: UInt32 in [0, 5, 0] { writer.unsigned(value) }
      writeNumbers(frameNumber, orderCount, &writer)
      writer.flag(true)
      writer.unsigned(0)
      writer.flag(false)
      writeWeights(&writer)
      writer.signed(0)
      writer.unsigned(20 * 15)
      return [0, 0, 0, 1, 0x09, 0x30, 0, 0, 0, 1] + writer.nalUnit(header: 0x01)
    }
  }

  private func result(_ units: [UInt8]...) -> [UInt8]? {
    var repeatPicture = RepeatPicture()
    for unit in units { unit.withUnsafeBytes { _ = repeatPicture.observe($0) } }
    return repeatPicture.accessUnit()
  }

  @Test(
    arguments: [
      ("Baseline, which has no B pictures", Stream(profile: 66, reordering: nil)), ("Main", Stream()),
      ("High", Stream(profile: 100)), ("the order in which pictures come", Stream(orderCountType: 2, reordering: nil)),
      ("order counts of both fields", Stream(hasBottomFieldOrder: true)),
      ("redundant pictures", Stream(hasRedundantPictures: true)), ("weights", Stream(hasWeights: true)),
      ("monochrome with weights", Stream(profile: 100, chromaFormat: 0, hasWeights: true)),
    ])
  func repeatable(_ name: String, _ stream: Stream) {
    #expect(result(stream.keyFrame(), stream.slice(1, 2)) == stream.repeated(2, 3), "\(name)")
  }

  @Test(
    arguments: [
      ("High 10", Stream(profile: 110)), ("High 4:2:2", Stream(profile: 122)), ("fields", Stream(isProgressive: false)),
      ("separate colour planes", Stream(profile: 100, chromaFormat: 3, hasSeparatePlanes: true)),
      ("9 bits of luma", Stream(profile: 100, lumaBits: 9)), ("9 bits of chroma", Stream(profile: 100, chromaBits: 9)),
      ("no references", Stream(references: 0)), ("order counts in a cycle", Stream(orderCountType: 1)),
      ("another output order", Stream(reordering: 1)), ("perhaps another output order", Stream(reordering: nil)),
    ])
  func notRepeatable(_ name: String, _ stream: Stream) {
    #expect(result(stream.keyFrame(), stream.slice(1, 2)) == nil, "\(name)")
  }

  /// The order count between two pictures, whose low bits wrap every eight of them.
  @Test func countsOnBehindTheWrap() {
    let stream = Stream()
    for count: UInt32 in 0..<40 {
      var repeatPicture = RepeatPicture()
      stream.keyFrame().withUnsafeBytes { _ = repeatPicture.observe($0) }
      for number in 0..<count {
        stream.slice((number + 1) % 16, 2 * number + 2).withUnsafeBytes { _ = repeatPicture.observe($0) }
      }
      #expect(repeatPicture.accessUnit() == stream.repeated((count + 1) % 16, 2 * count + 1), "\(count)")
    }
  }

  /// A stream without room for a further picture between two has none behind its next key frame. Another one may.
  @Test func noRoomBetweenPictures() {
    let stream = Stream()
    let (crowded, roomy) = (stream.slice(1, 1), stream.slice(1, 2))
    #expect(result(stream.keyFrame()) == stream.repeated(1, 1))
    #expect(result(stream.keyFrame(), crowded) == nil)
    #expect(result(stream.keyFrame(), crowded, stream.keyFrame(), roomy) == nil)
    let other = Stream(id: 1)
    #expect(
      result(other.keyFrame(), stream.keyFrame(), crowded, other.keyFrame(), other.slice(1, 2))
        == other.repeated(2, 3))
    let renewed = Stream(references: 2)
    #expect(
      result(stream.keyFrame(), crowded, renewed.keyFrame(), renewed.slice(1, 2)) == renewed.repeated(2, 3))
  }

  /// Even if they come in the order in which they are shown.
  @Test func streamsWithBPictures() {
    let stream = Stream()
    let passing = stream.slice(2, 4, header: 0x01)
    #expect(result(stream.keyFrame(), stream.slice(1, 2), passing, stream.slice(2, 6)) == stream.repeated(3, 7))
    let bidirectional = stream.slice(2, 4, header: 0x01, type: 6)
    #expect(result(stream.keyFrame(), stream.slice(1, 2), bidirectional, stream.slice(2, 6)) == nil)
  }

  /// Those that only say something about the picture, or fill up the stream.
  @Test(arguments: [[0x09, 0xF0], [0x06, 0x05, 0x01, 0x80, 0x80], [0x0C, 0xFF, 0x80]] as [[UInt8]])
  func unitsThatChangeNothing(unit: [UInt8]) {
    let stream = Stream()
    #expect(result(stream.keyFrame(), joined([0, 0, 1], unit, stream.slice(1, 2))) == stream.repeated(2, 3))
  }

  /// A parameter set takes the place of the former one of its number.
  @Test func replacedParameterSet() {
    let (former, weighted) = (Stream(), Stream(hasWeights: true))
    let unit = weighted.pictureParameterSet + weighted.slice(1, 2)
    #expect(result(former.keyFrame(), unit) == weighted.repeated(2, 3))
  }

  /// Hostile streams may have parameter sets without end.
  @Test(arguments: [(1024, true), (1025, false)]) func longParameterSet(byteCount: Int, isKept: Bool) {
    let stream = Stream()
    // Bytes behind the part that slices depend on are not read.
    let unit = stream.pictureParameterSet.dropFirst(3)
    let long = [0, 0, 1] + unit + [UInt8](repeating: 0xFF, count: byteCount - unit.count)
    let expected = isKept ? stream.repeated(2, 3) : nil
    #expect(result(stream.keyFrame(), long + stream.slice(1, 2)) == expected)
  }
}
