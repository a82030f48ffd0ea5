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

/// The state that a service has to reach.
enum StreamDemand<Request: StreamRequest>: Equatable, Sendable {
  case stream(Request)
  /// Keep a service that is there, without sending.
  case hold
  case closed(StreamStopReason)
}

/// The state of a service.
public enum StreamState: Sendable, CaseIterable {
  case stopped
  /// Asked for, not answered yet.
  case starting
  case streaming
  /// The service is kept, but the app sends nothing.
  case suspended
  /// Its end was asked for, and is not answered yet.
  case stopping
}
