import CPluginTypes
import GStreamerKit
import SDLHeadUnit
import SDLLink
import X264Encoder

extension VideoSink {
  /// How long a polite goodbye may take when the element leaves PAUSED.
  static let farewell = Duration.seconds(1)

  /// What differs from GstBaseSink's defaults: raw pictures that are late are dropped before they cost an encoding, and
  /// no time is set aside for processing, because a frame is encoded behind the wait for its time.
  func configureBaseSink() {
    gst_base_sink_set_processing_deadline(baseSink, 0)
    gst_base_sink_set_qos_enabled(baseSink, 1)
    gst_base_sink_set_max_lateness(baseSink, Self.rawMaximumLateness)
  }

  func changeState(_ transition: GstStateChange) -> GstStateChangeReturn {
    switch transition {
    case GST_STATE_CHANGE_NULL_TO_READY:
      tellRefusals()
      if let error = settingsError() {
        error.post(as: GST_MESSAGE_ERROR, from: gstElement)
        return GST_STATE_CHANGE_FAILURE
      }
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      guard connect() else { return GST_STATE_CHANGE_FAILURE }
    case GST_STATE_CHANGE_PAUSED_TO_PLAYING:
      play()
    case GST_STATE_CHANGE_PAUSED_TO_READY:
      // As long as there is a way upstream.
      endTouches()
    default: break
    }

    countLateFrames()
    let result = gst_sdl_video_sink_parent_change_state(gstElement, transition)

    switch transition {
    case GST_STATE_CHANGE_READY_TO_PAUSED where result == GST_STATE_CHANGE_FAILURE:
      disconnect()
    case GST_STATE_CHANGE_PLAYING_TO_PAUSED:
      pause()
    case GST_STATE_CHANGE_PAUSED_TO_READY:
      disconnect()
      turn.withTurn {
        resetTime()
        restoreLateness()
        input.reset()
      }
    default: break
    }
    return result
  }

  /// The first thing in the settings that can't work.
  private func settingsError() -> ElementError? {
    let settings = self.settings.withLock { $0 }
    do {
      _ = try settings.headUnit()
    } catch {
      return .resource(GST_RESOURCE_ERROR_SETTINGS, "The property uri can't be used: \(error.description)")
    }
    for (name, value) in [("app-name", settings.appName), ("app-id", settings.appID)]
    where !(1...100).contains(value.count) {
      return .resource(
        GST_RESOURCE_ERROR_SETTINGS, "The property \(name) must have 1 to 100 characters, not \(value.count)")
    }
    do {
      try X264Encoder.validate(optionString: settings.optionString)
    } catch {
      return .library(GST_LIBRARY_ERROR_SETTINGS, "The property option-string can't be used: \(error)")
    }
    return nil
  }

  private func connect() -> Bool {
    // Again, because in READY the settings may have changed.
    if let error = settingsError() {
      error.post(as: GST_MESSAGE_ERROR, from: gstElement)
      return false
    }
    let settings = self.settings.withLock { $0 }
    guard let headUnit = try? settings.headUnit() else { return false }
    let endpoint: AppConnection.Endpoint =
      switch headUnit {
      case .tcp(let host, let port): .tcp(host: host, port: port)
      case .builtIn(let preset): .builtIn(preset.configuration)
      }
    var configuration = AppConnection.Configuration(
      endpoint: endpoint, session: settings.session,
      connectTimeout: .milliseconds(Int64(settings.connectTimeout)),
      reconnection: settings.autoReconnect ? .init() : nil)
    configuration.messageTrace = ProtocolLog(gstElement)
    let connection = AppConnection(configuration: configuration, observer: self)
    notice = NoticeSender()
    touches.withLock { $0 = TouchDesk() }
    state.withLock { state in
      state = VideoSinkState()
      state.connection = connection
      state.connectionState = .connecting
      state.connectBegan = MonotonicClock.now
      state.attemptBegan = state.connectBegan
      state.isInProgress = true
    }
    updateAppState()
    updateHapticRectangles()
    VideoSinkProperty.connectionState.notify(element)
    announceHeadUnit(settings)
    do {
      try connection.start()
      return true
    } catch {
      fail(.resource(GST_RESOURCE_ERROR_FAILED, "The connection's thread could not be started: \(error)"))
      endProgress(GST_PROGRESS_TYPE_ERROR, "The connection could not be started")
      state.withLock { $0 = VideoSinkState() }
      return false
    }
  }

  private func announceHeadUnit(_ settings: VideoSinkSettings) {
    if settings.uri == nil {
      // Twice, because gst-launch shows the details only.
      let hint = "No uri is set, so the built-in head unit is used. For a real one: uri=sdl://HOST:12345"
      ElementError.resource(GST_RESOURCE_ERROR_SETTINGS, hint, details: hint)
        .post(as: GST_MESSAGE_INFO, from: gstElement)
    }
    postProgress(GST_PROGRESS_TYPE_START, "Connecting to \(settings.uri ?? "the built-in head unit")")
  }

  private func play() {
    state.withLock { state in
      state.isPaused = false
      state.wantsVideo = true
    }
    updateWish()
    announceStart()
  }

  private func pause() {
    state.withLock { $0.isPaused = true }
    announceSuspension(.paused)
  }

  /// Ends the connection and waits for its threads. Does nothing when there is none.
  func disconnect() {
    let connection = state.withLock { state in
      state.isStopping = true
      return state.connection
    }
    guard let connection else { return }
    state.broadcast()
    connection.stop(grace: Self.farewell)
    connection.join()
    endProgress(GST_PROGRESS_TYPE_CANCELED, "The connection was given up")
    let last = state.withLock { state in
      defer { state = VideoSinkState() }
      counters.withLock { $0.endConnection(connection.statistics) }
      return state
    }
    counters.withLock { $0.resumed(at: MonotonicClock.now) }
    if last.notifiedStreamState != .stopped { VideoSinkProperty.streamState.notify(element) }
    if last.connectionState != .idle { VideoSinkProperty.connectionState.notify(element) }
    if last.hmiStatus != nil { VideoSinkProperty.hmiLevel.notify(element) }
    if last.headUnit != nil { VideoSinkProperty.headUnit.notify(element) }
  }

  func setFlushing(_ isFlushing: Bool) {
    let connection = state.withLock { state in
      state.isFlushing = isFlushing
      return state.connection
    }
    state.broadcast()
    connection?.video.setFlushing(isFlushing)
  }

  /// Tells the connection what to stream now. The lock is kept, so that the last wish told is the newest; all that the
  /// connection does is to note it.
  func updateWish() {
    state.withLock { $0.connection?.setVideoRequest($0.wish) }
  }

  /// Tells the connection, and whoever brings frames, how the app stands to its user now.
  func updateAppState() {
    state.withLock { state in
      state.appState = settings.withLock { $0.appState }
      if state.appState == .resigning { state.wantsNotice = true }
      if state.appState.isInForeground { state.wantsNotice = false }
      // The wish, which depends on it, first: a service of a former size is not resumed.
      state.connection?.setVideoRequest(state.wish)
      state.connection?.setAppState(state.appState)
    }
    state.broadcast()
    letUpstreamChange()
  }
}
