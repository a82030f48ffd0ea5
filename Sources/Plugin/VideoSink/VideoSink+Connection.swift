import GStreamerKit
import SDLApp
import SDLHeadUnit
import SDLLink

/// News from the connection's thread. It comes without any lock held.
extension VideoSink: AppConnectionObserver {
  func connection(_ connection: AppConnection, didReport event: ConnectionEvent) {
    // An application may stop and let go of the pipeline in a callback of this very thread, which is not waited for.
    gst_object_ref(element)
    defer { gst_object_unref(element) }
    guard state.withLock({ $0.connection === connection }) else { return }
    switch event {
    case .resolving(let host):
      enter(.resolving)
      postProgress(GST_PROGRESS_TYPE_CONTINUE, "Resolving \(host)")
    case .connecting(let address):
      enter(.connecting)
      postProgress(GST_PROGRESS_TYPE_CONTINUE, "Connecting to \(address)")
    case .connected(let peer):
      state.withLock { state in
        state.peer = peer
        state.isConnected = true
      }
      enter(.registering)
      postProgress(GST_PROGRESS_TYPE_CONTINUE, "Connected to \(peer), starting a session")
    case .session(let event): receive(event)
    case .stalled(let time):
      warn(
        .resource(
          GST_RESOURCE_ERROR_WRITE,
          "The head unit has not read anything for \(time.components.seconds) s: live video is dropped, files wait. Is its software still running?"
        ))
    case .headUnit(let event): receive(event)
    case .ended(let error): connectionEnded(error)
    }
  }

  private func enter(_ newState: ConnectionState) {
    let changed = state.withLock { state in
      guard !state.hasFailed, state.connectionState != newState else { return false }
      state.connectionState = newState
      return true
    }
    if changed { VideoSinkProperty.connectionState.notify(element) }
  }

  private func receive(_ event: AppSession.Event) {
    switch event {
    case .sessionStarted(let version):
      postProgress(GST_PROGRESS_TYPE_CONTINUE, "Registering the app over SDL protocol \(version)")
    case .registered(let headUnit): registered(headUnit)
    case .hmiStatus(let status):
      state.withLock { $0.hmiStatus = status }
      log(GST_LEVEL_INFO, "HMI level \(status.level?.rawValue ?? "?"), \(status.videoStreamingState.rawValue)")
      VideoSinkProperty.hmiLevel.notify(element)
    case .videoCapability(let capability, let fallbackSize): capabilityChanged(capability, fallbackSize)
    case .videoStarted(let grant): videoStarted(grant)
    case .videoStopped(let reason): videoStopped(reason)
    case .videoStartFailed(let failure, let request, let retryAfter):
      videoStartFailed(failure, request, retryAfter)
    case .driverDistraction(let distraction):
      log(GST_LEVEL_INFO, "driver distraction limited: \(distraction.isDistractionLimited)")
    case .diagnostic(let text): log(GST_LEVEL_WARNING, text)
    case .failed(.connectionLost): break  // How it was lost follows with the connection's end.
    case .failed(let failure):
      state.withLock { $0.endReason = "\(failure)" }
      failed(ElementError(failure, wasStreaming: state.withLock { $0.hasStreamed }))
    }
  }

  private func registered(_ headUnit: HeadUnitInfo) {
    let peer = state.withLock { state in
      state.headUnit = headUnit
      return state.peer
    }
    enter(.ready)
    endProgress(GST_PROGRESS_TYPE_COMPLETE, "Registered with \(headUnit.name)")
    postConnected(headUnit, peer: peer)
    VideoSinkProperty.headUnit.notify(element)
  }

  private func capabilityChanged(_ capability: VideoStreamingCapability?, _ fallbackSize: VideoSize?) {
    if let formats = capability?.supportedFormats, !formats.isEmpty, !formats.contains(.rawH264) {
      let names = formats.map(\.description).joined(separator: ", ")
      return failed(
        .stream(
          GST_STREAM_ERROR_FORMAT, "The head unit takes no H.264 byte stream (H264 over RAW), only: \(names)"))
    }
    var offers = capability.map(VideoOffer.offers(of:)) ?? []
    if offers.isEmpty, let fallbackSize,
      let offer = VideoOffer(displaySize: fallbackSize, scale: nil, frameRate: capability?.preferredFPS)
    {
      offers = [offer]
    }
    state.withLock { state in
      state.headUnit?.videoCapability = capability
      state.maximumBitrate = capability?.maxBitrate
      guard state.offers != offers else { return }
      state.offers = offers
      state.insistedSize = nil
      state.shouldRenegotiate = true
    }
    state.broadcast()
    updateWish()
    log(GST_LEVEL_INFO, "the head unit takes \(offers.map { "\($0.size)" })")
    VideoSinkProperty.headUnit.notify(element)
  }

  private func videoStarted(_ grant: VideoGrant) {
    let isFirst = state.withLock { state in
      state.grant = grant
      if grant.isSizeInsisted {
        state.insistedSize = grant.size
        state.shouldRenegotiate = true
      }
      state.isStreamAnnounced = true
      defer { state.hasStreamed = true }
      return !state.hasStreamed
    }
    counters.withLock { $0.streamStarts += 1 }
    state.broadcast()
    enter(.streaming)
    postStreamStarted(grant, reason: isFirst ? "first-start" : "restarted")
  }

  private func videoStopped(_ reason: VideoStopReason) {
    let isResizing = state.withLock { state in
      state.grant = nil
      return state.wantsVideo && !state.isEnded && !state.isStopping
    }
    state.broadcast()
    enter(.ready)
    // The wish was taken back only until upstream has changed.
    postStreamStopped(reason == .app && isResizing ? .resized : reason)
    // The end of the input waits for this, so that the messages come in their order.
    state.withLock { $0.isStreamAnnounced = false }
    state.broadcast()
  }

  private func videoStartFailed(_ failure: VideoStartFailure, _ request: VideoWish, _ retryAfter: Duration?) {
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

  /// The built-in head unit speaks up when the stream breaks a rule: that is what it is for.
  private func receive(_ event: HeadUnitSession.Event) {
    switch event {
    case .violation(let violation):
      warn(.stream(GST_STREAM_ERROR_FORMAT, "The built-in head unit found fault with the stream: \(violation)"))
    default: break
    }
  }

  private func connectionEnded(_ error: LinkError?) {
    if let error { failed(ElementError(error, wasStreaming: state.withLock { $0.hasStreamed })) }
    let last = state.withLock { state in
      defer { state.grant = nil }
      return state
    }
    state.broadcast()
    enter(.idle)
    guard last.isConnected else { return }
    postDisconnected(reason: last.endReason ?? error.map { "\($0)" } ?? "closed by the app")
  }

  /// Errors end a progress that is under way, after the error message itself.
  private func failed(_ error: ElementError) {
    holdBack()
    fail(error)
    endProgress(GST_PROGRESS_TYPE_ERROR, error.text)
  }
}

extension VideoSink {
  /// No connection fails earlier than this.
  private static let earliestFailure = Duration.milliseconds(250)

  /// An application looks at the bus when its state change has returned. An error that comes at once, as from a closed
  /// port on this machine, would be too early for gst-launch: it quits a main loop that does not run yet, and hangs.
  private func holdBack() {
    let began = state.withLock { $0.connectBegan }
    _ = state.wait(until: began + Self.earliestFailure) { $0.isStopping ? true : nil }
  }
}

extension VideoStartFailure {
  /// As a sentence.
  fileprivate var sentence: String {
    let text = description
    return text.prefix(1).uppercased() + text.dropFirst() + "."
  }
}

extension HeadUnitInfo {
  /// Make and model, for people.
  var name: String {
    let name = [make, model, modelYear].compactMap(\.self).joined(separator: " ")
    return name.isEmpty ? "the head unit" : name
  }
}
