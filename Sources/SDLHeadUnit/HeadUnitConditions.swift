import SDLMessages

/// What concerns all apps of a head unit, also those that connect later.
public struct HeadUnitConditions: Sendable {
  /// One thing that becomes different.
  public enum Change: Equatable, Sendable {
    case event(HMIEvent, isActive: Bool)
    /// See ``HeadUnitSession/setVideoSilence(_:)``.
    case videoSilence(Bool)
    /// What an app gets when the driver opens it, or the head unit by itself.
    case opening(HMILevel, VideoStreamingState)
  }

  private var events: Set<HMIEvent> = []
  private var isSilentOnVideo = false
  private var opening: Change?

  /// Nothing is the matter.
  public init() {}

  /// Remembers a change for sessions to come.
  public mutating func note(_ change: Change) {
    switch change {
    case .event(let event, let isActive): if isActive { events.insert(event) } else { events.remove(event) }
    case .videoSilence(let isSilent): isSilentOnVideo = isSilent
    case .opening: opening = change
    }
  }

  /// What a new session has to be told.
  public var changes: [Change] {
    HMIEvent.allCases.filter(events.contains).map { .event($0, isActive: true) }
      + (isSilentOnVideo ? [.videoSilence(true)] : []) + (opening.map { [$0] } ?? [])
  }
}

extension HeadUnitSession {
  /// Something becomes different for all apps.
  public mutating func adapt(to change: HeadUnitConditions.Change, now: Duration) -> [Action] {
    switch change {
    case .event(let event, let isActive): return setEvent(event, isActive: isActive, now: now)
    case .videoSilence(let isSilent):
      setVideoSilence(isSilent)
      return []
    case .opening(let level, let streamingState):
      opening = (level, streamingState)
      return []
    }
  }
}
