import TestSupport

/// How the messages of a WebSocket are made.
enum WebSocketFraming: String, Codable, CaseIterable {
  case own
  /// As ``ForeignFraming`` does it, in both directions.
  case foreign
}

/// What one end of a WebSocket sends, framed as another implementation might: messages and fragments that end anywhere,
/// pings in between, and now and then a text message, which SmartDeviceLink does not have.
struct ForeignFraming {
  private var reading: WebSocketReading
  private let isClient: Bool
  private var random: SeededGenerator
  private var isInMessage = false

  init(isClient: Bool, seed: UInt64) {
    self.isClient = isClient
    reading = WebSocketReading(fromClient: isClient)
    random = SeededGenerator(seed: seed)
  }

  /// The bytes that are sent instead of these: whole frames, whatever is cut.
  mutating func take(_ bytes: [UInt8]) -> [UInt8] {
    guard let items = try? reading.take(bytes) else { return bytes }
    return items.reduce(into: []) { result, item in
      switch item {
      case .head(let head): result += head
      case .data(let payload): result += fragments(of: payload)
      case .endOfFrame, .text: break
      case .ping(let payload): result += frame(0x89, payload)
      case .pong(let payload): result += frame(0x8A, payload)
      case .close(let payload): result += frame(0x88, payload)
      }
    }
  }

  private mutating func fragments(of payload: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = payload[...]
    repeat {
      if random.chance(0.02) { result += frame(0x89, random.bytes(.random(in: 0...125, using: &random))) }
      if !isInMessage, random.chance(0.01) { result += frame(0x81, Array("hello".utf8)) }
      let size = random.chance(0.3) ? rest.count : Int.random(in: 0...min(rest.count, 300), using: &random)
      let isLast = random.chance(0.4)
      result += frame((isLast ? 0x80 : 0) | (isInMessage ? 0 : 2), Array(rest.prefix(size)))
      rest = rest.dropFirst(size)
      isInMessage = !isLast
    } while !rest.isEmpty
    return result
  }

  private mutating func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
    let mask: UInt8 = isClient ? 0x80 : 0
    var bytes = [first]
    switch payload.count {
    case ..<126: bytes.append(mask | UInt8(payload.count))
    case ...0xFFFF: bytes += [mask | 126] + bigEndian(payload.count, 2)
    default: bytes += [mask | 127] + bigEndian(payload.count, 8)
    }
    guard isClient else { return bytes + payload }
    let key = random.bytes(4)
    return bytes + key + payload.enumerated().map { $1 ^ key[$0 & 3] }
  }

  private func bigEndian(_ number: Int, _ size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }
}
