import SDLMessages

/// The permissions that a maker's policies grant an app.
public struct AppPolicy: Equatable, Sendable {
  /// What SDL Core's policies grant an app that no policy table names. It may stream, but gets no touches.
  public static let unknownApp = AppPolicy(groups: [.base], mayKeepScreen: false)
  /// As a maker grants them to a navigation app: all but vehicle data of emergencies, and what is for the background.
  public static let listedApp = AppPolicy(
    groups: [.base, .navigation, .haptics, .location, .drivingCharacteristics, .vehicleInfo, .keyboard],
    mayKeepScreen: true)

  /// Further groups may be granted to either app.
  public var groups: Set<PolicyGroup>
  /// Whether a soft button may have an action other than the default (`steal_focus` and `keep_context` of the policy
  /// table).
  private let mayKeepScreen: Bool

  private init(groups: Set<PolicyGroup>, mayKeepScreen: Bool) {
    self.groups = groups
    self.mayKeepScreen = mayKeepScreen
  }

  func allows(_ function: FunctionID, at level: HMILevel?) -> Bool {
    guard let level else { return false }
    return groups.contains { $0.permissions[function.description]?.levels.contains(level) == true }
  }

  /// Why an RPC is not allowed at a level, for the `info` of an answer.
  func refusal(of function: FunctionID, at level: HMILevel?) -> String {
    guard let levels = permissions[function.description]?.levels, !levels.isEmpty else {
      return "The policies do not allow \(function)"
    }
    let allowed = levels.map(\.rawValue).joined(separator: ", ")
    return "The policies allow \(function) at \(allowed), but the HMI level is \(level?.rawValue ?? "unknown")"
  }

  /// Whether an RPC may have this parameter.
  func allows(_ parameter: String, of function: FunctionID) -> Bool {
    groups.contains { group in
      group.permissions[function.description].map { $0.parameters?.contains(parameter) ?? true } ?? false
    }
  }

  /// Whether an RPC has to be encrypted where the policies demand that. As with SDL Core, one that they do not grant is
  /// refused in clear.
  func protects(_ function: FunctionID) -> Bool {
    !Encryption.mayBeClear(function) && groups.contains { $0.permissions[function.description] != nil }
  }

  func allows(_ action: SoftButton.Action) -> Bool { action == .close || mayKeepScreen }

  /// By the name of the RPC; one that is missing is allowed at no level.
  var permissions: [String: PolicyGroup.Permission] {
    groups.reduce(into: [:]) { $0.merge($1.permissions) { $0.union($1) } }
  }
}
