/// The video service: from wishes to frames.
extension AppSession {
  /// The wish, as far as the head unit allows video now.
  var desiredVideo: VideoWish? {
    guard case .registered = phase, hmiStatus?.allowsVideo == true else { return nil }
    switch capability {
    case .known, .unavailable: return wish
    case .unknown, .requested, .deferred: return nil
    }
  }

  mutating func receiveVideoAcknowledgement(_ parameters: VideoServiceParameters) {
    if (parameters.width == nil) != (parameters.height == nil) {
      actions.append(.report(.diagnostic("the head unit acknowledged only one side of the video size")))
    }
    perform(stream.acknowledged(parameters, desired: desiredVideo, now: now))
  }

  /// Acts on the difference between what is wished and what is.
  mutating func reconcile() {
    perform(stream.reconcile(desired: desiredVideo, reason: wish == nil ? .app : .hmiStatus, now: now))
  }

  mutating func perform(_ outputs: [VideoStream.Output]) {
    for output in outputs {
      switch output {
      case .sendStartService(let wish):
        let parameters = VideoServiceParameters(
          width: Int32(clamping: wish.size.width), height: Int32(clamping: wish.size.height),
          videoProtocol: wish.transport.rawValue, videoCodec: "H264")
        sendVideoControl(.startService, payload: parameters.bytes(version: version))
      case .sendEndService:
        sendVideoControl(.endService)
      case .started(let accepted, let mtu):
        epoch &+= 1
        var grant = VideoGrant(
          epoch: epoch, sessionID: sessionID, version: version, maximumPayload: maximumPayload(mtu: mtu),
          size: accepted)
        if case .open(let request, _) = stream.state { grant.isSizeInsisted = request.size != accepted }
        videoGrant = grant
        actions.append(.report(.videoStarted(grant)))
      case .stopped(let reason):
        videoGrant = nil
        actions.append(.report(.videoStopped(reason)))
      case .startFailed(let failure, let request, let retryAfter):
        // An app that wishes nothing any more has nothing to decide.
        guard case .registered = phase, wish != nil else { break }
        actions.append(.report(.videoStartFailed(failure, request: request, retryAfter: retryAfter)))
      }
    }
  }

  /// Ends the stream because the session ends; on a session that stands the head unit is told.
  mutating func stopVideo(_ reason: VideoStopReason) {
    let outputs = stream.reconcile(desired: nil, reason: reason, now: now)
    perform(reason == .sessionEnded ? outputs.filter { $0 != .sendEndService } : outputs)
  }

  private mutating func sendVideoControl(_ control: ControlFrame, payload: [UInt8] = []) {
    send(.control(control, service: .video, version: version, sessionID: sessionID, payload: payload))
  }
}
