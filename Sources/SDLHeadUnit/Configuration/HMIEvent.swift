import SDLMessages

/// An event of the vehicle that restricts all apps while it lasts (`OnEventChanged` between SDL Core and the HMI).
public enum HMIEvent: String, CaseIterable, Sendable {
  /// PHONE_CALL: apps may not be heard. HMI level and video stay.
  case phoneCall = "phone-call"
  /// EMERGENCY_EVENT: apps may neither be heard nor stream video. The HMI level stays.
  case emergency
  /// EMBEDDED_NAVI: navigation and projection apps leave the screen for the head unit's own navigation; they may neither be
  /// heard nor stream video.
  case embeddedNavigation = "embedded-navi"

  /// An app's status while the event lasts. One at NONE keeps its status.
  func status(from status: HMIStatus, of app: AppSummary.Role, isMedia: Bool) -> HMIStatus {
    guard status.level != HMILevel.none else { return status }
    var changed = status
    switch self {
    case .phoneCall:
      changed.audioStreamingState = .notAudible
    case .emergency:
      changed.audioStreamingState = .notAudible
      changed.videoStreamingState = .notStreamable
    case .embeddedNavigation:
      guard app != .other else { return status }
      if status.allowsScreen { changed.level = app == .projection && isMedia ? .limited : .background }
      changed.audioStreamingState = .notAudible
      changed.videoStreamingState = .notStreamable
    }
    return changed
  }
}

extension HMIStatus {
  /// FULL or LIMITED.
  var allowsScreen: Bool { level == .full || level == .limited }
}
