import SDLMessages

/// The driver's use of an app's buttons and menus.
public enum DriverInput: Equatable, Sendable, CustomStringConvertible {
  /// The driver's use of a button of the car.
  public enum Press: String, Sendable {
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

  /// Its form in a ``HeadUnitCommand``.
  public var description: String {
    switch self {
    case .button(let name, .short): "press \(name)"
    case .button(let name, let press): "press \(name) \(press.rawValue)"
    case .softButton(let id): "press soft-button \(id)"
    case .menu(let text): "menu \(text)"
    case .choice(let id): "choose \(id)"
    case .slider(let position): "slider \(position)"
    case .keyboard(let text): "keyboard \(text)"
    }
  }
}

/// Why an input of the driver has no effect, and which inputs would have one.
public enum DriverInputFault: Error, Equatable, CustomStringConvertible {
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
  /// The app's policies lack this group.
  case notGranted(PolicyGroup)

  private static let mostListed = 12

  /// One sentence for users.
  public var description: String {
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
    case .notGranted(let group): "the policies do not grant it the group \(group.rawValue)"
    }
  }

  private static func list(_ names: [String], orNone none: String) -> String {
    if names.isEmpty { return none }
    return names.prefix(mostListed).joined(separator: ", ") + (names.count > mostListed ? ", …" : "")
  }
}
