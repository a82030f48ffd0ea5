import SDLMessages
import SDLWire
import Testing

@testable import SDLHeadUnit

/// Events about each message, for logs and tests.
@Suite struct MessageEventTests {
  private func messages(_ events: [HeadUnitSession.Event]) -> [ConversationMessage] {
    events.compactMap { if case .message(let message) = $0 { message } else { nil } }
  }

  @Test(arguments: [false, true])
  func everyMessageIsAnEvent(isWanted: Bool) throws {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.reportsMessages = isWanted
    var app = TestApp(configuration)
    app.startSession()
    app.register()
    let names = messages(app.events).map { message in
      let sender = message.sender == .app ? "app" : "car"
      return switch message.content {
      case .control(let control, let service, _, _): "\(sender) \(control.name) \(service)"
      case .rpc(let rpc): "\(sender) \(rpc.function) \(rpc.type)"
      }
    }
    let first = [
      "app StartService rpc", "car StartServiceACK rpc", "app RegisterAppInterface request",
      "car RegisterAppInterface response",
    ]
    #expect(Array(names.prefix(4)) == (isWanted ? first : []))
    // The message comes before what it causes.
    let events = app.events.compactMap(EventRecord.init).map(\.name)
    #expect(
      events.prefix(2)
        == (isWanted ? ["RegisterAppInterface", "RegisterAppInterface/response"] : ["registered", "hmi-none"]))
  }

  @Test func encryptedRPCsAreReadable() throws {
    var app = TestApp.secured(.accept, change: { $0.reportsMessages = true })
    app.startEncrypted(.rpc)
    app.shakeHands()
    let controls = messages(app.events).filter {
      if case .control(.startServiceACK, _, _, _) = $0.content { true } else { false }
    }
    #expect(controls.map(\.isEncrypted) == [true])
    app.forget()
    app.readsRPCs = false
    app.sendEncrypted(
      RPCMessage(type: .request, function: .show, correlationID: 9, parameters: ["mainField1": .string("secret")]))
    let rpcs = messages(app.events)
    #expect(rpcs.count >= 2 && rpcs.allSatisfy(\.isEncrypted))
    #expect(rpcs.first?.text == "Show \"secret\"")
  }

  /// A line for people says what the app shows, and what it is refused.
  @Test(
    arguments: [
      (
        RPCMessage(
          type: .request, function: .show, correlationID: 1,
          parameters: [
            "mainField1": .string("Hello SDL!"),
            "softButtons": .array([.object(["text": .string("ROCK")]), .object(["softButtonID": .integer(2)])]),
          ]), ConversationMessage.Sender.app, "Show \"Hello SDL!\" | soft buttons: ROCK, (picture)"
      ),
      (
        RPCMessage(type: .request, function: .putFile, correlationID: 1, parameters: [:], bulk: [1, 2]), .app,
        "PutFile and 2 bytes"
      ),
      (
        RPCMessage(
          type: .request, function: .alert, correlationID: 1,
          parameters: ["alertText1": .string(String(repeating: "x", count: 300))]), .app,
        "Alert {\"alertText1\":\"" + String(repeating: "x", count: 285) + "…"
      ),
      (
        RPCMessage(
          type: .response, function: .show, correlationID: 1,
          parameters: RPCResult(success: false, resultCode: .disallowed, info: "no").json), .headUnit,
        "Show refused: DISALLOWED, no"
      ),
      (
        RPCMessage(
          type: .response, function: .show, correlationID: 1,
          parameters: RPCResult(success: true, resultCode: .success).json), .headUnit, nil
      ),
    ] as [(RPCMessage, ConversationMessage.Sender, String?)])
  func text(message: RPCMessage, sender: ConversationMessage.Sender, text: String?) {
    #expect(ConversationMessage(sender: sender, content: .rpc(message)).text == text)
  }
}
