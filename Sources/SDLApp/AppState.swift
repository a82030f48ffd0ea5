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

/// What becomes of the video service: HMI status × app state, the table that SDL-0033 began.
enum LifecycleAction: Equatable, Sendable {
  /// Have a service, and send.
  case open
  /// As ``open``, after a pause: the service that was kept goes on.
  case resume
  /// Keep a service that is there, open none, send nothing.
  case hold
  /// As ``hold``, once a notice for the driver has been sent.
  case notice
  /// Have no service.
  case close

  init(_ status: HMIStatus?, _ appState: AppState) {
    guard status?.allowsVideo == true else {
      self = .close
      return
    }
    self =
      switch appState {
      case .foreground: .open
      case .regaining: .resume
      case .resigning: .notice
      case .background: .hold
      }
  }
}

/// What the lifecycle of the video service has to bring about.
enum VideoDemand: Equatable, Sendable {
  case stream(VideoWish)
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
