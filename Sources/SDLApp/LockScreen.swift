/// Whether the app's own screen has to be locked, from the HMI level and the driver's conditions: the rule that SDL's
/// libraries for phones share, as head units do not send it.
public struct LockScreen: Equatable, Sendable {
  /// Values of the older RPC OnLockScreenStatus.
  public enum Status: String, Sendable {
    /// No lock screen.
    case off
    /// The app may show one.
    case optional
    /// The driver must not use the app's own screen.
    case required
  }

  private var level: HMILevel?
  private var isDistractionLimited: Bool?
  /// The driver has opened the app since it was in NONE.
  private var isInUse = false

  /// The head unit's words for dismissing the lock screen, if it has any.
  public private(set) var text: String?

  /// Before the head unit has said anything.
  public init() {}

  /// What holds now.
  public var status: Status {
    switch level {
    case nil, .some(.none): .off
    case .background: isInUse && isDistractionLimited != false ? .required : .off
    case .limited, .full: isDistractionLimited == false ? .optional : .required
    }
  }

  /// Takes a status of the main window in.
  public mutating func receive(_ status: HMIStatus) {
    level = status.level ?? level
    switch level {
    case .limited, .full: isInUse = true
    case nil, .some(.none): isInUse = false
    case .background: break
    }
  }

  /// Takes the driver's conditions in.
  public mutating func receive(_ distraction: OnDriverDistraction) {
    isDistractionLimited = distraction.isDistractionLimited
    text = distraction.lockScreenDismissalWarning
  }
}
