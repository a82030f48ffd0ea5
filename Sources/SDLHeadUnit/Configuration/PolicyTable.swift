import SDLMessages
import SDLWire

/// The policies of a head unit: what each app may do, and in which HMI levels.
package struct PolicyTable: Equatable, Sendable {
  /// What SDL Core's policies grant an app that no policy table names. It may stream, but gets no touches.
  package static let unknownApp = PolicyTable(Entry(groups: [PolicyGroup.base.rawValue]))
  /// As a maker grants them to a navigation app: all but vehicle data of emergencies, and what is for the background.
  package static let listedApp = PolicyTable(
    Entry(
      groups: [
        PolicyGroup.base, .navigation, .haptics, .location, .drivingCharacteristics, .vehicleInfo, .keyboard,
      ].map(\.rawValue), actions: [.stealFocus, .keepContext]))

  /// A group of RPCs.
  private struct Group: Equatable, Sendable {
    /// By the names of the RPCs.
    var permissions: [String: PolicyGroup.Permission]
    /// `encryption_required`.
    var isProtected = false
  }

  /// What is granted to one app, or to all that are not listed.
  private struct Entry: Equatable, Sendable {
    var groups: [String]
    /// `steal_focus` and `keep_context`.
    var actions: Set<SoftButton.Action> = []
    /// The names that the app may have, in lower case; empty for any.
    var names: Set<String> = []
    /// The `AppHMIType`s that it may have; empty for any.
    var types: Set<String> = []
    /// `encryption_required`; nil leaves it to the groups.
    var isProtected: Bool?
  }

  /// A change while the head unit runs, for all apps.
  package enum Change: Equatable, Sendable {
    /// Allows an RPC, or a notification, at these levels alone, whatever the groups say; none forbids it.
    case permit(FunctionID, [HMILevel])
    /// Grants a group, or takes it away.
    case group(String, isGranted: Bool)
  }

  private var groups = Dictionary(
    uniqueKeysWithValues: PolicyGroup.allCases.map { ($0.rawValue, Group(permissions: $0.permissions)) })
  /// By the id in lower case; nil for one that may not be registered.
  private var apps: [String: Entry?] = [:]
  private var others: Entry
  /// By the name of the group.
  private var changedGroups: [String: Bool] = [:]
  private var permitted: [String: [HMILevel]] = [:]

  private init(_ others: Entry) {
    self.others = others
  }

  /// Grants all apps these permissions, by the names of the RPCs.
  init(granting permissions: [String: PolicyGroup.Permission]) {
    self.init(Entry(groups: [""], actions: [.stealFocus, .keepContext]))
    groups[""] = Group(permissions: permissions)
  }

  /// Why a command can't be carried out; nil if it can.
  package func fault(of command: HeadUnitCommand) -> String? {
    guard case .policy(.group(let name, _)) = command, groups[name] == nil else { return nil }
    return "the policies have no group \(name.quoted), but \(groups.keys.sorted().joined(separator: ", "))"
  }

  /// Grants groups of SDL Core's policies to all apps.
  package mutating func grant(_ groups: some Sequence<PolicyGroup>) {
    for group in groups { apply(.group(group.rawValue, isGranted: true)) }
  }

  /// A group that is not in the table has nothing to grant: see ``fault(of:)``.
  package mutating func apply(_ change: Change) {
    switch change {
    case .permit(let function, let levels): permitted[function.description] = levels
    case .group(let name, let isGranted): changedGroups[name] = isGranted
    }
  }

  /// What an app may do; nil for one that may not be registered.
  /// - Parameter id: of its RegisterAppInterface; upper and lower case are the same.
  func policy(of id: String) -> AppPolicy? {
    guard let entry = entry(of: id) else { return nil }
    let names = Set(entry.groups).subtracting(changedGroups.filter { !$0.value }.keys)
      .union(changedGroups.filter(\.value).keys)
    let granted = names.compactMap { groups[$0] }
    var permissions = granted.reduce(into: [String: PolicyGroup.Permission]()) { permissions, group in
      permissions.merge(group.permissions) { $0.union($1) }
    }
    for (name, levels) in permitted {
      permissions[name] = levels.isEmpty ? nil : PolicyGroup.Permission(levels: levels)
    }
    return AppPolicy(
      permissions, actions: entry.actions, protectedFunctions: protectedFunctions(granted, entry))
  }

  /// Nil if the table does not say anything of encryption.
  private func protectedFunctions(_ granted: [Group], _ entry: Entry) -> Set<String>? {
    guard groups.values.contains(where: \.isProtected) else { return entry.isProtected == false ? [] : nil }
    guard entry.isProtected != false else { return [] }
    return granted.filter(\.isProtected).reduce(into: []) { $0.formUnion($1.permissions.keys) }
  }

  /// Why an app may not be registered under a name; nil if it may.
  func refusal(of id: String, name: String) -> String? {
    guard let entry = entry(of: id) else { return "The policies have revoked the app" }
    guard entry.names.isEmpty || entry.names.contains(name.lowercased()) else {
      return "The policies do not list the app under this name"
    }
    return nil
  }

  /// Those of an app's types that it may not have, which SDL Core reports as a warning.
  func unlistedTypes(_ types: [AppHMIType], of id: String) -> [String] {
    guard let entry = entry(of: id), !entry.types.isEmpty else { return [] }
    return types.map(\.rawValue).filter { !entry.types.contains($0) }
  }

  private func entry(of id: String) -> Entry? { apps[id.lowercased()] ?? others }
}

extension PolicyTable.Change {
  /// `permit RPC [LEVEL ...]`, `deny RPC`, `grant GROUP`, or `revoke GROUP`.
  init?(command name: String, _ arguments: [String]) {
    guard let subject = arguments.first else { return nil }
    if name == "grant" || name == "revoke" {
      self = .group(subject, isGranted: name == "grant")
      return
    }
    guard let function = FunctionID(name: subject) else { return nil }
    // Logs and tables write them in capitals.
    let words = arguments.dropFirst().map { $0.lowercased() }
    let levels = HMILevel.allCases.filter { words.contains($0.rawValue.lowercased()) }
    guard levels.count == words.count else { return nil }
    self = .permit(function, name == "deny" ? [] : levels.isEmpty ? HMILevel.allCases : levels)
  }
}

// MARK: A policy table as a file

extension PolicyTable {
  /// What is wrong in a policy table.
  package struct Malformed: Error, Equatable, CustomStringConvertible {
    /// Says where, and what, on one line.
    package var description: String
  }

  /// Reads a table as SDL Core's (`sdl_preloaded_pt.json`): `functional_groupings`, and the apps of `app_policies`. Its
  /// other parts are not used.
  package init(parsing bytes: [UInt8]) throws(Malformed) {
    let json: JSONObject
    do {
      json = try JSONObject(parsing: bytes)
    } catch {
      throw Malformed(description: "\(error)")
    }
    let table = try Self.object(json["policy_table"], "policy_table")
    let groupings = try Self.object(table["functional_groupings"], "functional_groupings")
    var groups: [String: Group] = [:]
    for (name, json) in groupings { groups[name] = try Self.group(json, "functional_groupings.\(name)") }
    let policies = try Self.object(table["app_policies"], "app_policies")
    guard policies["default"] != nil else {
      throw Malformed(description: "app_policies has no \"default\", for the apps that it does not list")
    }
    guard let others = try Self.entry("default", policies, groups) else {
      throw Malformed(description: "app_policies.default is null, so that no app could be registered")
    }
    self.init(others)
    self.groups = groups
    for id in policies.keys where !Self.templates.contains(id) {
      apps[id.lowercased()] = .some(try Self.entry(id, policies, groups))
    }
  }

  private static let flags: [String: SoftButton.Action] = [
    "steal_focus": .stealFocus, "keep_context": .keepContext,
  ]

  /// Entries that are no apps.
  private static let templates: Set<String> = ["default", "device", "pre_DataConsent"]

  private static func object(_ value: JSONValue?, _ path: String) throws(Malformed) -> JSONObject {
    guard let object = value?.object else {
      throw Malformed(description: value == nil ? "\(path) is missing" : "\(path) is no object")
    }
    return object
  }

  private static func group(_ value: JSONValue, _ path: String) throws(Malformed) -> Group {
    let json = try object(value, path)
    var group = Group(permissions: [:], isProtected: json["encryption_required"]?.bool ?? false)
    // SDL Core's groups for consent alone have null here.
    guard let value = json["rpcs"], value != .null else { return group }
    for (name, value) in try object(value, "\(path).rpcs") {
      let path = "\(path).rpcs.\(name)"
      let rpc = try object(value, path)
      let levels = try texts(rpc["hmi_levels"], "\(path).hmi_levels") ?? []
      if let unknown = levels.first(where: { HMILevel(rawValue: $0) == nil }) {
        throw Malformed(description: "\(path).hmi_levels: there is no HMI level \(unknown.quoted)")
      }
      let parameters = try texts(rpc["parameters"], "\(path).parameters")
      group.permissions[name] = PolicyGroup.Permission(
        levels: HMILevel.allCases.filter { levels.contains($0.rawValue) }, parameters: parameters.map(Set.init))
    }
    return group
  }

  /// Nil for an app that has been revoked.
  private static func entry(
    _ id: String, _ policies: JSONObject, _ groups: [String: Group]
  ) throws(Malformed) -> Entry? {
    let path = "app_policies.\(id)"
    switch policies[id] {
    case .null: return nil
    case .string(let template):
      // A template does not refer to another one.
      guard templates.contains(template), id != template, policies[template]?.object != nil else {
        throw Malformed(description: "\(path): there is no entry \(template.quoted)")
      }
      return try entry(template, policies, groups)
    default: break
    }
    let json = try object(policies[id], path)
    let names = try texts(json["groups"], "\(path).groups") ?? []
    if let unknown = names.first(where: { groups[$0] == nil }) {
      throw Malformed(description: "\(path).groups: functional_groupings has no \(unknown.quoted)")
    }
    let types = try texts(json["AppHMIType"], "\(path).AppHMIType") ?? []
    if let unknown = types.first(where: { AppHMIType(rawValue: $0) == nil }) {
      throw Malformed(description: "\(path).AppHMIType: there is no type \(unknown.quoted)")
    }
    return Entry(
      groups: names,
      actions: Set(flags.filter { json[$0.key]?.bool == true }.values),
      names: Set((try texts(json["nicknames"], "\(path).nicknames") ?? []).map { $0.lowercased() }),
      types: Set(types),
      isProtected: json["encryption_required"]?.bool)
  }

  /// Nil if there is no list.
  private static func texts(_ value: JSONValue?, _ path: String) throws(Malformed) -> [String]? {
    guard let value, value != .null else { return nil }
    guard let values = value.array else { throw Malformed(description: "\(path) is no array") }
    let texts = values.compactMap(\.string)
    guard texts.count == values.count else { throw Malformed(description: "\(path) has values that are no texts") }
    return texts
  }
}
