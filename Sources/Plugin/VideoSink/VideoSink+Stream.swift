import GStreamerKit
import SDLApp
import SDLLink

/// What becomes of the video stream, as the session tells it. On the connection thread.
extension VideoSink {
  func videoStarted(_ grant: VideoGrant) {
    state.withLock { state in
      state.grant = grant
      state.grantedAt = MonotonicClock.now
      state.isHeld = false
      if grant.isSizeOverridden { state.insist(on: grant.size) }
    }
    counters.withLock { $0.streamStarts += 1 }
    state.broadcast()
    enter(.streaming)
    announceStart()
    setTimer(at: MonotonicClock.now)
  }

  func videoSuspended() {
    interruptTouches()
    state.withLock { $0.isHeld = true }
    // A file that waits may now ask for a pause.
    state.broadcast()
    beginNotice()
  }

  func videoResumed() {
    notice.end()
    isResumed.store(true, ordering: .releasing)
    state.withLock { $0.isHeld = false }
    state.broadcast()
    announceStart()
    setTimer(at: MonotonicClock.now)
  }

  func videoStopped(_ reason: VideoStopReason) {
    notice.end()
    interruptTouches()
    let (isResizing, isHopeless) = state.withLock { state in
      state.grant = nil
      state.isHeld = false
      return (state.wantsVideo && !state.isEnded && !state.isStopping, state.isHopeless)
    }
    state.broadcast()
    if reason != .connectionLost, reason != .sessionEnded { enter(.ready) }
    // The wish was taken back only until upstream has changed.
    announceStop(reason == .app && isResizing ? (isHopeless ? .outOfRange : .resized) : reason)
    guard !state.withLock({ $0.isStopping }) else { return }
    takeLaterChoice()
    if isResizing { letUpstreamChange() }
  }

  func videoStateChanged(_ newState: VideoStreamState) {
    state.withLock { $0.videoState = newState }
    // The end of the input waits for this.
    state.broadcast()
    notifyStreamState()
  }
}
