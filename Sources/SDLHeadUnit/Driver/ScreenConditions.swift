import SDLMessages

/// How other apps, and the vehicle, restrict an app's HMI status. It outlives registrations.
struct ScreenConditions: Sendable {
  private var events: Set<HMIEvent> = []
  /// The overlays of other apps in front of the screen, and so of this app.
  private(set) var overlaysOfOthers = HeadUnitScreen.Overlays(until: [:])
  /// Whether another app has the screen.
  private(set) var isTaken = false
  /// Whether to open the app as soon as the screen is free.
  var isActivationDeferred = false
  /// The status of an app that is opened: whether it may stream and be heard.
  var activationStatus = HMIStatus(
    level: .full, audioStreamingState: .audible, videoStreamingState: .streamable)

  mutating func set(_ event: HMIEvent, isActive: Bool) {
    if isActive { events.insert(event) } else { events.remove(event) }
  }

  /// Sets the states of the registered apps, of which `id` is the app itself.
  mutating func setApps(_ apps: [AppSummary], besides id: UInt8) {
    isTaken = HeadUnitScreen.isTaken(for: id, among: apps)
    overlaysOfOthers = HeadUnitScreen.overlays(besidesThoseOf: id, among: apps)
  }

  /// The status that the driver chose for an app, as restricted by the active events.
  /// - Parameter shown: the app's own overlay in front of its screen.
  func restricted(_ chosen: HMIStatus, of role: AppSummary.Role, isMedia: Bool, shown: SystemContext?) -> HMIStatus {
    var status = HMIEvent.allCases.filter(events.contains).reduce(chosen) { status, event in
      event.status(from: status, of: role, isMedia: isMedia)
    }
    if let shown {
      status.systemContext = shown
    } else if status.level == .full, !overlaysOfOthers.until.isEmpty {
      status.systemContext = .obscured
    }
    return status
  }
}

/// An event of the vehicle that restricts all apps while it lasts (`OnEventChanged` between SDL Core and the HMI).
package enum HMIEvent: String, CaseIterable, Sendable {
  /// PHONE_CALL: apps may not be heard. HMI level and video stay.
  case phoneCall = "phone-call"
  /// EMERGENCY_EVENT: apps may neither be heard nor stream video. The HMI level stays.
  case emergency
  /// EMBEDDED_NAVI: navigation and projection apps leave the screen for the head unit's own navigation; they may
  /// neither be heard nor stream video.
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
  var allowsScreen: Bool { level == .full || level == .limited }
}
