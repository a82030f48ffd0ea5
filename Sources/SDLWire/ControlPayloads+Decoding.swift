/// Control payloads decode leniently: a payload that is not BSON counts as empty, as SDL Core treats it, and a key of
/// the wrong type counts as absent. Texts are printable, since they are shown to people and compared with known ones.
extension BSONDocument {
  init(lenient payload: [UInt8]) {
    self = (try? BSONDocument(decoding: payload)) ?? BSONDocument()
  }

  private static let longestName = 100

  fileprivate func name(_ key: String) -> String? { string(key)?.printable(limit: Self.longestName) }

  fileprivate func names(_ key: String) -> [String]? {
    strings(key)?.map { $0.printable(limit: Self.longestName) }
  }
}

extension RPCServiceRequest {
  /// Reads the payload of a StartService frame.
  public init(payload: [UInt8]) {
    self.init(protocolVersion: BSONDocument(lenient: payload).string("protocolVersion").flatMap(ProtocolVersion.init))
  }
}

extension RPCServiceAcknowledgement {
  /// Reads the payload of a frame whose header says protocol `version`.
  public init(payload: [UInt8], version: UInt8) {
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
  public init(payload: [UInt8]) {
    let document = BSONDocument(lenient: payload)
    self.init(
      width: document.int32("width"), height: document.int32("height"),
      videoProtocol: document.name("videoProtocol"), videoCodec: document.name("videoCodec"),
      mtu: document.int64("mtu"))
  }
}

extension AudioServiceAcknowledgement {
  /// Reads the payload of a StartServiceACK frame.
  public init(payload: [UInt8]) {
    self.init(mtu: BSONDocument(lenient: payload).int64("mtu"))
  }
}

extension ServiceRejection {
  /// Reads the payload of a NAK frame.
  public init(payload: [UInt8]) {
    let document = BSONDocument(lenient: payload)
    self.init(
      rejectedParameters: document.names("rejectedParams") ?? [], reason: document.string("reason")?.printable())
  }
}

extension EndServiceRequest {
  /// Reads the payload of a frame whose header says protocol `version`.
  public init(payload: [UInt8], version: UInt8) {
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
  public init(payload: [UInt8]) {
    let document = BSONDocument(lenient: payload)
    let address = document.string("tcpIpAddress").flatMap { $0.isEmpty ? nil : $0 }
    self.init(address: address, port: document.int32("tcpPort"))
  }
}
