import H264
import Testing
import TestSupport

/// NAL units with lengths in front.
@Suite struct NALUnitFramingTests {
  private static let sequence: [UInt8] = [0x67, 0x42, 0xC0, 0x16]
  private static let picture: [UInt8] = [0x68, 0xCE, 0x3C]
  private static let slice: [UInt8] = [0x65, 0x88, 0, 0, 1, 0x84]

  private func prefixed(_ units: [[UInt8]], _ byteCount: Int) -> [UInt8] {
    units.flatMap { lengthPrefixed($0, byteCount: byteCount) }
  }

  private func units(_ bytes: [UInt8], _ byteCount: Int) -> [[UInt8]] {
    bytes.withUnsafeBytes { bytes in
      NALUnits(bytes, framing: .lengths(byteCount: byteCount)).map { Array(bytes[$0.range]) }
    }
  }

  @Test(arguments: 1...4) func everyLength(_ byteCount: Int) {
    let all = [Self.sequence, Self.picture, Self.slice]
    #expect(units(prefixed(all, byteCount), byteCount) == all)
    #expect(units(prefixed([[], Self.slice, []], byteCount), byteCount) == [Self.slice])
    #expect(units([], byteCount).isEmpty)
  }

  /// What looks like a start code within a unit is none.
  @Test func summary() {
    let bytes = prefixed([[0x09, 0x10], Self.sequence, Self.picture, Self.slice], 2)
    bytes.withUnsafeBytes { bytes in
      let unit = AccessUnitSummary(scanning: bytes, framing: .lengths(byteCount: 2))
      #expect(unit.firstNALUnit == .accessUnitDelimiter && unit.isKeyFrame && unit.hasParameterSets)
      #expect(unit.sequenceParameterSet == 6..<10)
      let front = NALUnits(inFrontOfPictureIn: bytes, framing: .lengths(byteCount: 2)).map(\.type)
      #expect(front == [.accessUnitDelimiter, .sequenceParameterSet, .pictureParameterSet])
    }
  }

  @Test(
    arguments: [
      ([0, 3, 0x41, 1], 2, 0, 3, 2), ([0, 1, 0x41, 0xFF, 0xFF, 1], 2, 3, 65535, 1),
      ([0x80, 0, 0, 0], 4, 0, 0x8000_0000, 0),
    ] as [([UInt8], Int, Int, Int, Int)])
  func overrun(_ bytes: [UInt8], _ byteCount: Int, _ offset: Int, _ length: Int, _ available: Int) {
    let error = #expect(throws: NALUnitLengthError.self) {
      try bytes.withUnsafeBytes { try NALUnitLengthError.check($0, lengthByteCount: byteCount) }
    }
    #expect(error?.offset == offset && error?.length == length && error?.availableByteCount == available)
  }

  @Test func endOfTheAccessUnit() throws {
    let error = #expect(throws: NALUnitLengthError.self) {
      try [UInt8]([0, 1, 0x41, 7]).withUnsafeBytes { try NALUnitLengthError.check($0, lengthByteCount: 2) }
    }
    #expect(error?.length == nil && error?.offset == 3)
    // Filled up with zero bytes.
    try [UInt8]([0, 1, 0x41, 0]).withUnsafeBytes { try NALUnitLengthError.check($0, lengthByteCount: 2) }
  }

  /// The packets of an access unit do not depend on its framing.
  @Test(arguments: 1...4) func packets(_ byteCount: Int) {
    let all = [Self.sequence, Self.picture, [0x65] + [UInt8](repeating: 0x55, count: 200)]
    func packets(_ accessUnit: [UInt8], _ framing: NALUnitFraming) -> [[UInt8]] {
      var packetizer = RTPPacketizer(sequenceNumber: 1, timestamp: 2, synchronizationSource: 3, packetSize: 100)
      return accessUnit.withUnsafeBytes { bytes -> [[UInt8]] in
        packetizer.packets(of: bytes, framing: framing, at: .zero).map { packet -> [UInt8] in
          var prefix = [UInt8](repeating: 0, count: RTPPacket.maximumPrefixByteCount)
          let count = prefix.withUnsafeMutableBytes { packet.writePrefix(to: $0) }
          return Array(prefix[..<count]) + Array(accessUnit[packet.payloadRange])
        }
      }
    }
    let stream = all.flatMap { unit -> [UInt8] in [0, 0, 0, 1] + unit }
    #expect(packets(prefixed(all, byteCount), .lengths(byteCount: byteCount)) == packets(stream, .startCodes))
  }

  @Test(arguments: [UInt64](1...5)) func anyBytes(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        UInt8.random(in: 0...(Bool.random(using: &generator) ? 4 : 255), using: &generator)
      }
      let byteCount = Int.random(in: 1...4, using: &generator)
      bytes.withUnsafeBytes { raw in
        let found = NALUnits(raw, framing: .lengths(byteCount: byteCount)).map(\.range)
        #expect(found.allSatisfy { !$0.isEmpty && $0.upperBound <= bytes.count })
        _ = AccessUnitSummary(scanning: raw, framing: .lengths(byteCount: byteCount))
        try? NALUnitLengthError.check(raw, lengthByteCount: byteCount)
        var lastPicture = RepeatPicture()
        lastPicture.observe(raw, framing: .lengths(byteCount: byteCount))
        _ = try? DecoderConfiguration(raw)
      }
    }
  }
}

/// AVCDecoderConfigurationRecord.
@Suite struct DecoderConfigurationTests {
  private func read(_ hex: String) throws -> DecoderConfiguration {
    try [UInt8](hex: hex).withUnsafeBytes { try DecoderConfiguration($0) }
  }

  /// High profile: four bytes that only it has follow the parameter sets.
  @Test func highProfile() throws {
    let read = try read("01 64 00 1E FF E1 00 04 67 64 00 1E 01 00 03 68 EB E3 FD F8 F8 00")
    #expect(read.lengthByteCount == 4)
    #expect(read.sequenceParameterSets == [[0x67, 0x64, 0x00, 0x1E]])
    #expect(read.pictureParameterSets == [[0x68, 0xEB, 0xE3]])
    #expect(read.byteStream == [UInt8](hex: "00 00 00 01 67 64 00 1E 00 00 00 01 68 EB E3"))
  }

  @Test func severalSetsAndNone() throws {
    let several = try read("01 42 C0 1E FD E2 00 02 67 01 00 02 67 02 02 00 02 68 01 00 02 68 02")
    #expect(several.lengthByteCount == 2)
    #expect(several.sequenceParameterSets == [[0x67, 1], [0x67, 2]])
    #expect(several.pictureParameterSets == [[0x68, 1], [0x68, 2]])
    let none = try read("01 42 C0 1E FC E0 00")
    #expect(none.lengthByteCount == 1 && none.sequenceParameterSets.isEmpty && none.pictureParameterSets.isEmpty)
  }

  @Test(
    arguments: [
      ("", .truncated), ("01 42 C0 1E FF", .truncated), ("01 42 C0 1E FF E0", .truncated),
      ("01 42 C0 1E FF E1 00", .truncated), ("01 42 C0 1E FF E1 00 00 00", .truncated),
      ("01 42 C0 1E FF E1 FF FF 67", .truncated), ("01 42 C0 1E FF E1 00 01 67", .truncated),
      ("01 42 C0 1E FF E0 01 00 02 68", .truncated), ("00 42 C0 1E FF E0 00", .unsupportedVersion(0)),
      ("01 42 C0 1E FF E1 00 01 68 00", .unexpectedNALUnit(.pictureParameterSet)),
      ("01 42 C0 1E FF E0 01 00 01 67", .unexpectedNALUnit(.sequenceParameterSet)),
    ] as [(String, DecoderConfiguration.Malformed)])
  func malformed(_ hex: String, _ error: DecoderConfiguration.Malformed) {
    #expect(throws: error) { try read(hex) }
  }
}
