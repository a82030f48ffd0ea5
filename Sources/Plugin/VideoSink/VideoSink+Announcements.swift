import GStreamerKit
import SDLApp
import SDLLink

/// What the application is told of the stream: each change once, and in their order, from whichever threads they come.
extension VideoSink {
  enum SuspensionReason: String {
    case paused
    case appState = "app-state"
  }

  /// A service has begun, or a pause of app or pipeline is over: says so if frames can be sent from now on.
  func announceStart() {
    let reason = state.withLock { state -> String? in
      // What opens or resumes during a pause is told of when something may be sent. A pipeline that was asked to pause is
      // asked to play on, even if the suspension was over before it was told of.
      guard let grant = state.grant, !state.isHeld, state.appState.isInForeground,
        !state.isPaused || state.hasRequestedPause
      else { return nil }
      let reason = state.announcement == .started ? nil : state.startReason
      state.hasStreamed = true
      state.wasLost = false
      state.lastStop = nil
      state.announcement = .started
      if let reason { state.news.append(.started(grant, reason: reason)) }
      state.news += state.untoldResizes.map { .resized($0) }
      state.untoldResizes = []
      if state.hasRequestedPause { state.news.append(.requestPlaying) }
      state.hasRequestedPause = false
      return reason
    }
    if reason != nil { counters.withLock { $0.resumed(at: MonotonicClock.now) } }
    tellNews()
  }

  func announceSuspension(_ reason: SuspensionReason) {
    let isNews = state.withLock { state in
      // A pause that the sink itself has asked for is told of by what it was for.
      guard state.grant != nil, state.announcement != .suspended, reason != .paused || !state.hasRequestedPause else {
        return false
      }
      state.announcement = .suspended
      state.news.append(.suspended(reason: reason.rawValue))
      return true
    }
    guard isNews else { return }
    counters.withLock { $0.suspended(at: MonotonicClock.now) }
    tellNews()
  }

  func announceStop(_ reason: VideoStopReason) {
    state.withLock { state in
      if state.announcement != .none { state.news.append(.stopped(reason)) }
      state.announcement = .none
      state.lastStop = reason
    }
    if reason == .hmiStatus || reason == .headUnit { counters.withLock { $0.suspended(at: MonotonicClock.now) } }
    tellNews()
  }

  /// Files wait for the driver best when the whole pipeline does, as with a sound server that corks its stream. Asks for
  /// that at most once for each suspension.
  func requestPause() {
    let isNews = state.withLock { state in
      guard state.mayRequestPause else { return false }
      state.hasRequestedPause = true
      state.news.append(.requestPause)
      return true
    }
    if isNews { tellNews() }
  }

  /// One thread at a time tells the news, its own and those that come meanwhile.
  func tellNews() {
    let isMine = state.withLock { state in
      defer { state.isTelling = true }
      return !state.isTelling
    }
    guard isMine else { return }
    while let news = nextNews() { tell(news) }
  }

  private func nextNews() -> StreamNews? {
    state.withLock { state in
      guard !state.news.isEmpty else {
        state.isTelling = false
        return nil
      }
      return state.news.removeFirst()
    }
  }

  private func tell(_ news: StreamNews) {
    switch news {
    case .started(let grant, let reason):
      postStreamStarted(grant, reason: reason)
      notifyStreamState()
    case .suspended(let reason):
      postStreamSuspended(reason: reason)
      notifyStreamState()
    case .stopped(let reason): postStreamStopped(reason)
    case .resized(let resize): postResized(resize)
    case .requestPause:
      log(GST_LEVEL_INFO, "asking the application to pause")
      post(gst_message_new_request_state(gstElement.cast(), GST_STATE_PAUSED))
    case .requestPlaying:
      log(GST_LEVEL_INFO, "asking the application to go on")
      post(gst_message_new_request_state(gstElement.cast(), GST_STATE_PLAYING))
    }
  }

  func notifyStreamState() {
    let hasChanged = state.withLock { state in
      defer { state.notifiedStreamState = state.streamState }
      return state.notifiedStreamState != state.streamState
    }
    if hasChanged { VideoSinkProperty.streamState.notify(element) }
  }
}

/// Something that the application has to be told.
enum StreamNews: Sendable {
  case started(VideoGrant, reason: String)
  case suspended(reason: String)
  case stopped(VideoStopReason)
  case resized(VideoResize.Completed)
  /// The pipeline should pause until it is asked to go on.
  case requestPause
  case requestPlaying
}

extension VideoSinkState {
  /// Why a stream starts that the application is about to be told of.
  fileprivate var startReason: String {
    if !hasStreamed { return "first-start" }
    if wasLost { return "reconnected" }
    // One that came to nothing leaves the size as it was.
    if lastStop == .resized || lastStop == .outOfRange {
      return resize.size == grant?.size ? "restarted" : "resized"
    }
    return announcement == .suspended ? "resumed" : "restarted"
  }
}
