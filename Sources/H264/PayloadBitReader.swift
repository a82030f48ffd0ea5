/// Reads the syntax elements of a NAL unit's payload, from the most significant bit (H.264, 7.2 and 9.1).
struct PayloadBitReader {
  private var bytes: [UInt8] = []
  /// The offset of the byte after the one that is being read.
  private var nextIndex = 0
  /// The number of zero bytes directly before that offset.
  private var zeros = 0
  private var current: UInt8 = 0
  /// The number of bits in `current`, from the lowest, that are not read yet.
  private var unreadBitCount = 0
  private(set) var position = 0

  /// Creates a reader without bytes; ``restart(payload:maximumByteCount:)`` gives it some.
  init() {}

  /// Creates a reader of the bytes after the NAL unit's header, of no more than `maximumByteCount`. Emulation
  /// prevention bytes (00 00 **03**) are skipped.
  init(payload: some Collection<UInt8>, maximumByteCount: Int) {
    restart(payload: payload, maximumByteCount: maximumByteCount)
  }

  /// Starts to read another payload; allocates only if it is longer than any before.
  mutating func restart(payload: some Collection<UInt8>, maximumByteCount: Int) {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: payload.prefix(maximumByteCount))
    nextIndex = 0
    zeros = 0
    unreadBitCount = 0
    position = 0
  }

  private mutating func readByte() throws(SequenceParameterSet.Malformed) {
    if zeros >= 2, nextIndex < bytes.count, bytes[nextIndex] == 3 {
      zeros = 0
      nextIndex += 1
    }
    guard nextIndex < bytes.count else { throw .truncated }
    current = bytes[nextIndex]
    nextIndex += 1
    zeros = current == 0 ? zeros + 1 : 0
    unreadBitCount = 8
  }

  /// u(1).
  mutating func flag() throws(SequenceParameterSet.Malformed) -> Bool {
    if unreadBitCount == 0 { try readByte() }
    unreadBitCount -= 1
    position += 1
    return current >> unreadBitCount & 1 == 1
  }

  /// u(`count`), at most 32 bits.
  mutating func bits(_ count: Int) throws(SequenceParameterSet.Malformed) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<count { value = value << 1 | (try flag() ? 1 : 0) }
    return value
  }

  /// u(8).
  mutating func byte() throws(SequenceParameterSet.Malformed) -> UInt8 {
    UInt8(truncatingIfNeeded: try bits(8))
  }

  /// ue(v), which the standard keeps below 2³² − 1; `name` is the syntax element's.
  mutating func unsigned(
    _ name: String, in range: ClosedRange<Int> = 0...0xFFFF_FFFE
  ) throws(SequenceParameterSet.Malformed) -> Int {
    var zeros = 0
    while try !flag() {
      zeros += 1
      guard zeros < 32 else { throw .outOfRange(name) }
    }
    let value = (1 << zeros) - 1 + Int(try bits(zeros))
    guard range.contains(value) else { throw .outOfRange(name) }
    return value
  }

  /// se(v); `name` is the syntax element's.
  mutating func signed(
    _ name: String, in range: ClosedRange<Int> = -0x7FFF_FFFF...0x7FFF_FFFF
  ) throws(SequenceParameterSet.Malformed) -> Int {
    let code = try unsigned(name)
    let value = code % 2 == 1 ? (code + 1) / 2 : -(code / 2)
    guard range.contains(value) else { throw .outOfRange(name) }
    return value
  }
}
