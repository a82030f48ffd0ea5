import SDLMessages

/// The driver's use of an app's buttons and menus.
package enum DriverInput: Equatable, Sendable, CustomStringConvertible {
  /// The driver's use of a button of the car.
  package enum Press: String, Sendable {
    case short
    case long
    case down
    case up
  }

  /// A button of the car, by its `ButtonName`.
  case button(String, Press = .short)
  /// A button that the app shows, by its `softButtonID`.
  case softButton(Int)
  /// A command of the app's menu, by its `cmdID` or its name.
  case menu(String)
  /// An entry of a PerformInteraction, by its `choiceID`.
  case choice(Int)
  /// A position of a slider, from 1 on.
  case slider(Int)
  /// A text that the driver types, and enters.
  case keyboard(String)
  /// What the app shows in front is closed without an answer.
  case dismiss

  /// Its form in a ``HeadUnitCommand``.
  package var description: String {
    switch self {
    case .button(let name, .short): "press \(name)"
    case .button(let name, let press): "press \(name) \(press.rawValue)"
    case .softButton(let id): "press soft-button \(id)"
    case .menu(let text): "menu \(text)"
    case .choice(let id): "choose \(id)"
    case .slider(let position): "slider \(position)"
    case .keyboard(let text): "keyboard \(text)"
    case .dismiss: "dismiss"
    }
  }
}

/// Why an input of the driver has no effect, and which inputs would have one.
package enum DriverInputFault: Error, Equatable, CustomStringConvertible {
  /// SDL Core sends buttons only to apps that have subscribed to them.
  case notSubscribed(to: String, subscribed: [String])
  /// At this level the input does not reach the app.
  case level(HMILevel?, allowed: [HMILevel])
  case noSoftButton(Int, available: [String])
  case noCommand(String, available: [String])
  case nothingToChoose
  case noChoice(Int, available: [Int])
  case noSlider
  case noSliderPosition(Int, available: ClosedRange<Int>)
  /// Something without a keyboard is in front.
  case noKeyboard
  case nothingInFront
  /// The app's policies lack this group.
  case notGranted(PolicyGroup)

  private static let mostListed = 12

  /// One sentence for users.
  package var description: String {
    switch self {
    case .notSubscribed(let name, let subscribed):
      "the app has not subscribed to the button \(name), but to \(Self.list(subscribed, orNone: "none"))"
    case .level(let level, let allowed):
      "the app is at HMI level \(level?.rawValue ?? "unknown"), and this reaches it at "
        + allowed.map(\.rawValue).joined(separator: ", ")
    case .noSoftButton(let id, let available):
      "the app shows no soft button \(id), but \(Self.list(available, orNone: "none"))"
    case .noCommand(let text, let available):
      "the app's menu has no command \(text), but \(Self.list(available, orNone: "none"))"
    case .nothingToChoose: "the app does not ask the driver to choose (PerformInteraction)"
    case .noChoice(let id, let available):
      "there is no choice \(id), but \(Self.list(available.map { "\($0)" }, orNone: "none"))"
    case .noSlider: "the app shows no slider (Slider)"
    case .noSliderPosition(let position, let available):
      "the slider has no position \(position), but \(available.lowerBound) to \(available.upperBound)"
    case .noKeyboard: "what the app shows in front has no keyboard"
    case .nothingInFront: "the app shows no alert, message, choice or slider"
    case .notGranted(let group): "the policies do not grant it the group \(group.rawValue)"
    }
  }

  private static func list(_ names: [String], orNone none: String) -> String {
    if names.isEmpty { return none }
    return names.prefix(mostListed).joined(separator: ", ") + (names.count > mostListed ? ", …" : "")
  }
}

/// The buttons of the car that the driver holds down, and for how long.
struct HeldButtons: Sendable {
  /// A press of this duration is a long one. SDL Core leaves that to the HMI.
  static let longPress = Duration.seconds(1)
  /// How long the driver holds a button for `press BUTTON long`.
  static let hold = Duration.milliseconds(1200)

  private struct Hold {
    var start: Duration
    /// When the driver releases the button; nil if that is an input of its own.
    var end: Duration?
  }

  /// By their names; never more than there are buttons.
  private var held: [String: Hold] = [:]

  var nextRelease: Duration? { held.values.compactMap(\.end).min() }

  /// The buttons that the driver releases now.
  func released(at now: Duration) -> [String] {
    held.filter { $0.value.end.map { $0 <= now } ?? false }.keys.sorted()
  }

  func isHeld(_ name: String) -> Bool { held[name] != nil }

  /// A button goes down; false if it is down.
  mutating func press(_ name: String, now: Duration, until end: Duration? = nil) -> Bool {
    guard held[name] == nil else { return false }
    held[name] = Hold(start: now, end: end)
    return true
  }

  /// A button goes up. Returns whether the press was a long one; nil if it is not down.
  mutating func release(_ name: String, now: Duration) -> Bool? {
    held.removeValue(forKey: name).map { now - $0.start >= Self.longPress }
  }
}

extension ServedContext {
  /// The notifications for down, up, and the press.
  mutating func notifyPress(of button: JSONObject) {
    notifyDown(of: button)
    notifyUp(of: button, isLong: false)
  }

  mutating func notifyDown(of button: JSONObject) {
    notify(.onButtonEvent, button.merging(["buttonEventMode": .string("BUTTONDOWN")]) { $1 })
  }

  mutating func notifyUp(of button: JSONObject, isLong: Bool) {
    notify(.onButtonEvent, button.merging(["buttonEventMode": .string("BUTTONUP")]) { $1 })
    notify(.onButtonPress, button.merging(["buttonPressMode": .string(isLong ? "LONG" : "SHORT")]) { $1 })
  }
}
