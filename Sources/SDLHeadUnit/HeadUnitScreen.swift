import SDLMessages

/// Which of a head unit's apps has the screen, and what that means for the others (SDL Core's rules for the main window).
///
/// Level-triggered: it is given how the apps stand and says what to change, until nothing is to be changed.
public struct HeadUnitScreen: Sendable {
  /// What one session has to do.
  public enum Operation: Equatable, Sendable {
    /// The session `id` gives way to an app of this role: ``HeadUnitSession/giveWay(to:now:)``.
    case giveWay(id: UInt8, to: AppSummary.Role)
    /// The session `id` ends its video, because another app has started one: ``HeadUnitSession/abortVideo(now:)``.
    case abortVideo(id: UInt8)
  }

  /// The app that was brought to the screen last; nil when it is gone.
  public private(set) var appOnScreen: UInt8?
  private var streamingApp: UInt8?

  /// Nobody is there.
  public init() {}

  /// Looks at all registered apps.
  public mutating func settle(_ apps: [AppSummary]) -> [Operation] {
    if !apps.contains(where: { $0.id == appOnScreen }) { appOnScreen = nil }
    if !apps.contains(where: { $0.id == streamingApp && $0.isStreaming }) { streamingApp = nil }
    var orders: [Operation] = []
    // Whoever claims the screen and does not have it yet has come later, and wins.
    if let newcomer = apps.last(where: { $0.level == .full && $0.id != appOnScreen }) {
      appOnScreen = newcomer.id
      orders += apps.filter { $0.id != newcomer.id && ($0.level == .full || $0.level == .limited) }
        .map { .giveWay(id: $0.id, to: newcomer.role) }
    }
    if let newcomer = apps.last(where: { $0.isStreaming && $0.id != streamingApp }) {
      streamingApp = newcomer.id
      orders += apps.filter { $0.id != newcomer.id && $0.isStreaming }.map { .abortVideo(id: $0.id) }
    }
    return orders
  }

  /// Whether an app that was just registered has to wait until the driver opens it.
  public static func isTaken(for id: UInt8, among apps: [AppSummary]) -> Bool {
    apps.contains { $0.id != id && $0.level != HMILevel.none }
  }
}

extension AppSummary.Role {
  /// What becomes of an app of this role and of `status` when one of another role is brought to the screen.
  func status(from status: HMIStatus, isMedia: Bool, givingWayTo other: AppSummary.Role) -> HMIStatus {
    guard status.allowsScreen else { return status }
    switch (self, other) {
    case (.navigation, .navigation), (.projection, .projection):
      return HMIStatus(level: .background, videoStreamingState: .notStreamable)
    case (.navigation, .projection):
      // It may still speak.
      return HMIStatus(level: .limited, audioStreamingState: .audible, videoStreamingState: .notStreamable)
    case (.projection, .navigation):
      return HMIStatus(
        level: isMedia ? .limited : .background, audioStreamingState: isMedia ? .audible : .notAudible,
        videoStreamingState: .notStreamable)
    case (.navigation, .other), (.projection, .other):
      return HMIStatus(
        level: .limited, audioStreamingState: self == .navigation || isMedia ? .audible : .notAudible,
        videoStreamingState: .streamable)
    case (.other, _):
      return HMIStatus(
        level: isMedia ? .limited : .background, audioStreamingState: isMedia ? .audible : .notAudible,
        videoStreamingState: .notStreamable)
    }
  }
}

/// Among other apps.
extension HeadUnitSession {
  /// Whether another app has the screen. Until it is free, this one is not opened by itself after its registration; so an
  /// app that returns before the head unit has noticed its leaving is opened as soon as it has.
  public mutating func setScreenTaken(_ isTaken: Bool, now: Duration) -> [Action] {
    isScreenTaken = isTaken
    if isActivationWithheld { activateByItself(now: now) }
    return takeActions()
  }

  mutating func activateByItself(now: Duration) {
    isActivationWithheld = isScreenTaken
    if !isScreenTaken { openApp(now: now) }
  }

  /// Another app is brought to the screen.
  public mutating func giveWay(to other: AppSummary.Role, now: Duration) -> [Action] {
    if let app {
      let status = app.role.status(from: app.chosenStatus, isMedia: app.isMedia, givingWayTo: other)
      if status != app.chosenStatus { apply(status, now: now) }
    }
    return takeActions()
  }

  /// Another app has started a video service, and SDL Core has one at a time.
  public mutating func abortVideo(now: Duration) -> [Action] {
    sendEndVideoService(reason: .otherAppStarted, now: now)
    return takeActions()
  }
}
