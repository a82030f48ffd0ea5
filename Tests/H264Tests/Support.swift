/// The NAL unit with its length in front, in so many bytes.
func lengthPrefixed(_ unit: [UInt8], byteCount: Int) -> [UInt8] {
  let length = (0..<byteCount).reversed().map { UInt8(truncatingIfNeeded: unit.count >> ($0 * 8)) }
  return length + unit
}

/// Builds payload bits, the most significant first.
struct BitWriter {
  private(set) var bits: [Bool] = []

  mutating func flag(_ value: Bool) {
    bits.append(value)
  }

  mutating func bits(_ value: UInt32, _ count: Int) {
    for shift in (0..<count).reversed() { bits.append(value >> shift & 1 == 1) }
  }

  /// ue(v).
  mutating func unsigned(_ value: UInt32) {
    let code = UInt64(value) + 1
    let length = 64 - code.leadingZeroBitCount
    for _ in 1..<length { bits.append(false) }
    for shift in (0..<length).reversed() { bits.append(code >> UInt64(shift) & 1 == 1) }
  }

  /// se(v).
  mutating func signed(_ value: Int) {
    unsigned(UInt32(value > 0 ? value * 2 - 1 : -value * 2))
  }

  /// A NAL unit with `header`: stop bit, alignment and emulation prevention added.
  func nalUnit(header: UInt8) -> [UInt8] {
    var padded = bits + [true]
    while padded.count % 8 != 0 { padded.append(false) }
    var unit = [header]
    var zeros = 0
    for start in stride(from: 0, to: padded.count, by: 8) {
      let byte = padded[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
      if zeros == 2, byte <= 3 {
        unit.append(3)
        zeros = 0
      }
      zeros = byte == 0 ? zeros + 1 : 0
      unit.append(byte)
    }
    return unit
  }
}
