/// The header in front of every frame: 8 bytes in protocol version 1, 12 bytes (with a message id) in 2–5.
///
/// ```
///  0        1        2        3        4 … 7      8 … 11
/// ┌────┬─┬─┬────────┬────────┬────────┬──────────┬────────────┐
/// │vers│E│T│service │ info   │session │data size │ message id │   big-endian
/// └────┴─┴─┴────────┴────────┴────────┴──────────┴────────────┘
/// ```
/// Source: protocol specification, "Frame Header".
package struct FrameHeader: Equatable, Sendable {
  /// Protocol version of the frame, 1…5.
  package var version: UInt8
  /// The E bit: the payload is TLS ciphertext.
  package var isEncrypted: Bool
  /// Whether the frame is a control frame, a whole message, or a piece of one.
  package var frameType: FrameType
  package var service: ServiceType
  /// Meaning depends on ``frameType``: control code, 0, or the running number of a consecutive frame.
  package var frameInfo: UInt8
  /// 0 only before a session exists.
  package var sessionID: UInt8
  /// Payload bytes that follow the header.
  package var dataSize: UInt32
  /// Groups the frames of one message; absent (0) in version 1.
  package var messageID: UInt32

  package static let maximumByteCount = 12

  /// Creates a header in front of `dataSize` bytes of payload.
  package init(
    version: UInt8, isEncrypted: Bool = false, frameType: FrameType, service: ServiceType, frameInfo: UInt8,
    sessionID: UInt8, dataSize: UInt32, messageID: UInt32
  ) {
    self.version = version
    self.isEncrypted = isEncrypted
    self.frameType = frameType
    self.service = service
    self.frameInfo = frameInfo
    self.sessionID = sessionID
    self.dataSize = dataSize
    self.messageID = messageID
  }

  /// Bytes that this header takes on the wire.
  package var byteCount: Int { Self.byteCount(version: version) }

  /// Bytes that a header of `version` takes on the wire.
  package static func byteCount(version: UInt8) -> Int { version == 1 ? 8 : 12 }

  /// The meaning of ``frameInfo`` in a control frame; nil for other frames and reserved codes.
  package var controlFrame: ControlFrame? { frameType == .control ? ControlFrame(rawValue: frameInfo) : nil }
}

extension FrameHeader {
  /// Writes the header to the start of `destination`, which must hold ``byteCount`` bytes; returns that count.
  @discardableResult
  package func write(to destination: UnsafeMutableRawBufferPointer) -> Int {
    destination[0] = version << 4 | (isEncrypted ? 0x08 : 0) | frameType.rawValue
    destination[1] = service.rawValue
    destination[2] = frameInfo
    destination[3] = sessionID
    destination.storeBytes(of: dataSize.bigEndian, toByteOffset: 4, as: UInt32.self)
    if version > 1 {
      destination.storeBytes(of: messageID.bigEndian, toByteOffset: 8, as: UInt32.self)
    }
    return byteCount
  }

  package var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
      count = write(to: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  package enum InvalidHeader: Error, Equatable, Sendable {
    case version(UInt8)
    case service(UInt8)
    case frameType(UInt8)
    case frameInfo(UInt8)
    /// A first frame carries exactly eight bytes; single and consecutive frames are never empty.
    case dataSize(UInt32)
    /// More than the receiver's limit for the service.
    case oversized(UInt32, limit: Int)
  }

  /// Reads a header from the start of `bytes`; nil when more bytes are needed.
  ///
  /// Checks in the order that SDL Core uses, so that the same garbage is refused for the same reason. A message id
  /// of 0 passes: head units send it, and only a head unit may refuse it.
  package init?(decoding bytes: Span<UInt8>, limits: FrameLimits) throws(InvalidHeader) {
    guard bytes.count >= 8 else { return nil }
    let version = bytes[0] >> 4
    guard (1...5).contains(version) else { throw .version(version) }
    guard bytes.count >= Self.byteCount(version: version) else { return nil }
    guard let service = ServiceType(rawValue: bytes[1]) else { throw .service(bytes[1]) }
    guard let frameType = FrameType(rawValue: bytes[0] & 0x07) else { throw .frameType(bytes[0] & 0x07) }
    switch frameType {
    case .control: guard ControlFrame(rawValue: bytes[2]) != nil else { throw .frameInfo(bytes[2]) }
    case .first: guard bytes[2] == 0 else { throw .frameInfo(bytes[2]) }
    // SDL Core accepts single frames with any value here (observed).
    case .single, .consecutive: break
    }
    let dataSize = UInt32(bigEndianBytes: bytes, at: 4)
    switch frameType {
    case .control: break
    case .first: guard dataSize == 8 else { throw .dataSize(dataSize) }
    case .single, .consecutive: guard dataSize > 0 else { throw .dataSize(dataSize) }
    }
    let limit = limits.maximumPayload(version: version, service: service)
    guard dataSize <= limit else { throw .oversized(dataSize, limit: limit) }
    self.init(
      version: version, isEncrypted: bytes[0] & 0x08 != 0, frameType: frameType, service: service,
      frameInfo: bytes[2], sessionID: bytes[3], dataSize: dataSize,
      messageID: version > 1 ? UInt32(bigEndianBytes: bytes, at: 8) : 0)
  }
}

/// The largest payload that a receiver takes in one frame.
package struct FrameLimits: Equatable, Sendable {
  /// Limit for protocol versions 1 and 2 (1500 bytes with the header).
  package static let legacyPayload = 1488
  /// SDL Core's `MaximumPayloadSize`, which it also announces as `mtu`.
  package static let corePayload = 131_072

  /// Limit for protocol versions 3–5.
  package var payload: Int

  package init(payload: Int = corePayload) {
    self.payload = max(payload, Self.legacyPayload)
  }

  /// The largest payload accepted for a frame of `version` on `service`.
  package func maximumPayload(version: UInt8, service: ServiceType) -> Int {
    version < 3 ? Self.legacyPayload : payload
  }
}

/// One frame: a header and its payload.
package struct Frame: Equatable, Sendable {
  /// The header; its `dataSize` equals the payload's length.
  package var header: FrameHeader
  package var payload: [UInt8]

  /// Creates a frame; `header.dataSize` must equal `payload.count`.
  package init(header: FrameHeader, payload: [UInt8]) {
    self.header = header
    self.payload = payload
  }

  package static func control(
    _ control: ControlFrame, service: ServiceType, version: UInt8, sessionID: UInt8, messageID: UInt32 = 0,
    payload: [UInt8] = []
  ) -> Frame {
    Frame(
      header: FrameHeader(
        version: version, frameType: .control, service: service, frameInfo: control.rawValue, sessionID: sessionID,
        dataSize: UInt32(truncatingIfNeeded: payload.count), messageID: messageID),
      payload: payload)
  }

  /// Header and payload as they go over the wire.
  package var bytes: [UInt8] { header.bytes + payload }
}

/// The services of an SDL session, as numbered in byte 1 of every frame (protocol specification, "Service Type").
package enum ServiceType: UInt8, Sendable, CaseIterable {
  /// Session control; also carries the TLS handshake.
  case control = 0x00
  /// Remote procedure calls as JSON.
  case rpc = 0x07
  /// PCM audio.
  case audio = 0x0A
  /// The video stream ("NAV" or "mobile nav" in older documents).
  case video = 0x0B
  /// An RPC with a binary tail ("bulk").
  case hybrid = 0x0F
}

/// The low three bits of byte 0.
package enum FrameType: UInt8, Sendable {
  /// Session management; the frame info is a ``ControlFrame``.
  case control = 0
  /// A whole message in one frame.
  case single = 1
  /// Announces size and frame count of a message that follows in consecutive frames.
  case first = 2
  /// One piece of a message.
  case consecutive = 3
}

/// The frame info byte of a control frame (protocol specification, "Frame Info").
package enum ControlFrame: UInt8, Sendable, CaseIterable {
  case heartbeat = 0x00
  case startService = 0x01
  case startServiceACK = 0x02
  case startServiceNAK = 0x03
  case endService = 0x04
  case endServiceACK = 0x05
  case endServiceNAK = 0x06
  case registerSecondaryTransport = 0x07
  case registerSecondaryTransportACK = 0x08
  case registerSecondaryTransportNAK = 0x09
  case transportEventUpdate = 0xFD
  /// Deprecated; head units still send it for video data on protocol 2–4.
  case serviceDataACK = 0xFE
  case heartbeatACK = 0xFF
}

extension UInt32 {
  /// The four bytes at `offset`, which the caller has checked to exist.
  init(bigEndianBytes bytes: Span<UInt8>, at offset: Int) {
    self =
      UInt32(bytes[offset]) << 24 | UInt32(bytes[offset + 1]) << 16
      | UInt32(bytes[offset + 2]) << 8 | UInt32(bytes[offset + 3])
  }

  /// Most significant byte first.
  var bigEndianBytes: [UInt8] {
    [UInt8(self >> 24), UInt8(self >> 16 & 0xFF), UInt8(self >> 8 & 0xFF), UInt8(self & 0xFF)]
  }
}
