import SDLHeadUnit
import SDLMessages
import Testing

/// The driver types, moves a slider, and chooses a language.
@Suite struct DriverEntryTests {
  private static func keyboard(_ layout: String = "KEYBOARD") -> JSONObject {
    [
      "initialText": .string("Where to?"), "interactionMode": .string("MANUAL_ONLY"),
      "interactionChoiceSetIDList": .array(layout == "KEYBOARD" ? [] : [.integer(1)]),
      "interactionLayout": .string(layout), "timeout": .integer(5000),
    ]
  }

  private func perform(_ app: inout TestApp, _ line: String) throws {
    guard case .driverInput(let input)? = try HeadUnitCommand.parse(line) else {
      Issue.record("no input: \(line)")
      return
    }
    app.run { $0.take(input, now: $1) }
  }

  private func keys(_ app: TestApp) -> [String] {
    app.rpcs.filter { $0.function == .onKeyboardInput }.map { rpc in
      let data = rpc.parameters["data"]?.string
      return (rpc.parameters["event"]?.string ?? "") + (data.map { " \($0)" } ?? "")
    }
  }

  private func withoutEffect(_ app: TestApp) -> String? {
    app.events.compactMap(\.text).last { $0.hasPrefix("without effect") }
  }

  @Test(
    arguments: [
      (nil, ["KEYPRESS H", "KEYPRESS Hö", "KEYPRESS Hö "]),
      ("RESEND_CURRENT_ENTRY", ["KEYPRESS H", "KEYPRESS Hö", "KEYPRESS Hö "]),
      ("SINGLE_KEYPRESS", ["KEYPRESS H", "KEYPRESS ö", "KEYPRESS  "]), ("QUEUE_KEYPRESSES", []),
    ] as [(String?, [String])])
  func keyboard(mode: String?, keypresses: [String]) throws {
    var app = TestApp.active()
    if let mode {
      app.request(.setGlobalProperties, ["keyboardProperties": .object(["keypressMode": .string(mode)])])
    }
    let id = app.request(.performInteraction, Self.keyboard())
    #expect(app.events.compactMap(\.text).contains { $0.contains("or until: keyboard TEXT") })
    app.run { $0.take(.keyboard("Hö "), now: $1) }
    #expect(keys(app) == keypresses + ["ENTRY_SUBMITTED Hö "])
    #expect(app.result(id)?.resultCode == "SUCCESS")
    let answer = try #require(app.rpcs.last { $0.correlationID == id }).parameters
    #expect(answer["manualTextEntry"]?.string == "Hö " && answer["triggerSource"]?.string == "KEYBOARD")
    // The properties are reset.
    app.request(.resetGlobalProperties, ["properties": .array([.string("KEYBOARDPROPERTIES")])])
    app.forget()
    app.request(.performInteraction, Self.keyboard())
    try perform(&app, "keyboard a b")
    #expect(keys(app) == ["KEYPRESS a", "KEYPRESS a ", "KEYPRESS a b", "ENTRY_SUBMITTED a b"])
  }

  @Test func search() throws {
    var app = TestApp.active()
    app.request(
      .createInteractionChoiceSet,
      [
        "interactionChoiceSetID": .integer(1),
        "choiceSet": .array([.object(["choiceID": .integer(1), "menuName": .string("Home")])]),
      ])
    let id = app.request(.performInteraction, Self.keyboard("LIST_WITH_SEARCH"))
    try perform(&app, "keyboard Ho")
    #expect(app.result(id)?.resultCode == "SUCCESS" && keys(app).last == "ENTRY_SUBMITTED Ho")
  }

  /// Without an interaction the app on the screen gets the keys, as from SDL Core.
  @Test func keyboardOfTheScreen() throws {
    var app = TestApp.active()
    try perform(&app, "keyboard a")
    #expect(keys(app) == ["KEYPRESS a", "ENTRY_SUBMITTED a"])
    app.request(.scrollableMessage, ["scrollableMessageBody": .string("Text")])
    try perform(&app, "keyboard b")
    #expect(keys(app).count == 2 && withoutEffect(app)?.contains("has no keyboard") == true)
    var other = TestApp.active()
    other.set(.limited, .streamable)
    try perform(&other, "keyboard c")
    #expect(keys(other) == [] && withoutEffect(other)?.contains("at HMI level LIMITED") == true)
  }

  /// The text is in the answer even if the policies grant no keys.
  @Test func keyboardWithoutGrant() throws {
    var app = TestApp.active(HeadUnitPreset.core.configuration)
    try perform(&app, "keyboard a")
    #expect(withoutEffect(app)?.contains("OnKeyboardInputOnlyGroup") == true)
    let id = app.request(.performInteraction, Self.keyboard())
    try perform(&app, "keyboard a")
    #expect(keys(app) == [] && app.result(id)?.resultCode == "SUCCESS")
    #expect(app.rpcs.last { $0.correlationID == id }?.parameters["manualTextEntry"]?.string == "a")
  }

  @Test func keyboardWithoutEntry() {
    var app = TestApp.active()
    let id = app.request(.performInteraction, Self.keyboard())
    app.wait(.seconds(5))
    #expect(keys(app) == ["ENTRY_ABORTED"] && app.result(id)?.resultCode == "TIMED_OUT")
  }

  /// What is closed without an answer has the result of SDL's generic HMI.
  @Test(
    arguments: [
      ("keyboard", "ABORTED", ["ENTRY_CANCELLED"]), ("choices", "ABORTED", []), ("slider", "ABORTED", []),
      ("message", "SUCCESS", []), ("alert", "SUCCESS", []),
    ] as [(String, String, [String])])
  func dismiss(_ overlay: String, _ result: String, _ keypresses: [String]) throws {
    var app = TestApp.active()
    app.request(
      .createInteractionChoiceSet,
      [
        "interactionChoiceSetID": .integer(1),
        "choiceSet": .array([.object(["choiceID": .integer(1), "menuName": .string("Home")])]),
      ])
    let id =
      switch overlay {
      case "keyboard": app.request(.performInteraction, Self.keyboard())
      case "choices": app.request(.performInteraction, Self.keyboard("LIST_ONLY"))
      case "slider":
        app.request(.slider, ["numTicks": .integer(3), "position": .integer(1), "sliderHeader": .string("Volume")])
      case "message": app.request(.scrollableMessage, ["scrollableMessageBody": .string("Text")])
      default: app.request(.alert, ["alertText1": .string("Text")])
      }
    #expect(app.result(id) == nil)
    try perform(&app, "dismiss")
    #expect(app.result(id)?.resultCode == result && keys(app) == keypresses)
    try perform(&app, "dismiss")
    #expect(withoutEffect(app)?.contains("shows no alert") == true)
  }

  @Test func slider() throws {
    var app = TestApp.active()
    try perform(&app, "slider 2")
    #expect(withoutEffect(app)?.contains("shows no slider") == true)
    let id = app.request(
      .slider, ["numTicks": .integer(3), "position": .integer(1), "sliderHeader": .string("Volume")])
    #expect(app.events.compactMap(\.text).contains { $0.hasSuffix("or until: slider 1, slider 2, slider 3") })
    try perform(&app, "slider 4")
    #expect(withoutEffect(app)?.contains("no position 4, but 1 to 3") == true && app.result(id) == nil)
    try perform(&app, "slider 3")
    let answer = try #require(app.rpcs.last { $0.correlationID == id }).parameters
    #expect(answer["resultCode"]?.string == "SUCCESS" && answer["sliderPosition"]?.integer == 3)
    // Its time is over: the position is where it was.
    let second = app.request(
      .slider,
      ["numTicks": .integer(3), "position": .integer(2), "sliderHeader": .string("Volume"), "timeout": .integer(1000)])
    app.wait(.seconds(1))
    let timeout = try #require(app.rpcs.last { $0.correlationID == second }).parameters
    #expect(timeout["resultCode"]?.string == "TIMED_OUT" && timeout["sliderPosition"]?.integer == 2)
  }

  @Test(arguments: [
    ("slider 0", "of the form slider"), ("slider up", "of the form slider"), ("keyboard", "of the form keyboard"),
    ("keyboard " + String(repeating: "x", count: 501), "500 characters"), ("language german", "no language \"german\""),
    ("language", "of the form language"),
  ])
  func invalid(line: String, reason: String) {
    #expect { try HeadUnitCommand.parse(line) } throws: { "\($0)".contains(reason) }
  }

  private static func change(to line: String) throws -> HeadUnitConditions.Change {
    guard case .language(let language)? = try HeadUnitCommand.parse(line) else { return .language("none") }
    return .language(language)
  }

  /// Apps in another language are unregistered, and may come back in the new one.
  @Test func language() throws {
    var app = TestApp.active()
    let german = try Self.change(to: "language de-de")
    app.run { $0.apply(german, now: $1) }
    #expect(app.rpcs.map(\.function) == [.onLanguageChange, .onAppInterfaceUnregistered])
    #expect(app.rpcs.first?.parameters == ["language": .string("DE-DE"), "hmiDisplayLanguage": .string("DE-DE")])
    #expect(app.rpcs.last?.parameters["reason"]?.string == "LANGUAGE_CHANGE" && !app.isClosed)
    for (language, code) in [("DE-DE", "SUCCESS"), ("EN-US", "WRONG_LANGUAGE")] {
      let id = app.register {
        for member in ["languageDesired", "hmiDisplayLanguageDesired"] { $0[member] = .string(language) }
      }
      #expect(app.result(id)?.resultCode == code)
      #expect(app.rpcs.last { $0.correlationID == id }?.parameters["language"]?.string == "DE-DE")
      app.request(.unregisterAppInterface)
    }
  }

  /// ChangeRegistration in time keeps the registration, and nothing is told twice.
  @Test func changedRegistration() throws {
    var app = TestApp.active()
    let change = app.request(
      .changeRegistration, ["language": .string("DE-DE"), "hmiDisplayLanguage": .string("DE-DE")])
    #expect(app.result(change)?.resultCode == "SUCCESS")
    app.forget()
    let german = try Self.change(to: "language DE-DE")
    app.run { $0.apply(german, now: $1) }
    app.run { $0.apply(german, now: $1) }
    #expect(app.rpcs.map(\.function) == [.onLanguageChange] && app.session.identity != nil)
  }

  /// It is the language of sessions that begin later.
  @Test func languageOfTheHeadUnit() throws {
    var conditions = HeadUnitConditions()
    conditions.apply(.language("FR-CA"))
    #expect(conditions.changes == [.language("FR-CA")])
  }
}
