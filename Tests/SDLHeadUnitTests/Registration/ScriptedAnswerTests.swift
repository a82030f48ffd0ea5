import SDLMessages
import Testing

@testable import SDLHeadUnit

/// Answers to RPCs by a script (`answer RPC …`).
@Suite struct ScriptedAnswerTests {
  private func app(_ commands: String...) throws -> TestApp {
    var app = TestApp.active()
    for command in commands {
      guard case .behave(let change)? = try HeadUnitCommand.parse(command) else {
        Issue.record("\(command)")
        continue
      }
      app.run { $0.change(change, now: $1) }
    }
    app.forget()
    return app
  }

  private func results(_ app: TestApp) -> [String?] {
    app.rpcs.filter { $0.type == .response }.map { $0.parameters["resultCode"]?.string }
  }

  @Test func aResultWithMembers() throws {
    var app = try app(#"answer GetVehicleData SUCCESS {"speed": 7.5}"#, "answer Show rejected")
    app.request(.getVehicleData, ["speed": .bool(true)])
    app.request(.show, ["mainField1": .string("a")])
    #expect(results(app) == ["SUCCESS", "REJECTED"])
    #expect(app.rpcs.first?.parameters["speed"] == .number(7.5) && app.rpcs.last?.parameters["success"] == .bool(false))
  }

  /// The usual answer, with its effects, and other members; once.
  @Test func otherMembersOfTheUsualAnswer() throws {
    var app = try app(#"answer SubscribeButton once regular {"info": "soon", "resultCode": "WARNINGS"}"#)
    app.request(.subscribeButton, ["buttonName": .string("OK")])
    app.request(.unsubscribeButton, ["buttonName": .string("OK")])
    app.request(.subscribeButton, ["buttonName": .string("OK")])
    #expect(results(app) == ["WARNINGS", "SUCCESS", "SUCCESS"])
    #expect(app.rpcs.first?.parameters["info"]?.string == "soon" && app.rpcs.last?.parameters["info"] == nil)
  }

  /// It has no other effect.
  @Test func silence() throws {
    var app = try app("answer AddCommand silence")
    app.request(.addCommand, ["cmdID": .integer(1), "menuParams": .object(["menuName": .string("a")])])
    #expect(app.rpcs.isEmpty)
    app.run { $0.change(.answer(.addCommand, .init(answer: .regular)), now: $1) }
    app.request(.addCommand, ["cmdID": .integer(1), "menuParams": .object(["menuName": .string("a")])])
    #expect(results(app) == ["SUCCESS"])
  }

  @Test func once() throws {
    var app = try app("answer Show once generic-error")
    for _ in 0..<2 { app.request(.show, ["mainField1": .string("a")]) }
    #expect(results(app) == ["GENERIC_ERROR", "SUCCESS"])
  }

  /// What this head unit does not have itself.
  @Test func notifications() throws {
    guard
      case .notify(let function, let members)? = try HeadUnitCommand.parse(
        #"notify OnWayPointChange {"wayPoints": [1]}"#)
    else { return #expect(Bool(false)) }
    var app = TestApp.active()
    app.run { $0.notify(function, members, now: $1) }
    #expect(
      app.rpcs.map(\.function) == [function] && app.rpcs.first?.parameters == ["wayPoints": .array([.integer(1)])])
    var unregistered = TestApp()
    unregistered.startSession()
    unregistered.forget()
    unregistered.run { $0.notify(function, members, now: $1) }
    #expect(unregistered.answers.isEmpty)
  }

  @Test(arguments: ["notify", "notify Show", "notify OnWayPointChange {", "notify OnNothing"])
  func malformedNotifications(line: String) {
    #expect(throws: HeadUnitCommand.Malformed.self) { try HeadUnitCommand.parse(line) }
  }

  /// Answers that wait are given in the order of their times, and none after the end of the registration.
  @Test func delay() throws {
    var app = try app("answer Show rejected after 2", "answer SetDisplayLayout in-use after 1")
    app.request(.show, ["mainField1": .string("a")])
    app.request(.setDisplayLayout, ["displayLayout": .string("MEDIA")])
    app.wait(.milliseconds(900))
    #expect(results(app) == [])
    app.wait(.milliseconds(100))
    #expect(results(app) == ["IN_USE"])
    app.wait(.seconds(1))
    #expect(results(app) == ["IN_USE", "REJECTED"])
    app.request(.show, ["mainField1": .string("a")])
    app.request(.unregisterAppInterface)
    app.forget()
    app.wait(.seconds(5))
    #expect(results(app) == [])
  }

  /// What a former registration still waits for is not answered in the next one.
  @Test func delayedAnswersOfAFormerRegistration() throws {
    var app = try app("answer Show rejected after 2")
    app.request(.show, ["mainField1": .string("a")])
    app.request(.unregisterAppInterface)
    app.register()
    app.wait(.seconds(1))
    app.forget()
    let id = app.request(.show, ["mainField1": .string("a")])
    app.wait(.seconds(2))
    #expect(results(app) == ["REJECTED"] && app.result(id)?.resultCode == "REJECTED")
  }

  /// An app can't make the head unit keep any number of requests.
  @Test func manyThatWait() throws {
    var app = try app("answer Show rejected after 60")
    for _ in 0..<3 {
      for _ in 0..<400 { app.request(.show, ["mainField1": .string("a")]) }
      app.wait(.seconds(11))
    }
    #expect(results(app).count == 200)
  }

  @Test(arguments: [
    "answer Show", "answer Show rejected after", "answer Show rejected after 0", "answer Show rejected 5",
    "answer Show silence after 1", "answer Shwo rejected", "answer RegisterAppInterface rejected", "answer Show reject",
  ])
  func malformed(command: String) {
    #expect(throws: HeadUnitCommand.Malformed.self) { try HeadUnitCommand.parse(command) }
  }

  /// What was to be in an answer that never came is in none of the next registration.
  @Test func membersOfAnAnswerThatNeverCame() throws {
    var app = try app(#"answer Alert once regular {"info": "old"}"#)
    app.send(
      RPCMessage(type: .request, function: .alert, correlationID: 500, parameters: ["alertText1": .string("Hi")]))
    app.request(.unregisterAppInterface)
    app.send(
      RPCMessage(
        type: .request, function: .registerAppInterface, correlationID: 500, parameters: RegisterAppInterface.test.json)
    )
    #expect(app.result(500) == RPCResult(success: true, resultCode: .success))
  }
}
