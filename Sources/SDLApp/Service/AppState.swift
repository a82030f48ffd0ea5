/// Whether the app is in the foreground of its own device, whatever the head unit shows.
public enum AppState: String, CaseIterable, Sendable {
  case foreground
  /// About to leave the foreground.
  case resigning
  case background
  /// About to come back.
  case regaining

  /// Whether the app's pictures may be shown.
  public var isInForeground: Bool { self == .foreground || self == .regaining }
}
