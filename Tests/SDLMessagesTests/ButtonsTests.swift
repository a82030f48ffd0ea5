import SDLMessages
import Testing

@Suite struct ButtonsTests {
  @Test(arguments: [
    (ButtonNotification.Signal.down, #"{"buttonEventMode":"BUTTONDOWN","buttonName":"NAV_ZOOM_IN"}"#),
    (.up, #"{"buttonEventMode":"BUTTONUP","buttonName":"NAV_ZOOM_IN"}"#),
    (.shortPress, #"{"buttonName":"NAV_ZOOM_IN","buttonPressMode":"SHORT"}"#),
    (.longPress, #"{"buttonName":"NAV_ZOOM_IN","buttonPressMode":"LONG"}"#),
  ])
  func notification(signal: ButtonNotification.Signal, text: String) {
    let notification = ButtonNotification(.navZoomIn, signal)
    #expect(String(decoding: notification.json.serialized, as: UTF8.self) == text)
    #expect(ButtonNotification(notification.function, json: notification.json) == notification)
  }

  /// Buttons that apps show, those of the radio, unknown signals, and signals of the other function.
  @Test(arguments: [
    (FunctionID.onButtonEvent, ["buttonName": "CUSTOM_BUTTON", "buttonEventMode": "BUTTONUP"]),
    (.onButtonEvent, ["buttonName": "VOLUME_UP", "buttonEventMode": "BUTTONUP"]),
    (.onButtonEvent, ["buttonName": "OK", "buttonEventMode": "BUTTONHELD"]),
    (.onButtonEvent, ["buttonName": "OK", "buttonPressMode": "SHORT"]),
    (.onButtonPress, ["buttonName": "OK", "buttonEventMode": "BUTTONUP"]),
    (.onCommand, ["buttonName": "OK", "buttonEventMode": "BUTTONUP"]),
    (.onButtonPress, ["buttonName": "OK"]), (.onButtonPress, [:]),
  ])
  func unreadable(function: FunctionID, members: [String: String]) {
    #expect(ButtonNotification(function, json: members.mapValues(JSONValue.string)) == nil)
  }

  @Test func subscription() {
    #expect(ButtonSubscription(.ok).json == ["buttonName": .string("OK")])
    #expect(ButtonSubscription(json: ["buttonName": .string("OK")]).button == .ok)
    #expect(ButtonSubscription(json: ["buttonName": .string("WINDOW")]).button == nil)
  }

  private static func capabilities(_ names: [String]) -> JSONValue {
    .array(names.map { .object(["name": .string($0)]) } + [.null, .object([:])])
  }

  /// In the order of the specification, each once, without those that nothing is known of.
  @Test func ofTheRegistration() {
    var json = RPCResult(success: true, resultCode: .success).json
    #expect(RegisterAppInterfaceResponse(json: json).buttons == nil)
    json["buttonCapabilities"] = Self.capabilities(["NAV_ZOOM_IN", "OK", "AC_MAX", "OK", "WINDOW"])
    let response = RegisterAppInterfaceResponse(json: json)
    #expect(response.buttons == [.ok, .navZoomIn])
    #expect(RegisterAppInterfaceResponse(json: response.json) == response)
    json["buttonCapabilities"] = .string("OK")
    #expect(RegisterAppInterfaceResponse(json: json).buttons == nil)
  }

  /// A list without end costs no more than this.
  @Test func ofALongList() {
    func read(_ count: Int) -> [ButtonName]? {
      var json = RPCResult(success: true, resultCode: .success).json
      json["buttonCapabilities"] = Self.capabilities(Array(repeating: "AC_MAX", count: count - 1) + ["OK"])
      return RegisterAppInterfaceResponse(json: json).buttons
    }
    #expect(read(1000) == [.ok])
    #expect(read(1001) == [])
  }

  /// Of the main window, since widgets have windows of their own.
  @Test func ofTheDisplay() {
    let widget: JSONValue = .object(["windowID": .integer(1), "buttonCapabilities": Self.capabilities(["SEARCH"])])
    let main: JSONValue = .object(["windowID": .integer(0), "buttonCapabilities": Self.capabilities(["OK"])])
    func read(_ windows: [JSONValue]) -> [ButtonName]? {
      let display: JSONValue = .array([.object(["windowCapabilities": .array(windows)])])
      return SystemCapability(
        json: [
          "systemCapability": .object(["systemCapabilityType": .string("DISPLAYS"), "displayCapabilities": display])
        ]
      ).buttons
    }
    #expect(read([widget, main]) == [.ok])
    #expect(read([widget]) == nil)
    #expect(read([.object(["buttonCapabilities": Self.capabilities(["OK"])])]) == [.ok])
    #expect(read([.object([:])]) == nil)
    let capability = SystemCapability(type: .displays, buttons: [.ok, .navPanUp])
    #expect(SystemCapability(json: capability.json) == capability)
  }
}
