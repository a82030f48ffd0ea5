import H264
import Testing
import TestSupport

/// A simple search for start codes, to compare the fast one with.
private func unitsByteByByte(_ bytes: [UInt8]) -> [Range<Int>] {
  var starts: [Int] = []
  for index in bytes.indices.dropLast(2) where bytes[index...].starts(with: [0, 0, 1]) { starts.append(index + 3) }
  return starts.enumerated().compactMap { position, start in
    var end = position + 1 < starts.count ? starts[position + 1] - 3 : bytes.count
    while end > start, bytes[end - 1] == 0 { end -= 1 }
    return end > start ? start..<end : nil
  }
}

private func units(_ bytes: [UInt8]) -> [NALUnit] {
  bytes.withUnsafeBytes { Array(AnnexB($0)) }
}

@Suite struct AnnexBTests {
  @Test func threeAndFourByteStartCodes() {
    let bytes = [UInt8](hex: "00 00 00 01 09 10  00 00 01 67 42 C0  00 00 00 01 68 CE  00 00 01 65 88 84")
    let found = units(bytes)
    #expect(found.map(\.type) == [.accessUnitDelimiter, .sequenceParameterSet, .pictureParameterSet, .idrSlice])
    #expect(found.map(\.range) == [4..<6, 9..<12, 16..<18, 21..<24])
  }

  @Test(
    arguments: [
      (
        "00 00 01 09 10  00 00 01 67 42 C0  00 00 01 65 88 84  00 00 01 68 CE",
        [.accessUnitDelimiter, .sequenceParameterSet]
      ),
      ("00 00 01 41 9A  00 00 01 68 CE", []), ("00 00 01 68 CE 00 00 01", [.pictureParameterSet]),
      ("00 00 01 00 00 01 68 CE", [.pictureParameterSet]),
    ] as [(String, [NALUnitType])])
  func inFrontOfThePicture(hex: String, types: [NALUnitType]) {
    let found = [UInt8](hex: hex).withUnsafeBytes { Array(AnnexB(inFrontOfPictureIn: $0)) }
    #expect(found.map(\.type) == types)
  }

  @Test func typeIsTheLowFiveBits() {
    #expect(NALUnitType(header: 0x65) == .idrSlice)
    #expect(NALUnitType(header: 0x41) == .nonIDRSlice)
    #expect(NALUnitType(header: 0x06) == .supplementalEnhancementInformation)
    #expect(NALUnitType(header: 0xFF).rawValue == 31)
  }

  /// H.264, table 7-1.
  @Test(
    arguments: [
      (1, .nonIDRSlice), (2, .dataPartitionA), (3, .dataPartitionB), (4, .dataPartitionC), (5, .idrSlice),
      (6, .supplementalEnhancementInformation), (7, .sequenceParameterSet), (8, .pictureParameterSet),
      (9, .accessUnitDelimiter), (10, .endOfSequence), (11, .endOfStream), (12, .fillerData),
    ] as [(UInt8, NALUnitType)])
  func typesOfTheStandard(number: UInt8, type: NALUnitType) {
    #expect(NALUnitType(header: 0x60 | number) == type)
  }

  @Test(arguments: [
    "", "00", "00 00", "00 00 01", "00 00 00 01", "00 00 00 00 00 00 00 00 00 00 00 00", "00 00 02 65", "65 88 84",
    "00 00 01 00 00 01 00 00 00 01 00 00",
  ])
  func nothingToFind(hex: String) {
    #expect(units([UInt8](hex: hex)).isEmpty)
  }

  @Test func noMemoryAtAll() {
    #expect(Array(AnnexB(UnsafeRawBufferPointer(start: nil, count: 0))).isEmpty)
  }

  @Test func zeroBytesAroundUnitsBelongToNone() {
    let found = units([UInt8](hex: "AA BB 00 00 00 00 00 01 67 01 00 00 00 00 00 01 68 02 00 00 00"))
    #expect(found.map(\.range) == [8..<10, 16..<18])
  }

  @Test func emulationPreventionIsNoStartCode() {
    #expect(units([UInt8](hex: "00 00 01 65 00 00 03 01 00 00 03 00 00 03 80")).map(\.range) == [3..<15])
  }

  @Test func startCodeAtEveryDistance() {
    for distance in 0..<40 {
      for tail in 1..<12 {
        let bytes = joined(Array(repeating: 0xFF, count: distance), [0, 0, 1], Array(repeating: 0x65, count: tail))
        #expect(units(bytes).map(\.range) == [distance + 3..<distance + 3 + tail])
      }
    }
  }

  @Test func agreesWithThePlainSearch() {
    var generator = SeededGenerator(seed: 1)
    let alphabet: [UInt8] = [0, 0, 0, 1, 1, 2, 3, 0x65, 0x80, 0xFF]
    for _ in 0..<5000 {
      let bytes = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
        alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
      }
      #expect(units(bytes).map(\.range) == unitsByteByByte(bytes), "\(bytes)")
    }
  }
}
