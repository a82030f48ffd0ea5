import SDLMessages

/// In which HMI levels the head unit's policy lets the app do what its streams need (OnPermissionsChange).
///
/// Each notification replaces the one before, as SDL Core names all that an app may do in each. No policy concerns
/// streams themselves: whether the driver lets them be seen and heard is told by OnHMIStatus.
public struct AppPermissions: Equatable, Sendable {
  /// The functions that are looked at.
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

  /// Where the driver's touches come.
  public var touchLevels: [HMILevel] { levels[.onTouchEvent] ?? [] }

  /// Where the head unit takes touchable rectangles.
  public var hapticLevels: [HMILevel] { levels[.sendHapticData] ?? [] }

  /// Where presses of buttons come, in one form or the other. None can be subscribed to without SubscribeButton.
  public var buttonLevels: [HMILevel] {
    guard levels[.subscribeButton] != nil else { return [] }
    return HMILevel.allCases.filter { allow(.onButtonEvent, at: $0) || allow(.onButtonPress, at: $0) }
  }
}
