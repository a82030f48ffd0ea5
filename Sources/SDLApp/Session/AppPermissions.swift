import SDLMessages

/// In which HMI levels the head unit's policy allows the RPCs that the app's streams need (OnPermissionsChange).
///
/// Each notification replaces the one before, as SDL Core lists all permissions in each. The streams themselves depend
/// on OnHMIStatus, not on a policy.
public struct AppPermissions: Equatable, Sendable {
  private static let functions: [FunctionID] = [
    .onTouchEvent, .sendHapticData, .subscribeButton, .unsubscribeButton, .onButtonEvent, .onButtonPress,
    .getSystemCapability, .changeRegistration, .putFile, .setAppIcon, .closeApplication,
  ]

  private let levels: [FunctionID: [HMILevel]]

  init(_ change: OnPermissionsChange) {
    let allowed = Self.functions.compactMap { function -> (FunctionID, [HMILevel])? in
      guard let levels = change.allowedLevels[function.description], !levels.isEmpty else { return nil }
      return (function, HMILevel.allCases.filter(levels.contains))
    }
    levels = Dictionary(uniqueKeysWithValues: allowed)
  }

  /// Whether the app may send or get `function` at `level`; nil stands for a level that is not known yet.
  public func allow(_ function: FunctionID, at level: HMILevel?) -> Bool {
    levels[function]?.contains(level ?? .none) ?? false
  }

  /// The levels in which the driver's touches come.
  public var touchLevels: [HMILevel] { levels[.onTouchEvent] ?? [] }

  /// The levels in which the head unit accepts touchable rectangles.
  public var hapticLevels: [HMILevel] { levels[.sendHapticData] ?? [] }

  /// The levels in which presses of buttons come, in one form or the other; none without permission for
  /// SubscribeButton.
  public var buttonLevels: [HMILevel] {
    guard levels[.subscribeButton] != nil else { return [] }
    return HMILevel.allCases.filter { allow(.onButtonEvent, at: $0) || allow(.onButtonPress, at: $0) }
  }
}
