import H264
import TestSupport
import Testing

private typealias AccessUnit = RTPDepacketizer.AccessUnit

private func items(_ packets: [UInt8]...) -> [RTPDepacketizer.Item] {
  var depacketizer = RTPDepacketizer()
  return depacketizer.items(of: packets.flatMap { $0 })
}

private func unit(
  _ units: [[UInt8]], _ timestamp: UInt32, hasMarker: Bool = true, hasLoss: Bool = false
) -> RTPDepacketizer.Item {
  .accessUnit(AccessUnit(bytes: annexB(units), timestamp: timestamp, hasMarker: hasMarker, hasLoss: hasLoss))
}

@Suite struct RTPDepacketizerTests {
  static let idr = RTPVector.idr
  static let p: [UInt8] = [0x41, 0x9A, 0x20]

  @Test(arguments: [1, 2, 3, 13, 14, 15, 40, .max]) func vectors(pieceSize: Int) {
    var depacketizer = RTPDepacketizer()
    let large = joined([0x65], [UInt8](repeating: 0, count: 69_998), [0x80])
    let largeFragments = [
      RTPVector.largeFragments[0] + [UInt8](repeating: 0, count: 65_519),
      joined(RTPVector.largeFragments[1], [UInt8](repeating: 0, count: 4475), [0x80]),
    ]
    let packets =
      RTPVector.wholeUnits + RTPVector.withOneMarker(RTPVector.fragments) + RTPVector.withOneMarker(largeFragments)
    let items = depacketizer.items(of: packets.flatMap { $0 }, pieceSize: pieceSize)
    #expect(
      items == [
        unit([RTPVector.sps, RTPVector.pps, Self.idr], 0xBEEF), unit([RTPVector.fragmentedUnit], 0xCAA7),
        unit([large], 0xD65F),
      ])
    #expect(depacketizer.bufferedByteCount == 0)
  }

  /// The early marker bits of SDL's libraries are reported, and the pictures are complete.
  @Test func markerOnEveryFragment() {
    #expect(
      items(RTPVector.fragments.flatMap { $0 }) == [
        .fault(.earlyMarker(sequenceNumber: 0x1003)), .fault(.earlyMarker(sequenceNumber: 0x1004)),
        unit([RTPVector.fragmentedUnit], 0xCAA7),
      ])
  }

  /// RFC 6184, figure 7.
  @Test func aggregate() {
    let payload = joined([0x78, 0, 23], RTPVector.sps, [0, 4], RTPVector.pps, [0, 5], Self.idr, [0, 1, 10])
    #expect(
      items(packet(1, 2, payload: payload)) == [unit([RTPVector.sps, RTPVector.pps, Self.idr, [10]], 2)])
  }

  @Test(arguments: [
    "18", "18 00", "18 00 05", "18 00 00", "18 00 02 41", "18 00 02 41 9A 00", "18 00 02 41 9A 00 00",
    "18 FF FF 41 9A", "7C", "",
  ])
  func brokenPayload(payload: String) {
    let faults = items(packet(7, 2, payload: [UInt8](hex: payload))).faults
    #expect(faults == [.payloadStructure(sequenceNumber: 7)])
  }

  @Test(arguments: [0, 24, 25, 26, 27, 28, 29, 30, 31] as [UInt8]) func typesThatAreNoNALUnit(type: UInt8) {
    if type != 24, type != 28 {
      #expect(items(packet(7, 2, payload: [type, 1, 2, 3])) == [.fault(.payloadType(type))])
    }
    #expect(items(packet(7, 2, payload: [24, 0, 2, type, 2, 0, 1, type])) == [.fault(.payloadType(type))])
    #expect(items(packet(7, 2, payload: [28, 0x80 | type, 2])).first == .fault(.payloadType(type)))
  }

  @Test func contributingSourcesExtensionAndPadding() {
    let sources = [UInt8](repeating: 0xAA, count: 8)
    let headerExtension: [UInt8] = [0xBE, 0xDE, 0, 1, 1, 2, 3, 4]
    let payload = joined(sources, headerExtension, Self.p, [0, 0, 3])
    #expect(items(packet(1, 2, first: 0xB2, payload: payload)) == [unit([Self.p], 2)])
  }

  @Test(
    arguments: [
      (0x8F, "41 9A"), (0x90, "41 9A"), (0x90, "41 9A 00 01"), (0xA0, "41 9A 00"), (0xA0, "41 9A 04"), (0xA0, "41 FF"),
    ] as [(UInt8, String)])
  func brokenPacket(first: UInt8, payload: String) {
    #expect(
      items(packet(9, 2, first: first, payload: [UInt8](hex: payload))) == [
        .fault(.packetStructure(sequenceNumber: 9))
      ])
  }

  @Test func lossBetweenAccessUnits() {
    #expect(
      items(packet(1, 10, payload: Self.idr), packet(3, 20, payload: Self.p), packet(4, 30, payload: Self.p)) == [
        unit([Self.idr], 10), .fault(.lostPackets(expected: 2, got: 3)), unit([Self.p], 20, hasLoss: true),
        unit([Self.p], 30),
      ])
  }

  @Test func lossInsideAnAccessUnit() {
    #expect(
      items(
        packet(1, 10, hasMarker: false, payload: RTPVector.sps), packet(3, 10, payload: Self.idr),
        packet(4, 20, payload: Self.p)) == [
          .fault(.lostPackets(expected: 2, got: 3)), unit([RTPVector.sps, Self.idr], 10, hasLoss: true),
          unit([Self.p], 20),
        ])
  }

  /// Without one of its pieces, the NAL unit is dropped.
  @Test(arguments: 0..<3) func lossOfAFragment(lost: Int) {
    var packets = RTPVector.withOneMarker(RTPVector.fragments)
    packets.remove(at: lost)
    let before = packet(0x1002, 5, payload: Self.p)
    let after = packet(0x1006, 0x1_0000, payload: Self.p)
    let found = items(before + packets.flatMap { $0 } + after)
    #expect(found.faults == [.lostPackets(expected: 0x1003 + UInt16(lost), got: 0x1004 + UInt16(lost))])
    #expect(found.accessUnits.map(\.bytes) == [annexB([Self.p]), annexB([Self.p])])
    // When the last piece is lost, the next packet reveals it.
    #expect(found.accessUnits.map(\.hasLoss) == [false, lost == 2])
  }

  @Test func otherBaseAfterAJump() {
    let found = items(
      packet(1, 50_000, payload: Self.idr), packet(40_000, 10, payload: Self.idr), packet(40_001, 20, payload: Self.p))
    #expect(found.faults == [.lostPackets(expected: 2, got: 40_000)])
    #expect(found.accessUnits.map(\.timestamp) == [50_000, 10, 20])
  }

  @Test func expectedRestart() {
    var depacketizer = RTPDepacketizer()
    #expect(depacketizer.items(of: packet(1, 50_000, payload: Self.idr)).faults == [])
    depacketizer.expectRestart()
    #expect(depacketizer.items(of: packet(400, 10, payload: Self.idr)) == [unit([Self.idr], 10)])
  }

  @Test func missingMarker() {
    #expect(
      items(packet(1, 10, hasMarker: false, payload: Self.idr), packet(2, 20, payload: Self.p)) == [
        .fault(.missingMarker(timestamp: 10)), unit([Self.idr], 10, hasMarker: false), unit([Self.p], 20),
      ])
  }

  @Test func endOfTheStream() {
    var depacketizer = RTPDepacketizer()
    let bytes =
      packet(1, 10, hasMarker: false, payload: Self.idr) + packet(2, 10, hasMarker: false, payload: [0x7C, 0x85, 1])
    #expect(depacketizer.items(of: bytes).isEmpty)
    #expect(
      depacketizer.finish()
        == AccessUnit(bytes: annexB([Self.idr]), timestamp: 10, hasMarker: false, hasLoss: false))
    #expect(depacketizer.finish() == nil)
  }

  @Test(arguments: [(10, 10), (10, 9), (5, 0xFFFF_FFFF), (0, 0x8000_0000)] as [(UInt32, UInt32)])
  func timestampsThatDoNotGrow(previous: UInt32, got: UInt32) {
    #expect(
      items(packet(1, previous, payload: Self.idr), packet(2, got, payload: Self.p)).faults == [
        .timestampNotGrowing(previous: previous, got: got)
      ])
  }

  @Test func numbersWrap() {
    #expect(
      items(packet(0xFFFF, 0xFFFF_FFF0, payload: Self.idr), packet(0, 5, payload: Self.p)) == [
        unit([Self.idr], 0xFFFF_FFF0), unit([Self.p], 5),
      ])
  }

  @Test func fragmentsOutOfPlace() {
    func fragment(_ number: UInt16, _ header: UInt8, hasMarker: Bool = false) -> [UInt8] {
      packet(number, 10, hasMarker: hasMarker, payload: [0x7C, header, 1, 2])
    }
    // A last piece without a first.
    #expect(items(fragment(1, 0x45, hasMarker: true)) == [.fault(.strayFragment(sequenceNumber: 1))])
    // Another type than that of the first piece.
    #expect(
      items(fragment(1, 0x85), fragment(2, 0x41, hasMarker: true)) == [.fault(.strayFragment(sequenceNumber: 2))])
    // A first piece, or a whole NAL unit, before the last piece.
    #expect(
      items(fragment(1, 0x85), fragment(2, 0x81), fragment(3, 0x41, hasMarker: true)) == [
        .fault(.unfinishedNALUnit(type: 5)), unit([[0x61, 1, 2, 1, 2]], 10),
      ])
    #expect(
      items(fragment(1, 0x85), packet(2, 10, payload: Self.p)) == [
        .fault(.unfinishedNALUnit(type: 5)), unit([Self.p], 10),
      ])
    // Another access unit before the last piece.
    #expect(
      items(fragment(1, 0x85), packet(2, 20, payload: Self.p)) == [
        .fault(.missingMarker(timestamp: 10)), .fault(.unfinishedNALUnit(type: 5)), unit([Self.p], 20),
      ])
  }

  /// In Annex B: with the start code, and the header that its pieces do not repeat.
  @Test(arguments: [(0, true), (1, false)]) func largestAccessUnit(excess: Int, isTaken: Bool) {
    var depacketizer = RTPDepacketizer(maximumAccessUnitSize: 1000)
    let rest = [UInt8](repeating: 1, count: 500 + excess)
    let bytes =
      packet(1, 10, hasMarker: false, payload: [0x7C, 0x85] + [UInt8](repeating: 1, count: 495))
      + packet(2, 10, payload: [0x7C, 0x45] + rest)
    let items = depacketizer.items(of: bytes)
    #expect(items.accessUnits.map(\.bytes.count) == (isTaken ? [1000] : []))
    #expect(items.faults == (isTaken ? [] : [.oversizedAccessUnit(limit: 1000)]))
  }

  @Test func oversizedAccessUnitsAreDropped() {
    var depacketizer = RTPDepacketizer(maximumAccessUnitSize: 1000)
    var bytes: [UInt8] = []
    for number in 1...20 as ClosedRange<UInt16> {
      bytes += packet(number, 10, hasMarker: number == 20, payload: [0x65] + [UInt8](repeating: 1, count: 99))
    }
    bytes += packet(21, 20, payload: Self.p)
    #expect(depacketizer.items(of: bytes) == [.fault(.oversizedAccessUnit(limit: 1000)), unit([Self.p], 20)])
  }
}
