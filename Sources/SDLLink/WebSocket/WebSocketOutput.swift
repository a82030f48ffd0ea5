import SDLWire

/// The sending half of WebSocket's framing: makes one binary message of each SDL frame (SDL's libraries for web apps
/// take nothing else), out of pieces that end anywhere.
///
/// Nothing is buffered: bytes that the kernel did not take are masked again.
package struct WebSocketOutput: Sendable {
  /// Whether this end is the client, which has to mask.
  private let isMasking: Bool
  /// The rest of the present message's header.
  private var header: [UInt8] = []
  /// Bytes of the message's payload that have not been written.
  private var remaining = 0
  /// Whether a part of the message has been written, but not all.
  private var isUnderWay = false
  private var mask = WebSocketMask(key: 0)

  package init(isClient: Bool) {
    isMasking = isClient
  }

  /// Whether a control frame may be written now.
  package var isBetweenMessages: Bool { !isUnderWay }

  /// Bytes of the present message's header that have not been written.
  package var headerByteCount: Int { header.count }

  /// Begins the message of the SDL frame at the front of `pieces`, in place of one of which nothing has been written.
  package mutating func begin(_ pieces: [UnsafeRawBufferPointer]) {
    var front: [UInt8] = []
    for piece in pieces where front.count < 8 { front += piece.prefix(8 - front.count) }
    var byteCount = pieces.reduce(0) { $0 + $1.count }
    if front.count == 8 {
      let dataSize = front[4...].reduce(0) { $0 << 8 | Int($1) }
      byteCount = FrameHeader.byteCount(version: front[0] >> 4) + dataSize
    }
    let key = isMasking ? UInt32.random(in: 1...(.max)) : 0
    header = Self.header(opcode: 2, byteCount: byteCount, key: key)
    mask = WebSocketMask(key: key)
    remaining = byteCount
  }

  /// Writes the next bytes of the present message into `memory`, as many as fit, without noting that they are written.
  package func fill(_ memory: UnsafeMutableRawBufferPointer, from pieces: [UnsafeRawBufferPointer]) -> Int {
    memory.copyBytes(from: header.prefix(memory.count))
    var count = min(header.count, memory.count)
    var mask = mask
    var remaining = remaining
    for piece in pieces where remaining > 0 && count < memory.count {
      let part = UnsafeRawBufferPointer(rebasing: piece[..<min(piece.count, remaining, memory.count - count)])
      mask.apply(to: part, into: UnsafeMutableRawBufferPointer(rebasing: memory[count...]))
      remaining -= part.count
      count += part.count
    }
    return count
  }

  /// Notes that the first bytes of the last ``fill(_:from:)`` have been written.
  /// - Returns: how many of the message's payload are among them.
  package mutating func advance(by count: Int) -> Int {
    let headerCount = min(count, header.count)
    header.removeFirst(headerCount)
    let payloadCount = count - headerCount
    remaining -= payloadCount
    mask.advance(by: payloadCount)
    isUnderWay = (isUnderWay || count > 0) && !(header.isEmpty && remaining == 0)
    return payloadCount
  }

  /// A whole control frame.
  package func control(_ opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
    var mask = WebSocketMask(key: isMasking ? UInt32.random(in: 1...(.max)) : 0)
    var frame = Self.header(opcode: opcode, byteCount: payload.count, key: mask.key)
    frame += [UInt8](unsafeUninitializedCapacity: payload.count) { buffer, count in
      payload.withUnsafeBytes { mask.apply(to: $0, into: UnsafeMutableRawBufferPointer(buffer)) }
      count = payload.count
    }
    return frame
  }

  private static func header(opcode: UInt8, byteCount: Int, key: UInt32) -> [UInt8] {
    let masked: UInt8 = key == 0 ? 0 : 0x80
    let size = UInt64(clamping: byteCount)
    var header = [0x80 | opcode]
    func length(_ count: Int) -> [UInt8] {
      (0..<count).reversed().map { UInt8(truncatingIfNeeded: size >> (UInt64($0) * 8)) }
    }
    switch size {
    case ..<126: header.append(masked | UInt8(size))
    case ...0xFFFF: header += [masked | 126] + length(2)
    default: header += [masked | 127] + length(8)
    }
    if key != 0 { header += (0..<4).map { UInt8(truncatingIfNeeded: key >> (UInt32($0) * 8)) } }
    return header
  }
}
