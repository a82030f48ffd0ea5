import SDLMessages
import Testing

@testable import SDLHeadUnit

/// What apps show in front of their screen lasts as long as they say, and is answered at its end.
@Suite struct InteractionTests {
  private static let choiceSet: JSONObject = [
    "interactionChoiceSetID": .integer(1),
    "choiceSet": .array([1, 2].map { .object(["choiceID": .integer($0), "menuName": .string("Choice \($0)")]) }),
  ]

  private func app() -> TestApp {
    var app = TestApp.active()
    app.request(.createInteractionChoiceSet, Self.choiceSet)
    app.forget()
    return app
  }

  private func contexts(of app: TestApp) -> [SystemContext] {
    app.rpcs.filter { $0.function == .onHMIStatus }.map { HMIStatus(json: $0.parameters).systemContext }
  }

  /// The times of MOBILE_API.xml, the results at their end, and what the app is told meanwhile.
  @Test(
    arguments: [
      (.alert, #"{"alertText1":"Exit?"}"#, 5000, "SUCCESS", .alert),
      (.alert, #"{"alertText2":"Exit?","duration":3000}"#, 3000, "SUCCESS", .alert),
      (.alert, #"{"ttsChunks":[{"text":"hi","type":"TEXT"}],"duration":10000}"#, 10_000, "SUCCESS", .alert),
      (.subtleAlert, #"{"alertText1":"Look"}"#, 5000, "SUCCESS", .alert),
      (.performInteraction, Self.choose(""), 10_000, "TIMED_OUT", .obscured),
      (.performInteraction, Self.choose(#","timeout":100000"#), 100_000, "TIMED_OUT", .obscured),
      (.performInteraction, Self.choose("", mode: "VR_ONLY"), 10_000, "TIMED_OUT", .voiceSession),
      (.scrollableMessage, #"{"scrollableMessageBody":"Text"}"#, 30_000, "SUCCESS", .obscured),
      (.slider, #"{"numTicks":5,"position":5,"sliderHeader":"Text","timeout":65535}"#, 65_535, "TIMED_OUT", .obscured),
    ] as [(FunctionID, String, Int, String, SystemContext)])
  func lasts(function: FunctionID, parameters: String, time: Int, code: String, context: SystemContext) throws {
    var app = app()
    let id = app.request(function, try JSONObject(parsing: Array(parameters.utf8)[...]))
    app.wait(.milliseconds(time - 1))
    #expect(app.result(id) == nil && contexts(of: app) == [context])
    app.wait(.milliseconds(1))
    #expect(app.result(id)?.resultCode == code && app.result(id)?.success == (code == "SUCCESS"))
    #expect(contexts(of: app) == [context, .main])
    // The level and the right to stream stay.
    #expect(app.levels == [.full, .full] && app.controls == [] && app.violations == [])
  }

  private static func choose(_ rest: String, mode: String = "MANUAL_ONLY") -> String {
    #"{"initialText":"choice","interactionMode":"\#(mode)","interactionChoiceSetIDList":[1]\#(rest)}"#
  }

  @Test(
    arguments: [
      (.alert, #"{"duration":3000}"#, "INVALID_DATA"),
      (.alert, #"{"alertText1":"Text","duration":2999}"#, "INVALID_DATA"),
      (.alert, #"{"alertText1":"Text","duration":10001}"#, "INVALID_DATA"),
      (.alert, #"{"alertText1":"Text","duration":"long"}"#, "INVALID_DATA"),
      (.alert, #"{"alertText1":"Text","softButtons":[{"softButtonID":65536}]}"#, "INVALID_DATA"),
      (.alert, #"{"alertText1":"Text","softButtons":{}}"#, "INVALID_DATA"),
      (
        .subtleAlert,
        #"{"alertText1":"Text","softButtons":[{"softButtonID":1},{"softButtonID":2},{"softButtonID":3}]}"#,
        "INVALID_DATA"
      ),
      (.performInteraction, Self.choose(#","timeout":4999"#), "INVALID_DATA"),
      (.performInteraction, Self.choose("", mode: "NEITHER"), "INVALID_DATA"),
      (.performInteraction, Self.choose("").replacing("[1]", with: "[]"), "INVALID_DATA"),
      (.performInteraction, Self.choose("").replacing("[1]", with: "[1,2]"), "INVALID_ID"),
      (.slider, #"{"numTicks":5,"position":6,"sliderHeader":"Text"}"#, "INVALID_DATA"),
      (.slider, #"{"numTicks":27,"position":6,"sliderHeader":"Text"}"#, "INVALID_DATA"),
      (.scrollableMessage, #"{"scrollableMessageBody":"Text","timeout":9223372036854775807}"#, "INVALID_DATA"),
      (.cancelInteraction, #"{"functionID":13}"#, "INVALID_ID"),
      (.cancelInteraction, #"{"functionID":-1}"#, "INVALID_ID"),
      (.cancelInteraction, #"{"functionID":12,"cancelID":"x"}"#, "INVALID_DATA"),
    ] as [(FunctionID, String, String)])
  func refuses(function: FunctionID, parameters: String, code: String) throws {
    var app = app()
    let id = app.request(function, try JSONObject(parsing: Array(parameters.utf8)[...]))
    #expect(app.result(id)?.resultCode == code && app.result(id)?.success == false)
    #expect(contexts(of: app) == [] && app.session.nextDeadline == nil)
  }

  /// Alerts are in front of everything else; there is one of each at a time.
  @Test func oneOnEachLayer() throws {
    var app = app()
    let message = app.request(.scrollableMessage, ["scrollableMessageBody": .string("Text")])
    let slider = app.request(
      .slider, ["numTicks": .integer(2), "position": .integer(1), "sliderHeader": .string("Text")])
    #expect(app.result(slider)?.resultCode == "REJECTED")
    let alert = app.request(.alert, ["alertText1": .string("Text")])
    app.wait(.seconds(1))
    let second = app.request(.subtleAlert, ["alertText1": .string("Text")])
    #expect(app.result(second)?.resultCode == "REJECTED")
    let answer = try #require(app.rpcs.last { $0.correlationID == second })
    #expect(answer.parameters["tryAgainTime"]?.integer == 4000)
    app.wait(.seconds(4))
    #expect(app.result(alert)?.resultCode == "SUCCESS" && app.result(message) == nil)
    #expect(contexts(of: app) == [.obscured, .alert, .obscured])
    // And again.
    let third = app.request(.alert, ["alertText1": .string("Text")])
    #expect(app.result(third) == nil)
  }

  @Test func cancelling() throws {
    var app = app()
    let alert = app.request(.alert, ["alertText1": .string("Text"), "cancelID": .integer(7)])
    let cancellations: [(JSONObject, String)] = [
      (["functionID": .integer(12), "cancelID": .integer(8)], "IGNORED"),
      (["functionID": .integer(64)], "IGNORED"), (["functionID": .integer(10)], "IGNORED"),
      (["functionID": .integer(12), "cancelID": .integer(7)], "SUCCESS"), (["functionID": .integer(12)], "IGNORED"),
    ]
    for (parameters, code) in cancellations {
      let id = app.request(.cancelInteraction, parameters)
      #expect(app.result(id)?.resultCode == code)
    }
    #expect(app.result(alert)?.resultCode == "ABORTED")
    #expect(contexts(of: app) == [.alert, .main] && app.session.nextDeadline == nil)
    // What it has cancelled is over when the app hears of its success.
    #expect(app.rpcs.suffix(4).map(\.function) == [.alert, .onHMIStatus, .cancelInteraction, .cancelInteraction])
  }

  @Test func cancellingWithAnIDThatTheOverlayHasNot() {
    var app = app()
    let alert = app.request(.alert, ["alertText1": .string("Text")])
    let cancellation = app.request(.cancelInteraction, ["functionID": .integer(12), "cancelID": .integer(7)])
    #expect(app.result(cancellation)?.resultCode == "IGNORED" && app.result(alert) == nil)
  }

  /// At a level at which it could not begin, it ends.
  @Test func leavingTheScreen() {
    var app = app()
    let alert = app.request(.alert, ["alertText1": .string("Text")])
    let message = app.request(.scrollableMessage, ["scrollableMessageBody": .string("Text")])
    app.set(.limited, .streamable)
    #expect(app.result(alert) == nil && app.result(message)?.resultCode == "ABORTED")
    // The app knows why.
    #expect(app.rpcs.suffix(2).map(\.function) == [.onHMIStatus, .scrollableMessage])
    app.set(.background, .notStreamable)
    #expect(app.result(alert)?.resultCode == "ABORTED")
    #expect(contexts(of: app) == [.alert, .alert, .main] && app.session.nextDeadline == nil)
  }

  @Test func nothingIsLeftOfAnAppThatHasGone() {
    var app = app()
    let alert = app.request(.alert, ["alertText1": .string("Text")])
    app.request(.unregisterAppInterface)
    #expect(app.session.nextDeadline == nil)
    app.register()
    app.wait(.seconds(10))
    #expect(app.result(alert) == nil)
    let second = app.request(.alert, ["alertText1": .string("Text")])
    app.wait(.seconds(5))
    #expect(app.result(second)?.resultCode == "SUCCESS")
  }

  @Test func choicesInUseStay() {
    var app = app()
    app.request(
      .performInteraction,
      [
        "initialText": .string("Text"), "interactionMode": .string("BOTH"),
        "interactionChoiceSetIDList": .array([.integer(1)]),
      ])
    let parameters: JSONObject = ["interactionChoiceSetID": .integer(1)]
    let first = app.request(.deleteInteractionChoiceSet, parameters)
    app.wait(.seconds(10))
    let second = app.request(.deleteInteractionChoiceSet, parameters)
    #expect([first, second].map { app.result($0)?.resultCode } == ["IN_USE", "SUCCESS"])
  }

  @Test func isReported() {
    var app = app()
    app.request(
      .alert,
      [
        "alertText1": .string("Text"),
        "softButtons": .array([
          .object(["softButtonID": .integer(3), "type": .string("TEXT"), "text": .string("Yes")])
        ]),
      ])
    app.wait(.seconds(5))
    let events = app.events.filter {
      switch $0 {
      case .interactionShown, .interactionEnded: true
      default: false
      }
    }
    #expect(
      events == [.interactionShown(.alert, for: .seconds(5), [.softButton(3)]), .interactionEnded(.alert, .success)])
    #expect(events.map { HeadUnitScript.Event($0) } == [.alert, .interactionEnded])
    // A script that waits for a level is not started by what is in front of the app.
    #expect(!app.events.contains { HeadUnitScript.Event($0) == .hmiFull })
  }

  /// The app on the screen learns that something of another is in front of it, and there is one of each on the screen.
  @Test func overlaysOfOtherApps() throws {
    var other = AppSummary(id: 2, role: .other, level: .limited, isStreaming: false)
    other.shownUntil = [.alert: .seconds(104)]
    var app = app()
    let own = try #require(app.appSummary)
    app.run { $0.setApps([own, other], now: $1) }
    let alert = app.request(.alert, ["alertText1": .string("Text")])
    #expect(app.result(alert)?.resultCode == "REJECTED")
    let answer = try #require(app.rpcs.last { $0.correlationID == alert })
    #expect(answer.parameters["tryAgainTime"]?.integer == 3900)
    let message = app.request(.scrollableMessage, ["scrollableMessageBody": .string("Text")])
    #expect(app.result(message) == nil)
    // What it shows itself obscures nothing of others' from its own point of view.
    let shown = try #require(app.appSummary)
    #expect(HeadUnitScreen.overlays(besidesThoseOf: 1, among: [shown]).until.isEmpty)
    #expect(HeadUnitScreen.overlays(besidesThoseOf: 2, among: [shown]).until == [.overlay: .milliseconds(130_100)])
    for (input, id) in [(.softButton(1), 2), (.dismiss, 2), (.choice(1), 1), (.button("OK"), nil)]
      as [(DriverInput, UInt8?)]
    {
      #expect(HeadUnitScreen.app(inFrontFor: input, among: [shown, other]) == id)
    }
    #expect(HeadUnitScreen.app(inFrontFor: .softButton(1), among: [shown]) == 1)
    app.request(.cancelInteraction, ["functionID": .integer(25)])
    app.run { $0.setApps([own], now: $1) }
    #expect(contexts(of: app) == [.obscured, .main])
    // Only the app on the screen.
    app.set(.limited, .streamable)
    app.run { $0.setApps([other], now: $1) }
    #expect(contexts(of: app) == [.obscured, .main, .main])
  }
}
