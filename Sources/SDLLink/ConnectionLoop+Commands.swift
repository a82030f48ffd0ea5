import SDLApp

/// What other threads ask of the connection thread, carried out between two steps of the session.
extension ConnectionLoop {
  func applyCommands(now: Duration) {
    if let stop = connection.stopCommand {
      guard !hasFinished else { return }
      let isAudioDrained = isAudioDrained(now: now, within: stop.drainTimeout)
      guard isVideoDrained(now: now, within: stop.drainTimeout), isAudioDrained else { return }
      hasFinished = true
      (videoDrain, audioDrain) = (nil, nil)
      endsInItsOwnTime = session.isRegistrationPending
      return perform(session.finish(now: now))
    }
    applyAudio(now: now)
    applyVideo(now: now)
  }

  private func applyAudio(now: Duration) {
    pendingAudio = connection.takeNewAudio() ?? pendingAudio
    guard let audio = pendingAudio else { return }
    guard audio.request != nil || isAudioDrained(now: now, within: Self.drainTimeout) else { return }
    pendingAudio = nil
    perform(session.setAudioRequest(audio.request, now: now))
    if audioDrain != nil {
      audioDrain = nil
      writer.change(.audio) { $0.isDraining = false }
    }
  }

  private func applyVideo(now: Duration) {
    pendingVideo = connection.takeNewVideo() ?? pendingVideo
    guard let video = pendingVideo else { return }
    guard video.request != nil || isVideoDrained(now: now, within: Self.drainTimeout) else { return }
    pendingVideo = nil
    perform(session.setSupportedDisplays(video.supportedDisplays, now: now))
    // The request before the state: a service of a size that is not requested any more is not worth resuming.
    perform(session.setVideoRequest(video.request, now: now))
    perform(session.setAppState(video.appState, now: now))
    perform(session.setHapticRectangles(video.hapticRectangles, now: now))
    if videoDrain != nil {
      videoDrain = nil
      writer.change(.video) { $0.isDraining = false }
    }
  }

  private func isVideoDrained(now: Duration, within timeout: Duration) -> Bool {
    session.videoGrant == nil || isDrained(.video, &videoDrain, now: now, within: timeout)
  }

  private func isAudioDrained(now: Duration, within timeout: Duration) -> Bool {
    session.audioGrant == nil || isDrained(.audio, &audioDrain, now: now, within: timeout)
  }

  /// Accepts no more of a service's media, and returns whether the head unit has everything that is queued, or the time is
  /// up.
  private func isDrained(
    _ medium: ConnectionWriter.Medium, _ present: inout Drain?, now: Duration, within timeout: Duration
  ) -> Bool {
    if present == nil { writer.change(medium) { $0.isDraining = true } }
    var drain = present ?? Drain(deadline: now + timeout)
    defer { present = drain }
    if now >= drain.deadline { return true }
    guard writer.read(medium, { $0.isEmpty }) else { return false }
    guard let sample = writer.linkSample(of: medium) else { return true }
    return drain.isDelivered(handed: sample.handedByteCount, unacknowledged: sample.unacknowledgedByteCount ?? 0)
  }
}
