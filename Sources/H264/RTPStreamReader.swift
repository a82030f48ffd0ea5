/// Cuts a byte stream of RTP packets at the lengths in front of them (RFC 4571), whatever the pieces it arrives in.
///
/// The framing has no mark to find it again by, so that everything that could be a packet is compared with the stream so
/// far. A packet of an unknown source is taken when the next one confirms it, the very first packet at once. A length is
/// not believed when another packet of the source begins before its end. Between calls less than one packet and the
/// beginning of another is held, if ``next()`` is called until it returns nil.
struct RTPStreamReader: Sendable {
  enum Item {
    /// `bytes` is the packet in ``buffer``, until the next call of ``append(_:)``.
    case packet(RTPHeader, bytes: Range<Int>)
    /// The start of a run of bytes that belong to no packet.
    case garbage(firstBytes: [UInt8])
  }

  private enum Judgement {
    case accepted(Item, end: Int)
    case rejected
    case undecided
  }

  private static let lengthByteCount = 2
  private static let prefixByteCount = lengthByteCount + RTPHeader.byteCount

  private(set) var buffer: [UInt8] = []
  private var position = 0
  /// The last packet, which shows the stream's source.
  private var lastHeader: RTPHeader?
  /// Up to where the next packet of the source has been looked for.
  private var searchPosition = 0
  private var isSkipping = false
  private var isAtStart = true

  var bufferedByteCount: Int { buffer.count - position }

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    // Moves no more bytes than have been consumed since the last time.
    if position * 2 >= buffer.count {
      buffer.removeSubrange(0..<position)
      searchPosition = max(searchPosition - position, 0)
      position = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// The next packet or run of garbage; nil when more bytes are needed.
  mutating func next() -> Item? {
    // Bytes that look like a packet of another source may be long to confirm.
    if isSkipping, let lastHeader, let found = find(lastHeader, from: position) { position = found }
    while buffer.count - position >= Self.lengthByteCount {
      if !isSkipping, !isAtStart, length(at: position) == 0 {
        // A null packet (RFC 4571, 2).
        position += Self.lengthByteCount
        continue
      }
      switch judge(at: position) {
      case .accepted(let item, let end):
        isAtStart = false
        isSkipping = false
        position = end
        if case .packet(let header, _) = item { lastHeader = header }
        return item
      case .undecided:
        guard !isSkipping, let header = header(at: position),
          let found = find(header, from: position + Self.prefixByteCount)
        else { return nil }
        return skip(to: found)
      case .rejected:
        if !isSkipping { return skip(to: position + 1) }
        position += 1
      }
    }
    return nil
  }

  private mutating func skip(to next: Int) -> Item {
    let start = position
    position = next
    isSkipping = true
    isAtStart = false
    return .garbage(firstBytes: Array(buffer[start..<min(start + 16, buffer.count)]))
  }

  private func length(at offset: Int) -> Int {
    Int(buffer[offset]) << 8 | Int(buffer[offset + 1])
  }

  /// What the bytes at `offset`, of which at least two are there, are.
  private func judge(at offset: Int) -> Judgement {
    let size = length(at: offset)
    guard size >= RTPHeader.byteCount else { return .rejected }
    guard let header = header(at: offset) else {
      return offset + Self.prefixByteCount <= buffer.count ? .rejected : .undecided
    }
    let end = offset + Self.lengthByteCount + size
    // A packet of another source has to be confirmed by the one behind it.
    let isTrusted = isAtStart || lastHeader.map(header.isOfSameStream(as:)) ?? false
    guard buffer.count >= (isTrusted ? end : end + Self.prefixByteCount) else { return .undecided }
    if !isTrusted {
      guard length(at: end) >= RTPHeader.byteCount, let following = self.header(at: end),
        following.isOfSameStream(as: header), following.sequenceNumber == header.sequenceNumber &+ 1
      else { return .rejected }
    }
    return .accepted(.packet(header, bytes: offset + Self.lengthByteCount..<end), end: end)
  }

  /// Nil when it is not there, or not of version 2.
  private func header(at offset: Int) -> RTPHeader? {
    guard offset + Self.prefixByteCount <= buffer.count else { return nil }
    return RTPHeader(decoding: buffer.span, at: offset + Self.lengthByteCount)
  }

  /// Where a packet of the same stream begins. Looks at no byte twice.
  private mutating func find(_ header: RTPHeader, from start: Int) -> Int? {
    var offset = max(searchPosition, start)
    defer { searchPosition = offset }
    while offset + Self.prefixByteCount <= buffer.count {
      if length(at: offset) >= RTPHeader.byteCount, self.header(at: offset)?.isOfSameStream(as: header) ?? false {
        return offset
      }
      offset += 1
    }
    return nil
  }
}
