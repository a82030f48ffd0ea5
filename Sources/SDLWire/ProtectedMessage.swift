/// A message whose frames are encrypted each by itself when they are sent, since TLS numbers its records: another thread may
/// send on the same session.
public struct ProtectedMessage: Equatable, Sendable {
  /// How the message is cut.
  public let fragmentation: Fragmentation
  /// What it says, in clear.
  public let payload: [UInt8]

  /// Creates a message.
  /// - Parameter maximumPayload: of a frame as it is sent, in bytes; the plaintext in it is smaller.
  public init(
    service: ServiceType, version: UInt8, sessionID: UInt8, messageID: UInt32, payload: [UInt8], maximumPayload: Int
  ) {
    fragmentation = Fragmentation(
      service: service, version: version, sessionID: sessionID, messageID: messageID, payloadSize: payload.count,
      maximumPayload: SecurePayload.plaintextLimit(maximumPayload))
    self.payload = payload
  }

  /// The frames in clear, for those who only look at them.
  public var framesInClear: [UInt8] { fragmentation.frames(of: payload) }

  /// The bytes of all frames. First frames stay in clear, and announce the size of the plaintext.
  ///
  /// The peer must get them before anything that is encrypted later.
  /// - Throws: as ``SecureChannel/encrypt(_:into:)``; nothing may be sent on the session then.
  public func frames(encryptedBy channel: any SecureChannel) throws(SecureChannelFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    for fragment in fragmentation {
      var frame = Frame(header: fragment.header, payload: [])
      switch fragment.content {
      case .announcement(let totalSize, let frameCount):
        for number in [totalSize, frameCount] {
          frame.payload += withUnsafeBytes(of: number.bigEndian) { Array($0) }
        }
      case .payload(let range):
        frame.payload = try channel.encrypt(Array(payload[range]))
        frame.header.isEncrypted = true
        frame.header.dataSize = UInt32(truncatingIfNeeded: frame.payload.count)
      }
      bytes += frame.bytes
    }
    return bytes
  }
}

extension SecureChannel {
  /// The records of at most ``SecurePayload/recordLimit`` bytes; as ``encrypt(_:into:)``.
  public func encrypt(_ plaintext: [UInt8]) throws(SecureChannelFailure) -> [UInt8] {
    var records = [UInt8](repeating: 0, count: plaintext.count + SecurePayload.overhead)
    let result = plaintext.withUnsafeBytes { plaintext in
      records.withUnsafeMutableBytes { records in
        Result { () throws(SecureChannelFailure) in try encrypt(plaintext, into: records) }
      }
    }
    records.removeSubrange(try result.get()...)
    return records
  }
}
