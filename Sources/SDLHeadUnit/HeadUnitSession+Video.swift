import SDLMessages
import SDLWire

/// The start and the end of the video service.
extension HeadUnitSession {
  mutating func startVideo(_ frame: Frame, now: Duration) {
    guard let rpcService else { return }
    guard let app else {
      if isSilentOnVideo { return }
      // SDL Core does not answer, but lists the service from now on.
      if case .closed = video { video = .unanswered }
      return report(.startBeforeRegistration(.video))
    }
    let request =
      rpcService.headerVersion >= 5 ? VideoServiceParameters(payload: frame.payload) : VideoServiceParameters()
    report(.videoStartRequested(request))
    isVideoStartLost = isSilentOnVideo
    if isSilentOnVideo { return }
    if case .ending(let since) = video, !configuration.isStrict {
      // SDL's libraries for apps never acknowledge; a strict SDL Core then refuses every start.
      if now - since < CoreLimits.endServiceACK { report(.endServiceNotAcknowledged(after: now - since)) }
      closeVideo(.endedByHeadUnit, now: now)
    }
    let isEncrypted = frame.header.isEncrypted
    if let reason = reasonToRefuse(app, version: rpcService.headerVersion) ?? reasonToRefuse(isEncrypted: isEncrypted) {
      return refuseVideo([], reason: reason, now: now)
    }
    if beginsHandshake(for: request, isEncrypted: isEncrypted, now: now) { return }
    handshakeEnded(request, now: now)
  }

  /// Goes on with a start that needs no handshake, or has had it.
  mutating func handshakeEnded(_ request: VideoServiceParameters, now: Duration) {
    guard let delay = behaviour.videoStartDelay else { return answerVideoStart(request, now: now) }
    pendingVideoStart = (request, now)
    timers.arm(.videoStart, at: now + delay)
  }

  /// Checks again, because the status or the behaviour may have changed since the request.
  mutating func videoStartDue(now: Duration) {
    guard let request = pendingVideoStart.take()?.request, let app, let rpcService else { return }
    isVideoStartLost = isSilentOnVideo
    if isSilentOnVideo { return }
    if let reason = reasonToRefuse(app, version: rpcService.headerVersion) {
      return refuseVideo([], reason: reason, now: now)
    }
    answerVideoStart(request, now: now)
  }

  private mutating func answerVideoStart(_ request: VideoServiceParameters, now: Duration) {
    let answer: HeadUnitBehaviour.VideoStartAnswer = nextVideoStartAnswer()
    switch answer {
    case .silence: isVideoStartLost = true
    case .echo: acknowledgeVideo(request: request, answer: request, now: now)
    case .reject(let parameters, let reason): refuseVideo(parameters, reason: reason, now: now)
    case .acknowledge(let parameters): acknowledgeVideo(request: request, answer: parameters, now: now)
    case .regular:
      let format = VideoFormatRules.rejection(of: request, supported: supportedFormats(for: request))
      guard format.isEmpty else { return refuseVideo(format, reason: "The format is not supported", now: now) }
      let size = videoSizes.rejection(of: request)
      if !size.isEmpty, configuration.refusesUnknownSizes {
        return refuseVideo(size, reason: "The size is not supported", now: now)
      }
      acknowledgeVideo(request: request, answer: request, now: now)
    }
  }

  /// The reasons for which SDL Core refuses without asking the HMI.
  private mutating func reasonToRefuse(_ app: RegisteredApp, version: UInt8) -> String? {
    guard version >= 3 else { return "The service needs protocol 3" }
    guard app.mayStreamVideo else { return "The app type may not use this service" }
    if case .closed = video, pendingVideoStart == nil, security.pendingStart == nil {
    } else {
      report(.startWhileActive(.video))
      return "The service is active already"
    }
    return app.status.allowsVideo ? nil : "The service is disallowed with the current HMI level"
  }

  private mutating func nextVideoStartAnswer() -> HeadUnitBehaviour.VideoStartAnswer {
    if !nextVideoAnswers.isEmpty { return nextVideoAnswers.removeFirst() }
    let script = behaviour.videoStarts
    guard let last = script.last else { return .regular }
    guard usedVideoStarts < script.count else { return last }
    defer { usedVideoStarts += 1 }
    return script[usedVideoStarts]
  }

  mutating func refuseVideo(_ parameters: [String], reason: String?, now: Duration) {
    guard let rpcService else { return }
    let refusal = rejection(parameters, reason: reason)
    send(.startServiceNAK, service: .video, payload: refusal.bytes(version: rpcService.headerVersion))
    report(.videoRefused(refusal))
    if behaviour.dropsToNoneAfterRefusal { dropToNone(now: now) }
  }

  private mutating func acknowledgeVideo(
    request: VideoServiceParameters, answer: VideoServiceParameters, now: Duration
  ) {
    guard let rpcService else { return }
    var answer = answer
    answer.mtu = answer.mtu ?? Int64(configuration.frameLimits.payload)
    if rpcService.headerVersion < 5 { answer = VideoServiceParameters() }
    video = .open(.allowed)
    videoStartTime = now
    let size = videoSizes.effective(answer, request)
    displaySize = videoSizes.display(of: size)
    checker.begin(format: VideoFormatRules.effective(answer), size: size, limits: streamLimits(for: size))
    let payload = answer.bytes(version: rpcService.headerVersion)
    let encrypted = protected(payload)
    security.isVideoEncrypted = encrypted != nil
    security.isClearFrameReported = false
    send(.startServiceACK, service: .video, isEncrypted: encrypted != nil, payload: encrypted ?? payload)
    report(.videoStarted(answer))
  }

  /// Sizes of the present capability, and of the configured one, which is what GetSystemCapability still returns; before
  /// them that of the screen for an app that has received neither. After a resize only that of the window.
  private var videoSizes: VideoSizeRules {
    let sent = [capability, configuration.videoCapability]
    let capabilities = app?.knowsVideoCapability == true ? sent : [configuration.screenCapability] + sent
    return VideoSizeRules(screen: configuration.screen, capabilities: window.map { [$0] } ?? capabilities)
  }

  /// The announced rates: the highest of the entries that pictures of this size may be for.
  func streamLimits(for size: ImageResolution) -> VideoStreamLimits {
    guard let capability else { return VideoStreamLimits() }
    let entries = videoSizes.entries(of: capability, covering: size)
    let limits = (entries.isEmpty ? [capability] : entries).map { entry in
      VideoStreamLimits(
        picturesPerSecond: entry.preferredFPS ?? capability.preferredFPS,
        kilobitsPerSecond: entry.maxBitrate ?? capability.maxBitrate)
    }
    func most(_ values: [Int?]) -> Int? { values.contains(nil) ? nil : values.compactMap(\.self).max() }
    return VideoStreamLimits(
      picturesPerSecond: most(limits.map(\.picturesPerSecond)),
      kilobitsPerSecond: most(limits.map(\.kilobitsPerSecond)))
  }

  /// EndService from the app. The service ends whatever the answer is: a NAK means "not running", and without an answer the
  /// app can only assume the end.
  mutating func endVideo(now: Duration) {
    if case .closed = video, pendingVideoStart == nil, security.pendingStart == nil {
      if !isVideoStartLost { report(.endOfServiceNotRunning(.video)) }
      return sendEndServiceNAK(.video)
    }
    switch isSilentOnVideo ? .silence : behaviour.serviceEnd {
    case .acknowledge: send(.endServiceACK, service: .video)
    case .reject: sendEndServiceNAK(.video)
    case .silence: break
    }
    closeVideo(.endedByApp, now: now)
  }

  mutating func sendEndVideoService(reason: VideoStopReason, now: Duration) {
    guard case .open = video else { return }
    send(.endService, service: .video)
    if behaviour.endsVideoServiceTwice { send(.endService, service: .video) }
    video = .ending(since: now)
    timers.cancel(.stopGrace, .videoData)
    timers.arm(.endServiceACK, at: now + CoreLimits.endServiceACK)
    report(.videoStopped(reason: reason))
  }

  mutating func videoEndAcknowledged(now: Duration) {
    // A second acknowledgement, of an EndService that was sent twice, changes nothing.
    guard case .ending = video else { return }
    closeVideo(.endedByHeadUnit, now: now)
  }

  /// Removes the service; reports it unless its end was reported before.
  mutating func closeVideo(_ reason: VideoStopReason, now: Duration) {
    timers.cancel(.stopGrace, .videoData, .endServiceACK, .videoStart)
    pendingVideoStart = nil
    cancelHandshake()
    switch video {
    case .closed: return
    case .unanswered: video = .closed(endedAt: nil)
    case .ending: video = .closed(endedAt: now)
    case .open:
      video = .closed(endedAt: now)
      report(.videoStopped(reason: reason))
    }
  }
}

extension HeadUnitSession {
  /// The formats of the entries that the requested size belongs to, each of which may have its own.
  private func supportedFormats(for request: VideoServiceParameters) -> [VideoStreamingFormat]? {
    guard let capability, let width = request.width, let height = request.height else {
      return capability?.supportedFormats
    }
    let entries = videoSizes.entries(of: capability, covering: ImageResolution(Int(width), Int(height)))
    let formats = entries.compactMap { $0.supportedFormats ?? capability.supportedFormats }
    return formats.isEmpty ? capability.supportedFormats : formats.flatMap(\.self)
  }
}
