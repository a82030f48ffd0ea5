import SDLWire
import Testing

/// A byte vector and its headers.
private struct HeaderVector: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var bytes: [UInt8]
  var headers: [FrameHeader]

  init(_ name: String, _ bytes: [UInt8], _ headers: FrameHeader...) {
    testDescription = name
    self.bytes = bytes
    self.headers = headers
  }
}

private func control(
  _ version: UInt8, _ control: ControlFrame, _ service: ServiceType, session: UInt8 = 1, size: UInt32 = 0,
  id: UInt32 = 0, encrypted: Bool = false
) -> FrameHeader {
  FrameHeader(
    version: version, isEncrypted: encrypted, frameType: .control, service: service, frameInfo: control.rawValue,
    sessionID: session, dataSize: size, messageID: id)
}

private func data(
  _ type: FrameType, _ service: ServiceType, info: UInt8 = 0, size: UInt32, id: UInt32, encrypted: Bool = false
) -> FrameHeader {
  FrameHeader(
    version: 5, isEncrypted: encrypted, frameType: type, service: service, frameInfo: info, sessionID: 1,
    dataSize: size, messageID: id)
}

private let controlVectors = [
  HeaderVector("V01", Vector.v01, control(1, .startService, .rpc, session: 0)),
  HeaderVector("V02", Vector.v02, control(1, .startService, .rpc, session: 0, size: 32)),
  HeaderVector("V03", Vector.v03, control(4, .startServiceACK, .rpc, size: 4)),
  HeaderVector("V04", Vector.v04, control(5, .startServiceACK, .rpc, size: 57)),
  HeaderVector("V05", Vector.v05, control(5, .startServiceACK, .rpc, size: 297)),
  HeaderVector("V06", Vector.v06, control(1, .startServiceNAK, .rpc, session: 0)),
  HeaderVector("V07", Vector.v07, control(5, .startServiceNAK, .rpc, session: 0, size: 81)),
  HeaderVector("V08", Vector.v08, control(5, .startService, .video, size: 72)),
  HeaderVector("V09", Vector.v09, control(5, .startServiceACK, .video, size: 85, id: 7)),
  HeaderVector("V10", Vector.v10, control(5, .startServiceNAK, .video, size: 100, id: 8)),
  HeaderVector("V11", Vector.v11, control(5, .startService, .audio)),
  HeaderVector("V12", Vector.v12, control(5, .startServiceACK, .audio, size: 18, id: 9)),
  HeaderVector("V13", Vector.v13, control(5, .startService, .video, size: 72, encrypted: true)),
  HeaderVector("V18", Vector.v18, control(3, .heartbeat, .control, id: 3)),
  HeaderVector("V19", Vector.v19, control(3, .heartbeatACK, .control)),
  HeaderVector("V20", Vector.v20, control(5, .endService, .rpc, size: 17)),
  HeaderVector("V21", Vector.v21, control(4, .endService, .rpc, size: 4)),
  HeaderVector("V22", Vector.v22, control(5, .endServiceACK, .rpc, id: 20)),
  HeaderVector("V23", Vector.v23, control(5, .endServiceNAK, .rpc, size: 66, id: 21)),
  HeaderVector("V24", Vector.v24, control(5, .endService, .video, id: 22), control(5, .endServiceACK, .video)),
  HeaderVector("V25", Vector.v25, control(5, .transportEventUpdate, .control, size: 48, id: 1)),
  HeaderVector("V26", Vector.v26, control(5, .transportEventUpdate, .control, size: 24, id: 2)),
  HeaderVector(
    "V27", Vector.v27, control(5, .registerSecondaryTransport, .control, id: 1),
    control(5, .registerSecondaryTransportACK, .control, id: 2)),
  HeaderVector("V28", Vector.v28, control(5, .registerSecondaryTransportNAK, .control, session: 9, size: 33, id: 2)),
  HeaderVector("V44", Vector.v44, control(4, .serviceDataACK, .video, size: 4, id: 50)),
]

private let dataVectors = [
  HeaderVector("V14", Vector.v14, data(.single, .video, size: 44, id: 5)),
  HeaderVector(
    "V15", Vector.v15, data(.first, .video, size: 8, id: 6), data(.consecutive, .video, info: 1, size: 8, id: 6),
    data(.consecutive, .video, info: 2, size: 8, id: 6), data(.consecutive, .video, size: 4, id: 6)),
  HeaderVector(
    "V17", Vector.v17, data(.consecutive, .video, info: 254, size: 1, id: 8),
    data(.consecutive, .video, info: 255, size: 1, id: 8), data(.consecutive, .video, info: 1, size: 1, id: 8),
    data(.consecutive, .video, info: 2, size: 1, id: 8)),
  HeaderVector("V29", Vector.v29, data(.single, .rpc, size: 231, id: 1)),
  HeaderVector("V30", Vector.v30, data(.single, .rpc, size: 163, id: 1)),
  HeaderVector("V31", Vector.v31, data(.single, .rpc, size: 134, id: 4)),
  HeaderVector("V32", Vector.v32, data(.single, .rpc, size: 71, id: 2)),
  HeaderVector("V33", Vector.v33, data(.single, .rpc, size: 85, id: 5)),
  HeaderVector("V34", Vector.v34, data(.single, .hybrid, size: 77, id: 6)),
  HeaderVector(
    "V35", Vector.v35, data(.single, .video, size: 37, id: 30), data(.single, .video, size: 18, id: 31),
    data(.single, .video, size: 19, id: 32)),
  HeaderVector(
    "V36", Vector.v36, data(.single, .video, size: 26, id: 33), data(.single, .video, size: 26, id: 34),
    data(.single, .video, size: 21, id: 35)),
  HeaderVector("V38", Vector.v38, data(.single, .audio, size: 8, id: 40)),
  HeaderVector("V39", Vector.v39, data(.single, .control, size: 22, id: 10)),
  HeaderVector("V40", Vector.v40, data(.single, .control, size: 22, id: 11)),
  HeaderVector("V41", Vector.v41, data(.single, .control, size: 43, id: 12)),
  HeaderVector("V42", Vector.v42, data(.single, .video, size: 31, id: 41, encrypted: true)),
  HeaderVector(
    "V43", Vector.v43, data(.first, .rpc, size: 8, id: 42),
    data(.consecutive, .rpc, info: 1, size: 7, id: 42, encrypted: true),
    data(.consecutive, .rpc, size: 7, id: 42, encrypted: true)),
]

@Suite struct HeaderVectorTests {
  @Test(arguments: controlVectors + dataVectors) private func bothDirections(vector: HeaderVector) {
    let items = decode(vector.bytes)
    let frames = frames(items)
    #expect(items.count == frames.count, "no garbage")
    #expect(frames.map(\.header) == vector.headers)
    #expect(frames.flatMap(\.bytes) == vector.bytes)
    for frame in frames { #expect(Int(frame.header.dataSize) == frame.payload.count) }
  }

  @Test func controlFramesFromScratch() {
    #expect(Frame.control(.startService, service: .rpc, version: 1, sessionID: 0).bytes == Vector.v01)
    #expect(Frame.control(.startService, service: .audio, version: 5, sessionID: 1).bytes == Vector.v11)
    #expect(Frame.control(.heartbeat, service: .control, version: 3, sessionID: 1, messageID: 3).bytes == Vector.v18)
    #expect(Frame.control(.heartbeatACK, service: .control, version: 3, sessionID: 1).bytes == Vector.v19)
    #expect(Frame.control(.endServiceACK, service: .rpc, version: 5, sessionID: 1, messageID: 20).bytes == Vector.v22)
  }

  @Test func controlMeaning() throws {
    #expect(try frame(Vector.v44).header.controlFrame == .serviceDataACK)
    #expect(try frame(Vector.v14).header.controlFrame == nil)
  }
}
