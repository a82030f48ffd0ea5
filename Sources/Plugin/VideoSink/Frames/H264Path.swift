import GStreamerKit
import H264
import SDLApp

/// H.264 input: each frame is passed on as it is, if the decoder has the frames that it depends on.
///
/// Live frames that come while there is no service are kept from the last key frame on, because encoders with a
/// look-ahead take seconds to make a requested one.
final class H264Path: FormatPath {
  let longestPause = FramePath.decoderTimeout

  private unowned let path: FramePath
  /// The state of the stream.
  let passthrough: H264Passthrough
  /// For a stream that is not live: the frames so far, sent or not.
  private var group = PictureGroup()
  /// For a live stream: the frames that could not be sent yet, and count as queued.
  private var waiting = PictureGroup()
  /// For a stream that is not live: the frame with which the pipeline stays in PAUSED.
  private var prerolled: Buffer?
  /// Its time has come, as after a seek, and it was not sent.
  private var isPrerolledDue = false
  /// Frames of a live stream come, of which no decoder can show any yet.
  private var lacksPicture = false
  private var wasLackTaken = false

  init(_ path: FramePath) {
    self.path = path
    passthrough = H264Passthrough(path)
  }

  /// Of a seek's frames GstBaseSink has rendered all on which this one depends.
  func preroll(_ buffer: UnsafeMutablePointer<GstBuffer>) {
    guard !path.isUpstreamLive else { return }
    prerolled = Buffer(retaining: buffer)
    isPrerolledDue = path.isDue(buffer)
  }

  /// In PAUSED: sends the frame if its time has come, or to a new decoder, which may get the key frame before it instead.
  private func sendPrerolled(_ permission: VideoNegotiation.Permission, now: Duration) {
    guard let buffer = prerolled?.pointer else { return }
    path.begin(permission.grant)
    guard path.needsKeyFrame, !passthrough.canBegin(with: buffer) else {
      if isPrerolledDue || path.needsKeyFrame { path.sendLastPicture(permission, at: now) }
      return
    }
    guard path.isFirstOfService, let keyFrame = group.buffers.first else { return }
    let payload = path.takePayload(.repeated)
    guard case .filled = passthrough.fill(payload, from: keyFrame, for: permission.grant) else {
      return path.giveBack(payload)
    }
    // The decoder needs it again, with those that follow.
    _ = path.submitNow(payload, permission.grant)
  }

  func isLast(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool { group.buffers.last == buffer }

  func begin(_ buffer: UnsafeMutablePointer<GstBuffer>) throws(ElementError) -> Bool {
    // It is sent from here, even if it has to wait.
    forgetPrerolled()
    if cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_DISCONT) != 0 { path.requireKeyFrame() }
    return try passthrough.readParameterSets(of: buffer)
  }

  func frameLost() {
    path.requireKeyFrame()
  }

  /// Whether frames of a live stream come of which no decoder can show any yet; nil if that is as it was.
  func takeLack(isInUse: Bool) -> Bool? {
    let lacks = isInUse && lacksPicture
    defer { wasLackTaken = lacks }
    return lacks == wasLackTaken ? nil : lacks
  }

  private func forgetPrerolled() {
    prerolled = nil
    isPrerolledDue = false
  }

  /// Later frames depend on frames that were not sent.
  func forget() {
    forgetPrerolled()
    group.forget()
    dropWaiting(.notStreaming)
  }

  func flush() {
    dropWaiting(.discarded)
  }

  func send(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ permission: VideoNegotiation.Permission, isDue: Bool
  ) -> FrameOutcome {
    if hasWaiting {
      guard wait(buffer, insteadOf: .latency) else { return .parametersKept }
      sendWaiting(permission)
      return .queued
    }
    if path.needsKeyFrame, !passthrough.isKeyFrame(buffer), let failure = sendGroupAgain(permission) { return failure }
    if path.isLinkLate {
      passthrough.forgetKeyFrameRequest()
      return .dropped(.latency)
    }
    let payload = path.takePayload(.frame)
    switch passthrough.fill(payload, from: buffer, for: permission.grant) {
    case .filled: break
    case .parametersKept:
      path.giveBack(payload)
      return .parametersKept
    case .leading:
      path.giveBack(payload)
      return .kept(.waitingForKeyFrame)
    case .dropped(let reason):
      path.giveBack(payload)
      lacksPicture = path.isUpstreamLive
      return .dropped(reason)
    }
    path.needsKeyFrame = false
    lacksPicture = lacksPicture && passthrough.isRecovering
    if !path.isOutOfSegment { passthrough.observeRate(limit: permission.frameRateLimit) }
    let isKeyFrame = payload.isKeyFrame
    let outcome = path.submit(payload, permission)
    if case .queued = outcome, !path.isUpstreamLive { group.add(buffer, isKeyFrame: isKeyFrame) }
    return outcome
  }

  /// Sends the frames that the next one depends on to a new decoder, if they are known.
  ///
  /// - Returns: the obstacle; nil for none.
  private func sendGroupAgain(_ permission: VideoNegotiation.Permission) -> FrameOutcome? {
    for buffer in group.buffers {
      let payload = path.takePayload(.repeated)
      switch passthrough.fill(payload, from: buffer, for: permission.grant) {
      case .filled: break
      case .leading:
        path.giveBack(payload)
        continue
      case .parametersKept, .dropped:
        path.giveBack(payload)
        path.needsKeyFrame = true
        return nil
      }
      path.needsKeyFrame = false
      let outcome = path.submit(payload, permission)
      guard case .queued = outcome else { return outcome }
    }
    return nil
  }

  func fillWithLastPicture(
    _ payload: FramePayload, _ permission: VideoNegotiation.Permission, isNew: Bool
  ) -> Bool {
    guard path.needsKeyFrame || isPrerolledDue else { return passthrough.fillWithRepeat(payload) }
    // Without its key frame the stream can't be resumed, so after any interruption a key frame has to come.
    guard let buffer = prerolled?.pointer, case .filled = passthrough.fill(payload, from: buffer, for: permission.grant)
    else {
      return false
    }
    isPrerolledDue = false
    if group.buffers.last != buffer { group.add(buffer, isKeyFrame: payload.isKeyFrame) }
    return true
  }
}

// MARK: Frames that wait

extension H264Path {
  /// Whether frames wait for the service, or for the link.
  var hasWaiting: Bool { !waiting.buffers.isEmpty }
  var waitingCount: Int { waiting.buffers.count }

  /// With the frames of a file since the last key frame the next decoder begins; those of a live source wait for it.
  func pass(_ buffer: UnsafeMutablePointer<GstBuffer>, _ reason: FrameDropReason) -> FrameOutcome {
    lacksPicture = path.isUpstreamLive
    switch reason {
    case .notStreaming where path.isUpstreamLive:
      guard wait(buffer, insteadOf: reason) else { return .dropped(reason) }
      lacksPicture = false
      return .queued
    case .notStreaming where isKnown(buffer), .suspended where isKnown(buffer):
      group.add(buffer, isKeyFrame: passthrough.isKeyFrame(buffer))
      path.needsKeyFrame = true
      return .kept(reason)
    default: return .dropped(reason)
    }
  }

  /// Whether all frames that a frame of a file depends on are known.
  private func isKnown(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    !path.isUpstreamLive && (!group.buffers.isEmpty || passthrough.isKeyFrame(buffer))
  }

  /// Keeps a frame that can't be sent yet.
  ///
  /// - Parameter reason: for frames that are given up, because a key frame replaces them, or because there are too
  ///   many.
  /// - Returns: false when the frames that it depends on are not kept.
  private func wait(_ buffer: UnsafeMutablePointer<GstBuffer>, insteadOf reason: FrameDropReason) -> Bool {
    let isKeyFrame = passthrough.isKeyFrame(buffer)
    // A copy, since the pool of an encoder may be small.
    guard isKeyFrame ? passthrough.knowsParameterSets : hasWaiting, let copy = gst_buffer_copy_deep(buffer)
    else { return false }
    defer { gst_buffer_unref(copy) }
    let count = waitingCount
    waiting.add(copy, isKeyFrame: isKeyFrame)
    let droppedCount = count + 1 - waitingCount
    path.dropKept(reason, count: droppedCount)
    if droppedCount > 0 { path.announceLoss(reason) }
    if !hasWaiting { path.needsKeyFrame = true }
    return true
  }

  func dropWaiting(_ reason: FrameDropReason) {
    path.dropKept(reason, count: waitingCount)
    waiting.forget()
  }

  func sendWaiting(_ permission: VideoNegotiation.Permission, isLast: Bool, now: Duration) -> Duration? {
    guard hasWaiting else {
      sendPrerolled(permission, now: now)
      return nil
    }
    sendWaiting(permission, isLast: isLast)
    return hasWaiting ? now + FramePath.retryPause : nil
  }

  private func sendWaiting(_ permission: VideoNegotiation.Permission, isLast: Bool = false) {
    path.begin(permission.grant)
    while let buffer = waiting.buffers.first {
      // The rest of a group of pictures that began in another service.
      guard !path.needsKeyFrame || passthrough.isKeyFrame(buffer) else { return dropWaiting(.notStreaming) }
      path.observeLink(permission.targets)
      guard !path.isQueueFull, isLast || !path.isLinkLate else { return }
      path.begin(kept: buffer)
      let payload = path.takePayload(.frame)
      switch passthrough.fill(payload, from: buffer, for: permission.grant) {
      case .filled:
        guard path.submitNow(payload, permission.grant, at: path.frameRunningTime) == nil else { return }
        path.needsKeyFrame = false
      case .parametersKept:
        path.giveBack(payload)
        path.dropKept(.noPicture)
      case .leading:
        path.giveBack(payload)
        path.dropKept(.waitingForKeyFrame)
      case .dropped(let reason):
        path.giveBack(payload)
        path.dropKept(reason)
      }
      waiting.removeFirst()
    }
  }
}

/// Frames since the last key frame, with which a new decoder can join in the middle of a group of pictures: those of a
/// file, for use after a pause (in which many streams can't be repeated) or for another service; and those of a live
/// stream that came before its service.
struct PictureGroup: ~Copyable {
  /// Larger groups are not kept, because sending them again would take longer than waiting for the next key frame. Nor
  /// are frames after the limit, since memory that is held is not in the cache when upstream uses it again.
  private static let maximumCount = 600
  private static let maximumByteCount = 2 << 20

  /// Empty when the key frame is not known, or a frame has been lost since.
  private(set) var buffers: [UnsafeMutablePointer<GstBuffer>] = []
  /// The frames since the last key frame, kept or not.
  private var count = 0
  private var byteCount = 0

  private var isTooLarge: Bool { count > Self.maximumCount || byteCount > Self.maximumByteCount }

  deinit {
    for buffer in buffers { gst_buffer_unref(buffer) }
  }

  /// The next frame has come.
  mutating func add(_ buffer: UnsafeMutablePointer<GstBuffer>, isKeyFrame: Bool) {
    let isKept = isKeyFrame ? !isTooLarge : !buffers.isEmpty
    if isKeyFrame { forget() }
    count += 1
    byteCount += Int(gst_buffer_get_size(buffer))
    guard isKept, !isTooLarge else { return release() }
    gst_buffer_ref(buffer)
    buffers.append(buffer)
  }

  mutating func removeFirst() {
    gst_buffer_unref(buffers.removeFirst())
  }

  /// Later frames can't be decoded after these.
  mutating func forget() {
    release()
    count = 0
    byteCount = 0
  }

  private mutating func release() {
    for buffer in buffers { gst_buffer_unref(buffer) }
    buffers.removeAll(keepingCapacity: true)
  }
}
