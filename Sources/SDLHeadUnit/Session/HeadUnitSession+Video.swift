import SDLMessages
import SDLWire

/// The start of the video service.
extension HeadUnitSession {
  mutating func startVideo(_ frame: Frame, on transport: TransportRole, now: Duration) {
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
    guard allows(.video, on: transport) else { return refuseMisplaced(.video, on: transport) }
    forgetUnacknowledgedEnd(.video, now: now)
    let isEncrypted = frame.header.isEncrypted
    let refusal =
      reasonToRefuse(.video, app, version: rpcService.headerVersion) ?? reasonToRefuse(isEncrypted: isEncrypted)
    if let reason = refusal {
      return refuseVideo([], reason: reason, on: transport, now: now)
    }
    setTransport(transport, of: .video)
    if beginsHandshake(for: request, isEncrypted: isEncrypted, now: now) { return }
    handshakeEnded(request, now: now)
  }

  /// Goes on with a start that needs no handshake, or has had it.
  mutating func handshakeEnded(_ request: VideoServiceParameters, now: Duration) {
    // Without parameters SDL Core need not ask the head unit's own software.
    let time = request == VideoServiceParameters() ? nil : configuration.videoStartTime
    guard let delay = behaviour.videoStartDelay ?? time else { return answerVideoStart(request, now: now) }
    pendingVideoStart = (request, now)
    timers.arm(.videoStart, at: now + delay)
  }

  mutating func videoStartDue(now: Duration) {
    guard let request = pendingVideoStart.take()?.request else { return }
    isVideoStartLost = isSilentOnVideo
    if isSilentOnVideo { return }
    answerVideoStart(request, now: now)
  }

  /// The status forbids what the app has asked for before.
  mutating func cancelVideoStart() {
    guard isVideoStartPending else { return }
    pendingVideoStart = nil
    timers.cancel(.videoStart)
    cancelVideoHandshake()
    // The level stays as the driver has chosen it.
    sendVideoRefusal([], reason: Self.disallowedReason, on: videoTransport)
  }

  /// Checks again, because status and behaviour may have changed since the request.
  private mutating func answerVideoStart(_ request: VideoServiceParameters, now: Duration) {
    guard let app, let rpcService else { return }
    if let reason = reasonToRefuse(.video, app, version: rpcService.headerVersion) {
      return refuseVideo([], reason: reason, now: now)
    }
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

  private mutating func nextVideoStartAnswer() -> HeadUnitBehaviour.VideoStartAnswer {
    if !nextVideoAnswers.isEmpty { return nextVideoAnswers.removeFirst() }
    let script = behaviour.videoStarts
    guard let last = script.last else { return .regular }
    guard usedVideoStarts < script.count else { return last }
    defer { usedVideoStarts += 1 }
    return script[usedVideoStarts]
  }

  /// - Parameter transport: of the request; nil for that of the service.
  mutating func refuseVideo(
    _ parameters: [String], reason: String?, on transport: TransportRole? = nil, now: Duration
  ) {
    sendVideoRefusal(parameters, reason: reason, on: transport ?? videoTransport)
    // Unless the other service goes on.
    if case .open = audio { return }
    if behaviour.dropsToNoneAfterRefusal { dropToNone(now: now) }
  }

  private mutating func sendVideoRefusal(_ parameters: [String], reason: String?, on transport: TransportRole) {
    guard let rpcService else { return }
    let refusal = rejection(parameters, reason: reason)
    send(
      .startServiceNAK, service: .video, on: transport, payload: refusal.bytes(version: rpcService.headerVersion))
    report(.videoRefused(refusal))
  }

  private mutating func acknowledgeVideo(
    request: VideoServiceParameters, answer: VideoServiceParameters, now: Duration
  ) {
    guard let rpcService else { return }
    var answer = answer
    answer.mtu = answer.mtu ?? Int64(configuration.frameLimits.payload)
    if rpcService.headerVersion < 5 { answer = VideoServiceParameters() }
    let payload = answer.bytes(version: rpcService.headerVersion)
    let encrypted = security.encryptsStart ? protected(payload) : nil
    if security.encryptsStart, encrypted == nil, configuration.security == .require {
      return refuseVideo([], reason: "The acknowledgement can't be encrypted", now: now)
    }
    video = .open(.allowed)
    videoStartTime = now
    let size = videoSizes.effective(answer, request)
    displaySize = videoSizes.display(of: size)
    checker.begin(format: VideoFormatRules.effective(answer), size: size, limits: streamLimits(for: size))
    security.isVideoEncrypted = encrypted != nil
    security.clearFrameReports.remove(.video)
    send(
      .startServiceACK, service: .video, on: videoTransport, isEncrypted: encrypted != nil,
      payload: encrypted ?? payload)
    report(.videoStarted(answer, on: videoTransport))
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
