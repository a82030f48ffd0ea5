/// Payload of StartService on the RPC service: the app's highest protocol version (protocol 5.0 and later).
package struct RPCServiceRequest: Equatable, Sendable {
  /// Nil in the form without payload, which apps before protocol 5 send.
  package var protocolVersion: ProtocolVersion?

  package init(protocolVersion: ProtocolVersion?) {
    self.protocolVersion = protocolVersion
  }

  package var bytes: [UInt8] {
    guard let protocolVersion else { return [] }
    return BSONDocument([("protocolVersion", .string(protocolVersion.description))]).bytes
  }
}

/// Payload of StartServiceACK on the RPC service.
package struct RPCServiceAcknowledgement: Equatable, Sendable {
  /// Negotiated version; nil in the 4-byte form of protocol 2–4.
  package var protocolVersion: ProtocolVersion?
  /// The app has to send it back in EndService.
  package var hashID: Int32?
  /// Largest frame payload that the head unit takes, in bytes.
  package var mtu: Int64?
  /// Names of transports that may carry audio and video besides this one.
  package var secondaryTransports: [String]?
  /// 1 primary, 2 secondary, in order of preference.
  package var audioServiceTransports: [Int32]?
  /// 1 primary, 2 secondary, in order of preference.
  package var videoServiceTransports: [Int32]?
  package var make: String?
  package var model: String?
  package var modelYear: String?
  package var trim: String?
  package var systemSoftwareVersion: String?
  package var systemHardwareVersion: String?
  /// For an app in a cloud, which may want to know the car's owner.
  package var authToken: String?

  package init() {}

  /// Bytes in a frame of protocol `version`: nothing in 1, the hash alone in 2–4, BSON in 5.
  package func bytes(version: UInt8) -> [UInt8] {
    switch version {
    case 1: return []
    case 2...4: return UInt32(bitPattern: hashID ?? 0).bigEndianBytes
    default:
      return BSONDocument([
        ("protocolVersion", (protocolVersion?.description).map(BSONValue.string)),
        ("hashId", hashID.map(BSONValue.int32)),
        ("mtu", mtu.map(BSONValue.int64)),
        ("secondaryTransports", secondaryTransports.map { .array($0.map(BSONValue.string)) }),
        ("audioServiceTransports", audioServiceTransports.map { .array($0.map(BSONValue.int32)) }),
        ("videoServiceTransports", videoServiceTransports.map { .array($0.map(BSONValue.int32)) }),
        ("make", make.map(BSONValue.string)),
        ("model", model.map(BSONValue.string)),
        ("modelYear", modelYear.map(BSONValue.string)),
        ("trim", trim.map(BSONValue.string)),
        ("systemSoftwareVersion", systemSoftwareVersion.map(BSONValue.string)),
        ("systemHardwareVersion", systemHardwareVersion.map(BSONValue.string)),
        ("authToken", authToken.map(BSONValue.string)),
      ]).bytes
    }
  }
}

/// Payload of StartService and StartServiceACK on the video service (protocol 5). Every key is optional.
package struct VideoServiceParameters: Equatable, Sendable {
  /// In pixels.
  package var width: Int32?
  /// In pixels.
  package var height: Int32?
  /// RAW, RTP, …
  package var videoProtocol: String?
  /// H264, …
  package var videoCodec: String?
  /// Largest frame payload on this service, in bytes; only in an acknowledgement.
  package var mtu: Int64?

  /// Creates parameters; those that are nil are left out of the payload.
  package init(
    width: Int32? = nil, height: Int32? = nil, videoProtocol: String? = nil, videoCodec: String? = nil,
    mtu: Int64? = nil
  ) {
    self.width = width
    self.height = height
    self.videoProtocol = videoProtocol
    self.videoCodec = videoCodec
    self.mtu = mtu
  }

  /// Bytes in a frame of protocol `version`: nothing before 5.
  package func bytes(version: UInt8) -> [UInt8] {
    guard version >= 5 else { return [] }
    return BSONDocument([
      ("height", height.map(BSONValue.int32)),
      ("width", width.map(BSONValue.int32)),
      ("videoProtocol", videoProtocol.map(BSONValue.string)),
      ("videoCodec", videoCodec.map(BSONValue.string)),
      ("mtu", mtu.map(BSONValue.int64)),
    ]).bytes
  }
}

/// Payload of a StartServiceACK of audio. StartService of audio has none.
package struct AudioServiceAcknowledgement: Equatable, Sendable {
  /// Largest frame payload on this service, in bytes.
  package var mtu: Int64?

  /// Creates an acknowledgement; a size that is nil is left out of the payload.
  package init(mtu: Int64? = nil) {
    self.mtu = mtu
  }

  /// Bytes in a frame of protocol `version`: nothing before 5.
  package func bytes(version: UInt8) -> [UInt8] {
    version >= 5 ? BSONDocument([("mtu", mtu.map(BSONValue.int64))]).bytes : []
  }
}

/// Payload of StartServiceNAK and EndServiceNAK.
package struct ServiceRejection: Equatable, Sendable {
  /// Keys of the request that were refused.
  package var rejectedParameters: [String]
  /// Free text (protocol 5.3).
  package var reason: String?

  package init(rejectedParameters: [String] = [], reason: String? = nil) {
    self.rejectedParameters = rejectedParameters
    self.reason = reason
  }

  /// Bytes in a frame of protocol `version`: nothing before 5.
  package func bytes(version: UInt8) -> [UInt8] {
    guard version >= 5 else { return [] }
    let rejected: BSONValue? =
      rejectedParameters.isEmpty ? nil : .array(rejectedParameters.map(BSONValue.string))
    return BSONDocument([("rejectedParams", rejected), ("reason", reason.map(BSONValue.string))]).bytes
  }
}

/// Payload of EndService on the RPC service.
package struct EndServiceRequest: Equatable, Sendable {
  /// The hash of the RPC StartServiceACK.
  package var hashID: Int32?

  package init(hashID: Int32?) {
    self.hashID = hashID
  }

  /// Bytes in a frame of protocol `version`: nothing in 1, the hash alone in 2–4, BSON in 5.
  package func bytes(version: UInt8) -> [UInt8] {
    guard let hashID, version > 1 else { return [] }
    guard version >= 5 else { return UInt32(bitPattern: hashID).bigEndianBytes }
    return BSONDocument([("hashId", .int32(hashID))]).bytes
  }
}

/// Payload of TransportEventUpdate: where the head unit listens for a secondary transport.
package struct TransportEventUpdate: Equatable, Sendable {
  /// IPv4 or IPv6 address as text; nil when TCP is not available.
  package var address: String?
  /// TCP port.
  package var port: Int32?

  /// Creates an update; nil stands for a head unit that does not listen.
  package init(address: String?, port: Int32?) {
    self.address = address
    self.port = port
  }

  package var bytes: [UInt8] {
    BSONDocument([("tcpIpAddress", .string(address ?? "")), ("tcpPort", port.map(BSONValue.int32))]).bytes
  }
}

/// Control payloads decode leniently: a payload that is not BSON counts as empty, as SDL Core treats it, and a key of
/// the wrong type counts as absent. Texts are printable, since they are shown to people and compared with known ones.
extension BSONDocument {
  init(lenient payload: [UInt8]) {
    self = (try? BSONDocument(decoding: payload)) ?? BSONDocument()
  }

  private static let longestName = 100
  /// More than the protocol defines for any list.
  private static let mostNames = 32

  fileprivate func name(_ key: String) -> String? { string(key)?.printable(limit: Self.longestName) }

  fileprivate func names(_ key: String) -> [String]? {
    strings(key)?.prefix(Self.mostNames).map { $0.printable(limit: Self.longestName) }
  }
}

extension RPCServiceRequest {
  /// Reads the payload of a StartService frame.
  package init(payload: [UInt8]) {
    self.init(protocolVersion: BSONDocument(lenient: payload).string("protocolVersion").flatMap(ProtocolVersion.init))
  }
}

extension RPCServiceAcknowledgement {
  /// Reads the payload of a frame whose header says protocol `version`.
  package init(payload: [UInt8], version: UInt8) {
    self.init()
    guard version >= 5 else {
      if version > 1, payload.count >= 4 { hashID = Int32(bitPattern: UInt32(bigEndianBytes: payload.span, at: 0)) }
      return
    }
    let document = BSONDocument(lenient: payload)
    protocolVersion = document.string("protocolVersion").flatMap(ProtocolVersion.init)
    hashID = document.int32("hashId")
    mtu = document.int64("mtu")
    secondaryTransports = document.names("secondaryTransports")
    audioServiceTransports = document.int32s("audioServiceTransports")
    videoServiceTransports = document.int32s("videoServiceTransports")
    make = document.name("make")
    model = document.name("model")
    modelYear = document.name("modelYear")
    trim = document.name("trim")
    systemSoftwareVersion = document.name("systemSoftwareVersion")
    systemHardwareVersion = document.name("systemHardwareVersion")
  }
}

extension VideoServiceParameters {
  /// Reads the payload of a StartService or StartServiceACK frame.
  package init(payload: [UInt8]) {
    let document = BSONDocument(lenient: payload)
    self.init(
      width: document.int32("width"), height: document.int32("height"),
      videoProtocol: document.name("videoProtocol"), videoCodec: document.name("videoCodec"),
      mtu: document.int64("mtu"))
  }
}

extension AudioServiceAcknowledgement {
  /// Reads the payload of a StartServiceACK frame.
  package init(payload: [UInt8]) {
    self.init(mtu: BSONDocument(lenient: payload).int64("mtu"))
  }
}

extension ServiceRejection {
  /// Reads the payload of a NAK frame.
  package init(payload: [UInt8]) {
    let document = BSONDocument(lenient: payload)
    self.init(
      rejectedParameters: document.names("rejectedParams") ?? [], reason: document.string("reason")?.printable())
  }
}

extension EndServiceRequest {
  /// Reads the payload of a frame whose header says protocol `version`.
  package init(payload: [UInt8], version: UInt8) {
    switch version {
    case 1: self.init(hashID: nil)
    case 2...4:
      self.init(hashID: payload.count < 4 ? nil : Int32(bitPattern: UInt32(bigEndianBytes: payload.span, at: 0)))
    default: self.init(hashID: BSONDocument(lenient: payload).int32("hashId"))
    }
  }
}

extension TransportEventUpdate {
  /// Reads the payload of a TransportEventUpdate frame.
  package init(payload: [UInt8]) {
    let document = BSONDocument(lenient: payload)
    let address = document.string("tcpIpAddress").flatMap { $0.isEmpty ? nil : $0 }
    self.init(address: address, port: document.int32("tcpPort"))
  }
}
