/// What becomes of each frame.
extension VideoNegotiation {
  /// What to do with the frame at hand.
  public enum FrameDecision: Equatable, Sendable {
    case send(Permission)
    case drop(FrameDropReason)
    /// Ask what upstream can send, give the answer to ``upstreamAnswered(_:_:)`` and decide again; `dropsFrame` if it
    /// changes.
    case askUpstream(UpstreamQuestion, dropsFrame: Bool)
    /// Wait until something has changed.
    case wait
    /// Wait for the pipeline to leave flushing or PAUSED.
    case interrupted
    /// The application has been asked to pause: decide again.
    case pauseRequested
    case fail(VideoProblem?)
  }

  /// Decides on the frame at hand. What the driver or the app suspend is subject to the policy; for a head unit that is not
  /// ready live sources never wait, and files always do.
  public mutating func decide(isLive: Bool, now: Duration) -> FrameDecision {
    guard phase == .running || phase == .failing else { return .fail(nil) }
    // An element that is asked for PLAYING by itself completes that within GstBaseSink, once its first frame is there.
    if playback == .prerolling || playback == .waitingToPreroll { played() }
    if isFlushing {
      mismatch = nil
      return .interrupted
    }
    if let permission {
      mismatch = nil
      return .send(permission)
    }
    if !supportsNone, isInputRefused, let decision = decideMismatch(now: now) { return decision }
    mismatch = nil
    return decideWithoutPermission(isLive: isLive)
  }

  /// Upstream that has to change first can only do so behind its first frame.
  var prerollsAtOnce: Bool {
    permission != nil || input == nil || isInputRefused || prefersAnotherSize || upstream.outdatedFrames > 0
      || supportsNone && settings.suspendPolicy != .block
  }

  private mutating func decideWithoutPermission(isLive: Bool) -> FrameDecision {
    let policy = settings.suspendPolicy.resolved(isLive: isLive)
    if supportsNone { return policy == .block ? .wait : .drop(.wrongSize) }
    if prefersAnotherSize { return .askUpstream(upstreamQuestion, dropsFrame: true) }
    guard input != nil else { return .drop(.noPicture) }
    if upstream.outdatedFrames > 0 {
      outdatedFramePassed()
      return .drop(.notStreaming)
    }
    if !isSuspended {
      guard !isLive else { return .drop(.notStreaming) }
      // Sound would run ahead of a picture that waits for the connection.
      guard isConnectionLost, policy == .requestPause else { return .wait }
    }
    switch policy {
    case .auto, .block: return .wait
    // Before the driver has ever opened the app, nothing has been suspended.
    case .drop: return .drop(hasStreamed || !appState.isInForeground ? .suspended : .notStreaming)
    case .requestPause: return requestPause() ? .pauseRequested : .wait
    }
  }

  /// A frame from before the change that upstream was asked for.
  private mutating func outdatedFramePassed() {
    guard case .asked(let expected, let count) = upstream else { return }
    guard count > 1 else {
      // That was the answer.
      upstream = .settled
      upstreamStays()
      return
    }
    upstream = .asked(expected: expected, outdatedFrames: count - 1)
  }

  /// The first frame of a service is in the queue, which may complete a resize; whether it has.
  public mutating func firstFrameQueued(of grant: VideoGrant, lostFrames: UInt64, now: Duration) -> Bool {
    hasServiceRun = true
    guard let completed = resize.sentFirst(of: grant.size, now: now, lostFrames: lostFrames) else { return false }
    // The application hears of it behind the start of the stream.
    if announcement == .started {
      notify(.resized(completed))
    } else {
      pendingResizes.append(completed)
    }
    return true
  }
}

/// Why a frame was not sent.
public enum FrameDropReason: Int, CaseIterable, Sendable {
  /// There is no connection, or no stream yet.
  case notStreaming
  /// Driver or app do not want video now.
  case suspended
  /// The head unit does not take frames as fast as they come.
  case queueFull
  /// The link was not ready for it in time: a newer picture took its place, or it would have come too late.
  case latency
  /// The frame has a size that the head unit does not take.
  case wrongSize
  /// H.264 that can't be decoded before the next key frame.
  case waitingForKeyFrame
  /// More frames per second than the head unit or the app wishes.
  case frameRate
  /// Flushed, stopped, or cut off by the end of the connection or of the service.
  case discarded
  /// Without content (flagged as a gap), or not decodable.
  case noPicture

  /// Whether the viewer misses something, of which the application is told. A lower frame rate is what was asked for.
  public var isLossOfQuality: Bool {
    switch self {
    case .notStreaming, .suspended, .queueFull, .latency, .wrongSize, .waitingForKeyFrame: true
    case .frameRate, .discarded, .noPicture: false
    }
  }
}
