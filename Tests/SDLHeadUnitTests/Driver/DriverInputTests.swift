import SDLHeadUnit
import SDLMessages
import Testing

@Suite struct DriverInputTests {
  /// The notifications and responses since the last forget, as name and parameters.
  private func lines(of app: TestApp) -> [String] {
    app.rpcs.map { rpc in
      rpc.function == .onHMIStatus
        ? "context \(HMIStatus(json: rpc.parameters).systemContext.rawValue)"
        : "\(rpc.function) \(String(decoding: rpc.parameters.serialized, as: UTF8.self))"
    }
  }

  private func faults(of app: TestApp) -> [String] {
    app.events.compactMap {
      if case .driverInputWithoutEffect(_, let fault) = $0 { fault.description } else { nil }
    }
  }

  private func softButton(_ id: Int, _ action: String? = nil) -> JSONValue {
    let image: JSONObject = ["value": .string("0x11"), "imageType": .string("STATIC")]
    return .object(
      ["softButtonID": .integer(id), "type": .string("IMAGE"), "image": .object(image)]
        .merging(action.map { ["systemAction": .string($0)] } ?? [:]) { $1 })
  }

  @Test func buttons() {
    var app = TestApp.active()
    app.run { $0.take(.button("OK"), now: $1) }
    app.request(.subscribeButton, ["buttonName": .string("OK")])
    app.request(.subscribeButton, ["buttonName": .string("NAV_ZOOM_IN")])
    app.answers = []
    app.run { $0.take(.button("OK"), now: $1) }
    #expect(
      lines(of: app) == [
        #"OnButtonEvent {"buttonEventMode":"BUTTONDOWN","buttonName":"OK"}"#,
        #"OnButtonEvent {"buttonEventMode":"BUTTONUP","buttonName":"OK"}"#,
        #"OnButtonPress {"buttonName":"OK","buttonPressMode":"SHORT"}"#,
      ])
    app.run { $0.take(.button("TUNEUP"), now: $1) }
    // OK is for the app at FULL, and buttons are for those with the screen or the sound.
    app.set(.limited, .streamable)
    app.answers = []
    app.run { $0.take(.button("OK"), now: $1) }
    #expect(app.rpcs == [])
    app.run { $0.take(.button("NAV_ZOOM_IN"), now: $1) }
    #expect(app.rpcs.count == 3)
    app.set(.background, .notStreamable)
    app.answers = []
    app.run { $0.take(.button("NAV_ZOOM_IN"), now: $1) }
    #expect(app.rpcs == [])
    #expect(
      faults(of: app) == [
        "the app has not subscribed to the button OK, but to none",
        "the app has not subscribed to the button TUNEUP, but to NAV_ZOOM_IN, OK",
        "the app is at HMI level LIMITED, and this reaches it at FULL",
        "the app is at HMI level BACKGROUND, and this reaches it at FULL, LIMITED",
      ])
  }

  private static func subscribed(_ buttons: String...) -> TestApp {
    var app = TestApp.active()
    for button in buttons { app.request(.subscribeButton, ["buttonName": .string(button)]) }
    app.forget()
    return app
  }

  /// The presses since the last forget: "OK BUTTONDOWN".
  private func presses(of app: TestApp) -> [String] {
    app.rpcs.compactMap { rpc in
      guard let name = rpc.parameters["buttonName"]?.string else { return nil }
      let mode = rpc.parameters["buttonEventMode"] ?? rpc.parameters["buttonPressMode"]
      return "\(name) \(mode?.string ?? "?")"
    }
  }

  /// The driver holds the button for a while, and the app hears of a long press when it is over.
  @Test func longPress() {
    var app = Self.subscribed("OK")
    app.run { $0.take(.button("OK", .long), now: $1) }
    app.wait(.milliseconds(1199))
    #expect(presses(of: app) == ["OK BUTTONDOWN"])
    // Still the same finger.
    app.run { $0.take(.button("OK"), now: $1) }
    app.run { $0.take(.button("OK", .long), now: $1) }
    app.wait(.milliseconds(1))
    #expect(presses(of: app) == ["OK BUTTONDOWN", "OK BUTTONUP", "OK LONG"])
    app.wait(.seconds(5))
    #expect(app.session.nextDeadline == nil && presses(of: app).count == 3)
    #expect(app.events == [.driverInput(.button("OK", .long)), .driverInput(.button("OK", .up))])
  }

  /// Each is held for its own time.
  @Test func longPressesOfTwoButtons() {
    var app = Self.subscribed("OK", "NAV_PAN_UP")
    app.run { $0.take(.button("OK", .long), now: $1) }
    app.wait(.milliseconds(500))
    app.run { $0.take(.button("NAV_PAN_UP", .long), now: $1) }
    app.wait(.milliseconds(1199))
    let first = ["OK BUTTONDOWN", "NAV_PAN_UP BUTTONDOWN", "OK BUTTONUP", "OK LONG"]
    #expect(presses(of: app) == first)
    app.wait(.milliseconds(1))
    #expect(presses(of: app) == first + ["NAV_PAN_UP BUTTONUP", "NAV_PAN_UP LONG"])
  }

  @Test(arguments: [(999, "SHORT"), (1000, "LONG")]) func downAndUp(milliseconds: Int, mode: String) {
    var app = Self.subscribed("OK", "NAV_PAN_UP")
    app.run { $0.take(.button("OK", .up), now: $1) }
    app.run { $0.take(.button("OK", .down), now: $1) }
    app.run { $0.take(.button("NAV_PAN_UP", .down), now: $1) }
    app.run { $0.take(.button("OK", .down), now: $1) }
    app.wait(.milliseconds(Int64(milliseconds)))
    app.run { $0.take(.button("OK", .up), now: $1) }
    app.run { $0.take(.button("OK", .up), now: $1) }
    #expect(
      presses(of: app) == ["OK BUTTONDOWN", "NAV_PAN_UP BUTTONDOWN", "OK BUTTONUP", "OK \(mode)"])
    #expect(faults(of: app) == [])
  }

  /// What the app may not have any more it does not hear of.
  @Test func releaseAfterALossOfRights() {
    var app = Self.subscribed("OK", "NAV_ZOOM_IN")
    app.run { $0.take(.button("OK", .long), now: $1) }
    app.run { $0.take(.button("NAV_ZOOM_IN", .down), now: $1) }
    app.set(.limited, .streamable)
    app.request(.unsubscribeButton, ["buttonName": .string("NAV_ZOOM_IN")])
    app.answers = []
    app.run { $0.take(.button("NAV_ZOOM_IN", .up), now: $1) }
    app.wait(.seconds(2))
    #expect(presses(of: app) == [] && faults(of: app) == [])
    app.set(.full, .streamable)
    app.answers = []
    app.run { $0.take(.button("OK"), now: $1) }
    #expect(presses(of: app) == ["OK BUTTONDOWN", "OK BUTTONUP", "OK SHORT"])
    app.run { $0.take(.button("OK", .long), now: $1) }
    app.run { $0.unregisterApp(.appUnauthorized, now: $1) }
    #expect(app.session.nextDeadline == nil)
  }

  @Test func subscriptionsAreReported() {
    var app = TestApp.active()
    app.forget()
    for button in ["OK", "OK", "TUNEUP"] { app.request(.subscribeButton, ["buttonName": .string(button)]) }
    app.request(.subscribeButton, ["buttonName": .string("NAV_TILT_TOGGLE")])
    app.request(.unsubscribeButton, ["buttonName": .string("OK")])
    #expect(
      app.events == [
        .buttonsSubscribed(["OK"]), .buttonsSubscribed(["OK", "NAV_TILT_TOGGLE"]),
        .buttonsSubscribed(["NAV_TILT_TOGGLE"]),
      ])
    #expect(app.events.compactMap(\.text) == [])
  }

  @Test func softButtonOfAnAlertEndsIt() {
    var app = TestApp.active()
    app.request(.alert, ["alertText1": .string("Text"), "softButtons": .array([softButton(1)])])
    app.forget()
    app.run { $0.take(.softButton(1), now: $1) }
    #expect(
      lines(of: app) == [
        #"OnButtonEvent {"buttonEventMode":"BUTTONDOWN","buttonName":"CUSTOM_BUTTON","customButtonID":1}"#,
        #"OnButtonEvent {"buttonEventMode":"BUTTONUP","buttonName":"CUSTOM_BUTTON","customButtonID":1}"#,
        #"OnButtonPress {"buttonName":"CUSTOM_BUTTON","buttonPressMode":"SHORT","customButtonID":1}"#,
        #"Alert {"resultCode":"SUCCESS","success":true}"#, "context MAIN",
      ])
    #expect(app.session.nextDeadline == nil)
    app.run { $0.take(.softButton(1), now: $1) }
    #expect(faults(of: app) == ["the app shows no soft button 1, but none"])
  }

  /// The button keeps the alert, or brings the app to the screen.
  @Test func systemActions() {
    var app = TestApp.active()
    let alert: JSONObject = [
      "alertText1": .string("Text"),
      "softButtons": .array([softButton(1, "KEEP_CONTEXT"), softButton(2, "STEAL_FOCUS")]),
    ]
    app.set(.limited, .streamable)
    let id = app.request(.alert, alert)
    app.wait(.seconds(4))
    app.run { $0.take(.softButton(1), now: $1) }
    app.wait(.milliseconds(4999))
    #expect(app.result(id) == nil)
    app.forget()
    app.run { $0.take(.softButton(2), now: $1) }
    #expect(app.result(id)?.resultCode == "SUCCESS" && app.levels == [.limited, .full])
    // It has the screen already.
    app.request(.alert, alert)
    app.forget()
    app.run { $0.take(.softButton(2), now: $1) }
    #expect(app.levels == [.full] && lines(of: app).last == "context MAIN")
  }

  /// What is in front goes first, whichever way the driver closes it.
  @Test(arguments: [DriverInput.dismiss, .softButton(1)]) func closedFromTheFront(input: DriverInput) {
    var app = TestApp.active()
    let buttons: JSONObject = ["softButtons": .array([softButton(1)])]
    let message = app.request(.scrollableMessage, buttons.merging(["scrollableMessageBody": .string("Text")]) { $1 })
    let alert = app.request(.alert, buttons.merging(["alertText1": .string("Text")]) { $1 })
    app.run { $0.take(input, now: $1) }
    #expect(app.result(alert)?.resultCode == "SUCCESS" && app.result(message) == nil)
    app.run { $0.take(input, now: $1) }
    #expect(app.result(message)?.resultCode == "SUCCESS" && faults(of: app) == [])
  }

  /// Those of the screen stay until the same request names others.
  @Test func softButtonsOfTheScreen() {
    var app = TestApp.active()
    app.request(
      .show,
      [
        "softButtons": .array([
          .object(["softButtonID": .integer(5), "type": .string("TEXT"), "text": .string("Stop")]), softButton(6),
        ])
      ])
    app.request(.show, ["mainField1": .string("")])
    app.forget()
    app.run { $0.take(.softButton(5), now: $1) }
    #expect(app.rpcs.count == 3 && faults(of: app) == [])
    app.run { $0.take(.softButton(7), now: $1) }
    app.request(.show, ["softButtons": .array([])])
    app.run { $0.take(.softButton(5), now: $1) }
    #expect(
      faults(of: app) == [
        #"the app shows no soft button 7, but 5 "Stop", 6"#, "the app shows no soft button 5, but none",
      ])
  }

  @Test func menuCommands() {
    var app = TestApp.active()
    app.run { $0.take(.menu("Hello"), now: $1) }
    app.request(
      .addCommand,
      [
        "cmdID": .integer(7), "menuParams": .object(["menuName": .string("Hello  Menu")]),
      ])
    app.request(.addCommand, ["cmdID": .integer(9), "vrCommands": .array([.string("Say 7")])])
    app.answers = []
    app.run { $0.take(.menu("hello menu"), now: $1) }
    app.run { $0.take(.menu("7"), now: $1) }
    app.run { $0.take(.menu("Say 7"), now: $1) }
    let menu = ["context MENU", #"OnCommand {"cmdID":7,"triggerSource":"MENU"}"#, "context MAIN"]
    #expect(
      lines(of: app) == menu + menu
        + ["context VRSESSION", #"OnCommand {"cmdID":9,"triggerSource":"VR"}"#, "context MAIN"])
    app.run { $0.take(.menu("8"), now: $1) }
    app.request(.deleteCommand, ["cmdID": .integer(7)])
    app.set(.limited, .streamable)
    app.answers = []
    app.run { $0.take(.menu("Hello Menu"), now: $1) }
    #expect(app.rpcs == [])
    #expect(
      faults(of: app) == [
        "the app's menu has no command Hello, but none",
        #"the app's menu has no command 8, but 7 "Hello Menu", 9 "Say 7""#,
        #"the app's menu has no command Hello Menu, but 9 "Say 7""#,
      ])
  }

  @Test func choices() throws {
    var app = TestApp.active()
    app.request(
      .createInteractionChoiceSet,
      [
        "interactionChoiceSetID": .integer(1),
        "choiceSet": .array([3, 4].map { .object(["choiceID": .integer($0), "menuName": .string("Cell")]) }),
      ])
    app.run { $0.take(.choice(3), now: $1) }
    let id = app.request(
      .performInteraction,
      [
        "initialText": .string("Text"), "interactionMode": .string("MANUAL_ONLY"),
        "interactionChoiceSetIDList": .array([.integer(1)]),
      ])
    app.run { $0.take(.choice(5), now: $1) }
    app.answers = []
    app.run { $0.take(.choice(4), now: $1) }
    #expect(
      lines(of: app) == [
        #"PerformInteraction {"choiceID":4,"resultCode":"SUCCESS","success":true,"triggerSource":"MENU"}"#,
        "context MAIN",
      ])
    #expect(app.result(id)?.success == true && app.session.nextDeadline == nil)
    #expect(
      faults(of: app) == [
        "the app does not ask the driver to choose (PerformInteraction)", "there is no choice 5, but 3, 4",
      ])
  }

  @Test func withoutAnApp() {
    var app = TestApp()
    app.run { $0.take(.choice(1), now: $1) }
    #expect(app.answers == [] && app.events == [])
  }

  @Test(
    arguments: [
      ("press ok", .button("OK")), ("press nav-zoom-in", .button("NAV_ZOOM_IN")),
      ("press NAV_ZOOM_IN", .button("NAV_ZOOM_IN")), ("press ok long", .button("OK", .long)),
      ("press ok down", .button("OK", .down)), ("press ok up", .button("OK", .up)),
      ("press ok short", .button("OK", .short)), ("press soft-button 3", .softButton(3)),
      ("menu 1900000001", .menu("1900000001")), ("menu  Hello  Menu 1", .menu("Hello Menu 1")),
      ("choose 0", .choice(0)),
    ] as [(String, DriverInput)])
  func parsing(line: String, input: DriverInput) throws {
    #expect(try HeadUnitCommand.parse(line) == .driverInput(input))
    #expect(try HeadUnitCommand.parse("\(input)") == .driverInput(input))
  }

  @Test(arguments: [
    (
      "press ok hard",
      #""press ok hard" is not of the form press BUTTON [short|long|down|up] or press soft-button ID"#
    ),
    ("press soft-button", #""press soft-button" is not of the form press soft-button ID"#),
    ("press soft-button -1", #""press soft-button -1" is not of the form press soft-button ID"#),
    ("choose first", #""choose first" is not of the form choose ID"#),
    ("menu", #""menu" is not of the form menu COMMAND"#),
    ("press", #""press" is not of the form press BUTTON [short|long|down|up] or press soft-button ID"#),
  ])
  func errors(line: String, message: String) {
    let error = #expect(throws: HeadUnitCommand.Malformed.self) { try HeadUnitCommand.parse(line) }
    #expect(error?.description == message)
  }

  @Test func unknownButtonsAreAnsweredWithTheKnown() throws {
    let error = #expect(throws: HeadUnitCommand.Malformed.self) { try HeadUnitCommand.parse("press horn") }
    let text = try #require(error?.description)
    #expect(text.hasPrefix(#"there is no button "horn", but NAV_CENTER_LOCATION, "#))
    #expect(text.hasSuffix(", and the app's own with press soft-button ID"))
  }

  /// Each input that has an effect is an event, once.
  @Test func inputsAreReported() {
    var app = Self.subscribed("OK")
    app.request(.show, ["softButtons": .array([softButton(5)])])
    app.request(.addCommand, ["cmdID": .integer(7), "menuParams": .object(["menuName": .string("Hello")])])
    app.request(
      .createInteractionChoiceSet,
      [
        "interactionChoiceSetID": .integer(1),
        "choiceSet": .array([.object(["choiceID": .integer(3), "menuName": .string("Cell")])]),
      ])
    let inputs: [(overlay: FunctionID?, parameters: JSONObject, input: DriverInput)] = [
      (nil, [:], .button("OK")), (nil, [:], .softButton(5)), (nil, [:], .menu("hello")), (nil, [:], .keyboard("a")),
      (
        .performInteraction,
        [
          "initialText": .string("Text"), "interactionMode": .string("MANUAL_ONLY"),
          "interactionChoiceSetIDList": .array([.integer(1)]),
        ], .choice(3)
      ),
      (
        .slider, ["numTicks": .integer(3), "position": .integer(1), "sliderHeader": .string("Volume")], .slider(2)
      ),
      (.alert, ["alertText1": .string("Text")], .dismiss),
    ]
    for (overlay, parameters, input) in inputs {
      if let overlay { app.request(overlay, parameters) }
      app.forget()
      app.run { $0.take(input, now: $1) }
      let reported = app.events.compactMap { if case .driverInput(let input) = $0 { input } else { nil } }
      #expect(reported == [input] && faults(of: app) == [])
    }
  }

  /// An app may have thousands of commands.
  @Test(arguments: [(12, false), (13, true)]) func longLists(count: Int, isCut: Bool) {
    let names = (1...count).map { "button \($0)" }
    let text = DriverInputFault.notSubscribed(to: "OK", subscribed: names).description
    #expect(text.hasSuffix(", button 12" + (isCut ? ", …" : "")))
  }
}
