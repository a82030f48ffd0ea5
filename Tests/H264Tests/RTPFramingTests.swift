import H264
import TestSupport
import Testing

/// The lengths in front of the packets (RFC 4571).
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

  /// A length that is one too small or too large, a packet that is cut off, and bytes between two packets.
  @Test(arguments: 0...3, [1, 7, 1000]) func nothingIsReadBehindAnError(error: Int, pieceSize: Int) {
    var second = Self.frame(2)
    switch error {
    case 0: second[1] -= 1
    case 1: second[1] += 1
    case 2: second.removeLast()
    default: second += [0x00, 0x01, 0x41]
    }
    var depacketizer = RTPDepacketizer()
    let found = depacketizer.items(of: Self.frame(1) + second, pieceSize: pieceSize)
    let rest = (3...1000).flatMap { Self.frame($0) }
    let all = found + depacketizer.items(of: rest, pieceSize: pieceSize)
    #expect(all.faults.filter(\.isFraming).count == 1 && all.faults.last?.isFraming == true)
    #expect(Self.numbers(all) == [1, 2])
    #expect(depacketizer.bufferedByteCount == 0)
  }

  /// The bytes from the wrong length on.
  @Test func faultShowsThePlace() {
    let found = items(Self.frame(1), [0x00, 0x01, 0x41], Self.frame(2))
    let firstBytes = joined([0x00, 0x01, 0x41], Array(Self.frame(2).prefix(13)))
    #expect(found.faults == [.framing(firstBytes: firstBytes)])
  }

  @Test func anotherSource() {
    let found = items(Self.frame(1), Self.frame(2, source: 9), Self.frame(3, source: 9))
    #expect(found.faults == [] && Self.numbers(found) == [1, 2, 3])
  }

  private func items(_ pieces: [UInt8]...) -> [RTPDepacketizer.Item] {
    var depacketizer = RTPDepacketizer()
    return depacketizer.items(of: pieces.flatMap { $0 })
  }
}

extension RTPFault {
  fileprivate var isFraming: Bool { if case .framing = self { true } else { false } }
}
