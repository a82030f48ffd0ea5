import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// Apps with the id or the name of another that is registered: the app of ``TestApp`` is "Map" with the id "1234".
@Suite struct AppIdentityTests {
  private func app(
    beside others: [AppIdentity], _ configuration: HeadUnitConfiguration = HeadUnitPreset.standard.configuration
  ) -> TestApp {
    var app = TestApp(configuration)
    app.run { $0.setApps([], samePhone: others, now: $1) }
    app.startSession()
    return app
  }

  @Test func sameID() {
    var app = app(beside: [AppIdentity(id: "1234", name: "Other")])
    let id = app.register()
    #expect(app.result(id)?.resultCode == "APPLICATION_REGISTERED_ALREADY")
    #expect(app.session.identity == nil)
    #expect(app.events == [.registrationRefused(name: "Map", id: "1234", .applicationRegisteredAlready)])
    // The session stays, so that the app can try again.
    #expect(!app.isClosed)
    app.run { $0.setApps([], now: $1) }
    let second = app.register()
    #expect(app.result(second)?.success == true)
    #expect(app.session.identity == AppIdentity(id: "1234", name: "Map"))
  }

  @Test func sameName() {
    var app = app(beside: [AppIdentity(id: "9", name: "Radio"), AppIdentity(id: "99", name: "MAP")])
    let id = app.register()
    #expect(app.result(id)?.resultCode == "DUPLICATE_NAME")
    // SDL Core ends the session after other refusals.
    #expect(app.controls.last == "rpc endService" && app.isClosed)
  }

  @Test func idComesBeforeName() {
    var app = app(beside: [AppIdentity(id: "5678", name: "Map"), AppIdentity(id: "1234", name: "Other")])
    let id = app.register()
    #expect(app.result(id)?.resultCode == "APPLICATION_REGISTERED_ALREADY")
  }

  /// Of two ids the long one counts.
  @Test(arguments: [("ABC-1", true), ("1234", false)])
  func fullID(other: String, isTaken: Bool) {
    var app = app(beside: [AppIdentity(id: other, name: "Other")])
    let id = app.register { $0["fullAppID"] = .string("abc-1") }
    #expect(app.result(id)?.success == !isTaken)
    guard !isTaken else { return }
    let ids = app.events.compactMap { if case .appRegistered(_, let id, _, _, _) = $0 { id } else { nil } }
    #expect(ids == ["abc-1"])
  }

  @Test func headUnitThatTakesThem() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.refusesTakenNames = false
    var app = app(beside: [AppIdentity(id: "1234", name: "Map")], configuration)
    let id = app.register()
    #expect(app.result(id)?.success == true)
  }

  @Test func appsWithoutAFullID() {
    var app = app(beside: [])
    app.register { $0["fullAppID"] = nil }
    #expect(app.session.identity?.id == "1234")
  }

  @Test func othersDoNotDisturbARegisteredApp() {
    var app = TestApp.active()
    app.run { $0.setApps([], samePhone: [AppIdentity(id: "1234", name: "Map")], now: $1) }
    app.startVideo(.standard)
    #expect(app.controls == ["video startServiceACK"])
  }

  @Test(arguments: AppHMIType.allCases.filter { $0 != .webView })
  func typesOfApps(type: AppHMIType) {
    var app = app(beside: [])
    app.register { $0["appHMIType"] = .array([.string(type.rawValue)]) }
    let types = app.events.compactMap { if case .appRegistered(_, _, let types, _, _) = $0 { types } else { nil } }
    #expect(types == [[type]])
  }

  /// It stays when the connection breaks, as with SDL Core.
  @Test func icon() throws {
    func isResumed(_ app: TestApp) -> Bool? {
      app.rpcs.first { $0.function == .registerAppInterface }.map {
        RegisterAppInterfaceResponse(json: $0.parameters).isIconResumed
      }
    }
    var app = TestApp()
    app.startSession()
    app.register()
    #expect(isResumed(app) == false)
    app.send(
      RPCMessage(
        type: .request, function: .putFile, correlationID: 9,
        parameters: ["syncFileName": .string("a.png"), "fileType": .string("GRAPHIC_PNG")], bulk: [1, 2, 3]))
    let id = app.request(.setAppIcon, ["syncFileName": .string("a.png")])
    #expect(app.result(id)?.success == true && app.events.contains(.iconSet("a.png", byteCount: 3)))
    let saved = try #require(app.savedApp)
    for name in ["1234", "other"] {
      var next = TestApp()
      next.session.setSavedApps([saved])
      next.startSession()
      next.register {
        $0["appID"] = .string(name)
        $0["fullAppID"] = nil
      }
      #expect(isResumed(next) == (name == "1234"))
    }
  }
}
