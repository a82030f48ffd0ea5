/// The audio service: from the app's request to the right to send.
extension AppSession {
  /// What the audio service has to be. Whether the app is in the foreground of its own device does not count: a navigation app
  /// speaks there as well. An app that is not audible keeps its service as long as its level allows one: SDL Core leaves it
  /// open if nothing is sent.
  var audioDemand: StreamDemand<AudioStartRequest> {
    placed(unplacedAudioDemand, audioPlacement, isClosed: audioStream.state == .closed, role: transports.audioRole)
  }

  /// The same, whatever transports there are.
  var unplacedAudioDemand: StreamDemand<AudioStartRequest> {
    guard case .registered = phase else { return .closed(.app) }
    guard let hmiStatus, hmiStatus.allowsAudio(isMedia: isMediaApp) else { return .closed(.hmiStatus) }
    guard let audioRequest, !isAudioGivenUp else { return .closed(.app) }
    return hmiStatus.isAudible ? .stream(audioRequest) : .hold
  }

  /// The same, but no start while that of the video waits for its answer: a refusal costs the app its level, unless its other
  /// service runs already.
  var audioDemandNow: StreamDemand<AudioStartRequest> {
    let demand = audioDemand
    if case .stream = demand, audioStream.state == .closed, stream.summary == .starting { return .hold }
    return demand
  }

  /// A further refusal could cost the app its level, and with that the picture.
  private var isAudioGivenUp: Bool { isAudioRefused && videoRequest != nil }

  private var isMediaApp: Bool { configuration.isMediaApplication || configuration.appType == .media }

  mutating func perform(_ outputs: [AudioStream.Output]) {
    for output in outputs {
      switch output {
      case .sendStartService:
        if case .start(let role) = audioPlacement { transports.audioRole = role }
        sendAudioControl(.startService)
      case .sendEndService:
        if !hasUnregistered { sendAudioControl(.endService) }
      case .started(let acknowledgement):
        epoch &+= 1
        let format = registration?.pcmFormat
        var grant = AudioGrant(
          epoch: epoch, sessionID: sessionID, version: version,
          maximumPayload: maximumPayload(mtu: acknowledgement.mtu, on: transports.audioRole),
          format: format ?? PCMFormat(), isFormatAssumed: format == nil)
        grant.role = transports.audioRole
        audioGrant = grant
        isAudioRefused = false
        started(.audio)
        actions.append(.report(.audioStarted(grant)))
      case .suspended: actions.append(.report(.audioSuspended))
      case .resumed: actions.append(.report(.audioResumed))
      case .withdrawn: audioGrant = nil
      case .stopped(let reason):
        audioGrant = nil
        actions.append(.report(.audioStopped(reason)))
      case .startFailed(let failure, _, let retryAfter):
        if retryAfter == nil { isAudioRefused = true }
        // An app that asks for nothing any more has nothing to decide.
        guard case .registered = phase, audioRequest != nil else { break }
        actions.append(.report(.audioStartFailed(failure, retryAfter: retryAfter)))
        startFailed(failure, of: .audio)
      }
    }
  }

  private mutating func sendAudioControl(_ control: ControlFrame) {
    send(.control(control, service: .audio, version: version, sessionID: sessionID), on: transports.audioRole)
  }
}
