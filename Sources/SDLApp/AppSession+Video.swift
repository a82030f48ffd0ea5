/// The video service: from wishes to frames.
extension AppSession {
  /// What the video service has to be: HMI status × app state, the table that SDL-0033 began.
  var videoDemand: VideoDemand {
    guard case .registered = phase, let wish else { return .closed(.app) }
    guard hmiStatus?.allowsVideo == true else { return .closed(.hmiStatus) }
    guard appState.isInForeground else { return .hold }
    switch capability {
    case .known, .unavailable: return .stream(wish)
    case .unknown, .requested, .deferred: return .closed(.app)
    }
  }

  mutating func receiveVideoAcknowledgement(_ parameters: VideoServiceParameters) {
    if (parameters.width == nil) != (parameters.height == nil) {
      actions.append(.report(.diagnostic("the head unit acknowledged only one side of the video size")))
    } else if let width = parameters.width, let height = parameters.height, parameters.acceptedSize == nil {
      actions.append(.report(.diagnostic("the head unit acknowledged the impossible size \(width)×\(height)")))
    }
    perform(stream.acknowledged(parameters, videoDemand, now: now))
  }

  /// Acts on the difference between what is wished and what is.
  mutating func reconcile() {
    perform(stream.reconcile(videoDemand, now: now))
  }

  mutating func perform(_ outputs: [VideoStream.Output]) {
    for output in outputs {
      switch output {
      case .sendStartService(let wish):
        tellSupport()
        let parameters = VideoServiceParameters(
          width: Int32(clamping: wish.size.width), height: Int32(clamping: wish.size.height),
          videoProtocol: wish.transport.rawValue, videoCodec: VideoCodec.h264.rawValue)
        sendVideoControl(.startService, payload: wish.isBare ? [] : parameters.bytes(version: version))
      case .sendEndService:
        sendVideoControl(.endService)
      case .started(let accepted, let transport, let mtu):
        epoch &+= 1
        var grant = VideoGrant(
          epoch: epoch, sessionID: sessionID, version: version, maximumPayload: maximumPayload(mtu: mtu),
          size: accepted)
        grant.transport = transport
        var requested = accepted
        if case .open(let request, _, _) = stream.state { requested = request.size }
        grant.isSizeOverridden = requested != accepted
        videoGrant = grant
        videoGeometry = geometry(of: accepted, requested: requested)
        haptics.serviceStarted()
        actions.append(.report(.videoStarted(grant)))
      case .suspended:
        interruptTouches()
        actions.append(.report(.videoSuspended))
      case .resumed: actions.append(.report(.videoResumed))
      case .stopped(let reason):
        videoGrant = nil
        interruptTouches()
        actions.append(.report(.videoStopped(reason)))
      case .startFailed(let failure, let request, let retryAfter):
        // An app that wishes nothing any more has nothing to decide.
        guard case .registered = phase, wish != nil else { break }
        actions.append(.report(.videoStartFailed(failure, request: request, retryAfter: retryAfter)))
      }
    }
  }

  /// Where pictures of `size` are shown that were asked for as `requested`. A size that the head unit insists on is
  /// enlarged like the one it was asked for (sdl_ios); without capabilities nothing is.
  func geometry(of size: VideoSize, requested: VideoSize) -> VideoGeometry {
    if let announced = announcedGeometry(of: size) { return announced }
    guard let display = announcedDisplay(of: requested) else { return VideoGeometry(stream: size) }
    return VideoGeometry(stream: size, enlargedLike: display)
  }

  /// Nil when the head unit has not said that it shows this size.
  func announcedGeometry(of size: VideoSize) -> VideoGeometry? {
    announcedDisplay(of: size).flatMap { VideoGeometry(stream: size, displays: [$0]) }
  }

  /// Of two displays the one that the app supports.
  private func announcedDisplay(of size: VideoSize) -> VideoDisplay? {
    guard case .known(let capability) = capability else { return nil }
    let displays = VideoDisplay.displays(of: capability, screen: displaySize).filter { $0.streamSize == size }
    let supported = Set(supportedDisplays.map(\.identity))
    return displays.first { supported.contains($0.identity) } ?? displays.first
  }

  /// Ends the stream because the session ends; on a session that stands the head unit is told.
  mutating func stopVideo(_ reason: VideoStopReason) {
    let outputs = stream.reconcile(.closed(reason), now: now)
    perform(reason == .app ? outputs : outputs.filter { $0 != .sendEndService })
  }

  private mutating func sendVideoControl(_ control: ControlFrame, payload: [UInt8] = []) {
    send(.control(control, service: .video, version: version, sessionID: sessionID, payload: payload))
  }
}
