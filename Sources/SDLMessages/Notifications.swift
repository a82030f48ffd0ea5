import SDLWire

/// OnAppInterfaceUnregistered: the head unit ended the registration.
package struct OnAppInterfaceUnregistered: RPCParameters {
  /// The reason as it was sent, if it is printable, also if it is unknown here.
  package var reasonText: String

  /// The reason, if known here.
  package var reason: UnregisteredReason? { UnregisteredReason(rawValue: reasonText) }

  package init(reason: UnregisteredReason) {
    reasonText = reason.rawValue
  }

  package init(json: JSONObject) {
    reasonText = json["reason"]?.string?.printable() ?? ""
  }

  package var json: JSONObject { ["reason": .string(reasonText)] }
}

/// OnDriverDistraction: whether the app's own screen must be locked.
package struct OnDriverDistraction: RPCParameters {
  /// The state is DD_ON: the driver must not be distracted.
  package var isDistractionLimited: Bool
  /// Whether a passenger may dismiss the lock screen.
  package var lockScreenDismissalEnabled: Bool?
  /// Text to show with the dismissal.
  package var lockScreenDismissalWarning: String?

  /// Creates the notification; members that are nil are left out of the JSON.
  package init(
    isDistractionLimited: Bool, lockScreenDismissalEnabled: Bool? = nil, lockScreenDismissalWarning: String? = nil
  ) {
    self.isDistractionLimited = isDistractionLimited
    self.lockScreenDismissalEnabled = lockScreenDismissalEnabled
    self.lockScreenDismissalWarning = lockScreenDismissalWarning
  }

  package init(json: JSONObject) {
    self.init(
      isDistractionLimited: json["state"]?.string == "DD_ON",
      lockScreenDismissalEnabled: json["lockScreenDismissalEnabled"]?.bool,
      lockScreenDismissalWarning: json["lockScreenDismissalWarning"]?.string?.printable())
  }

  package var json: JSONObject {
    JSONObject(present: [
      "state": .string(isDistractionLimited ? "DD_ON" : "DD_OFF"),
      "lockScreenDismissalEnabled": lockScreenDismissalEnabled.map(JSONValue.bool),
      "lockScreenDismissalWarning": lockScreenDismissalWarning.map(JSONValue.string),
    ])
  }
}

/// OnPermissionsChange: in which HMI levels each RPC may be used.
package struct OnPermissionsChange: RPCParameters {
  /// Levels in which an RPC is allowed, by the RPC's name.
  package var allowedLevels: [String: [HMILevel]]
  /// The parameters that an RPC may have, by the RPC's name; one that is missing may have all. They are sent, not read:
  /// only vehicle data are restricted, and those are the application's.
  package var allowedParameters: [String: [String]] = [:]
  /// Which of the RPCs need the RPC service to be encrypted.
  package var protection: Protection

  /// The RPCs that have to be encrypted.
  package enum Protection: Equatable, Sendable {
    case functions(Set<FunctionID>)
    case all

    /// Whether messages of `function` have to be.
    package func includes(_ function: FunctionID) -> Bool {
      switch self {
      case .functions(let functions): functions.contains(function)
      case .all: true
      }
    }

    package func union(_ other: Protection) -> Protection {
      guard case .functions(let these) = self, case .functions(let those) = other else { return .all }
      return .functions(these.union(those))
    }
  }

  /// Whether any of it needs the RPC service to be encrypted.
  package var requiresEncryption: Bool { protection != .functions([]) }

  /// The most entries that are read, as the specification allows.
  package static let maximumItems = 500

  /// Creates the notification from the levels in which each RPC is allowed.
  package init(allowedLevels: [String: [HMILevel]], requiresEncryption: Bool = false) {
    self.allowedLevels = allowedLevels
    protection = requiresEncryption ? .all : .functions([])
  }

  package init(json: JSONObject) {
    let items = (json["permissionItem"]?.array ?? []).prefix(Self.maximumItems).compactMap(\.object)
    let levels = items.compactMap { item -> (String, [HMILevel])? in
      guard let name = item["rpcName"]?.string else { return nil }
      return (name, item["hmiPermissions"]?.object?.enumerations("allowed") ?? [])
    }
    allowedLevels = Dictionary(levels, uniquingKeysWith: { $1 })
    let names = items.filter { $0["requireEncryption"]?.bool == true }.compactMap { $0["rpcName"]?.string }
    switch json["requireEncryption"]?.bool {
    case false?: protection = .functions([])
    case true? where names.isEmpty: protection = .all
    case true?, nil: protection = .functions(Set(names.compactMap(FunctionID.init(name:))))
    }
  }

  package var json: JSONObject {
    let items = allowedLevels.sorted { $0.key < $1.key }.map { name, levels -> JSONValue in
      let parameters = allowedParameters[name] ?? []
      return .object(
        JSONObject(present: [
          "rpcName": .string(name),
          "hmiPermissions": .object([
            "allowed": .array(levels.map { .string($0.rawValue) }), "userDisallowed": .array([]),
          ]),
          "parameterPermissions": .object([
            "allowed": .array(parameters.map(JSONValue.string)), "userDisallowed": .array([]),
          ]),
          "requireEncryption": isFlagged(name) ? .bool(true) : nil,
        ]))
    }
    return ["permissionItem": .array(items), "requireEncryption": .bool(requiresEncryption)]
  }

  /// SDL's libraries read the flag of the item, besides that of the message.
  private func isFlagged(_ name: String) -> Bool {
    guard case .functions(let functions) = protection else { return false }
    return FunctionID(name: name).map(functions.contains) ?? false
  }
}
