import H264

/// Finds NAL units in a byte stream that may be split anywhere, and keeps only the bytes that the checks need.
///
/// The protocol carries one byte stream; apps may split an access unit over several messages (SDL's Android library
/// does), so that a start code can begin in one message and end in the next.
struct NALUnitScanner: Sendable {
  /// The beginning of a NAL unit, from its header byte on.
  typealias Prefix = [UInt8]

  /// Longest parameter set that is kept whole; real ones take 10–60 bytes.
  private static let maximumParameterSet = 512
  /// Header byte, and the first byte of a slice header, which tells the first slice of a picture.
  private static let ordinaryPrefix = 2

  private var zeros = 0
  private var prefix: Prefix = []
  private var isInside = false
  private var isDelivered = false
  /// The first byte before any start code that is not padding.
  private(set) var firstStrayByte: UInt8?

  /// Scans the next bytes; returns the NAL units whose beginning is now known. A sequence parameter set comes when the
  /// next start code shows its end, other units as soon as their first bytes are there.
  mutating func units(in bytes: UnsafeRawBufferPointer) -> [Prefix] {
    var units: [Prefix] = []
    var index = 0
    while index < bytes.count {
      if zeros == 0, isDelivered || !isInside {
        // A byte above 1 can't be part of a start code that ends with it: look at every third byte only.
        let start = index
        while index + 2 < bytes.count, bytes[index + 2] > 1 { index += 3 }
        if !isInside, index > start, firstStrayByte == nil {
          firstStrayByte = bytes[start..<index].first { $0 != 0 }
        }
        guard index < bytes.count else { break }
      }
      take(bytes[index], &units)
      index += 1
    }
    return units
  }

  private mutating func take(_ byte: UInt8, _ units: inout [Prefix]) {
    if byte == 1, zeros >= 2 {
      finish(&units)
      isInside = true
      isDelivered = false
      prefix.removeAll(keepingCapacity: true)
      zeros = 0
      return
    }
    zeros = byte == 0 ? min(zeros + 1, 2) : 0
    guard isInside else {
      if byte != 0, firstStrayByte == nil { firstStrayByte = byte }
      return
    }
    guard !isDelivered else { return }
    prefix.append(byte)
    let isParameterSet = NALUnitType(header: prefix[0]) == .sequenceParameterSet
    if prefix.count >= (isParameterSet ? Self.maximumParameterSet : Self.ordinaryPrefix) {
      isDelivered = true
      units.append(prefix)
    }
  }

  private mutating func finish(_ units: inout [Prefix]) {
    guard isInside, !isDelivered else { return }
    // These zeros belong to the start code that was just found.
    while prefix.last == 0 { prefix.removeLast() }
    if !prefix.isEmpty { units.append(prefix) }
  }
}
