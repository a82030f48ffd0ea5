/// Reads one direction of a WebSocket along, by a plain reading of RFC 6455 that shares nothing with the library's.
struct WebSocketReading {
  enum Item: Equatable {
    /// The request or the answer of the opening handshake.
    case head([UInt8])
    /// Of a binary message, as much as has come.
    case data([UInt8])
    /// All of a frame of a binary message has come; the message may have others.
    case endOfFrame(isLast: Bool)
    case text
    case ping([UInt8])
    case pong([UInt8])
    case close([UInt8])
  }

  /// What can't be read, in words.
  struct Fault: Error { var text: String }

  private struct Header {
    var opcode: UInt8
    var isLast: Bool
    var remaining: Int
    var key: [UInt8]
    /// Of the payload that has come.
    var count = 0
  }

  private let isMasked: Bool
  private var hasHead = false
  private var bytes: [UInt8] = []
  private var header: Header?
  private var isText = false

  /// - Parameter fromClient: otherwise it comes from the server.
  init(fromClient: Bool) { isMasked = fromClient }

  mutating func take(_ more: [UInt8]) throws(Fault) -> [Item] {
    bytes += more
    var items: [Item] = []
    if !hasHead {
      let end: [UInt8] = [13, 10, 13, 10]
      guard let start = bytes.firstRange(of: end)?.upperBound else { return [] }
      items.append(.head(Array(bytes[..<start])))
      bytes.removeSubrange(..<start)
      hasHead = true
    }
    while true {
      if header == nil { header = try takeHeader() }
      guard let present = header else { return items }
      items += takePayload(of: present)
      if header != nil { return items }
    }
  }

  private mutating func takeHeader() throws(Fault) -> Header? {
    guard bytes.count >= 2 else { return nil }
    guard bytes[0] & 0x70 == 0, (bytes[1] & 0x80 != 0) == isMasked else { throw Fault(text: "a wrong bit") }
    var size = Int(bytes[1] & 0x7F)
    let lengthSize = size == 127 ? 8 : size == 126 ? 2 : 0
    let headerSize = 2 + lengthSize + (isMasked ? 4 : 0)
    guard bytes.count >= headerSize else { return nil }
    if lengthSize > 0 { size = bytes[2..<(2 + lengthSize)].reduce(0) { $0 << 8 | Int($1) } }
    let key = isMasked ? Array(bytes[(headerSize - 4)..<headerSize]) : [0, 0, 0, 0]
    let header = Header(opcode: bytes[0] & 0x0F, isLast: bytes[0] & 0x80 != 0, remaining: size, key: key)
    bytes.removeSubrange(..<headerSize)
    guard [0, 1, 2, 8, 9, 10].contains(header.opcode) else { throw Fault(text: "opcode \(header.opcode)") }
    if [1, 2].contains(header.opcode) { isText = header.opcode == 1 }
    return header
  }

  private mutating func takePayload(of present: Header) -> [Item] {
    let isControl = present.opcode >= 8
    let count = min(present.remaining, bytes.count)
    guard !isControl || count == present.remaining else { return [] }
    let payload = bytes[..<count].enumerated().map { $1 ^ present.key[($0 + present.count) & 3] }
    bytes.removeSubrange(..<count)
    header?.remaining -= count
    header?.count += count
    let isWhole = count == present.remaining
    if isWhole { header = nil }
    switch present.opcode {
    case 8: return [.close(payload)]
    case 9: return [.ping(payload)]
    case 10: return [.pong(payload)]
    default:
      if isText { return isWhole ? [.text] : [] }
      return (payload.isEmpty ? [] : [.data(payload)]) + (isWhole ? [.endOfFrame(isLast: present.isLast)] : [])
    }
  }
}
