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
    var state = HeadUnitState(display: ImageResolution(800, 480), keepsImages: false)
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
}
