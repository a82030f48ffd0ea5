import GStreamerKit
import SDLApp
import SDLLink

/// H.264 that came as such: each frame goes on as it is, if the decoder has what it depends on.
extension FramePath {
  func sendH264(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ permission: VideoNegotiation.Permission
  ) -> Outcome {
    if !held.buffers.isEmpty {
      guard hold(buffer, insteadOf: .latency) else { return .dropped(.noPicture, GST_FLOW_OK) }
      return .queued(isFirstOfService: sendHeld(permission))
    }
    var isFirstOfService = false
    if needsKeyFrame, !passthrough.isKeyFrame(buffer), let outcome = sendGroupAgain(permission.grant) {
      guard case .queued(let isFirst) = outcome else { return outcome }
      isFirstOfService = isFirst
    }
    if isLinkLate {
      passthrough.forgetKeyFrameRequest()
      return .dropped(.latency, GST_FLOW_OK)
    }
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

  /// Whether the link is too far behind for a live frame. Those up to the next key frame follow it, for which upstream is asked
  /// once the link is ready for it.
  private var isLinkLate: Bool {
    isUpstreamLive && adaptation.isLate(isKeyFrameNeeded: needsKeyFrame, sinceSent: time.now - lastSent)
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

/// Live H.264 that comes while there is no service: it is kept from the last key frame on, because encoders with a look-ahead make
/// the next one that they are asked for seconds later.
extension FramePath {
  /// How soon the link is looked at again when not all could be sent.
  static let heldFramePause = Duration.milliseconds(20)

  /// Keeps a frame that can't be sent yet; it still counts as queued. On the streaming thread.
  ///
  /// - Parameter reason: for frames that are given up, because a key frame takes their place, or because there are too many.
  /// - Returns: false when nothing that is kept leads to it.
  func hold(_ buffer: UnsafeMutablePointer<GstBuffer>, insteadOf reason: FrameDropReason) -> Bool {
    let isKeyFrame = passthrough.isKeyFrame(buffer)
    // A copy, since the pool of an encoder may be small.
    guard isKeyFrame ? passthrough.knowsParameterSets : !held.buffers.isEmpty,
      let copy = gst_buffer_copy_deep(buffer)
    else { return false }
    defer { gst_buffer_unref(copy) }
    let count = held.buffers.count
    held.add(copy, isKeyFrame: isKeyFrame)
    let droppedCount = count + 1 - held.buffers.count
    countDropped(droppedCount, reason)
    if droppedCount > 0 { sink.postQoS(frameTime, isLive: true) }
    if held.buffers.isEmpty { needsKeyFrame = true }
    return true
  }

  /// Gives up what is kept.
  func dropHeld(_ reason: FrameDropReason) {
    countDropped(held.buffers.count, reason)
    held.forget()
  }

  private func countDropped(_ count: Int, _ reason: FrameDropReason) {
    guard count > 0 else { return }
    sink.counters.withLock { counters in
      for _ in 0..<count { counters.frameDropped(reason) }
    }
  }

  /// Sends what is kept, as far as there is room and the link is not behind. On any thread; it does not block.
  ///
  /// - Parameter isLast: whether nothing follows, so that it is not too late for anything.
  /// - Returns: whether the first frame of a service is among them.
  func sendHeld(_ permission: VideoNegotiation.Permission, isLast: Bool = false) -> Bool {
    var isFirstOfService = false
    begin(permission.grant)
    while let buffer = held.buffers.first {
      // The rest of a group whose beginning another service has got.
      guard !needsKeyFrame || passthrough.isKeyFrame(buffer) else {
        dropHeld(.notStreaming)
        break
      }
      observeLink(permission.targets)
      guard !connection.video.isFull, isLast || !isLinkLate else { break }
      frameTime = FrameTime(of: buffer)
      let payload = sink.payloads.take(for: sink, kind: .frame)
      switch passthrough.fill(payload, from: buffer, for: permission.grant, needsKeyFrame: needsKeyFrame) {
      case .filled:
        guard submitNow(payload, permission.grant, at: frameRunningTime) else { return isFirstOfService }
        needsKeyFrame = false
        lastSent = time.now
        isFirstOfService = noteQueued(permission.grant) || isFirstOfService
      case .kept:
        sink.payloads.giveBack(payload)
        countDropped(1, .noPicture)
      case .dropped(let reason):
        sink.payloads.giveBack(payload)
        countDropped(1, reason)
      }
      held.removeFirst()
    }
    return isFirstOfService
  }
}
