/// The video service: from the app's request to the right to send.
extension AppSession {
  /// What the video service has to be: HMI status × app state, the table that SDL-0033 began.
  var videoDemand: StreamDemand<VideoStartRequest> {
    placed(unplacedVideoDemand, videoPlacement, isClosed: stream.state == .closed, role: transports.videoRole)
  }

  /// The same, whatever transports there are.
  var unplacedVideoDemand: StreamDemand<VideoStartRequest> {
    guard case .registered = phase else { return .closed(.app) }
    // First, because a driver who leaves ends the pauses between attempts, whatever the app asks for meanwhile.
    guard hmiStatus?.allowsVideo == true else { return .closed(.hmiStatus) }
    guard let videoRequest else { return .closed(.app) }
    guard appState.isInForeground else { return .hold }
    switch capability {
    case .known, .unavailable: return .stream(videoRequest)
    case .unknown, .requested, .deferred, .needsProtection: return .closed(.app)
    }
  }

  mutating func receiveVideoAcknowledgement(_ parameters: VideoServiceParameters, isEncrypted: Bool) {
    guard acceptsProtection(isEncrypted: isEncrypted) else { return }
    if (parameters.width == nil) != (parameters.height == nil) {
      actions.append(.report(.diagnostic("the head unit acknowledged only one side of the video size")))
    } else if let width = parameters.width, let height = parameters.height, parameters.acceptedSize == nil {
      actions.append(.report(.diagnostic("the head unit acknowledged the impossible size \(width)×\(height)")))
    }
    perform(stream.acknowledged(parameters, videoDemand, now: now))
  }

  /// Acts on the difference between what is demanded and what is there.
  mutating func reconcile() {
    perform(stream.reconcile(videoDemand, now: now))
    perform(audioStream.reconcile(audioDemandNow, now: now))
  }

  mutating func perform(_ outputs: [VideoStream.Output]) {
    for output in outputs {
      switch output {
      case .sendStartService(let request):
        if case .start(let role) = videoPlacement { transports.videoRole = role }
        announceSupportedDisplays()
        let parameters = VideoServiceParameters(
          width: Int32(clamping: request.size.width), height: Int32(clamping: request.size.height),
          videoProtocol: request.transport.rawValue, videoCodec: VideoCodec.h264.rawValue)
        security.startBegins(isSecure: asksForEncryption)
        sendVideoControl(
          .startService, isEncrypted: security.isStartSecure,
          payload: request.isBare ? [] : parameters.bytes(version: version))
        if security.isStartSecure { scheduleHandshake() }
      case .sendEndService:
        if !hasUnregistered { sendVideoControl(.endService) }
      case .started(let accepted):
        epoch &+= 1
        var grant = VideoGrant(
          epoch: epoch, sessionID: sessionID, version: version,
          maximumPayload: maximumPayload(mtu: accepted.mtu, on: transports.videoRole), size: accepted.size)
        grant.transport = accepted.transport
        grant.role = transports.videoRole
        grant.transportClass = transportClass(of: grant.role)
        if security.isVideoEncrypted {
          grant.isEncrypted = true
          grant.maximumPayload = SecurePayload.plaintextLimit(grant.maximumPayload)
        }
        var requested = accepted.size
        if case .open(let request, _, _) = stream.state { requested = request.size }
        grant.isSizeOverridden = requested != accepted.size
        videoGrant = grant
        started(.video)
        videoGeometry = geometry(of: accepted.size, requested: requested)
        haptics.serviceStarted()
        actions.append(.report(.videoStarted(grant)))
      case .suspended:
        interruptTouches()
        actions.append(.report(.videoSuspended))
      case .resumed: actions.append(.report(.videoResumed))
      case .withdrawn:
        videoGrant = nil
        interruptTouches()
      case .stopped(let reason):
        videoGrant = nil
        interruptTouches()
        actions.append(.report(.videoStopped(reason)))
      case .startFailed(let failure, let request, let retryAfter):
        // An app that asks for nothing any more has nothing to decide.
        guard case .registered = phase, videoRequest != nil else { break }
        actions.append(
          .report(.videoStartFailed(noteFailure(failure), request: request, retryAfter: retryAfter)))
        startFailed(failure, of: .video)
      }
    }
  }

  /// Where pictures of `size` are shown that were asked for as `requested`. A size with which the head unit overrides the
  /// requested one is enlarged like that one (sdl_ios).
  func geometry(of size: VideoSize, requested: VideoSize) -> VideoGeometry {
    if let announced = announcedGeometry(of: size) { return announced }
    guard let display = announcedDisplay(of: requested) else { return VideoGeometry(stream: size) }
    return VideoGeometry(stream: size, enlargedLike: display)
  }

  /// Nil when the head unit has not said that it shows this size.
  func announcedGeometry(of size: VideoSize) -> VideoGeometry? {
    announcedDisplay(of: size).flatMap { VideoGeometry(stream: size, displays: [$0]) }
  }

  /// Of several displays that show pictures of `size`, the first that the app supports.
  private func announcedDisplay(of size: VideoSize) -> VideoDisplay? {
    let displays = announcedDisplays.filter { $0.streamSize == size }
    let supported = Set(supportedDisplays.map(\.identity))
    return displays.first { supported.contains($0.identity) } ?? displays.first
  }

  private var announcedDisplays: [VideoDisplay] {
    switch capability {
    case .known(let capability): VideoDisplay.displays(of: capability, screen: screenSize)
    case .unavailable: legacyDisplay.map { [$0] } ?? []
    case .unknown, .requested, .deferred, .needsProtection: []
    }
  }

  /// The display that the stream is made for.
  struct DisplayInUse: Equatable {
    /// The size of the pictures that are streamed or requested.
    var pictures: VideoSize
    var display: VideoDisplay
  }

  /// The display of the service if there is one, else of what the app asks for.
  var displayInUse: DisplayInUse? {
    let sizes: [VideoSize?] =
      switch stream.state {
      case .open(let request, let accepted, _): [accepted.size, request.size]
      case .starting(let request, _): [request.size]
      case .closed, .ending, .awaitingReason: [videoRequest?.size]
      }
    for case let size? in sizes {
      if let changedDisplay, changedDisplay.pictures == size { return changedDisplay }
      if let display = announcedDisplay(of: size) { return DisplayInUse(pictures: size, display: display) }
    }
    return nil
  }

  /// Notes what `update` makes of the display in use, so that a further update finds it, although no display has the size
  /// of the pictures any more.
  mutating func noteChange(of inUse: DisplayInUse?, by update: VideoStreamingCapability) {
    guard var inUse, update.preferredResolution == nil, update.additionalCapabilities == nil else {
      changedDisplay = nil
      return
    }
    let display = inUse.display
    inUse.display = VideoDisplay(
      size: display.size, scale: update.scale ?? display.scale,
      diagonal: update.diagonalScreenSize ?? display.diagonal,
      pixelsPerInch: update.pixelPerInch ?? display.pixelsPerInch)
    changedDisplay = inUse
  }

  /// Ends the streams because the session ends. EndService is only sent when the app ends it, since otherwise the session
  /// is already gone.
  mutating func stopStreams(_ reason: StreamStopReason) {
    let video = stream.reconcile(.closed(reason), now: now)
    perform(reason == .app ? video : video.filter { $0 != .sendEndService })
    let audio = audioStream.reconcile(.closed(reason), now: now)
    perform(reason == .app ? audio : audio.filter { $0 != .sendEndService })
  }

  mutating func sendVideoControl(_ control: ControlFrame, isEncrypted: Bool = false, payload: [UInt8] = []) {
    var frame = Frame.control(control, service: .video, version: version, sessionID: sessionID, payload: payload)
    frame.header.isEncrypted = isEncrypted
    send(frame, on: transports.videoRole)
  }
}
