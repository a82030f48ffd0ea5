import SDLWire

/// Replaces what identifies people and cars in the lines of a conversation log by numbered words, such as "name-1": the
/// same value by the same word in all lines.
///
/// The values are found by the members that have them. Where other texts repeat one, it is replaced there as well.
package struct Blanking: Sendable {
  private var values = BlankedValues()

  package init() {}

  /// What RPCs and events call it; the values are texts, numbers, or lists of them.
  private static let kinds: [String: BlankedValues.Kind] = [
    "app": .name, "appName": .name, "ngnMediaScreenAppName": .name, "vrSynonyms": .name, "nicknames": .name,
    "serviceName": .name, "ttsName": .name,
    "appID": .id, "fullAppID": .id, "policyAppID": .id, "cloudAppVehicleID": .id, "authToken": .id,
    "serialNumber": .id,
    "vin": .vin,
    "latitudeDegrees": .position, "longitudeDegrees": .position, "altitude": .position, "heading": .position,
    "locationName": .position, "locationDescription": .position, "addressLines": .position,
    "countryName": .position, "countryCode": .position, "postalCode": .position, "administrativeArea": .position,
    "subAdministrativeArea": .position, "locality": .position, "subLocality": .position, "thoroughfare": .position,
    "subThoroughfare": .position,
    // Streets and places along the route.
    "navigationText": .position, "navigationText1": .position, "navigationText2": .position,
    "phoneNumber": .phone,
    "hardware": .device, "firmwareRev": .device, "carrier": .device, "deviceName": .device, "deviceID": .device,
    "manualTextEntry": .text, "autoCompleteText": .text, "autoCompleteList": .text,
    "peer": .address, "tcpIpAddress": .address,
  ]
  /// Names of members that mean this in one RPC or event only.
  private static let kindsByOwner: [String: [String: BlankedValues.Kind]] = [
    "DialNumber": ["number": .phone], "OnKeyboardInput": ["data": .text],
    "registered": ["name": .name, "id": .id], "registration-refused": ["name": .name, "id": .id],
    "name-changed": ["name": .name],
  ]
  /// Members of a line that no app and no head unit chooses.
  private static let ownMembers: Set<String> = ["kind", "dir", "type", "function", "service", "transport", "result"]

  /// The line without what identifies anybody.
  package mutating func blank(_ line: JSONObject) -> JSONObject {
    var line = line
    if let bulk = line["bulk"]?.object {
      // A checksum names a file that others have.
      line["bulk"] = .object(bulk.filter { $0.key == "bytes" })
    }
    // It has the owner of a certificate.
    if line["type"] == .string("secured") { line["text"] = nil }
    let owner = line["function"]?.string ?? line["type"]?.string
    let walk = Walk(kinds: owner.flatMap { Self.kindsByOwner[$0] } ?? [:])
    for key in line.keys.sorted() where !Self.ownMembers.contains(key) {
      if let value = line[key] { walk.collect(value, key, &values) }
    }
    if line["dir"] == .string("driver"), let text = line["text"]?.string {
      line["text"] = .string(DriverText(text).blanked(by: &values) ?? text)
    }
    return Dictionary(
      uniqueKeysWithValues: line.map { key, value in
        (key, Self.ownMembers.contains(key) ? value : walk.blanked(value, key, values))
      })
  }

  /// The way through the members of a line: once for the values, and once more to replace them wherever they are.
  private struct Walk {
    /// Those of this RPC or event.
    let kinds: [String: BlankedValues.Kind]

    func kind(_ key: String) -> BlankedValues.Kind? { kinds[key] ?? Blanking.kinds[key] }

    func collect(_ value: JSONValue, _ key: String, _ values: inout BlankedValues) {
      collect(value, kind(key), key, &values)
    }

    private func collect(
      _ value: JSONValue, _ kind: BlankedValues.Kind?, _ key: String, _ values: inout BlankedValues
    ) {
      switch value {
      case .object(let members):
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
          collect(member, self.kind(name, in: key), name, &values)
        }
      case .array(let elements): for element in elements { collect(element, kind, key, &values) }
      case .string(let text):
        if let kind {
          values.add(text, kind)
        } else if key == "input" {
          _ = DriverText(text).blanked(by: &values)
        }
      case .integer, .number: if let kind { values.add(value.text, kind) }
      case .null, .bool: break
      }
    }

    /// The kind of a member of an object that is the value of `owner`.
    private func kind(_ key: String, in owner: String) -> BlankedValues.Kind? {
      owner == "ttsName" ? (key == "text" ? .name : nil) : kind(key)
    }

    func blanked(_ value: JSONValue, _ key: String, _ values: BlankedValues) -> JSONValue {
      blanked(value, kind(key), key, values)
    }

    private func blanked(
      _ value: JSONValue, _ kind: BlankedValues.Kind?, _ key: String, _ values: BlankedValues
    ) -> JSONValue {
      switch value {
      case .object(let members):
        return .object(
          Dictionary(
            uniqueKeysWithValues: members.map { name, member in
              (name, blanked(member, self.kind(name, in: key), name, values))
            }))
      case .array(let elements): return .array(elements.map { blanked($0, kind, key, values) })
      case .string(let text):
        if let kind { return .string(values.word(for: text, kind)) }
        if key == "input" { return .string(DriverText(text).blanked(by: values) ?? values.replaced(in: text)) }
        return .string(values.replaced(in: text))
      case .integer, .number: return kind.map { .string(values.word(for: value.text, $0)) } ?? value
      case .null, .bool: return value
      }
    }
  }

  /// An input of the driver or a command, some of which have such values: `keyboard TEXT`, `gps …`, `vehicle NAME VALUE`;
  /// in a script behind the time.
  private struct DriverText {
    private let beginning: Substring
    private let command: Substring
    private let rest: [Substring]

    init(_ text: String) {
      var start = text.startIndex
      if !Self.isCommand(text[...]), let colon = text.firstIndex(of: ":") {
        start = text[text.index(after: colon)...].firstIndex { $0 != " " } ?? text.endIndex
      }
      beginning = text[..<start]
      let words = text[start...].split(separator: " ", maxSplits: 2)
      command = words.first ?? ""
      rest =
        command == "keyboard"
        ? text[start...].split(separator: " ", maxSplits: 1).dropFirst().map { $0 } : Array(words.dropFirst())
    }

    private static func isCommand(_ text: Substring) -> Bool {
      ["keyboard ", "gps ", "vehicle "].contains { text.hasPrefix($0) }
    }

    /// The values in it, with their kinds; nil for a command without any.
    private var parts: [(text: String, kind: BlankedValues.Kind?)]? {
      switch command {
      case "keyboard": rest.map { (String($0), .text) }
      case "gps": rest.flatMap { $0.split(separator: " ") }.map { (String($0), .position) }
      case "vehicle":
        rest.enumerated().map { index, word in
          let name = String(rest[0])
          let kind: BlankedValues.Kind? = name == "gps" ? .position : Blanking.kinds[name]
          return (String(word), index == 0 ? nil : kind)
        }
      default: nil
      }
    }

    func blanked(by values: inout BlankedValues) -> String? {
      for part in parts ?? [] { if let kind = part.kind { values.add(part.text, kind) } }
      return blanked(by: values)
    }

    func blanked(by values: BlankedValues) -> String? {
      guard let parts else { return nil }
      let words = parts.map { part in part.kind.map { values.word(for: part.text, $0) } ?? part.text }
      return ([String(beginning + command)] + words).joined(separator: " ")
    }
  }
}

extension JSONValue {
  /// A number as its line has it.
  fileprivate var text: String { String(decoding: serialized, as: UTF8.self) }
}
