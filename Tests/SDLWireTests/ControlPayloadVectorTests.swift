import SDLWire
import Testing

/// The payload of the one frame in a vector.
private func payload(_ vector: [UInt8]) throws -> [UInt8] {
  try frame(vector).payload
}

@Suite struct ControlPayloadVectorTests {
  @Test func rpcServiceRequest() throws {
    let request = RPCServiceRequest(protocolVersion: ProtocolVersion(5, 4, 1))
    #expect(try RPCServiceRequest(payload: payload(Vector.v02)) == request)
    #expect(try request.bytes == payload(Vector.v02))
    #expect(try RPCServiceRequest(payload: payload(Vector.v01)).protocolVersion == nil)
    #expect(RPCServiceRequest(protocolVersion: nil).bytes.isEmpty)
  }

  @Test func rpcServiceAcknowledgementOfVersion4() throws {
    let acknowledgement = try RPCServiceAcknowledgement(payload: payload(Vector.v03), version: 4)
    #expect(
      acknowledgement.hashID == 0x0001_0001 && acknowledgement.protocolVersion == nil && acknowledgement.mtu == nil)
    #expect(try acknowledgement.bytes(version: 4) == payload(Vector.v03))
    #expect(acknowledgement.bytes(version: 1).isEmpty)
    #expect(RPCServiceAcknowledgement(payload: [0, 1, 0], version: 4).hashID == nil)
    #expect(RPCServiceAcknowledgement(payload: [0, 1, 0, 1], version: 1).hashID == nil)
  }

  @Test func rpcServiceAcknowledgementOfVersion5() throws {
    var expected = RPCServiceAcknowledgement()
    expected.protocolVersion = ProtocolVersion(5, 4, 0)
    expected.hashID = 65537
    expected.mtu = 131_072
    #expect(try RPCServiceAcknowledgement(payload: payload(Vector.v04), version: 5) == expected)
    #expect(try expected.bytes(version: 5) == payload(Vector.v04))
  }

  @Test func rpcServiceAcknowledgementWithEverything() throws {
    var expected = RPCServiceAcknowledgement()
    expected.protocolVersion = ProtocolVersion(5, 4, 0)
    expected.hashID = 65537
    expected.mtu = 131_072
    expected.secondaryTransports = ["TCP_WIFI"]
    expected.audioServiceTransports = [2]
    expected.videoServiceTransports = [2]
    expected.make = "SDL"
    expected.model = "Generic"
    expected.modelYear = "2019"
    expected.trim = "SE"
    expected.systemSoftwareVersion = "1.0"
    expected.systemHardwareVersion = "A"
    let bytes = try payload(Vector.v05)
    #expect(RPCServiceAcknowledgement(payload: bytes, version: 5) == expected)
    #expect(RPCServiceAcknowledgement(payload: expected.bytes(version: 5), version: 5) == expected)
    // The sender chooses the order of keys; a document that was read is written in the same order.
    #expect(try BSONDocument(decoding: bytes).bytes == bytes)
    #expect(expected.bytes(version: 5).count == bytes.count)
  }

  @Test func rpcServiceRejection() throws {
    let rejection = ServiceRejection(rejectedParameters: ["protocolVersion"], reason: "Unsupported version")
    #expect(try ServiceRejection(payload: payload(Vector.v07)) == rejection)
    #expect(try rejection.bytes(version: 5) == payload(Vector.v07))
    #expect(try ServiceRejection(payload: payload(Vector.v06)) == ServiceRejection())
    #expect(rejection.bytes(version: 4).isEmpty)
  }

  @Test func emptyRejectionIsAnEmptyDocument() {
    #expect(ServiceRejection().bytes(version: 5) == [5, 0, 0, 0, 0])
    #expect(ServiceRejection(payload: [5, 0, 0, 0, 0]) == ServiceRejection())
  }

  @Test func videoService() throws {
    var parameters = VideoServiceParameters(width: 800, height: 480, videoProtocol: "RAW", videoCodec: "H264")
    #expect(try VideoServiceParameters(payload: payload(Vector.v08)) == parameters)
    #expect(try VideoServiceParameters(payload: payload(Vector.v13)) == parameters)
    #expect(try parameters.bytes(version: 5) == payload(Vector.v08))
    #expect(parameters.bytes(version: 4).isEmpty)
    parameters.mtu = 131_072
    #expect(try VideoServiceParameters(payload: payload(Vector.v09)) == parameters)
    #expect(try parameters.bytes(version: 5) == payload(Vector.v09))
  }

  @Test func videoServiceRejection() throws {
    let rejection = ServiceRejection(
      rejectedParameters: ["videoProtocol", "videoCodec"], reason: "RAW H264 not available")
    #expect(try ServiceRejection(payload: payload(Vector.v10)) == rejection)
    #expect(try rejection.bytes(version: 5) == payload(Vector.v10))
  }

  @Test func audioServiceAcknowledgement() throws {
    let bytes = try payload(Vector.v12)
    #expect(try BSONDocument(decoding: bytes) == BSONDocument([("mtu", .int64(131_072))]))
    #expect(BSONDocument([("mtu", .int64(131_072))]).bytes == bytes)
  }

  @Test func endService() throws {
    let request = EndServiceRequest(hashID: 65537)
    #expect(try EndServiceRequest(payload: payload(Vector.v20), version: 5) == request)
    #expect(try request.bytes(version: 5) == payload(Vector.v20))
    #expect(try EndServiceRequest(payload: payload(Vector.v21), version: 4) == request)
    #expect(try request.bytes(version: 4) == payload(Vector.v21))
    #expect(request.bytes(version: 1).isEmpty)
    #expect(EndServiceRequest(payload: [0, 1, 0, 1], version: 1).hashID == nil)
    #expect(EndServiceRequest(payload: [0, 1, 0], version: 2).hashID == nil)
    #expect(EndServiceRequest(hashID: nil).bytes(version: 5).isEmpty)
  }

  @Test func endServiceRejection() throws {
    let rejection = ServiceRejection(rejectedParameters: ["hashId"], reason: "hash mismatch")
    #expect(try ServiceRejection(payload: payload(Vector.v23)) == rejection)
    #expect(try rejection.bytes(version: 5) == payload(Vector.v23))
  }

  @Test func transportEvents() throws {
    let available = TransportEventUpdate(address: "192.168.1.1", port: 12345)
    #expect(try TransportEventUpdate(payload: payload(Vector.v25)) == available)
    #expect(try available.bytes == payload(Vector.v25))
    let gone = TransportEventUpdate(address: nil, port: nil)
    #expect(try TransportEventUpdate(payload: payload(Vector.v26)) == gone)
    #expect(try gone.bytes == payload(Vector.v26))
  }

  @Test func secondaryTransportRejection() throws {
    let rejection = ServiceRejection(reason: "unknown session")
    #expect(try ServiceRejection(payload: payload(Vector.v28)) == rejection)
    #expect(try rejection.bytes(version: 5) == payload(Vector.v28))
  }

  /// Members that are not BSON, or not of the protocol's type, read as absent.
  @Test func lenientReading() {
    let wrong = BSONDocument([
      ("width", .string("800")), ("height", .int64(480)), ("videoProtocol", .int32(1)), ("mtu", .int32(9)),
      ("hashId", .int64(1)), ("secondaryTransports", .string("TCP_WIFI")),
      ("audioServiceTransports", .array([.string("1"), .int32(1), .int64(2)])), ("protocolVersion", .string("five")),
      ("rejectedParams", .array([.int32(4), .string("mtu")])), ("tcpPort", .double(1)),
    ]).bytes
    #expect(VideoServiceParameters(payload: wrong) == VideoServiceParameters())
    #expect(ServiceRejection(payload: wrong) == ServiceRejection(rejectedParameters: ["mtu"]))
    #expect(TransportEventUpdate(payload: wrong) == TransportEventUpdate(address: nil, port: nil))
    #expect(RPCServiceRequest(payload: wrong).protocolVersion == nil)
    var acknowledgement = RPCServiceAcknowledgement()
    acknowledgement.audioServiceTransports = [1]
    #expect(RPCServiceAcknowledgement(payload: wrong, version: 5) == acknowledgement)
    #expect(VideoServiceParameters(payload: [1, 2, 3]) == VideoServiceParameters())
    #expect(RPCServiceAcknowledgement(payload: [0xFF], version: 5) == RPCServiceAcknowledgement())
  }

  @Test func protocolVersions() {
    #expect(ProtocolVersion("5.4.1") == ProtocolVersion(5, 4, 1))
    #expect(ProtocolVersion("5") == ProtocolVersion(5))
    #expect(ProtocolVersion(4, 9, 9) < ProtocolVersion(5) && ProtocolVersion(5, 0, 9) < ProtocolVersion(5, 1))
    for text in ["", ".", "5.", "5..1", "5.4.1.0", "-1", "5.x", "99999999999999999999", " 5"] {
      #expect(ProtocolVersion(text) == nil, "\(text)")
    }
  }
}
