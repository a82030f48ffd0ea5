import SDLMessages
import SDLWire

/// The data of the video service.
extension HeadUnitSession {
  mutating func receiveVideo(_ frame: Frame, now: Duration) {
    switch video {
    case .open(let permission):
      guard let message = assemble(frame, now: now) else { return }
      take(message.payload, permission, now: now)
    case .ending(let since):
      // Video that was on the way when EndService was sent is no violation.
      if now - since > CoreLimits.stopStreaming {
        refuseData(.dataAfterEndService(.video, after: now - since), now: now)
      }
    case .closed(let endedAt?):
      let violation = Violation.dataAfterEndService(.video, after: now - endedAt)
      // Observed on SDL Core: a frame just after EndService is tolerated, one 1.5 s later is not.
      if now - endedAt > CoreLimits.stopStreaming { refuseData(violation, now: now) } else { report(violation) }
    case .closed(nil), .unanswered:
      refuseData(.dataWithoutService(.video), now: now)
    }
  }

  private mutating func take(_ message: [UInt8], _ permission: StreamingPermission, now: Duration) {
    if let timeout = behaviour.videoDataTimeout { timers.arm(.videoData, at: now + timeout) }
    let (video, violations) = checker.accept(message, now: now)
    for violation in violations { report(.stream(violation)) }
    switch permission {
    case .allowed:
      if isPlayerConnected(now: now) { show(video) } else if !video.isEmpty { report(.videoMissed) }
      acknowledgeData()
    case .grace: break
    case .forbidden(let since):
      report(.videoWhileForbidden(for: now - since))
      sendEndVideoService(reason: .streamingForbidden, now: now)
    }
  }

  private func isPlayerConnected(now: Duration) -> Bool {
    switch behaviour.player {
    case .connects(let delay): now - videoStartTime >= delay
    case .absent: false
    }
  }

  private mutating func show(_ video: [[UInt8]]) {
    let timestamps = checker.timestamps
    for (index, bytes) in video.enumerated() {
      if index < timestamps.count { report(.videoTimestamp(timestamps[index])) }
      report(.videoData(bytes))
    }
  }

  private mutating func acknowledgeData() {
    guard let rpcService else { return }
    switch behaviour.serviceDataAcknowledgement {
    case .never: return
    case .likeCore: guard (2...4).contains(rpcService.headerVersion) else { return }
    case .always: break
    }
    acknowledgedVideoMessages &+= 1
    let count = withUnsafeBytes(of: acknowledgedVideoMessages.bigEndian, Array.init)
    send(.serviceDataACK, service: .video, payload: count)
  }

  /// Reports data that has no service; a strict head unit unregisters the app for it.
  mutating func refuseData(_ violation: Violation, now: Duration) {
    report(violation)
    if configuration.isStrict { unregister(.protocolViolation, now: now) }
  }
}
