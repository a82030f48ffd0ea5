/// What happens to frames while driver or app do not want video.
public enum SuspendPolicy: Int32, CaseIterable, Sendable {
  /// ``drop`` for live sources, ``requestPause`` for others.
  case auto
  /// Frames are dropped.
  case drop
  /// Frames wait.
  case block
  /// Frames wait, and the application is asked to pause the pipeline until video goes on.
  case requestPause

  /// What `auto` stands for.
  public func resolved(isLive: Bool) -> SuspendPolicy {
    self == .auto ? (isLive ? .drop : .requestPause) : self
  }
}
