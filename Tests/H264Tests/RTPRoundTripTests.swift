import H264
import TestSupport
import Testing

/// NAL units without start codes inside and without zeros at the end, some of a single byte.
func randomUnits(using generator: inout SeededGenerator) -> [[UInt8]] {
  (0..<Int.random(in: 1...6, using: &generator)).map { _ in
    let count = [0, 1, 2, 20, 300].randomElement(using: &generator) ?? 0
    let header = UInt8.random(in: 0...3, using: &generator) << 5 | UInt8.random(in: 1...23, using: &generator)
    return [header] + generator.bytes(Int.random(in: 0...count, using: &generator), in: 1...255)
  }
}

@Suite struct RTPRoundTripTests {
  @Test(arguments: 1...20 as ClosedRange<UInt64>) func randomAccessUnits(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    // Sequence numbers and timestamps wrap around.
    var packetizer = RTPPacketizer(
      sequenceNumber: 0xFFF0, timestamp: 0xFFFF_8000, synchronizationSource: 5,
      packetSize: Int.random(in: 15...100, using: &generator))
    var depacketizer = RTPDepacketizer()
    var timestamp: UInt32 = 0xFFFF_8000
    for index in 0..<200 {
      let units = randomUnits(using: &generator)
      let packets = packetizer.packets(of: annexB(units), at: .milliseconds(100 * index))
      let items = depacketizer.items(
        of: packets.flatMap { $0 }, pieceSize: Int.random(in: 1...200, using: &generator))
      #expect(
        items == [
          .accessUnit(
            RTPDepacketizer.AccessUnit(bytes: annexB(units), timestamp: timestamp, hasMarker: true, hasLoss: false))
        ])
      timestamp &+= 9000
    }
    #expect(depacketizer.bufferedByteCount == 0)
  }

  /// Random bytes never trap, and use no more memory than documented.
  @Test(arguments: 1...4 as ClosedRange<UInt64>) func hostileBytes(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var packetizer = RTPPacketizer.test(packetSize: 60)
    var depacketizer = RTPDepacketizer(maximumAccessUnitSize: 2000)
    var good = 0
    for index in 0..<2500 {
      var bytes = packetizer.packets(
        of: annexB(randomUnits(using: &generator)), at: .milliseconds(33 * index)
      ).flatMap { $0 }
      if index % 10 == 0 { mutate(&bytes, using: &generator) }
      if index % 50 == 0 { bytes += generator.bytes(40) }
      let items = depacketizer.items(of: bytes, pieceSize: Int.random(in: 1...500, using: &generator))
      #expect(items.accessUnits.allSatisfy { (5...2000).contains($0.bytes.count) })
      #expect(depacketizer.bufferedByteCount < 65_537 + 14)
      // Several items per packet at most.
      #expect(items.count <= 8 * (depacketizer.bufferedByteCount + bytes.count + 65_537) / 14)
      good += items.accessUnits.count { !$0.hasLoss && $0.hasMarker }
      if index % 500 == 0 { depacketizer.expectRestart() }
      // A stream without framing is given up; the next service has another depacketiser.
      if items.faults.contains(where: { if case .framing = $0 { true } else { false } }) {
        #expect(depacketizer.bufferedByteCount == 0)
        depacketizer = RTPDepacketizer(maximumAccessUnitSize: 2000)
      }
    }
    #expect(good > 500, "the streams are not mere garbage")
  }

  private func mutate(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      let index = Int.random(in: 0..<bytes.count, using: &generator)
      switch Int.random(in: 0...3, using: &generator) {
      case 0: bytes[index] = [0, 0x18, 0x1C, 0x7C, 0x80, 0xFF].randomElement(using: &generator) ?? 0
      case 1: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &generator)
      case 2: bytes.insert(.random(in: 0...255, using: &generator), at: index)
      default: if bytes.count > 1 { bytes.remove(at: index) }
      }
    }
  }

  /// Invalid payloads in a valid framing.
  @Test func hostilePayloads() {
    var generator = SeededGenerator(seed: 9)
    var depacketizer = RTPDepacketizer(maximumAccessUnitSize: 500)
    let types: [UInt8] = [0, 1, 5, 24, 24, 24, 25, 28, 28, 28, 28, 29, 31]
    let contents: [UInt8] = [0, 1, 2, 3, 0x41, 0x45, 0x85, 0xC5]
    var units = 0
    for number in 0..<10_000 {
      let type = types.randomElement(using: &generator) ?? 0
      let payload =
        [0x60 | type]
        + (0..<Int.random(in: 0...20, using: &generator)).map { _ in contents.randomElement(using: &generator) ?? 0 }
      let bytes = packet(
        UInt16(truncatingIfNeeded: number), UInt32(number / 4), hasMarker: Bool.random(using: &generator),
        first: [0x80, 0x80, 0x80, 0x90, 0xA0, 0x81].randomElement(using: &generator) ?? 0x80, payload: payload)
      let items = depacketizer.items(of: bytes)
      #expect(items.count <= 6)
      #expect(!items.faults.contains { if case .framing = $0 { true } else { false } })
      units += items.accessUnits.count
    }
    #expect(units > 1000)
  }
}
