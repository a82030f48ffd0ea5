import H264
import TestSupport
import Testing

@Suite struct AccessUnitAssemblerTests {
  private static let sequenceParameterSet: [UInt8] = [0, 0, 0, 1, 0x67, 0x42, 0xC0, 0x1F]
  private static let pictureParameterSet: [UInt8] = [0, 0, 0, 1, 0x68, 0xCE, 0x0F, 0xC8]
  private static let delimiter: [UInt8] = [0, 0, 0, 1, 0x09, 0xF0]
  private static let information: [UInt8] = [0, 0, 1, 0x06, 0x05, 0x01, 0x80]
  private static let keySlice: [UInt8] = [0, 0, 1, 0x65, 0x88, 0x84, 0x3A]
  private static let secondKeySlice: [UInt8] = [0, 0, 1, 0x65, 0x00, 0x96, 0x88]
  private static let slice: [UInt8] = [0, 0, 0, 1, 0x41, 0x9A, 0x20, 0x26]
  private static let secondSlice: [UInt8] = [0, 0, 1, 0x41, 0x00, 0x96, 0x26]

  private static let units: [[UInt8]] = [
    sequenceParameterSet + pictureParameterSet + keySlice + secondKeySlice,
    slice + secondSlice, slice, information + slice, delimiter + slice + secondSlice,
    delimiter + sequenceParameterSet + pictureParameterSet + information + keySlice,
    slice, slice,
  ]
  private static let stream = units.flatMap(\.self)

  private func assemble(_ messages: [[UInt8]]) -> [[UInt8]] {
    var assembler = AccessUnitAssembler()
    var units = messages.flatMap { assembler.append($0) }
    if let last = assembler.flush() { units.append(last) }
    return units
  }

  /// Only the first one has to wait for the second.
  @Test func messagePerAccessUnit() {
    var assembler = AccessUnitAssembler()
    #expect(assembler.append(Self.units[0]) == [])
    #expect(assembler.hasPendingPicture)
    #expect(assembler.append(Self.units[1]) == [Self.units[0], Self.units[1]])
    for unit in Self.units.dropFirst(2) {
      #expect(assembler.append(unit) == [unit])
      #expect(!assembler.hasPendingPicture)
    }
  }

  @Test func messagePerNALUnit() {
    let messages = [
      Self.sequenceParameterSet, Self.pictureParameterSet, Self.keySlice, Self.secondKeySlice, Self.slice,
      Self.secondSlice, Self.slice, Self.information, Self.slice, Self.delimiter, Self.slice, Self.secondSlice,
    ]
    #expect(assemble(messages) == Array(Self.units[..<5]))
  }

  /// Parameter sets in a message of their own, as from some encoders.
  @Test func parameterSetsInMessagesOfTheirOwn() {
    let first = Self.sequenceParameterSet + Self.pictureParameterSet
    var assembler = AccessUnitAssembler()
    for round in 0..<3 {
      #expect(assembler.append(first) == [])
      let units = assembler.append(Self.keySlice)
      #expect(units == (round == 0 ? [] : [first + Self.keySlice]))
      #expect(assembler.append(Self.slice).last == Self.slice)
    }
  }

  @Test(arguments: [1, 2, 3, 5, 7, 16, 100, 1000])
  func pieces(of size: Int) {
    let messages = stride(from: 0, to: Self.stream.count, by: size).map {
      Array(Self.stream[$0..<min($0 + size, Self.stream.count)])
    }
    #expect(assemble(messages) == Self.units)
  }

  @Test(arguments: 0..<30 as Range<UInt64>)
  func randomPieces(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var messages: [[UInt8]] = []
    // So small that none begins like an access unit, after which messages would count as whole access units.
    var rest = (Self.stream + Self.stream)[...]
    while !rest.isEmpty {
      let count = Int.random(in: 1...3, using: &generator) * 3 - 2
      messages.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    #expect(assemble(messages).flatMap(\.self) == Self.stream + Self.stream)
  }

  @Test func severalInAMessage() {
    var assembler = AccessUnitAssembler()
    #expect(assembler.append(Self.units[0] + Self.units[1]) == [Self.units[0]])
    #expect(assembler.append(Self.units[2] + Self.units[3]) == [Self.units[1], Self.units[2], Self.units[3]])
  }

  @Test func aPictureThatNothingFollows() {
    var assembler = AccessUnitAssembler()
    #expect(assembler.flush() == nil)
    #expect(assembler.append(Self.units[0]) == [])
    #expect(assembler.flush() == Self.units[0])
    #expect(assembler.flush() == nil && !assembler.hasPendingPicture)
    #expect(assembler.append(Self.sequenceParameterSet) == [] && assembler.flush() == nil)
  }

  @Test func memoryIsBounded() {
    var assembler = AccessUnitAssembler(maximumSize: 1000)
    for _ in 0..<100 { #expect(assembler.append([UInt8](repeating: 0x55, count: 100)) == []) }
    #expect(assembler.oversizedCount >= 9)
    #expect(assembler.append(Self.units[0]).isEmpty)
    #expect(assembler.append(Self.slice).last.map { $0.suffix(Self.keySlice.count) } != nil)
  }

  /// num_units_in_tick and time_scale; a tick is a field.
  @Test func frameRateOfTheStream() throws {
    // x264 for 15 frames per second, 800×480.
    let parameters = try SequenceParameterSet(
      nalUnit: [
        0x67, 0x42, 0xC0, 0x1F, 0xDA, 0x03, 0x20, 0xF6, 0xC0, 0x44, 0x00, 0x00, 0x03, 0x00, 0x04, 0x00, 0x00, 0x03,
        0x00, 0xF2, 0x3C, 0x60, 0xCA, 0x80,
      ])
    let rate = try #require(parameters.frameRate)
    #expect(Double(rate.numerator) / Double(rate.denominator) == 30)
  }
}
