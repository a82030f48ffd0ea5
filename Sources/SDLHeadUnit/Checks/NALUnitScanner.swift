import H264

/// Finds NAL units in a byte stream that may be split anywhere, and keeps only the bytes of one of them that the checks
/// need.
///
/// The protocol carries one byte stream; apps may split an access unit over several messages (SDL's Android library
/// does), so that a start code can begin in one message and end in the next.
struct NALUnitScanner: Sendable {
  /// The beginning of a NAL unit, from its header byte on.
  typealias Prefix = [UInt8]

  /// Longest parameter set that is kept whole; real ones take 10–60 bytes.
  private static let maximumParameterSet = 512
  /// Enough for a recovery point behind other short messages.
  private static let supplementalPrefix = 64
  /// Header byte, and the first byte of a slice header, which tells the first slice of a picture.
  private static let ordinaryPrefix = 2

  private var zeros = 0
  /// The beginning of the NAL unit that ``next(in:)`` found last, or is in.
  private(set) var prefix: Prefix = []
  private var isInside = false
  private var isDelivered = false
  /// The first byte before any start code that is not padding.
  private(set) var firstStrayByte: UInt8?

  /// Scans the next bytes, and removes them, up to where the beginning of a NAL unit is known; that is ``prefix`` until
  /// the next call. A sequence parameter set and a short unit of SEI come when the next start code shows their end, other
  /// units as soon as their first bytes are there.
  /// - Returns: whether there is one; false when all bytes are used.
  mutating func next(in bytes: inout UnsafeRawBufferPointer) -> Bool {
    var index = 0
    defer { bytes = UnsafeRawBufferPointer(rebasing: bytes[index...]) }
    while index < bytes.count {
      if zeros == 0, isDelivered || !isInside {
        // A byte above 1 can't be part of a start code that ends with it: look at every third byte only.
        let start = index
        while index + 2 < bytes.count, bytes[index + 2] > 1 { index += 3 }
        if !isInside, index > start, firstStrayByte == nil {
          firstStrayByte = bytes[start..<index].first { $0 != 0 }
        }
        guard index < bytes.count else { return false }
      }
      // The byte is read again when the unit that it ends has been taken.
      if bytes[index] == 1, zeros >= 2, endUnit() { return true }
      index += 1
      if take(bytes[index - 1]) { return true }
    }
    return false
  }

  /// Whether the unit that a start code ends has not been delivered yet.
  private mutating func endUnit() -> Bool {
    guard isInside, !isDelivered else { return false }
    isDelivered = true
    // These zeros belong to the start code.
    while prefix.last == 0 { prefix.removeLast() }
    return !prefix.isEmpty
  }

  /// Whether the beginning of the unit is known with this byte.
  private mutating func take(_ byte: UInt8) -> Bool {
    if byte == 1, zeros >= 2 {
      isInside = true
      isDelivered = false
      prefix.removeAll(keepingCapacity: true)
      zeros = 0
      return false
    }
    zeros = byte == 0 ? min(zeros + 1, 2) : 0
    guard isInside else {
      if byte != 0, firstStrayByte == nil { firstStrayByte = byte }
      return false
    }
    guard !isDelivered else { return false }
    prefix.append(byte)
    let longest =
      switch NALUnitType(header: prefix[0]) {
      case .sequenceParameterSet: Self.maximumParameterSet
      case .supplementalEnhancementInformation: Self.supplementalPrefix
      default: Self.ordinaryPrefix
      }
    isDelivered = prefix.count >= longest
    return isDelivered
  }
}
