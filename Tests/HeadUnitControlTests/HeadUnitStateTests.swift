import SDLHeadUnit
import SDLHeadUnitLink
import SDLMessages
import SDLWire
import Testing

@testable import HeadUnitControl

@Suite struct HeadUnitStateTests {
  private static let registered = HeadUnitSession.Event.appRegistered(
    name: "Map", id: "1", types: [], protocolVersion: ProtocolVersion(5, 4, 0), .success)

  private static func state(_ events: [HeadUnitSession.Event]) -> HeadUnitState {
    var state = HeadUnitState(display: VideoSize(800, 480), keepsImages: false)
    for event in events { state.note(.session(id: 3, event)) }
    return state
  }

  private static func app(_ state: HeadUnitState) -> JSONObject? { state.json["apps"]?.array?.first?.object }

  private static func show(_ type: RPCType, _ members: JSONObject) -> HeadUnitSession.Event {
    .message(
      ConversationMessage(
        sender: type == .request ? .app : .headUnit,
        content: .rpc(RPCMessage(type: type, function: .show, correlationID: 7, parameters: members))))
  }

  @Test func whatAnAppIsAndShows() throws {
    let state = Self.state([
      Self.registered, .hmiStatusSent(HMIStatus(level: .full, videoStreamingState: .streamable)),
      .videoStarted(VideoServiceParameters(width: 800, height: 480), on: .primary),
      .interactionShown(.alert, for: .seconds(5), [.softButton(1)]), .buttonsSubscribed(["OK"]),
      Self.show(.request, ["mainField1": .string("Hello")]), Self.show(.response, ["success": .bool(true)]),
    ])
    let app = try #require(Self.app(state))
    #expect(app["session"] == .integer(3) && app["name"] == .string("Map") && app["level"] == .string("FULL"))
    #expect(app["services"]?.object?["video"]?.object?["width"] == .integer(800))
    #expect(app["interaction"]?.object?["function"] == .string("Alert") && app["buttons"] == .array([.string("OK")]))
    #expect(app["shows"] == .object(["mainField1": .string("Hello")]))
  }

  @Test func whatHasEndedIsGone() throws {
    let state = Self.state([
      Self.registered, .videoStarted(VideoServiceParameters(), on: .primary), .videoStopped(reason: .endedByApp),
      .interactionShown(.alert, for: .seconds(5), []), .interactionEnded(.alert, .success),
    ])
    let app = try #require(Self.app(state))
    #expect(app["services"] == .object([:]) && app["interaction"] == nil)
    #expect(Self.app(Self.state([Self.registered, .appUnregistered(reason: .requestedByApp)])) == nil)
  }

  /// The request of an overlay, while that is in front.
  @Test func overlays() throws {
    let members: JSONObject = ["alertText1": .string("Hello")]
    let alert = ConversationMessage(
      sender: .app,
      content: .rpc(RPCMessage(type: .request, function: .alert, correlationID: 8, parameters: members)))
    let shown: [HeadUnitSession.Event] = [
      Self.registered, .message(alert), .interactionShown(.alert, for: .seconds(5), []),
    ]
    func overlays(_ events: [HeadUnitSession.Event]) throws -> JSONObject? {
      try #require(Self.app(Self.state(events)))["screen"]?.object?["overlays"]?.object
    }
    #expect(try overlays(shown) == ["Alert": .object(members)])
    #expect(try overlays(shown + [.interactionEnded(.subtleAlert, .success)]) == ["Alert": .object(members)])
    #expect(try overlays(shown + [.interactionEnded(.alert, .success)]) == [:])
  }

  /// An overlay is in front again once that before it has ended.
  @Test func overlayInFront() throws {
    var events: [HeadUnitSession.Event] = [Self.registered]
    func inFront(after event: HeadUnitSession.Event) throws -> JSONValue? {
      events.append(event)
      return try #require(Self.app(Self.state(events)))["interaction"]?.object?["function"]
    }
    let text = FunctionID.scrollableMessage
    #expect(try inFront(after: .interactionShown(text, for: .seconds(5), [])) == .string("ScrollableMessage"))
    #expect(try inFront(after: .interactionShown(.alert, for: .seconds(5), [])) == .string("Alert"))
    #expect(try inFront(after: .interactionEnded(.alert, .success)) == .string("ScrollableMessage"))
    #expect(try inFront(after: .interactionEnded(text, .success)) == nil)
  }

  /// There is no app before the registration, whatever the session sends.
  @Test func nothingBeforeTheRegistration() {
    let state = Self.state([
      .hmiStatusSent(HMIStatus(level: HMILevel.none, videoStreamingState: .notStreamable)),
      Self.show(.request, ["mainField1": .string("Hello")]),
      .videoData([1, 2, 3]), .audioData([1, 2]),
    ])
    #expect(Self.app(state) == nil)
  }

  @Test func refusedRequestsShowNothing() throws {
    let state = Self.state([
      Self.registered, Self.show(.request, ["mainField1": .string("Hello")]),
      Self.show(.response, ["success": .bool(false)]),
    ])
    #expect(try #require(Self.app(state))["shows"] == .object([:]))
  }

  private static func rpc(_ function: FunctionID, _ type: RPCType, _ members: JSONObject) -> HeadUnitSession.Event {
    .message(
      ConversationMessage(
        sender: .headUnit,
        content: .rpc(RPCMessage(type: type, function: function, correlationID: 9, parameters: members))))
  }

  @Test func anAppThatHasDoneNothing() throws {
    let app = try #require(Self.app(Self.state([Self.registered])))
    #expect(app["level"] == .string("NONE") && app["id"] == .string("1") && app["violations"] == .integer(0))
    for name in ["interaction", "permissions", "icon", "buttons"] { #expect(app[name] == nil, "\(name)") }
  }

  /// What changes while it is registered.
  @Test func changes() throws {
    let app = try #require(
      Self.app(
        Self.state([
          Self.registered, .nameChanged("Karte"), .iconSet("icon.png", byteCount: 5),
          .hmiStatusSent(HMIStatus(level: .limited, videoStreamingState: .streamable)),
          // A level that is not known here.
          .hmiStatusSent(HMIStatus(level: nil, videoStreamingState: .streamable)),
          .violation(.transport("one")), .violation(.transport("two")),
          .audioStarted(PCMFormat(), on: .primary),
          Self.rpc(.onPermissionsChange, .notification, ["permissionItem": .array([.string("Show")])]),
        ])))
    #expect(app["name"] == .string("Karte") && app["icon"] == .string("icon.png") && app["level"] == .string("LIMITED"))
    #expect(app["violations"] == .integer(2) && app["permissions"] == .array([.string("Show")]))
    let services = try #require(app["services"]?.object)
    #expect(services["audio"] != nil && services["video"] == nil)
    let stopped = Self.state([
      Self.registered, .videoStarted(VideoServiceParameters(), on: .primary), .audioStarted(PCMFormat(), on: .primary),
      .audioStopped(reason: .endedByApp, AudioStreamStatistics()),
    ])
    #expect(Self.app(stopped)?["services"]?.object?.keys.sorted() == ["video"])
  }

  /// Touches refer to the size that the app was told last.
  @Test func display() throws {
    func members(_ width: Int) -> JSONObject {
      let size: JSONObject = ["resolutionWidth": .integer(width), "resolutionHeight": .integer(2)]
      let video: JSONValue = .object(["preferredResolution": .object(size)])
      return ["systemCapability": .object(["videoStreamingCapability": video])]
    }
    func width(_ events: [HeadUnitSession.Event]) -> JSONValue? {
      Self.app(Self.state([Self.registered] + events))?["display"]?.object?["resolutionWidth"]
    }
    #expect(width([]) == .integer(800))
    #expect(width([Self.rpc(.getSystemCapability, .request, members(5))]) == .integer(800))
    let told = Self.rpc(.getSystemCapability, .response, members(6))
    #expect(width([told]) == .integer(6))
    #expect(width([told, Self.rpc(.onSystemCapabilityUpdated, .notification, members(7))]) == .integer(7))
    // An update of something else.
    #expect(width([told, Self.rpc(.onSystemCapabilityUpdated, .notification, [:])]) == .integer(6))
  }

  /// In the order of their sessions, until their connections end.
  @Test func twoApps() throws {
    var state = HeadUnitState(display: VideoSize(800, 480), keepsImages: true)
    for session: UInt8 in [9, 2] {
      state.note(.session(id: session, Self.registered))
      state.note(.session(id: session, .nameChanged("\(session)")))
      let members: JSONObject = ["syncFileName": .string("a"), "fileType": .string("GRAPHIC_PNG")]
      for type in [RPCType.request, .response] {
        let parameters = type == .request ? members : ["success": .bool(true)]
        let rpc = RPCMessage(
          type: type, function: .putFile, correlationID: 1, parameters: parameters,
          bulk: type == .request ? [session] : [])
        state.note(.session(id: session, .message(ConversationMessage(sender: .app, content: .rpc(rpc)))))
      }
    }
    func apps() -> [JSONObject] { state.json["apps"]?.array?.compactMap(\.object) ?? [] }
    #expect(apps().map { $0["session"]?.integer } == [2, 9] && apps().map { $0["name"]?.string } == ["2", "9"])
    let numbers = apps().compactMap { $0["screen"]?.object?["images"]?.object?["a"]?.integer }
    #expect(numbers.map { state.image(number: $0)?.bytes } == [[2], [9]])
    state.note(.disconnected(id: 2, nil, VideoStreamStatistics()))
    #expect(apps().map { $0["session"]?.integer } == [9] && state.image(number: numbers[0]) == nil)
  }
}
