import H264
import TestSupport
import Testing

@Suite struct OutputOrderTests {
  /// Four bits of `frame_num`; four of the order count, or type 1 or 2.
  private static func sequence(
    profile: UInt32 = 77, orderCountType: UInt32 = 0, reordering: UInt32? = nil, isProgressive: Bool = true,
    hasSeparatePlanes: Bool = false
  ) -> [UInt8] {
    var writer = BitWriter()
    writer.bits(profile, 8)
    writer.bits(0, 8)
    writer.bits(31, 8)
    writer.unsigned(0)
    if hasSeparatePlanes {
      // 4:4:4 in 8 bits.
      writer.unsigned(3)
      writer.flag(true)
      for _ in 0..<2 { writer.unsigned(0) }
      for _ in 0..<2 { writer.flag(false) }
    }
    writer.unsigned(0)
    writer.unsigned(orderCountType)
    if orderCountType == 0 { writer.unsigned(0) }
    if orderCountType == 1 {
      writer.flag(true)
      for _ in 0..<2 { writer.signed(0) }
      writer.unsigned(0)
    }
    writer.unsigned(4)
    writer.flag(false)
    writer.unsigned(19)
    writer.unsigned(14)
    writer.flag(isProgressive)
    if !isProgressive { writer.flag(false) }
    for flag in [true, false] { writer.flag(flag) }
    writer.flag(reordering != nil)
    if let reordering {
      // Nothing but the restrictions of the bit stream.
      for flag in [false, false, false, false, false, false, false, false, true, true] { writer.flag(flag) }
      for value in [0, 0, 10, 10, reordering, 4] { writer.unsigned(value) }
    }
    return [0, 0, 1] + writer.nalUnit(header: 0x67)
  }

  private static var picture: [UInt8] {
    var writer = BitWriter()
    for value: UInt32 in [0, 0] { writer.unsigned(value) }
    writer.flag(false)
    writer.flag(false)
    for value: UInt32 in [0, 0, 0] { writer.unsigned(value) }
    writer.flag(false)
    writer.bits(0, 2)
    for _ in 0..<3 { writer.signed(0) }
    for _ in 0..<3 { writer.flag(false) }
    return [0, 0, 1] + writer.nalUnit(header: 0x68)
  }

  private enum Kind: UInt8 {
    case idr = 0x65
    case reference = 0x41
    case other = 0x01
  }

  private static func slice(
    _ kind: Kind, _ orderCount: UInt32, firstMacroblock: UInt32 = 0, plane: UInt32? = nil
  ) -> [UInt8] {
    var writer = BitWriter()
    writer.unsigned(firstMacroblock)
    writer.unsigned(kind == .idr ? 7 : kind == .reference ? 5 : 6)
    writer.unsigned(0)
    if let plane { writer.bits(plane, 2) }
    writer.bits(0, 4)
    if kind == .idr { writer.unsigned(0) }
    writer.bits(orderCount % 16, 4)
    writer.bits(0x5A5A, 16)
    return [0, 0, 1] + writer.nalUnit(header: kind.rawValue)
  }

  private func places(_ units: [[UInt8]]) -> [OutputOrder.Place] {
    var order = OutputOrder()
    return units.map { unit in unit.withUnsafeBytes { order.observe($0) } }
  }

  private static func keyFrame(_ sequence: [UInt8] = sequence(), count: UInt32 = 0) -> [UInt8] {
    sequence + picture + slice(.idr, count)
  }

  /// The low bits wrap every eight pictures; those of pictures that are no references do not count for the next.
  @Test func countsOnBehindTheWrap() {
    var units = [Self.keyFrame()]
    var expected = [OutputOrder.Place.first(count: 0, reordering: nil)]
    for group in 0..<40 {
      let first = group * 6
      for (kind, count) in [(Kind.reference, first + 6), (.other, first + 2), (.other, first + 4)] {
        units.append(Self.slice(kind, UInt32(count)))
        expected.append(.further(count: count))
      }
    }
    #expect(places(units) == expected)
    // Each key frame begins anew.
    units += [Self.keyFrame(), Self.slice(.reference, 2)]
    #expect(places(units).suffix(2) == [expected[0], .further(count: 2)])
  }

  @Test func countsBelowTheReference() {
    let units = [Self.keyFrame(count: 1), Self.slice(.other, 15), Self.slice(.reference, 3)]
    #expect(places(units) == [.first(count: 1, reordering: nil), .further(count: -1), .further(count: 3)])
  }

  /// Half of what the low bits count: the count that lies ahead.
  @Test func farFromTheReference() {
    #expect(
      places([Self.keyFrame(), Self.slice(.reference, 8)]) == [.first(count: 0, reordering: nil), .further(count: 8)])
    #expect(
      places([Self.keyFrame(count: 8), Self.slice(.reference, 0), Self.slice(.other, 2)]) == [
        .first(count: 8, reordering: nil), .further(count: 16), .further(count: 18),
      ])
    #expect(
      places([Self.keyFrame(), Self.slice(.reference, 9)]) == [.first(count: 0, reordering: nil), .further(count: -7)])
  }

  /// Slices of such a stream say which plane they are of.
  @Test func separateColourPlanes() {
    let sequence = Self.sequence(profile: 244, hasSeparatePlanes: true)
    let units = [
      sequence + Self.picture + Self.slice(.idr, 0, plane: 0), Self.slice(.reference, 6, plane: 0),
    ]
    #expect(places(units) == [.first(count: 0, reordering: nil), .further(count: 6)])
  }

  /// Pictures of fields, and those whose first slice is missing; the next key frame is known again.
  @Test func picturesThatAreNotWhole() {
    #expect(places([Self.keyFrame(Self.sequence(isProgressive: false))]) == [.unknown])
    let units = [
      Self.keyFrame(), Self.slice(.reference, 2, firstMacroblock: 20), Self.slice(.reference, 4), Self.keyFrame(),
    ]
    let first = OutputOrder.Place.first(count: 0, reordering: nil)
    #expect(places(units) == [first, .unknown, .unknown, first])
  }

  @Test func numberOfReorderedPictures() {
    #expect(places([Self.keyFrame(Self.sequence(reordering: 2))]) == [.first(count: 0, reordering: 2)])
  }

  @Test(arguments: [(66, 0, nil), (77, 2, nil), (77, 0, 0)] as [(UInt32, UInt32, UInt32?)])
  func decodingOrder(profile: UInt32, orderCountType: UInt32, reordering: UInt32?) {
    let sequence = Self.sequence(profile: profile, orderCountType: orderCountType, reordering: reordering)
    #expect(places([Self.keyFrame(sequence), Self.slice(.reference, 2)]) == [.inOrder, .inOrder])
  }

  @Test func whatIsUnknown() {
    #expect(places([Self.keyFrame(Self.sequence(orderCountType: 1))]) == [.unknown])
    // No parameter sets, no key frame, nothing at all.
    #expect(places([Self.slice(.idr, 0), Self.slice(.reference, 2)]) == [.unknown, .unknown])
    #expect(places([Self.sequence() + Self.picture + Self.slice(.reference, 2)]) == [.unknown])
    #expect(places([[], [0, 0, 1], Self.sequence(), [0, 0, 1, 0x65]]) == [.unknown, .unknown, .unknown, .unknown])
    // After a picture that can't be read, the next key frame.
    let units = [Self.keyFrame(), [0, 0, 1, 0x41], Self.slice(.reference, 2), Self.slice(.idr, 0)]
    #expect(
      places(units) == [
        .first(count: 0, reordering: nil), .unknown, .unknown, .first(count: 0, reordering: nil),
      ])
  }

  @Test func anyBytes() {
    let seed = testSeed()
    var random = SeededGenerator(seed: seed)
    var order = OutputOrder()
    for _ in 0..<4000 {
      var unit = Self.keyFrame() + Self.slice(.reference, 2)
      for _ in 0..<4 { unit[Int.random(in: 0..<unit.count, using: &random)] = .random(in: 0...255, using: &random) }
      let place = unit.withUnsafeBytes { order.observe($0) }
      if case .first(let count, _) = place { #expect((0..<65536).contains(count), "seed \(seed)") }
    }
  }
}
