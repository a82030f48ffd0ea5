/// The parser of the commands for buttons, menus and choices.
extension HeadUnitCommand {
  static func driverInput(_ name: String, _ arguments: [String]) -> HeadUnitCommand? {
    switch (name, arguments.count) {
    case ("press", 1):
      let button = constant(arguments[0])
      return TemplateCapabilities.buttons.contains(button) ? .driverInput(.button(button)) : nil
    case ("press", 2) where arguments[0] == "soft-button":
      return Int(arguments[1]).flatMap { $0 >= 0 ? .driverInput(.softButton($0)) : nil }
    case ("menu", 1...): return .driverInput(.menu(arguments.joined(separator: " ")))
    case ("choose", 1): return Int(arguments[0]).flatMap { $0 >= 0 ? .driverInput(.choice($0)) : nil }
    default: return nil
    }
  }

  /// What is wrong with a command of the right form; nil for others.
  static func fault(_ name: String, _ arguments: [String]) -> String? {
    guard name == "press", arguments.count == 1, arguments[0] != "soft-button" else { return nil }
    let buttons = TemplateCapabilities.buttons.sorted().joined(separator: ", ")
    return "there is no button \"\(arguments[0])\", but \(buttons), and the app's own with press soft-button ID"
  }
}
