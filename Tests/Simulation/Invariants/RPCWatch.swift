import SDLMessages
import SDLWire

/// Reads along the RPCs that come to an app over one connection.
struct RPCWatch {
  /// A message of several frames, by the service and its id.
  private struct Key: Hashable {
    var service: ServiceType
    var id: UInt32
  }

  /// What has come of a frame.
  enum Item {
    case message(RPCMessage)
    /// One that is encrypted.
    case unreadable
  }

  /// An app waits no longer for the rest of a message.
  private static let longestGap = Duration.seconds(9)

  private var partial: [Key: (payload: [UInt8], time: Duration)] = [:]

  mutating func receive(_ frame: Frame, now: Duration) -> Item? {
    guard [.rpc, .hybrid].contains(frame.header.service), frame.header.controlFrame == nil else { return nil }
    guard !frame.header.isEncrypted else { return .unreadable }
    let key = Key(service: frame.header.service, id: frame.header.messageID)
    switch frame.header.frameType {
    case .single: return message(frame.payload)
    case .first: partial[key] = ([], now)
    case .consecutive:
      guard let time = partial[key]?.time, now - time <= Self.longestGap else {
        partial[key] = nil
        return nil
      }
      partial[key]?.payload.append(contentsOf: frame.payload)
      partial[key]?.time = now
      // The last one has the number 0.
      if frame.header.frameInfo == 0, let (payload, _) = partial.removeValue(forKey: key) { return message(payload) }
    case .control: break
    }
    return nil
  }

  private func message(_ payload: [UInt8]) -> Item? {
    (try? RPCMessage(payload: payload)).map { .message($0) }
  }
}
