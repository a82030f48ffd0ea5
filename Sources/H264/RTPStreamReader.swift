/// Cuts a byte stream of RTP packets at the lengths in front of them (RFC 4571), whatever the pieces it arrives in.
///
/// Nothing gets lost inside TCP, so a length that doesn't lead to a packet is the sender's fault; and nothing marks where
/// the next packet begins. Therefore such a stream is given up: everything behind that place is ignored. Between calls
/// less than one packet is held, if ``next()`` is called until it returns nil.
struct RTPStreamReader: Sendable {
  enum Item {
    /// `bytes` is the packet in ``buffer``, until the next call of ``append(_:)``.
    case packet(RTPHeader, bytes: Range<Int>)
    /// No packet begins here, and none is read any more.
    case invalidFraming(firstBytes: [UInt8])
  }

  private static let lengthByteCount = 2
  private static let reportedByteCount = 16

  private(set) var buffer: [UInt8] = []
  private var position = 0
  private var isAtStart = true
  private var isGivenUp = false

  var bufferedByteCount: Int { buffer.count - position }

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard !isGivenUp else { return }
    // Moves no more bytes than have been consumed since the last time.
    if position * 2 >= buffer.count {
      buffer.removeSubrange(0..<position)
      position = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// The next packet, or the place where the framing ends; nil when more bytes are needed.
  mutating func next() -> Item? {
    while bufferedByteCount >= Self.lengthByteCount {
      let size = Int(buffer[position]) << 8 | Int(buffer[position + 1])
      let start = position + Self.lengthByteCount
      if size == 0, !isAtStart {
        // A null packet (RFC 4571, 2).
        position = start
        continue
      }
      guard size >= RTPHeader.byteCount else { return giveUp() }
      // The version is looked at before the packet is complete: a wrong length may be one of 64 KiB.
      guard start < buffer.count else { return nil }
      guard RTPHeader.isSupportedVersion(buffer[start]) else { return giveUp() }
      guard start + size <= buffer.count, let header = RTPHeader(decoding: buffer.span, at: start) else { return nil }
      isAtStart = false
      position = start + size
      return .packet(header, bytes: start..<position)
    }
    return nil
  }

  private mutating func giveUp() -> Item {
    let firstBytes = Array(buffer[position...].prefix(Self.reportedByteCount))
    isGivenUp = true
    buffer = []
    position = 0
    return .invalidFraming(firstBytes: firstBytes)
  }
}
