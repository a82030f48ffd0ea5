/// A violation of WebSocket's framing (RFC 6455), in a form that can follow a colon.
package struct WebSocketFault: Error, Equatable, Sendable, CustomStringConvertible {
  package let description: String
  /// The status code that Close names it by (section 7.4.1).
  let code: UInt16

  init(_ description: String, code: UInt16 = 1002) {
    self.description = description
    self.code = code
  }
}

/// The receiving half of WebSocket's framing (RFC 6455, section 5): leaves the bytes of binary messages, which are a
/// byte stream, wherever messages and fragments begin and end.
///
/// It keeps no payload but that of a control frame, 125 bytes at most, so messages may have any size.
package struct WebSocketInput: Sendable {
  private enum Message {
    case binary
    /// SDL has none: dropped.
    case text
  }

  private enum Frame {
    case data
    case control(UInt8)
  }

  private static let maximumControlPayload = 125

  /// Whether the peer is the client, which has to mask.
  private let isMasked: Bool
  private var header: [UInt8] = []
  private var frame = Frame.data
  private var isLastFragment = true
  /// The message that has been begun, nil between messages.
  private var message: Message?
  /// Bytes of the present frame's payload that have not come; 0 in a header.
  private var remaining: UInt64 = 0
  private var mask = WebSocketMask(key: 0)
  private var control: [UInt8] = []

  /// Text messages that were dropped.
  package private(set) var textMessageCount = 0
  /// Whether the peer has sent Close; what follows is ignored (section 5.5.1).
  package private(set) var isClosed = false
  /// The status code of the peer's Close; nil for one without, and before.
  private(set) var closeCode: UInt16?
  /// The payload of the last ping: earlier ones need no pong (section 5.5.3).
  private var ping: [UInt8]?

  /// - Parameter peerIsClient: otherwise it is the server.
  package init(peerIsClient: Bool) {
    isMasked = peerIsClient
  }

  /// The payload that the next pong has to have; nil if none is due.
  package mutating func takePing() -> [UInt8]? { ping.take() }

  /// Moves the bytes of binary messages to the front of `buffer`, and returns how many there are.
  package mutating func decode(_ buffer: UnsafeMutableRawBufferPointer) throws(WebSocketFault) -> Int {
    var read = 0
    var written = 0
    while read < buffer.count, !isClosed {
      if remaining == 0 {
        header.append(buffer[read])
        read += 1
        if try parseHeader(), remaining == 0 { try finishFrame() }
        continue
      }
      let count = Int(min(UInt64(buffer.count - read), remaining))
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[read..<(read + count)])
      take(bytes, UnsafeMutableRawBufferPointer(rebasing: buffer[written...]), &written)
      read += count
      remaining -= UInt64(count)
      if remaining == 0 { try finishFrame() }
    }
    return written
  }

  private mutating func take(
    _ bytes: UnsafeRawBufferPointer, _ destination: UnsafeMutableRawBufferPointer, _ written: inout Int
  ) {
    switch frame {
    case .control:
      control += [UInt8](unsafeUninitializedCapacity: bytes.count) { buffer, count in
        mask.apply(to: bytes, into: UnsafeMutableRawBufferPointer(buffer))
        count = bytes.count
      }
    case .data where message == .binary:
      mask.apply(to: bytes, into: destination)
      written += bytes.count
    case .data: break
    }
  }

  /// Whether the header is complete; it is checked as soon as its bytes are there.
  private mutating func parseHeader() throws(WebSocketFault) -> Bool {
    guard header.count >= 2 else { return false }
    let shortLength = Int(header[1] & 0x7F)
    if header.count == 2 { try check(header[0], header[1]) }
    let lengthSize = shortLength == 127 ? 8 : shortLength == 126 ? 2 : 0
    guard header.count == 2 + lengthSize + (isMasked ? 4 : 0) else { return false }
    let length = header[2..<(2 + lengthSize)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard length >> 63 == 0 else { throw WebSocketFault("a frame of more than 2^63 bytes") }
    remaining = lengthSize == 0 ? UInt64(shortLength) : length
    mask = WebSocketMask(key: isMasked ? header.suffix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) } : 0)
    header.removeAll(keepingCapacity: true)
    return true
  }

  private mutating func check(_ first: UInt8, _ second: UInt8) throws(WebSocketFault) {
    guard first & 0x70 == 0 else { throw WebSocketFault("a frame of an extension, and none was negotiated") }
    guard (second & 0x80 != 0) == isMasked else {
      throw WebSocketFault(isMasked ? "a frame of a client without a mask" : "a frame of a server with a mask")
    }
    isLastFragment = first & 0x80 != 0
    let code = first & 0x0F
    switch code {
    case 0:
      guard message != nil else { throw WebSocketFault("a continuation of no message") }
      frame = .data
    case 1, 2:
      guard message == nil else { throw WebSocketFault("a message inside of another") }
      message = code == 1 ? .text : .binary
      if code == 1 { textMessageCount &+= 1 }
      frame = .data
    case 8...10:
      guard isLastFragment, second & 0x7F <= Self.maximumControlPayload else {
        throw WebSocketFault("a control frame that is too long or fragmented")
      }
      frame = .control(code)
      control = []
    default: throw WebSocketFault("a frame with the reserved opcode \(code)")
    }
  }

  private mutating func finishFrame() throws(WebSocketFault) {
    switch frame {
    case .data: if isLastFragment { message = nil }
    case .control(8): try close()
    case .control(9): ping = control
    // An unasked pong needs no answer.
    case .control: break
    }
  }

  /// Takes the payload of Close: nothing, or a status code with a reason in UTF-8 (sections 5.5.1 and 7.4).
  private mutating func close() throws(WebSocketFault) {
    isClosed = true
    guard !control.isEmpty else { return }
    let code = control.prefix(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
    guard control.count >= 2, [1000...1003, 1007...1014, 3000...4999].contains(where: { $0 ~= code }) else {
      throw WebSocketFault("Close with a status code that there is not")
    }
    guard String(validating: control[2...], as: UTF8.self) != nil else {
      throw WebSocketFault("Close with a reason that is not UTF-8", code: 1007)
    }
    closeCode = code
  }
}

/// The mask of one frame's payload (RFC 6455, section 5.3), and how far it has got.
struct WebSocketMask: Sendable {
  /// The first byte of the payload is masked with the lowest byte.
  let key: UInt32
  private var phase: UInt32 = 0

  init(key: UInt32) {
    self.key = key
  }

  /// Masks or unmasks `bytes`. `destination` has room for them, and may overlap them if it begins earlier.
  mutating func apply(to bytes: UnsafeRawBufferPointer, into destination: UnsafeMutableRawBufferPointer) {
    guard let source = bytes.baseAddress, let destination = destination.baseAddress else { return }
    guard key != 0 else { return destination.copyMemory(from: source, byteCount: bytes.count) }
    let shift = phase * 8
    let turned = shift == 0 ? key : key >> shift | key << (32 - shift)
    let word = UInt64(turned) << 32 | UInt64(turned)
    var index = 0
    while index + 8 <= bytes.count {
      let value = source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      destination.storeBytes(of: value ^ word.littleEndian, toByteOffset: index, as: UInt64.self)
      index += 8
    }
    while index < bytes.count {
      let value = source.load(fromByteOffset: index, as: UInt8.self)
      let key = UInt8(truncatingIfNeeded: turned >> (UInt32(index & 3) * 8))
      destination.storeBytes(of: value ^ key, toByteOffset: index, as: UInt8.self)
      index += 1
    }
    advance(by: bytes.count)
  }

  /// Skips bytes that were masked before.
  mutating func advance(by count: Int) { phase = (phase + UInt32(count & 3)) & 3 }
}
