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
      if grant.isSizeInsisted {
        state.insistedSize = grant.size
        state.shouldRenegotiate = true
      }
    }
    counters.withLock { $0.streamStarts += 1 }
    state.broadcast()
    enter(.streaming)
    announceStart()
    setAlarm(at: MonotonicClock.now)
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
    setAlarm(at: MonotonicClock.now)
  }

  func videoStopped(_ reason: VideoStopReason) {
    notice.end()
    interruptTouches()
    let isResizing = state.withLock { state in
      state.grant = nil
      state.isHeld = false
      return state.wantsVideo && !state.isEnded && !state.isStopping
    }
    state.broadcast()
    if reason != .connectionLost, reason != .sessionEnded { enter(.ready) }
    // The wish was taken back only until upstream has changed.
    announceStop(reason == .app && isResizing ? .resized : reason)
  }

  func videoStateChanged(_ newState: VideoStreamState) {
    state.withLock { $0.videoState = newState }
    // The end of the input waits for this.
    state.broadcast()
    notifyStreamState()
  }

  func videoStartFailed(_ failure: VideoStartFailure, _ request: VideoWish, _ retryAfter: Duration?) {
    counters.withLock { $0.startFailures += 1 }
    let details = "requested H264 over \(request.transport.rawValue), \(request.size)"
    guard let retryAfter else {
      return failed(
        .stream(GST_STREAM_ERROR_FORMAT, "\(failure.sentence) The head unit takes another format.", details: details))
    }
    warn(
      .resource(
        GST_RESOURCE_ERROR_NOT_AUTHORIZED,
        "\(failure.sentence) Trying again in \(retryAfter.components.seconds) s, or when the driver opens the app.",
        details: details))
  }
}

extension VideoStartFailure {
  /// As a sentence.
  fileprivate var sentence: String {
    let text = description
    return text.prefix(1).uppercased() + text.dropFirst() + "."
  }
}
