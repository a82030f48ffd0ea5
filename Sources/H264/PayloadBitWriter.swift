/// Writes the syntax elements of a NAL unit's payload, the most significant bit first (H.264, 7.2 and 9.1).
struct PayloadBitWriter {
  private var bytes: [UInt8] = []
  private var bitCount = 0

  /// u(1).
  mutating func flag(_ value: Bool) {
    if bitCount % 8 == 0 { bytes.append(0) }
    if value { bytes[bytes.count - 1] |= 0x80 >> UInt8(bitCount % 8) }
    bitCount += 1
  }

  /// u(`count`).
  mutating func bits(_ value: Int, _ count: Int) {
    for shift in (0..<count).reversed() { flag(value >> shift & 1 == 1) }
  }

  /// ue(v) of a value that is not negative.
  mutating func unsigned(_ value: Int) {
    let code = value + 1
    let length = Int.bitWidth - code.leadingZeroBitCount
    bits(0, length - 1)
    bits(code, length)
  }

  /// se(v).
  mutating func signed(_ value: Int) {
    unsigned(value > 0 ? 2 * value - 1 : -2 * value)
  }

  /// Ones up to the next byte: cabac_alignment_one_bit.
  mutating func alignWithOnes() {
    while bitCount % 8 != 0 { flag(true) }
  }

  /// The NAL unit with start code and `header`, with emulation prevention bytes. The last bit written has to be the
  /// stop bit; zeros fill up its byte.
  func nalUnit(header: UInt8) -> [UInt8] {
    var unit: [UInt8] = [0, 0, 0, 1, header]
    var zeros = 0
    for byte in bytes {
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
