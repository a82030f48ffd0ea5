import Glibc
import H264
import TestSupport
import Testing

extension AccessUnitAssembler {
  /// Those that the next message completes.
  fileprivate mutating func accessUnits(in message: [UInt8]) -> [[UInt8]] {
    append(message)
    var units: [[UInt8]] = []
    while let unit = next() { units.append(unit) }
    return units
  }
}

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
    var units = messages.flatMap { assembler.accessUnits(in: $0) }
    if let last = assembler.flush() { units.append(last) }
    return units
  }

  /// Only the first one has to wait for the second.
  @Test func messagePerAccessUnit() {
    var assembler = AccessUnitAssembler()
    #expect(assembler.accessUnits(in: Self.units[0]) == [])
    #expect(assembler.hasPendingPicture)
    #expect(assembler.accessUnits(in: Self.units[1]) == [Self.units[0], Self.units[1]])
    for unit in Self.units.dropFirst(2) {
      #expect(assembler.accessUnits(in: unit) == [unit])
      #expect(!assembler.hasPendingPicture)
    }
  }

  /// A still program's pictures, each of which would wait otherwise.
  @Test func aPauseAfterTheFirstEndsItAndThoseAfterIt() {
    var assembler = AccessUnitAssembler()
    #expect(assembler.accessUnits(in: Self.units[0]) == [])
    #expect(assembler.flush() == Self.units[0])
    #expect(assembler.accessUnits(in: Self.units[1]) == [Self.units[1]])
    assembler.beginStream()
    #expect(assembler.accessUnits(in: Self.units[0]) == [Self.units[0]])
  }

  /// The pause was in the middle of a picture: what comes after it is cut where pictures begin.
  @Test func aPauseInAPicture() {
    var assembler = AccessUnitAssembler()
    #expect(assembler.accessUnits(in: Array(Self.units[0].dropLast(Self.secondKeySlice.count))) == [])
    #expect(assembler.flush() != nil)
    #expect(assembler.accessUnits(in: Self.secondKeySlice) == [])
    #expect(assembler.accessUnits(in: Self.slice) == [Self.secondKeySlice])
    #expect(assembler.accessUnits(in: Self.secondSlice) == [])
    #expect(assembler.accessUnits(in: Self.slice) == [Self.units[1]])
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
      #expect(assembler.accessUnits(in: first) == [])
      let units = assembler.accessUnits(in: Self.keySlice)
      #expect(units == (round == 0 ? [] : [first + Self.keySlice]))
      #expect(assembler.accessUnits(in: Self.slice).last == Self.slice)
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
    #expect(assembler.accessUnits(in: Self.units[0] + Self.units[1]) == [Self.units[0]])
    #expect(assembler.accessUnits(in: Self.units[2] + Self.units[3]) == [Self.units[1], Self.units[2], Self.units[3]])
  }

  /// What begins the next picture is not left at the end of the one before, where some senders put it.
  @Test(arguments: [delimiter, information, sequenceParameterSet + pictureParameterSet])
  func theBeginningOfTheNext(units: [UInt8]) {
    let messages = [Self.units[0], Self.units[1], Self.slice + units, Self.slice, Self.slice]
    #expect(assemble(messages) == [Self.units[0], Self.units[1], Self.slice, units + Self.slice, Self.slice])
  }

  @Test func aPictureThatNothingFollows() {
    var assembler = AccessUnitAssembler()
    #expect(assembler.flush() == nil)
    #expect(assembler.accessUnits(in: Self.units[0]) == [])
    #expect(assembler.flush() == Self.units[0])
    #expect(assembler.flush() == nil && !assembler.hasPendingPicture)
    #expect(assembler.accessUnits(in: Self.sequenceParameterSet) == [] && assembler.flush() == nil)
  }

  /// Nothing of the former stream is in it.
  @Test func anotherStreamOfTheSender() {
    var assembler = AccessUnitAssembler()
    #expect(assembler.accessUnits(in: Self.units[0]) == [])
    assembler.beginStream()
    #expect(!assembler.hasPendingPicture && assembler.flush() == nil)
    #expect(assembler.accessUnits(in: Self.units[0]) == [])
    #expect(assembler.flush() == Self.units[0])
    // A whole one that was not taken.
    assembler.append(Self.slice)
    assembler.beginStream()
    #expect(assembler.next() == nil)
    #expect(assembler.accessUnits(in: Self.units[1]) == [Self.units[1]])
  }

  /// An access unit of exactly the largest size, in two messages, and one of a byte more.
  @Test(arguments: [(0, 0), (1, 1)]) func largestSize(excess: Int, oversizedCount: Int) {
    let unit = joined(Self.keySlice, [UInt8](repeating: 0x55, count: 100))
    var assembler = AccessUnitAssembler(maximumSize: unit.count - excess)
    #expect(assembler.accessUnits(in: Array(unit.prefix(50))) == [])
    #expect(assembler.accessUnits(in: Array(unit.dropFirst(50))) == [])
    #expect(assembler.oversizedCount == oversizedCount)
    #expect(assembler.flush() == (excess == 0 ? unit : nil))
  }

  @Test func memoryIsBounded() {
    var assembler = AccessUnitAssembler(maximumSize: 1000)
    for _ in 0..<100 { #expect(assembler.accessUnits(in: [UInt8](repeating: 0x55, count: 100)) == []) }
    #expect(assembler.oversizedCount >= 9)
    #expect(assembler.accessUnits(in: Self.units[0]).isEmpty)
    #expect(assembler.accessUnits(in: Self.slice).last.map { $0.suffix(Self.keySlice.count) } != nil)
  }

  /// What has come before is neither copied nor searched again.
  @Test(arguments: [[], [0x55], [0, 0, 0, 1, 0x0C, 0xFF], [0, 0, 1, 0x65]] as [[UInt8]])
  func costOfSmallMessages(message: [UInt8]) {
    func time(after size: Int) -> Duration {
      var assembler = AccessUnitAssembler()
      var unitCount = assembler.accessUnits(
        in: joined(Self.keySlice, [UInt8](repeating: 0x55, count: size), [0, 0, 1, 0x41])
      ).count
      let time = processorTime {
        for _ in 0..<2000 { unitCount += assembler.accessUnits(in: message).count }
      }
      #expect(unitCount == 0)
      return time
    }
    // The room for more bytes is made by copying them a few times.
    #expect(time(after: 8 << 20) < time(after: 100) * 4 + .milliseconds(200))
  }

  /// Of this thread.
  private func processorTime(_ body: () -> Void) -> Duration {
    func now() -> Duration {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
    let start = now()
    body()
    return now() - start
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
