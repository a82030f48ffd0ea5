import SDLMessages
import SDLWire

/// The data of the video service.
extension HeadUnitSession {
  mutating func takeVideo(_ message: [UInt8], _ permission: StreamingPermission, now: Duration) {
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
      sendEndService(.video, reason: .streamingForbidden, now: now)
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
    send(.serviceDataACK, service: .video, on: videoTransport, payload: count)
  }
}
