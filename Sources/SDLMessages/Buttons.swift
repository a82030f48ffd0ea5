/// A button of the car that an app can subscribe to (RPC specification, `ButtonName`). Buttons of radio and climate,
/// which occur only in ButtonPress, and buttons that apps show themselves are left out.
package enum ButtonName: String, CaseIterable, Sendable {
  case ok = "OK"
  case playPause = "PLAY_PAUSE"
  case seekLeft = "SEEKLEFT"
  case seekRight = "SEEKRIGHT"
  case tuneUp = "TUNEUP"
  case tuneDown = "TUNEDOWN"
  case preset0 = "PRESET_0"
  case preset1 = "PRESET_1"
  case preset2 = "PRESET_2"
  case preset3 = "PRESET_3"
  case preset4 = "PRESET_4"
  case preset5 = "PRESET_5"
  case preset6 = "PRESET_6"
  case preset7 = "PRESET_7"
  case preset8 = "PRESET_8"
  case preset9 = "PRESET_9"
  case search = "SEARCH"
  case navCenterLocation = "NAV_CENTER_LOCATION"
  case navZoomIn = "NAV_ZOOM_IN"
  case navZoomOut = "NAV_ZOOM_OUT"
  case navPanUp = "NAV_PAN_UP"
  case navPanUpRight = "NAV_PAN_UP_RIGHT"
  case navPanRight = "NAV_PAN_RIGHT"
  case navPanDownRight = "NAV_PAN_DOWN_RIGHT"
  case navPanDown = "NAV_PAN_DOWN"
  case navPanDownLeft = "NAV_PAN_DOWN_LEFT"
  case navPanLeft = "NAV_PAN_LEFT"
  case navPanUpLeft = "NAV_PAN_UP_LEFT"
  case navTiltToggle = "NAV_TILT_TOGGLE"
  case navRotateClockwise = "NAV_ROTATE_CLOCKWISE"
  case navRotateCounterclockwise = "NAV_ROTATE_COUNTERCLOCKWISE"
  case navHeadingToggle = "NAV_HEADING_TOGGLE"

  /// Whether SDL Core gives it only to media apps.
  package var isForMedia: Bool {
    switch self {
    case .playPause, .seekLeft, .seekRight, .tuneUp, .tuneDown: true
    default: rawValue.hasPrefix("PRESET_")
    }
  }

  /// Whether SDL Core gives it only to navigation apps.
  package var isForNavigation: Bool { rawValue.hasPrefix("NAV_") }

  /// The most entries of a list that are read; it has climate and radio of several zones too.
  private static let mostEntries = 1000

  /// The names in a list of `ButtonCapabilities`, each once; nil if there is no list.
  static func list(in capabilities: JSONValue?) -> [ButtonName]? {
    guard let entries = capabilities?.array else { return nil }
    let names = Set(
      entries.prefix(mostEntries).compactMap { entry -> ButtonName? in entry.object?.enumeration("name") })
    return allCases.filter(names.contains)
  }

  /// A list of `ButtonCapabilities` in which each button has all capabilities.
  static func capabilities(_ names: [ButtonName]) -> JSONValue {
    .array(
      names.map { name in
        .object([
          "name": .string(name.rawValue), "shortPressAvailable": .bool(true), "longPressAvailable": .bool(true),
          "upDownAvailable": .bool(true),
        ])
      })
  }
}

/// SubscribeButton and UnsubscribeButton, requests.
package struct ButtonSubscription: RPCParameters {
  /// Nil when the button is not known here.
  package var button: ButtonName?

  package init(_ button: ButtonName) {
    self.button = button
  }

  package init(json: JSONObject) {
    button = json.enumeration("buttonName")
  }

  package var json: JSONObject { JSONObject(present: ["buttonName": button.map { .string($0.rawValue) }]) }
}

/// OnButtonEvent or OnButtonPress: what the driver does with a button.
package struct ButtonNotification: Equatable, Sendable {
  package enum Signal: Equatable, Sendable, CaseIterable {
    /// OnButtonEvent: it goes down.
    case down
    /// OnButtonEvent: it is released.
    case up
    /// OnButtonPress: it was released after a short time.
    case shortPress
    /// OnButtonPress: it was released after a long time, which is for the head unit to define.
    case longPress
  }

  package var button: ButtonName
  package var signal: Signal

  package init(_ button: ButtonName, _ signal: Signal) {
    self.button = button
    self.signal = signal
  }

  /// Nil for other functions, and for buttons and signals that are not known here.
  package init?(_ function: FunctionID, json: JSONObject) {
    guard let button: ButtonName = json.enumeration("buttonName"),
      let signal = Signal.allCases.first(where: {
        $0.wire.function == function && json[$0.wire.member]?.string == $0.wire.value
      })
    else { return nil }
    self.init(button, signal)
  }

  package var function: FunctionID { signal.wire.function }

  package var json: JSONObject {
    ["buttonName": .string(button.rawValue), signal.wire.member: .string(signal.wire.value)]
  }
}

extension ButtonNotification.Signal {
  fileprivate var wire: (function: FunctionID, member: String, value: String) {
    switch self {
    case .down: (.onButtonEvent, "buttonEventMode", "BUTTONDOWN")
    case .up: (.onButtonEvent, "buttonEventMode", "BUTTONUP")
    case .shortPress: (.onButtonPress, "buttonPressMode", "SHORT")
    case .longPress: (.onButtonPress, "buttonPressMode", "LONG")
    }
  }
}
