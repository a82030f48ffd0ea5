/// What becomes of samples.
extension AudioNegotiation {
  /// What to do with the samples at hand.
  public enum SampleDecision: Equatable, Sendable {
    case send(AudioGrant)
    case drop(SampleDropReason)
    /// Wait until something has changed.
    case wait
    /// Wait for the pipeline to leave flushing or PAUSED.
    case interrupted
    /// The application has been asked to pause: decide again.
    case pauseRequested
    case fail
  }

  /// Decides on the samples at hand. What the driver suspends is subject to the policy; for a head unit that is not ready, live
  /// sources do not wait, except that sound which starts its own service waits for that; files always do.
  ///
  /// - Parameter isSilence: nothing can be heard in them.
  public mutating func decide(isLive: Bool, isSilence: Bool = false, now: Duration) -> SampleDecision {
    guard phase == .running || phase == .failing else { return .fail }
    if playback == .prerolling || playback == .waitingToPreroll { played() }
    if isFlushing { return .interrupted }
    if !isSilence { activity.heard(at: now) }
    if let permission {
      heldSince = nil
      return .send(permission)
    }
    guard activity.isServiceWanted else { return .drop(.silent) }
    guard !isRefused else { return .drop(.notStreaming) }
    let decision = decideWithoutPermission(isLive: isLive, now: now)
    // Sound that waits keeps its service wanted.
    if decision == .wait, !isSilence { activity.heard(at: now, isHeld: true) }
    return decision
  }

  /// A service that is there only while something sounds is not waited for.
  var prerollsAtOnce: Bool { activity.startsOnData || isRefused || permission != nil || input == nil }

  private mutating func decideWithoutPermission(isLive: Bool, now: Duration) -> SampleDecision {
    guard input != nil else { return .drop(.wrongFormat) }
    let policy = settings.suspendPolicy.resolved(isLive: isLive)
    if !isSuspended {
      if isLive { return decideLiveStart(now: now) }
      // The picture would run ahead of sound that waits for the connection.
      guard isConnectionLost, policy == .requestPause else { return .wait }
    }
    switch policy {
    case .auto, .block: return .wait
    case .drop: return .drop(hasStreamed ? .suspended : .notStreaming)
    case .requestPause: return requestPause() ? .pauseRequested : .wait
    }
  }

  /// The first words of a prompt wait for the service that they start.
  private mutating func decideLiveStart(now: Duration) -> SampleDecision {
    guard activity.startsOnData, hmiStatus != nil else { return .drop(.notStreaming) }
    let began = heldSince ?? now
    heldSince = began
    return now - began < Self.longestLiveHold ? .wait : .drop(.notStreaming)
  }
}

/// Why samples were not sent.
public enum SampleDropReason: Int, CaseIterable, Sendable {
  /// There is no connection, or no service yet.
  case notStreaming
  /// Nobody wants to hear the app now.
  case suspended
  /// The head unit does not take sound as fast as it comes.
  case queueFull
  /// They came too late to be played in time.
  case late
  /// Their time stamps say that they were sent already.
  case overlap
  /// Nothing can be heard in them, and there is no service.
  case silent
  /// They have a format that the head unit does not play.
  case wrongFormat
  /// Flushed, stopped, or cut off by the end of the connection or of the service.
  case discarded
}
