import SDLMessages
import SDLWire
import Testing
import TestSupport

@Suite struct RPCMessageTests {
  /// Payloads as bytes.
  private static let registration =
    [UInt8](hex: "00 00 00 01 00 00 00 01 00 00 00 DB")
    + Array(
      (#"{"syncMsgVersion":{"majorVersion":8,"minorVersion":0,"patchVersion":0},"appName":"Nav","#
        + #""isMediaApplication":false,"languageDesired":"EN-US","hmiDisplayLanguageDesired":"EN-US","#
        + #""appHMIType":["NAVIGATION"],"appID":"1234"}"#).utf8)
  private static let registrationResponse =
    [UInt8](hex: "10 00 00 01 00 00 00 01 00 00 00 97")
    + Array(
      (#"{"success":true,"resultCode":"SUCCESS","syncMsgVersion":{"majorVersion":8,"minorVersion":0,"#
        + #""patchVersion":0},"hmiCapabilities":{"videoStreaming":true}}"#).utf8)
  private static let status =
    [UInt8](hex: "20 00 80 00 00 00 00 00 00 00 00 7A")
    + Array(
      (#"{"hmiLevel":"FULL","audioStreamingState":"AUDIBLE","systemContext":"MAIN","#
        + #""videoStreamingState":"STREAMABLE","windowID":0}"#).utf8)
  private static let capabilityRequest =
    [UInt8](hex: "00 00 00 30 00 00 00 02 00 00 00 3B")
    + Array(#"{"systemCapabilityType":"VIDEO_STREAMING","subscribe":true}"#.utf8)
  private static let touch =
    [UInt8](hex: "20 00 80 0C 00 00 00 00 00 00 00 49")
    + Array(#"{"type":"BEGIN","event":[{"id":0,"ts":[123456],"c":[{"x":400,"y":240}]}]}"#.utf8)
  private static let systemRequest = joined(
    [UInt8](hex: "20 00 80 0D 00 00 00 00 00 00 00 3D"),
    Array(#"{"requestType":"LOCK_SCREEN_ICON_URL","url":"http://x/y.png"}"#.utf8), [0xDE, 0xAD, 0xBE, 0xEF])

  @Test func registerAppInterface() throws {
    let message = try RPCMessage(payload: Self.registration)
    #expect(message.type == .request && message.function == .registerAppInterface && message.correlationID == 1)
    #expect(message.bulk.isEmpty && message.service == .rpc)
    let request = RegisterAppInterface(json: message.parameters)
    var expected = RegisterAppInterface(
      rpcVersion: RPCVersion(8), appName: "Nav", appID: "1234", language: "EN-US", isMediaApplication: false,
      appTypes: [.navigation])
    // The payload has none.
    expected.fullAppID = nil
    #expect(request == expected)
  }

  @Test func registerAppInterfaceResponse() throws {
    let message = try RPCMessage(payload: Self.registrationResponse)
    #expect(message.type == .response && message.function == .registerAppInterface && message.correlationID == 1)
    var expected = RegisterAppInterfaceResponse(result: RPCResult(success: true, resultCode: .success))
    expected.rpcVersion = RPCVersion(8)
    expected.videoStreaming = true
    #expect(RegisterAppInterfaceResponse(json: message.parameters) == expected)
    #expect(expected.json == message.parameters)
  }

  @Test func onHMIStatus() throws {
    let message = try RPCMessage(payload: Self.status)
    #expect(message.type == .notification && message.function == .onHMIStatus && message.correlationID == 0)
    let expected = HMIStatus(level: .full, audioStreamingState: .audible, videoStreamingState: .streamable)
    #expect(HMIStatus(json: message.parameters) == expected)
    #expect(expected.json == message.parameters)
  }

  @Test func getSystemCapability() throws {
    let message = try RPCMessage(payload: Self.capabilityRequest)
    #expect(message.type == .request && message.function == .getSystemCapability && message.correlationID == 2)
    let expected = GetSystemCapability(type: .videoStreaming, subscribe: true)
    #expect(GetSystemCapability(json: message.parameters) == expected)
    #expect(expected.json == message.parameters)
  }

  @Test func onTouchEvent() throws {
    let message = try RPCMessage(payload: Self.touch)
    #expect(message.type == .notification && message.function == .onTouchEvent)
    let event = message.parameters["event"]?.array?.first?.object
    #expect(message.parameters["type"]?.string == "BEGIN")
    #expect(event?["ts"]?.array?.first?.integer == 123_456)
    #expect(event?["c"]?.array?.first?.object?["x"]?.integer == 400)
  }

  @Test func onSystemRequestWithBulk() throws {
    let message = try RPCMessage(payload: Self.systemRequest)
    #expect(
      message.function == .onSystemRequest && message.bulk == [0xDE, 0xAD, 0xBE, 0xEF] && message.service == .hybrid)
    #expect(message.parameters["url"]?.string == "http://x/y.png")
    // The writer's order of keys is the vector's.
    #expect(message.payload == Self.systemRequest)
  }

  @Test(arguments: [registration, registrationResponse, status, capabilityRequest, touch, systemRequest])
  func roundTrip(payload: [UInt8]) throws {
    let message = try RPCMessage(payload: payload)
    #expect(message.payload.count == payload.count)
    #expect(message.payload.prefix(12) == payload.prefix(12))
    #expect(try RPCMessage(payload: message.payload) == message)
  }

  @Test func withoutParameters() throws {
    let message = try RPCMessage(payload: [UInt8](hex: "00 00 00 02 00 00 00 09 00 00 00 00"))
    #expect(message == RPCMessage(type: .request, function: .unregisterAppInterface, correlationID: 9))
    #expect(message.payload == [UInt8](hex: "00 00 00 02 00 00 00 09 00 00 00 02 7B 7D"))
  }

  /// As SDL Core writes: indented, with a line feed at the end; notifications with correlation id −1.
  @Test func styledText() throws {
    let text = Array("{\n   \"hmiLevel\" : \"LIMITED\",\n   \"windowID\" : 0\n}\n".utf8)
    let header = RPCHeader(
      type: .notification, functionID: 0x8000, correlationID: -1, jsonSize: UInt32(text.count))
    let message = try RPCMessage(payload: header.bytes + text)
    #expect(message.correlationID == -1)
    #expect(HMIStatus(json: message.parameters).level == .limited)
  }

  @Test func malformed() throws {
    let header = RPCHeader(type: .response, functionID: 48, correlationID: 7, jsonSize: 2)
    #expect(throws: RPCMessage.Malformed.parameters(header)) { try RPCMessage(payload: header.bytes + [0x5B, 0x5D]) }
    #expect(throws: RPCMessage.Malformed.header(.jsonSize(2))) { try RPCMessage(payload: header.bytes + [0x7B]) }
    for length in 0..<12 {
      #expect(throws: RPCMessage.Malformed.header(.truncated)) {
        try RPCMessage(payload: Array(Self.status.prefix(length)))
      }
    }
  }

  /// The number of an unknown function is kept.
  @Test func unknownFunction() throws {
    let message = try RPCMessage(payload: [UInt8](hex: "2F FF FF FF 00 00 00 00 00 00 00 00"))
    #expect(message.function.description == "function 268435455")
    #expect(FunctionID.onHMIStatus.description == "OnHMIStatus")
    #expect(message.payload.prefix(4) == [0x2F, 0xFF, 0xFF, 0xFF])
  }
}
