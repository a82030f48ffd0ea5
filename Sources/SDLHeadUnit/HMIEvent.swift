import SDLMessages

/// What takes the screen or the loudspeakers from all apps for a while (`OnEventChanged` between SDL Core and the head
/// unit's own software).
public enum HMIEvent: String, CaseIterable, Sendable {
  /// PHONE_CALL: apps fall silent, their video goes on.
  case phoneCall = "phone-call"
  /// EMERGENCY_EVENT: the level stays, but nothing may be streamed.
  case emergency
  /// EMBEDDED_NAVI: the head unit's own navigation takes the screen from apps that stream.
  case embeddedNavigation = "embedded-navi"

  /// What becomes of an app's status while the event lasts. An app at NONE is not concerned.
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
