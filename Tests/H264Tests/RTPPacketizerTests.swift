import H264
import TestSupport
import Testing

@Suite struct RTPPacketizerTests {
  @Test func wholeUnits() {
    var packetizer = RTPPacketizer.test()
    #expect(
      packetizer.packets(of: annexB([RTPVector.sps, RTPVector.pps, RTPVector.idr])) == RTPVector.wholeUnits)
  }

  /// Receivers would take them for aggregates and pieces.
  @Test(arguments: [false, true]) func unitsThatRTPCannotCarryAreLeftOut(areLast: Bool) {
    let types: [UInt8] = [0] + Array(24...31)
    let others = types.map { [0x60 | $0, 1, 2, 3] }
    let wanted = [RTPVector.sps, RTPVector.pps, RTPVector.idr]
    var packetizer = RTPPacketizer.test()
    let accessUnit = annexB(areLast ? wanted + others : others + wanted)
    accessUnit.withUnsafeBytes { bytes in
      #expect(packetizer.packets(of: bytes, at: .zero).leftOutCount == types.count)
    }
    packetizer = .test()
    #expect(packetizer.packets(of: accessUnit) == RTPVector.wholeUnits)
    packetizer = .test()
    #expect(packetizer.packets(of: annexB(others)) == [])
    #expect(packetizer.packets(of: annexB(wanted)) == RTPVector.wholeUnits)
  }

  @Test func fragments() {
    var packetizer = RTPPacketizer.test(0x1003, 0xCAA7, packetSize: 24)
    #expect(
      packetizer.packets(of: annexB([RTPVector.fragmentedUnit])) == RTPVector.withOneMarker(RTPVector.fragments))
  }

  @Test func fragmentsAtTheLimitOfTheLength() {
    var packetizer = RTPPacketizer.test(0x1006, 0xD65F)
    let unit = joined([0x65], [UInt8](repeating: 0, count: 69_998), [0x80])
    let packets = packetizer.packets(of: annexB([unit]))
    #expect(packets.map(\.count) == [0x10001, 0x118E])
    #expect(packets.map { Array($0.prefix(18)) } == RTPVector.withOneMarker(RTPVector.largeFragments))
  }

  /// P2: four packets of one picture in two slices.
  @Test func markerAndTimestamp() {
    var packetizer = RTPPacketizer.test()
    let accessUnit = annexB([RTPVector.sps, RTPVector.pps, RTPVector.idr, RTPVector.idr])
    let headers = accessUnit.withUnsafeBytes { packetizer.packets(of: $0, at: .zero).map(\.header) }
    #expect(headers.map(\.hasMarker) == [false, false, false, true])
    #expect(headers.map(\.sequenceNumber) == [0x1000, 0x1001, 0x1002, 0x1003])
    #expect(headers.allSatisfy { $0.timestamp == 0xBEEF && $0.payloadType == 96 })
    #expect(headers.allSatisfy { $0.synchronizationSource == 0x1122_3344 })
  }

  /// P3, and the same at other rates; times are cut to nanoseconds, as GStreamer does.
  @Test(arguments: [
    (15, 1, [0, 6000, 12_000, 18_000]), (30, 1, [0, 3000, 6000, 9000]), (25, 1, [0, 3600, 7200, 10_800]),
    (30_000, 1001, [0, 3003, 6006, 9009]), (7, 1, [0, 12_857, 25_714, 38_571]), (1, 1, [0, 90_000, 180_000, 270_000]),
  ])
  func timestamps(numerator: Int64, denominator: Int64, expected: [UInt32]) {
    for start in [Int64(0), 5, 3600, 360_000_000] {
      var packetizer = RTPPacketizer.test(0, 0)
      let timestamps = (Int64(0)..<4).map { index in
        let nanoseconds = index * 1_000_000_000 * denominator / numerator
        return timestamp(&packetizer, .seconds(start) + .nanoseconds(nanoseconds))
      }
      #expect(timestamps == expected)
    }
  }

  private func timestamp(_ packetizer: inout RTPPacketizer, _ time: Duration) -> UInt32? {
    annexB([RTPVector.idr]).withUnsafeBytes {
      packetizer.packets(of: $0, at: time).first { _ in true }?.header.timestamp
    }
  }

  @Test func timestampsDoNotDrift() {
    var packetizer = RTPPacketizer.test(0, 0)
    var last: UInt32?
    for index in 0...100_000 { last = timestamp(&packetizer, .nanoseconds(index * 1_000_000_000 / 60)) }
    #expect(last == 150_000_000)
  }

  @Test func timestampsAlwaysGrow() {
    var packetizer = RTPPacketizer.test(0, 100)
    let times: [Duration] = [
      .zero, .zero, .nanoseconds(1), .seconds(1), .milliseconds(500), .milliseconds(1500), .seconds(-3), .seconds(-2),
    ]
    #expect(
      times.map { timestamp(&packetizer, $0) } == [100, 101, 102, 90_102, 90_103, 180_103, 180_104, 270_104])
  }

  @Test func numbersWrap() {
    var packetizer = RTPPacketizer.test(0xFFFF, 0xFFFF_FFFF)
    let first = packetizer.packets(of: annexB([RTPVector.sps, RTPVector.pps]), at: .zero)
    let second = packetizer.packets(of: annexB([RTPVector.idr]), at: .seconds(1))
    #expect(first.map { Array($0[4..<10]) } == [[UInt8](hex: "FFFF FFFFFFFF"), [UInt8](hex: "0000 FFFFFFFF")])
    #expect(second.map { Array($0[4..<10]) } == [[UInt8](hex: "0001 00015F8F")])
  }

  @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .nanoseconds(-1)]) func absurdTimes(
    time: Duration
  ) {
    var packetizer = RTPPacketizer.test(0, 7)
    #expect(timestamp(&packetizer, time) == 7)
    #expect(timestamp(&packetizer, .zero) != 7)
    #expect(timestamp(&packetizer, time) != nil)
  }

  /// NAL units that just fit, and of one byte less and more, in packets of all small sizes.
  @Test(arguments: 15...40) func sizesAroundTheLimit(packetSize: Int) {
    for size in 1...3 * packetSize {
      var packetizer = RTPPacketizer.test(packetSize: packetSize)
      let unit = [0x41] + [UInt8](repeating: 0xAB, count: size - 1)
      let packets = packetizer.packets(of: annexB([unit]))
      let capacity = packetSize - 14
      #expect(packets.count == (size <= packetSize - 12 ? 1 : (size - 2) / capacity + 1))
      #expect(packets.allSatisfy { $0.count <= packetSize + 2 })
      // No piece may be first and last at once (RFC 6184, 5.8).
      let fragments = packets.filter { $0[14] & 0x1F == 28 }
      #expect(fragments.isEmpty == (size <= packetSize - 12))
      #expect(fragments.allSatisfy { $0[15] & 0xC0 != 0xC0 && $0.count > 16 })
      #expect(fragments.map { $0[15] & 0x80 != 0 } == fragments.indices.map { $0 == 0 })
      #expect(fragments.map { $0[15] & 0x40 != 0 } == fragments.indices.map { $0 == fragments.count - 1 })
    }
  }

  @Test func largestWholeUnit() {
    var packetizer = RTPPacketizer.test()
    let unit = [UInt8](repeating: 0x65, count: 65_523)
    #expect(packetizer.packets(of: annexB([unit])).map { Array($0.prefix(3)) } == [[0xFF, 0xFF, 0x80]])
    #expect(packetizer.packets(of: annexB([unit + [1]])).map(\.count) == [65_537, 18])
  }

  @Test(arguments: [(Int.min, 15), (0, 15), (16, 16), (65_536, 65_535), (Int.max, 65_535)])
  func packetSizeIsBroughtIntoRange(asked: Int, got: Int) {
    #expect(RTPPacketizer.test(packetSize: asked).packetSize == got)
  }

  @Test func countsAgree() {
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<500 {
      let accessUnit = annexB(randomUnits(using: &generator))
      var packetizer = RTPPacketizer.test(packetSize: Int.random(in: 15...300, using: &generator))
      accessUnit.withUnsafeBytes { bytes in
        let packets = packetizer.packets(of: bytes, at: .zero)
        let written = stream(packets, of: bytes)
        #expect(packets.packetCount == written.count && packets.underestimatedCount == written.count)
        #expect(packets.byteCount == written.reduce(0) { $0 + $1.count })
      }
    }
  }

  /// Delimiters are sent; the receiver skips them.
  @Test func everyUnitGoesAsItIs() {
    var packetizer = RTPPacketizer.test()
    let units: [[UInt8]] = [
      [9, 0xF0], RTPVector.sps, RTPVector.pps, [6, 5, 1, 0x80], RTPVector.idr, [12, 0x80], [10],
    ]
    #expect(packetizer.packets(of: annexB(units)).map { Array($0[14...]) } == units)
  }

  @Test(arguments: [[], [0, 0, 0, 1], [1, 2, 3], [0, 0, 1, 0, 0, 1]] as [[UInt8]])
  func nothingToSendTakesNoNumbers(bytes: [UInt8]) {
    var packetizer = RTPPacketizer.test()
    #expect(packetizer.packets(of: bytes, at: .zero).isEmpty)
    #expect(
      packetizer.packets(of: annexB([RTPVector.idr]), at: .seconds(5)).first?[4..<10] == [0x10, 0, 0, 0, 0xBE, 0xEF])
  }

  @Test func accessUnitInTwoParts() {
    var packetizer = RTPPacketizer.test()
    let headers = packetizer.packets(of: annexB([RTPVector.sps, RTPVector.pps]), at: .zero, endsAccessUnit: false)
    let picture = packetizer.packets(of: annexB([RTPVector.idr]), at: .seconds(9))
    #expect(headers + picture == RTPVector.wholeUnits)
    #expect(packetizer.packets(of: annexB([RTPVector.idr]), at: .seconds(1)).first?[6..<10] == [0, 2, 0x1E, 0x7F])
  }

  /// The next one has a time of its own all the same.
  @Test func accessUnitWithNothingInItsRest() {
    var packetizer = RTPPacketizer.test()
    let begun = packetizer.packets(of: annexB([RTPVector.idr]), at: .zero, endsAccessUnit: false)
    #expect(begun.first?[6..<10] == [0, 0, 0xBE, 0xEF])
    #expect(packetizer.packets(of: [], at: .zero).isEmpty)
    #expect(packetizer.packets(of: annexB([RTPVector.idr]), at: .seconds(1)).first?[6..<10] == [0, 2, 0x1E, 0x7F])
    // A first part with nothing in it begins none.
    #expect(packetizer.packets(of: [], at: .seconds(5), endsAccessUnit: false).isEmpty)
    #expect(packetizer.packets(of: annexB([RTPVector.idr]), at: .seconds(2)).first?[6..<10] == [0, 3, 0x7E, 0x0F])
  }

  @Test func aCopyTakesNumbersBack() {
    var packetizer = RTPPacketizer.test()
    var attempt = packetizer
    let accessUnit = annexB([RTPVector.idr])
    let dropped = attempt.packets(of: accessUnit)
    #expect(packetizer.packets(of: accessUnit) == dropped)
  }

  @Test func randomNumbersOfEachStart() {
    var generator = SeededGenerator(seed: 4)
    var packetizer = RTPPacketizer(packetSize: 1400, using: &generator)
    let first = packetizer.packets(of: annexB([RTPVector.idr])).first
    packetizer.restart(using: &generator)
    let second = packetizer.packets(of: annexB([RTPVector.idr])).first
    #expect(packetizer.packetSize == 1400)
    #expect(first?[4..<6] != second?[4..<6] && first?[6..<10] != second?[6..<10])
    #expect(first?[10..<14] == second?[10..<14])
  }
}
