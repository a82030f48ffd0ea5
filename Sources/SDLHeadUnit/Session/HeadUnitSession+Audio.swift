import SDLMessages
import SDLWire

/// The start and the data of the audio service. It is never encrypted: a start with the E bit is answered without it.
extension HeadUnitSession {
  mutating func startAudio(isEncrypted: Bool, on transport: TransportRole, now: Duration) {
    guard let rpcService else { return }
    guard let app else {
      // As with video, SDL Core does not answer, but lists the service from now on.
      if case .closed = audio { audio = .unanswered }
      return report(.startBeforeRegistration(.audio))
    }
    report(.audioStartRequested)
    isAudioStartLost = false
    guard allows(.audio, on: transport) else { return refuseMisplaced(.audio, on: transport) }
    forgetUnacknowledgedEnd(.audio, now: now)
    if let reason = reasonToRefuse(.audio, app, version: rpcService.headerVersion) {
      return refuseAudio(reason: reason, on: transport, now: now)
    }
    setTransport(transport, of: .audio)
    if isEncrypted { report(.audioInClear) }
    switch behaviour.audioStart {
    case .silence: isAudioStartLost = true
    case .reject: refuseAudio(reason: nil, on: transport, now: now)
    case .acknowledge: acknowledgeAudio(version: rpcService.headerVersion)
    case .acknowledgeAndEnd:
      acknowledgeAudio(version: rpcService.headerVersion)
      sendEndService(.audio, reason: .endedByHeadUnit, now: now)
    }
  }

  private mutating func refuseAudio(reason: String?, on transport: TransportRole, now: Duration) {
    guard let rpcService else { return }
    let refusal = rejection([], reason: reason)
    send(.startServiceNAK, service: .audio, on: transport, payload: refusal.bytes(version: rpcService.headerVersion))
    report(.audioRefused(refusal))
    // Unless the other service goes on, or the one that runs already.
    if isOpen(.audio) || isOpen(.video) { return }
    if behaviour.dropsToNoneAfterRefusal { dropToNone(now: now) }
  }

  private mutating func acknowledgeAudio(version: UInt8) {
    let format = configuration.pcmFormat ?? PCMFormat()
    audio = .open(.allowed)
    audioChecker.begin(format)
    let answer = AudioServiceAcknowledgement(mtu: Int64(configuration.frameLimits.payload))
    send(.startServiceACK, service: .audio, on: audioTransport, payload: answer.bytes(version: version))
    report(.audioStarted(format, on: audioTransport))
  }

  mutating func takeAudio(_ message: [UInt8], _ permission: StreamingPermission, now: Duration) {
    for violation in audioChecker.accept(byteCount: message.count, now: now) { report(.audio(violation)) }
    switch permission {
    case .allowed: report(.audioData(message))
    case .grace: break
    case .forbidden(let since):
      report(.audioWhileForbidden(for: now - since))
      sendEndService(.audio, reason: .streamingForbidden, now: now)
    }
  }
}
