import GStreamerKit
import SDLMessages

/// The user's settings for the car's buttons.
struct KeySettings: Equatable, Sendable {
  var use = KeyUse.auto
  var map = KeyMap()
}

enum KeyUse: CaseIterable {
  case auto
  case none
}

extension KeyUse: ObjectEnumeration {
  static let objectType = EnumerationType<KeyUse>("GstSdlVideoSinkKeys")

  var row: EnumerationRow {
    switch self {
    case .auto: .init(0, "auto", "Subscribe to the buttons that the head unit has and its policy allows")
    case .none: .init(1, "none", "Subscribe to no button")
    }
  }
}

/// The property `key-map`: keys for buttons, instead of those in the table.
struct KeyMap: Equatable, Sendable {
  private var names: [ButtonName: String] = [:]

  /// The keys of the table.
  init() {}

  /// Reads a structure whose fields are named like buttons. Nil is the table.
  init(_ structure: StructureView?) throws(InvalidPropertyValue) {
    for field in structure?.fieldNames ?? [] {
      guard let button = ButtonName(rawValue: field) else {
        let buttons = ButtonName.allCases.map(\.rawValue).joined(separator: ", ")
        throw InvalidPropertyValue("there is no button \"\(field)\", but \(buttons)")
      }
      guard let name = structure?.string(field) else {
        throw InvalidPropertyValue("the key of \(field) must be a text: \(field)=(string)Return")
      }
      names[button] = name
    }
  }

  /// Nil for a button without a key.
  func keyName(of button: ButtonName) -> String? {
    let name = names[button] ?? button.keyName
    return name.isEmpty ? nil : name
  }

  /// The value of the property; nil for the table.
  var structure: Structure? {
    guard !names.isEmpty else { return nil }
    let structure = Structure("keys")
    for button in ButtonName.allCases { structure.set(button.rawValue, names[button]) }
    return structure
  }
}
