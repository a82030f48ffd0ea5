/// Whether the app is in the foreground of its own device, whatever the head unit shows.
package enum AppState: String, CaseIterable, Sendable {
  case foreground
  /// About to leave the foreground.
  case resigning
  case background
  /// About to come back.
  case regaining

  /// Whether the app's pictures may be shown.
  package var isInForeground: Bool { self == .foreground || self == .regaining }
}

/// The app's state now, and since it was in the foreground last.
struct AppPresence: Sendable {
  var state: AppState {
    didSet {
      if state == .resigning { isNoticeWanted = true }
      if state.isInForeground { isNoticeWanted = false }
    }
  }
  /// The app has been resigning since it was in the foreground last.
  private(set) var isNoticeWanted: Bool

  init(_ state: AppState) {
    self.state = state
    isNoticeWanted = state == .resigning
  }
}
