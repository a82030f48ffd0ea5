import GStreamerKit
import SDLApp
import SDLLink

/// H.264 that came as such: each frame goes on as it is, if the decoder has what it depends on.
extension FramePath {
  func sendH264(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ permission: VideoNegotiation.Permission
  ) -> Outcome {
    var isFirstOfService = false
    if needsKeyFrame, !passthrough.isKeyFrame(buffer), let outcome = sendGroupAgain(permission.grant) {
      guard case .queued(let isFirst) = outcome else { return outcome }
      isFirstOfService = isFirst
    }
    if comesTooLate(buffer) { return .dropped(.latency, GST_FLOW_OK) }
    let payload = sink.payloads.take(for: sink, kind: .frame)
    switch passthrough.fill(payload, from: buffer, for: permission.grant, needsKeyFrame: needsKeyFrame) {
    case .filled: break
    case .kept:
      sink.payloads.giveBack(payload)
      return .kept
    case .dropped(let reason):
      sink.payloads.giveBack(payload)
      return .dropped(reason, GST_FLOW_OK)
    }
    needsKeyFrame = false
    if !isAhead { passthrough.observeRate(at: frameClock, limit: permission.frameRateLimit) }
    let isKeyFrame = payload.isKeyFrame
    let outcome = submit(payload, permission.grant)
    guard case .queued(let isFirst) = outcome else { return outcome }
    if !isUpstreamLive { group.add(buffer, isKeyFrame: isKeyFrame) }
    return .queued(isFirstOfService: isFirst || isFirstOfService)
  }

  /// Even if each acknowledgement comes late, so that the link looks slow, a key frame goes after this time.
  private static let longestBreak = Duration.seconds(2)

  /// Whether the link is too far behind for a live frame that could be sent. Those up to the next key frame follow it.
  private func comesTooLate(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    guard isUpstreamLive, adaptation.isBehind else { return false }
    guard needsKeyFrame else { return true }
    return passthrough.isKeyFrame(buffer) && time.now - lastSent < Self.longestBreak
  }

  /// Sends what the next frame depends on to a new decoder; nil when that is not known.
  private func sendGroupAgain(_ grant: VideoGrant) -> Outcome? {
    guard !group.buffers.isEmpty else { return nil }
    // It is no part of what is to be shown in time.
    let wasAhead = isAhead
    isAhead = true
    defer { isAhead = wasAhead }
    var isFirstOfService = false
    for (index, buffer) in group.buffers.enumerated() {
      let payload = sink.payloads.take(for: sink, kind: .repeated)
      guard case .filled = passthrough.fill(payload, from: buffer, for: grant, needsKeyFrame: index == 0) else {
        sink.payloads.giveBack(payload)
        return nil
      }
      let outcome = submit(payload, grant)
      guard case .queued(let isFirst) = outcome else { return outcome }
      isFirstOfService = isFirstOfService || isFirst
    }
    needsKeyFrame = false
    return .queued(isFirstOfService: isFirstOfService)
  }

  /// When a frame is shown, in ns: as its time stamp says, or now.
  private var frameClock: UInt64 {
    let time = sink.runningTime(frameTime.presentation)
    return time == .max ? UInt64(clamping: self.time.now.nanoseconds) : time
  }
}
