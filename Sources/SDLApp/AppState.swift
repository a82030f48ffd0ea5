/// How the app stands to its own user, whatever the head unit shows.
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

/// What the lifecycle of the video service has to bring about.
enum VideoDemand: Equatable, Sendable {
  case stream(VideoStartRequest)
  /// Keep a service that is there, without sending.
  case hold
  case closed(VideoStopReason)
}

/// How far the video service has come.
public enum VideoStreamState: Sendable, CaseIterable {
  case stopped
  /// Asked for, not answered yet.
  case starting
  case streaming
  /// The service is kept, but the app sends nothing.
  case suspended
  /// Its end was asked for, and is not answered yet.
  case stopping
}
