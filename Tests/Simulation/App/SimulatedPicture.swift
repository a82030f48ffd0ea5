import TestSupport

/// H.264 without pictures: parameter sets of a size, and slices that hold a number and nothing else. What arrives can
/// be told from what was sent, and what it refers to from what is there.
enum SimulatedPicture {
  private static let startCode: [UInt8] = [0, 0, 0, 1]

  /// An access unit of about `byteCount` bytes.
  static func accessUnit(_ number: Int, isKeyFrame: Bool, size: (width: Int, height: Int), byteCount: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    if isKeyFrame {
      bytes += startCode + parameterSet(width: size.width, height: size.height)
      bytes += startCode + [0x68, 0xCE, 0x0F, 0xC8]
    }
    bytes += joined(startCode, [isKeyFrame ? 0x65 : 0x41, 0x88], digits(number))
    for index in 0..<max(byteCount - bytes.count, 1) { bytes.append(filler(number, index)) }
    return bytes
  }

  /// Nil for what can't have been sent.
  static func parse(_ bytes: [UInt8]) -> (number: Int, isKeyFrame: Bool)? {
    var start = bytes.startIndex
    // Parameter sets have no further byte sequence of this kind.
    for index in bytes.indices.dropLast(4) where bytes[index..<(index + 4)].elementsEqual(startCode) {
      start = index + 4
      if bytes[start] == 0x65 || bytes[start] == 0x41 { break }
    }
    let slice = bytes[start...]
    guard slice.count > 6, slice[start] == 0x65 || slice[start] == 0x41 else { return nil }
    let number = slice[(start + 2)..<(start + 6)].reduce(0) { $0 << 7 | Int($1 & 0x7F) }
    for (index, byte) in slice.dropFirst(6).enumerated() where byte != filler(number, index) { return nil }
    return (number, slice[start] == 0x65)
  }

  /// Bytes that are never 0, so that nothing looks like a start code.
  private static func digits(_ number: Int) -> [UInt8] {
    [21, 14, 7, 0].map { UInt8(number >> $0 & 0x7F) | 0x80 }
  }

  private static func filler(_ number: Int, _ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: number &+ index) | 0x80 }

  /// A sequence parameter set (H.264, 7.3.2.1.1) of constrained baseline.
  private static func parameterSet(width: Int, height: Int) -> [UInt8] {
    var bits: [Bool] = []
    func write(_ value: Int, bits count: Int) {
      for bit in (0..<count).reversed() { bits.append(value >> bit & 1 == 1) }
    }
    func writeExpGolomb(_ value: Int) {
      let length = Int.bitWidth - (value + 1).leadingZeroBitCount
      write(0, bits: length - 1)
      write(value + 1, bits: length)
    }
    let (columns, rows) = ((width + 15) / 16, (height + 15) / 16)
    // Id, log2_max_frame_num, order type 2, one reference, no gaps.
    for value in [0, 0, 2, 1] { writeExpGolomb(value) }
    write(0, bits: 1)
    writeExpGolomb(columns - 1)
    writeExpGolomb(rows - 1)
    write(0b11, bits: 2)
    let (right, bottom) = ((columns * 16 - width) / 2, (rows * 16 - height) / 2)
    write(right + bottom > 0 ? 1 : 0, bits: 1)
    if right + bottom > 0 { for value in [0, right, 0, bottom] { writeExpGolomb(value) } }
    // No usability information; the stop bit.
    write(0b01, bits: 2)
    while !bits.count.isMultiple(of: 8) { bits.append(false) }
    var bytes: [UInt8] = [0x67, 66, 0xC0, 31]
    var zeros = 0
    for start in stride(from: 0, to: bits.count, by: 8) {
      let byte = bits[start..<(start + 8)].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
      if zeros == 2, byte <= 3 {
        bytes.append(3)
        zeros = 0
      }
      zeros = byte == 0 ? zeros + 1 : 0
      bytes.append(byte)
    }
    return bytes
  }
}
