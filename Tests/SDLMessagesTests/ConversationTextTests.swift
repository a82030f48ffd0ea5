import SDLMessages
import SDLWire
import Testing

@Suite struct ConversationTextTests {
  private func lines(_ frames: [Frame]) -> [String] {
    var text = ConversationText()
    return frames.compactMap { text.line(for: $0, now: .zero) }
  }

  private func control(_ control: ControlFrame, _ service: ServiceType, _ payload: [UInt8] = []) -> Frame {
    .control(control, service: service, version: 5, sessionID: 1, payload: payload)
  }

  private func data(_ payload: [UInt8], _ service: ServiceType, maximumPayload: Int = 1000) throws -> [Frame] {
    let message = Fragmentation(
      service: service, version: 5, sessionID: 1, messageID: 1, payloadSize: payload.count,
      maximumPayload: maximumPayload)
    var decoder = FrameDecoder()
    decoder.append(message.frames(of: payload))
    var frames: [Frame] = []
    while case .frame(let frame)? = decoder.next() { frames.append(frame) }
    return frames
  }

  /// What a replay needs of a control frame, as JSON.
  @Test func parametersOfControlFrames() {
    func parameters(
      _ control: ControlFrame, _ service: ServiceType, version: UInt8 = 5, _ payload: [UInt8]
    ) -> JSONObject {
      let frame = Frame.control(control, service: service, version: version, sessionID: 1, payload: payload)
      return ConversationText.parameters(of: control, frame)
    }
    let video = VideoServiceParameters(width: 800, height: 480, videoProtocol: "RAW", videoCodec: "H264", mtu: 131_072)
    #expect(
      parameters(.startServiceACK, .video, video.bytes(version: 5)) == [
        "width": .integer(800), "height": .integer(480), "videoProtocol": .string("RAW"), "videoCodec": .string("H264"),
        "mtu": .integer(131_072),
      ])
    let rejection = ServiceRejection(rejectedParameters: ["width", "height"], reason: "too large")
    #expect(
      parameters(.startServiceNAK, .video, rejection.bytes(version: 5)) == [
        "rejectedParams": .array([.string("width"), .string("height")]), "reason": .string("too large"),
      ])
    // The first frame of a session is of version 1, whatever its payload says.
    let start = RPCServiceRequest(protocolVersion: ProtocolVersion(5, 4, 1)).bytes
    #expect(parameters(.startService, .rpc, version: 1, start) == ["protocolVersion": .string("5.4.1")])
    #expect(parameters(.startServiceACK, .rpc, version: 4, [0, 1, 0, 1]) == ["hashId": .integer(65537)])
    #expect(parameters(.endService, .rpc, version: 3, [0, 1, 0, 1]) == ["hashId": .integer(65537)])
    #expect(parameters(.endService, .video, []) == [:] && parameters(.serviceDataACK, .video, [0, 0, 0, 9]) == [:])
    #expect(parameters(.startServiceACK, .rpc, [1, 2, 3]) == [:])
  }

  @Test func controlFrames() {
    let video = VideoServiceParameters(width: 800, height: 480, videoProtocol: "RAW", videoCodec: "H264")
    let rejection = ServiceRejection(rejectedParameters: ["width", "height"], reason: "too large")
    #expect(
      lines([
        control(.startService, .rpc, RPCServiceRequest(protocolVersion: ProtocolVersion(5, 4, 1)).bytes),
        control(.startService, .video, video.bytes(version: 5)),
        control(.startServiceNAK, .video, rejection.bytes(version: 5)),
        control(.endService, .rpc, EndServiceRequest(hashID: 65537).bytes(version: 5)),
        control(.endServiceACK, .video), control(.heartbeat, .control),
      ]) == [
        "StartService rpc: protocol 5.4.1", "StartService video: 800×480 H264 over RAW",
        "StartServiceNAK video: width, height; too large", "EndService rpc: hash 65537", "EndServiceACK video",
        "Heartbeat",
      ])
  }

  /// The E flag of the header: an app asks for an encrypted service with it.
  @Test func encryptedFrames() throws {
    let video = VideoServiceParameters(width: 800, height: 480, videoProtocol: "RAW", videoCodec: "H264")
    var frames = [
      control(.startService, .video, video.bytes(version: 5)), control(.startServiceACK, .audio),
      try #require(try data([1, 2, 3], .rpc).first),
    ]
    for index in frames.indices { frames[index].header.isEncrypted = true }
    #expect(
      lines(frames) == [
        "StartService video encrypted: 800×480 H264 over RAW", "StartServiceACK audio encrypted",
        "encrypted RPC, 3 bytes",
      ])
  }

  @Test func messages() throws {
    let request = RPCMessage(
      type: .request, function: .getSystemCapability, correlationID: 3,
      parameters: ["systemCapabilityType": .string("VIDEO_STREAMING")])
    let bulk = RPCMessage(type: .notification, function: .onSystemRequest, correlationID: 0, bulk: [1, 2, 3])
    let line = #"GetSystemCapability request 3 {"systemCapabilityType":"VIDEO_STREAMING"}"#
    #expect(lines(try data(request.payload, .rpc)) == [line])
    #expect(lines(try data(request.payload, .rpc, maximumPayload: 20)) == [line])
    #expect(lines(try data(bulk.payload, .hybrid)) == ["OnSystemRequest {} and 3 bytes"])
    #expect(lines(try data([1, 2, 3], .rpc)).count == 1)
    #expect(lines(try data([1, 2, 3], .video)) == [])
  }

  @Test func longParametersAreCut() throws {
    let long = RPCMessage(
      type: .response, function: .registerAppInterface, correlationID: 1,
      parameters: ["info": .string(String(repeating: "x", count: 5000))])
    let line = try #require(lines(try data(long.payload, .rpc)).first)
    #expect(
      line.hasPrefix("RegisterAppInterface response 1 {\"info\":\"xxx") && line.hasSuffix("x…") && line.count < 2100)
  }

  /// JSON may contain everything but the first control characters as it is.
  @Test func textsOfPeersArePrintable() throws {
    let marks = "a" + String(repeating: "\u{301}", count: 100_000)
    let message = RPCMessage(
      type: .response, function: .registerAppInterface, correlationID: 1,
      parameters: ["info": .string("\u{1B}[2J\n\u{9B}\u{202E}\(marks)")])
    let line = try #require(lines(try data(message.payload, .rpc)).first)
    #expect(line.utf8.count < 5000)
    #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x9B || $0.value == 0x202E }, "\(line)")
    let result = RPCResult(json: message.parameters)
    #expect(result.info?.hasPrefix("\\u{1B}[2J\\u{A}\\u{9B}\\u{202E}") == true)
    #expect(result.info?.utf8.count ?? 0 < 5000)
    let warning = OnDriverDistraction(json: ["lockScreenDismissalWarning": .string("\u{1B}[2J\(marks)")])
    #expect(warning.lockScreenDismissalWarning?.hasPrefix("\\u{1B}[2J") == true)
    #expect(warning.lockScreenDismissalWarning?.utf8.count ?? 0 < 5000)
    let format = JSONValue.object(["protocol": .string("RAW\n"), "codec": .string(marks)])
    let capability = VideoStreamingCapability(json: ["supportedFormats": .array(Array(repeating: format, count: 1000))])
    #expect(capability.supportedFormats?.first?.videoProtocol == "RAW\\u{A}")
    #expect(capability.supportedFormats?.count == 100 && "\(capability)".utf8.count < 50_000)
  }
}
