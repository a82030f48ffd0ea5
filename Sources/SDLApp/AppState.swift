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

/// The state that the video service has to reach.
enum VideoDemand: Equatable, Sendable {
  case stream(VideoStartRequest)
  /// Keep a service that is there, without sending.
  case hold
  case closed(VideoStopReason)
}

/// The state of the video service.
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
