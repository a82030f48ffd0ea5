import H264
import TestSupport
import Testing

/// The framing, which has no mark to find it again by.
@Suite struct RTPFramingTests {
  private static func frame(_ number: UInt16, source: UInt32 = 0x1122_3344) -> [UInt8] {
    packet(number, UInt32(number) * 3000, source: source, payload: [0x41, 0x9A, UInt8(truncatingIfNeeded: number)])
  }

  private static func numbers(_ items: [RTPDepacketizer.Item]) -> [UInt16] {
    items.accessUnits.map { UInt16($0.timestamp / 3000) }
  }

  @Test(arguments: ["00 00 00 01 67 42 C0 1F", "00 0B 80 60 00 00", "00 20 40 60 00 00 00 00 00 00 00 00 00 00 01"])
  func noRTPAtAll(hex: String) {
    let bytes = [UInt8](hex: hex)
    #expect(items(bytes + [UInt8](repeating: 0xFF, count: 100)).faults.map(\.isFraming) == [true])
  }

  @Test func nullPackets() {
    let found = items(Self.frame(1), [0, 0, 0, 0], Self.frame(2), [0, 0])
    #expect(found.faults == [] && Self.numbers(found) == [1, 2])
  }

  @Test(arguments: 1...30, [1, 7, 1000]) func findsTheSourceAgain(garbageSize: Int, pieceSize: Int) {
    var generator = SeededGenerator(seed: UInt64(garbageSize))
    let garbage = [0, 3] + (0..<garbageSize).map { _ in UInt8.random(in: 0...255, using: &generator) }
    var depacketizer = RTPDepacketizer()
    let bytes = Self.frame(1) + garbage + Self.frame(2) + Self.frame(3)
    let found = depacketizer.items(of: bytes, pieceSize: pieceSize)
    #expect(found.faults.map(\.isFraming) == [true])
    #expect(Self.numbers(found) == [1, 2, 3])
  }

  /// A packet that was cut off swallows the next one at most.
  @Test func cutOffPacket() {
    let found = items(Self.frame(1), Self.frame(2).dropLast(2), Self.frame(3), Self.frame(4), Self.frame(5))
    #expect(found.faults.contains { $0.isFraming })
    #expect(Self.numbers(found).prefix(1) == [1] && Self.numbers(found).suffix(2) == [4, 5])
  }

  /// Only the packet with the wrong length is lost.
  @Test(arguments: [1, 10, 1000]) func lengthThatIsTooLarge(pieceSize: Int) {
    var wrong = Self.frame(2)
    wrong[0] = 0xFF
    var depacketizer = RTPDepacketizer()
    let bytes = Self.frame(1) + wrong + Self.frame(3) + Self.frame(4)
    let found = depacketizer.items(of: bytes, pieceSize: pieceSize)
    #expect(found.faults == [.framing(firstBytes: Array(bytes[17..<33])), .lostPackets(expected: 2, got: 3)])
    #expect(Self.numbers(found) == [1, 3, 4])
  }

  @Test func anotherSourceIsTakenWhenConfirmed() {
    var depacketizer = RTPDepacketizer()
    #expect(Self.numbers(depacketizer.items(of: Self.frame(1) + Self.frame(2, source: 9))) == [1])
    let found = depacketizer.items(of: Self.frame(3, source: 9))
    #expect(found.faults == [] && Self.numbers(found) == [2, 3])
  }

  @Test func anotherSourceBehindGarbage() {
    let garbage = [UInt8](repeating: 0x55, count: 9)
    let found = items(Self.frame(1), garbage, Self.frame(50, source: 9), Self.frame(51, source: 9))
    #expect(Self.numbers(found) == [1, 50, 51])
  }

  private func items(_ pieces: [UInt8]...) -> [RTPDepacketizer.Item] {
    var depacketizer = RTPDepacketizer()
    return depacketizer.items(of: pieces.flatMap { $0 })
  }
}

extension RTPFault {
  fileprivate var isFraming: Bool { if case .framing = self { true } else { false } }
}
