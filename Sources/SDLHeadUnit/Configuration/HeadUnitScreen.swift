import SDLMessages

/// Which of a head unit's apps has the screen, and the effects on the others (SDL Core's rules for the main window).
///
/// Level-triggered: it compares the apps' present states and returns changes until the states are consistent.
package struct HeadUnitScreen: Sendable {
  /// A change for one session.
  package enum Change: Equatable, Sendable {
    /// The session `id` gives way to an app of this role: ``HeadUnitSession/giveWay(to:now:)``.
    case giveWay(id: UInt8, to: AppSummary.Role)
    /// The session `id` ends its video, because another app has started its own, and SDL Core has one at a time.
    case abortVideo(id: UInt8)
  }

  /// The app that was brought to the screen last; nil when it is gone.
  package private(set) var appOnScreen: UInt8?
  private var streamingApp: UInt8?

  package init() {}

  /// Compares the states of all registered apps.
  /// - Returns: the changes that make them consistent.
  package mutating func settle(_ apps: [AppSummary]) -> [Change] {
    if !apps.contains(where: { $0.id == appOnScreen }) { appOnScreen = nil }
    if !apps.contains(where: { $0.id == streamingApp && $0.isStreaming }) { streamingApp = nil }
    var changes: [Change] = []
    // An app at FULL that was not on the screen has been opened later, so it replaces the present one.
    if let opened = apps.last(where: { $0.level == .full && $0.id != appOnScreen }) {
      appOnScreen = opened.id
      let others = apps.filter { $0.id != opened.id }
      // The present one first: the states are compared after each change, and it must not seem to be opened then.
      changes += (others.filter { $0.level == .full } + others.filter { $0.level == .limited })
        .map { .giveWay(id: $0.id, to: opened.role) }
    }
    if let starting = apps.last(where: { $0.isStreaming && $0.id != streamingApp }) {
      streamingApp = starting.id
      changes += apps.filter { $0.id != starting.id && $0.isStreaming }.map { .abortVideo(id: $0.id) }
    }
    return changes
  }

  /// Whether an app that was just registered has to wait until the driver opens it.
  static func isTaken(for id: UInt8, among apps: [AppSummary]) -> Bool {
    apps.contains { $0.id != id && $0.level != HMILevel.none }
  }

  /// The overlays of other apps in front of the screen.
  static func overlays(besidesThoseOf id: UInt8, among apps: [AppSummary]) -> Overlays {
    Overlays(until: apps.filter { $0.id != id }.reduce(into: [:]) { $0.merge($1.shownUntil, uniquingKeysWith: max) })
  }

  /// The app whose overlay, in front of the screen, gets the driver's input; nil if the app on the screen gets it.
  package static func app(inFrontFor input: DriverInput, among apps: [AppSummary]) -> UInt8? {
    let overlay = apps.first { $0.shownUntil[.overlay] != nil }
    return switch input {
    case .softButton, .dismiss: (apps.first { $0.shownUntil[.alert] != nil } ?? overlay)?.id
    case .choice, .slider, .keyboard: overlay?.id
    case .button, .menu: nil
    }
  }

  /// Overlays such as alerts, which are in front of all apps' screens.
  package struct Overlays: Equatable, Sendable {
    /// When each of them ends.
    let until: [AppInteraction.Layer: Duration]
  }
}

extension AppSummary.Role {
  /// The status of an app with this role and `status` after an app of the role `other` was brought to the screen.
  func status(from status: HMIStatus, isMedia: Bool, givingWayTo other: AppSummary.Role) -> HMIStatus {
    guard status.allowsScreen else { return status }
    switch (self, other) {
    case (.navigation, .navigation), (.projection, .projection):
      return HMIStatus(level: .background, videoStreamingState: .notStreamable)
    case (.navigation, .projection):
      // It continues to give spoken directions.
      return HMIStatus(level: .limited, audioStreamingState: .audible, videoStreamingState: .notStreamable)
    case (.navigation, .other), (.projection, .other):
      return HMIStatus(
        level: .limited, audioStreamingState: self == .navigation || isMedia ? .audible : .notAudible,
        videoStreamingState: .streamable)
    case (.projection, .navigation), (.other, _):
      return HMIStatus(
        level: isMedia ? .limited : .background, audioStreamingState: isMedia ? .audible : .notAudible,
        videoStreamingState: .notStreamable)
    }
  }
}

/// The state of an app that matters for the other apps of a head unit.
package struct AppSummary: Equatable, Sendable {
  /// The type of app, which decides how apps displace each other. An app of both types counts as a navigation app.
  package enum Role: Equatable, Sendable {
    case navigation
    case projection
    /// Never gets a video service.
    case other
  }

  /// The id of its session.
  package var id: UInt8
  package var role: Role
  /// The level that the driver chose, before events change it; nil as in ``HMIStatus``.
  package var level: HMILevel?
  /// Whether its video service is open.
  package var isStreaming: Bool
  /// When its overlays in front of the screen end.
  var shownUntil: [AppInteraction.Layer: Duration]

  package init(id: UInt8, role: Role, level: HMILevel?, isStreaming: Bool) {
    self.init(id: id, role: role, level: level, isStreaming: isStreaming, shownUntil: [:])
  }

  init(id: UInt8, role: Role, level: HMILevel?, isStreaming: Bool, shownUntil: [AppInteraction.Layer: Duration]) {
    self.shownUntil = shownUntil
    self.id = id
    self.role = role
    self.level = level
    self.isStreaming = isStreaming
  }
}
