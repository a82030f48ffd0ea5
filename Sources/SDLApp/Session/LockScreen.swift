/// Whether the app's own screen has to be locked. Head units do not send this; SDL's libraries for phones derive it
/// from HMI level and driver distraction by the same rule.
package struct LockScreen: Equatable, Sendable {
  /// The values of the former RPC OnLockScreenStatus.
  package enum Status: String, Sendable {
    case off
    /// The app may show one.
    case optional
    /// The driver must not use the app's own screen.
    case required
  }

  private var level: HMILevel?
  private var isDistractionLimited: Bool?
  /// The app was in FULL or LIMITED since it was last in NONE.
  private var isInUse = false

  /// The head unit's text for a lock screen that may be dismissed.
  package private(set) var text: String?

  /// Creates the state before the first notification: no lock screen.
  package init() {}

  /// The status that follows from all notifications so far.
  package var status: Status {
    switch level {
    case nil, .some(.none): .off
    case .background: isInUse && isDistractionLimited != false ? .required : .off
    case .limited, .full: isDistractionLimited == false ? .optional : .required
    }
  }

  /// Takes a status of the main window.
  package mutating func receive(_ status: HMIStatus) {
    level = status.level ?? level
    switch level {
    case .limited, .full: isInUse = true
    case nil, .some(.none): isInUse = false
    case .background: break
    }
  }

  package mutating func receive(_ distraction: OnDriverDistraction) {
    isDistractionLimited = distraction.isDistractionLimited
    text = distraction.lockScreenDismissalWarning
  }
}
