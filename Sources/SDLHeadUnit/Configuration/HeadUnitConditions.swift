import SDLMessages

/// The state of a head unit that concerns all apps, also those that connect later.
public struct HeadUnitConditions: Sendable {
  /// A change of one condition.
  public enum Change: Equatable, Sendable {
    case event(HMIEvent, isActive: Bool)
    /// See ``HeadUnitSession/setVideoSilence(_:)``.
    case videoSilence(Bool)
    /// The status of an app that the driver opens, or that is opened automatically after its registration.
    case activationStatus(HMIStatus)
  }

  private var events: Set<HMIEvent> = []
  private var isSilentOnVideo = false
  private var activationStatus: Change?

  /// Creates the default: no active event, answers to video starts, and apps are opened at FULL and audible.
  public init() {}

  /// Applies a change, for sessions that start later.
  public mutating func apply(_ change: Change) {
    switch change {
    case .event(let event, let isActive): if isActive { events.insert(event) } else { events.remove(event) }
    case .videoSilence(let isSilent): isSilentOnVideo = isSilent
    case .activationStatus: activationStatus = change
    }
  }

  /// The differences from the default, to be applied to a new session.
  public var changes: [Change] {
    HMIEvent.allCases.filter(events.contains).map { .event($0, isActive: true) }
      + (isSilentOnVideo ? [.videoSilence(true)] : []) + (activationStatus.map { [$0] } ?? [])
  }
}

extension HeadUnitSession {
  /// Applies a change that concerns all apps to this session.
  public mutating func apply(_ change: HeadUnitConditions.Change, now: Duration) -> [Action] {
    switch change {
    case .event(let event, let isActive): return setEvent(event, isActive: isActive, now: now)
    case .videoSilence(let isSilent):
      setVideoSilence(isSilent)
      return []
    case .activationStatus(let status):
      activationStatus = status
      return []
    }
  }
}
