import GStreamerKit
import H264
import SDLApp
import SDLWire

/// H.264 input: each frame is passed on as it is, if the decoder has the frames that it depends on.
///
/// Live frames that come while there is no service are kept from the last key frame on, because encoders with a
/// look-ahead take seconds to make a requested one.
final class H264Path: FormatPath {
  let output: FrameOutput
  /// The state of the stream.
  let passthrough: H264Passthrough
  /// For a stream that is not live: the frames so far, sent or not.
  private var group = FrameGroup()
  /// For a live stream: the frames that could not be sent yet, and count as queued.
  private var waiting = FrameGroup()
  /// For a stream that is not live: the frame with which the pipeline stays in PAUSED.
  private var prerolled: Buffer?
  /// Its time has come, as after a seek, and it was not sent.
  private var isPrerolledDue = false
  private(set) var lacksPicture = false

  init(_ output: FrameOutput) {
    self.output = output
    passthrough = H264Passthrough(output)
  }

  var encodedSize: VideoSize? { passthrough.size }

  /// The parameter sets of a byte stream come with the first frame.
  func size(of input: InputCaps) -> VideoSize? {
    if case .h264(.some) = input.format { encodedSize ?? input.size } else { input.size ?? encodedSize }
  }

  func reasonToLeaveOut(_ buffer: UnsafeMutablePointer<GstBuffer>) -> FrameDropReason? {
    let place = SegmentPlace(
      of: output.sink.baseSink.pointee.segment, presentation: UInt64(buffer.pointee.pts),
      decoding: UInt64(buffer.pointee.dts), duration: UInt64(buffer.pointee.duration),
      isKeyFrame: passthrough.isKeyFrame(buffer))
    return switch place {
    case .inside: nil
    case .skipped: .frameRate
    case .outside: .discarded
    }
  }

  /// Of a seek's frames GstBaseSink has rendered all on which this one depends.
  func preroll(_ frame: InputFrame) throws(ElementError) {
    guard !output.isUpstreamLive else { return }
    // Once it is shown, rendering it does nothing more.
    guard try passthrough.readParameterSets(of: frame.buffer) else { return }
    prerolled = Buffer(retaining: frame.buffer)
    let time = frame.runningTime
    // After a pause it is the next one, and not due yet.
    isPrerolledDue = time == .max || .nanoseconds(Int64(clamping: time)) <= output.sink.presentTime
  }

  /// In PAUSED: sends the frame if its time has come, or to a new decoder, which may get the key frame before it instead.
  private func sendPrerolled(_ permission: VideoNegotiation.Permission, now: Duration) {
    guard let buffer = prerolled?.pointer else { return }
    begin(permission.grant)
    guard output.needsKeyFrame, !passthrough.canBegin(with: buffer) else {
      if isPrerolledDue || output.needsKeyFrame { sendLastPicture(permission, at: now) }
      return
    }
    guard output.isFirstOfService, let keyFrame = group.buffers.first,
      let payload = try? passthrough.payload(.repeated, of: keyFrame, for: permission.grant)
    else { return }
    _ = output.submitNow(payload, permission.grant)
    // The decoder needs it again, with those that follow.
    output.requireKeyFrame()
  }

  func isLast(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool { group.buffers.last == buffer }

  func begin(_ frame: InputFrame) throws(ElementError) -> Bool {
    // It is sent from here, even if it has to wait.
    forgetPrerolled()
    if cgst_buffer_has_flag(frame.buffer, GST_BUFFER_FLAG_DISCONT) != 0 { resynchronize() }
    return try passthrough.readParameterSets(of: frame.buffer)
  }

  func begin(_ grant: VideoGrant) {
    if output.begin(grant, longestPause: FrameOutput.decoderTimeout) { passthrough.forgetKeyFrameRequest() }
  }

  func mustRequestKeyFrame(now: Duration) -> Bool { passthrough.mustRequestKeyFrame(now: now) }

  private func forgetPrerolled() {
    prerolled = nil
    isPrerolledDue = false
  }

  /// The stream continues with a key frame.
  func resynchronize() {
    output.requireKeyFrame()
    forget()
  }

  /// The decoder gets none of the frames so far.
  func forget() {
    forgetPrerolled()
    group.forget()
    dropWaiting(.notStreaming)
  }

  func flush() {
    dropWaiting(.discarded)
  }

  func send(_ frame: InputFrame, _ permission: VideoNegotiation.Permission) -> FrameOutcome {
    let outcome = submit(frame, permission)
    // The service has ended while it waited for room: the next decoder begins with the frames so far.
    if case .dropped(.notStreaming, GST_FLOW_OK) = outcome, isKnown(frame.buffer) { return pass(frame, .notStreaming) }
    return outcome
  }

  private func submit(_ frame: InputFrame, _ permission: VideoNegotiation.Permission) -> FrameOutcome {
    if hasWaiting {
      guard wait(frame, insteadOf: .latency) else {
        output.requireKeyFrame()
        return .dropped(.latency)
      }
      sendWaiting(permission)
      return .queued
    }
    if output.needsKeyFrame, !passthrough.isKeyFrame(frame.buffer), let failure = sendGroupAgain(permission, frame) {
      return failure
    }
    if output.isLinkLate {
      passthrough.forgetKeyFrameRequest()
      return .dropped(.latency)
    }
    let payload: FramePayload
    do throws(H264Passthrough.Obstacle) {
      payload = try passthrough.payload(.frame, of: frame.buffer, for: permission.grant)
    } catch {
      switch error {
      case .parametersKept: return .parametersKept
      case .leading: return .remembered(.waitingForKeyFrame)
      case .dropped(let reason):
        lacksPicture = output.isUpstreamLive
        return .dropped(reason)
      }
    }
    lacksPicture = lacksPicture && passthrough.isRecovering
    if !frame.isOutOfSegment { passthrough.observeRate(frame.runningTime, limit: permission.frameRateLimit) }
    let isKeyFrame = payload.isKeyFrame
    let outcome = output.submit(payload, permission, at: frame.runningTime)
    if case .queued = outcome, !output.isUpstreamLive { group.add(frame.buffer, isKeyFrame: isKeyFrame) }
    return outcome
  }

  /// Sends the frames that the next one depends on to a new decoder, if they are known.
  ///
  /// - Returns: the obstacle; nil for none.
  private func sendGroupAgain(_ permission: VideoNegotiation.Permission, _ next: InputFrame) -> FrameOutcome? {
    // The next one may be there already: a former service has had it in the pause.
    for buffer in group.buffers where buffer != next.buffer {
      let payload: FramePayload
      do throws(H264Passthrough.Obstacle) {
        payload = try passthrough.payload(.repeated, of: buffer, for: permission.grant)
      } catch {
        if case .leading = error { continue }
        output.requireKeyFrame()
        return nil
      }
      let outcome = output.submit(payload, permission, at: next.runningTime)
      guard case .queued = outcome else { return outcome }
    }
    return nil
  }

  func payloadOfLastPicture(_ permission: VideoNegotiation.Permission, isNew: Bool) -> FramePayload? {
    guard output.needsKeyFrame || isPrerolledDue else { return passthrough.payloadOfRepeat() }
    // Without its key frame the stream can't be resumed, so after any interruption a key frame has to come.
    guard let buffer = prerolled?.pointer,
      let payload = try? passthrough.payload(.repeated, of: buffer, for: permission.grant)
    else { return nil }
    isPrerolledDue = false
    group.add(buffer, isKeyFrame: payload.isKeyFrame)
    // Until it is queued, for which there may be no room.
    output.requireKeyFrame()
    return payload
  }
}

// MARK: Frames that wait

extension H264Path {
  /// Whether frames wait for the service, or for the link.
  private var hasWaiting: Bool { !waiting.buffers.isEmpty }
  var waitingCount: Int { waiting.buffers.count }

  /// With the frames of a file since the last key frame the next decoder begins; those of a live source wait for it.
  func pass(_ frame: InputFrame, _ reason: FrameDropReason) -> FrameOutcome {
    lacksPicture = output.isUpstreamLive
    let buffer = frame.buffer
    switch reason {
    case .notStreaming where output.isUpstreamLive:
      guard wait(frame, insteadOf: reason) else { return .dropped(reason) }
      lacksPicture = false
      return .queued
    case .notStreaming where isKnown(buffer), .suspended where isKnown(buffer):
      group.add(buffer, isKeyFrame: passthrough.isKeyFrame(buffer))
      output.requireKeyFrame()
      return .remembered(reason)
    default: return .dropped(reason)
    }
  }

  /// Whether all frames that a frame of a file depends on are known.
  private func isKnown(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    !output.isUpstreamLive && (!group.buffers.isEmpty || passthrough.isKeyFrame(buffer))
  }

  /// Keeps a frame that can't be sent yet.
  ///
  /// - Parameter reason: for frames that are given up, because a key frame replaces them, or because there are too
  ///   many.
  /// - Returns: false when the frames that it depends on are not kept.
  private func wait(_ frame: InputFrame, insteadOf reason: FrameDropReason) -> Bool {
    let isKeyFrame = passthrough.isKeyFrame(frame.buffer)
    // A copy, since the pool of an encoder may be small.
    guard isKeyFrame ? passthrough.knowsParameterSets : hasWaiting, let copy = gst_buffer_copy_deep(frame.buffer)
    else { return false }
    defer { gst_buffer_unref(copy) }
    let count = waitingCount
    waiting.add(copy, isKeyFrame: isKeyFrame)
    let droppedCount = count + 1 - waitingCount
    output.dropQueued(reason, count: droppedCount)
    if droppedCount > 0 { output.announceLoss(reason, of: frame.time) }
    if !hasWaiting { output.requireKeyFrame() }
    return true
  }

  /// No picture comes too early, or is replaced: others depend on it.
  func takeDeferred() -> FrameTime? { nil }
  func nextTimer(now: Duration) -> Duration? { nil }
  func inputEnded() {}

  func dropWaiting(_ reason: FrameDropReason) {
    output.dropQueued(reason, count: waitingCount)
    waiting.forget()
  }

  func sendWaiting(_ permission: VideoNegotiation.Permission, isLast: Bool, now: Duration) -> Duration? {
    guard hasWaiting else {
      sendPrerolled(permission, now: now)
      return nil
    }
    sendWaiting(permission, isLast: isLast)
    return hasWaiting ? now + FrameOutput.retryPause : nil
  }

  private func sendWaiting(_ permission: VideoNegotiation.Permission, isLast: Bool = false) {
    begin(permission.grant)
    while let buffer = waiting.buffers.first {
      // The rest of a group of pictures that began in another service.
      guard !output.needsKeyFrame || passthrough.isKeyFrame(buffer) else { return dropWaiting(.notStreaming) }
      output.observeLink(permission.targets)
      guard !output.isQueueFull, isLast || !output.isLinkLate else { return }
      do throws(H264Passthrough.Obstacle) {
        let payload = try passthrough.payload(.frame, of: buffer, for: permission.grant)
        let runningTime = InputFrame(buffer, of: output.sink).runningTime
        guard output.submitNow(payload, permission.grant, at: runningTime) == nil else { return }
      } catch {
        switch error {
        case .parametersKept: output.dropQueued(.noPicture)
        case .leading: output.dropQueued(.waitingForKeyFrame)
        case .dropped(let reason): output.dropQueued(reason)
        }
      }
      waiting.removeFirst()
    }
  }
}

/// Frames since the last key frame, with which a new decoder can join in the middle of a group of pictures: those of a
/// file, for use after a pause (in which many streams can't be repeated) or for another service; and those of a live
/// stream that came before its service.
struct FrameGroup: ~Copyable {
  /// Larger groups are not kept, because sending them again would take longer than waiting for the next key frame. Nor
  /// are frames after the limit, since memory that is held is not in the cache when upstream uses it again.
  private static let maximumCount = 600
  private static let maximumByteCount = 2 << 20

  /// Empty when the key frame is not known, or a frame has been lost since.
  private(set) var buffers = FIFO<UnsafeMutablePointer<GstBuffer>>()
  /// The frames since the last key frame, kept or not.
  private var count = 0
  private var byteCount = 0

  private var isTooLarge: Bool { count > Self.maximumCount || byteCount > Self.maximumByteCount }

  deinit {
    for buffer in buffers { gst_buffer_unref(buffer) }
  }

  /// The next frame has come, or the last one again, which was sent in a pause before its turn.
  mutating func add(_ buffer: UnsafeMutablePointer<GstBuffer>, isKeyFrame: Bool) {
    guard buffers.last != buffer else { return }
    let isKept = isKeyFrame ? !isTooLarge : !buffers.isEmpty
    if isKeyFrame { forget() }
    count += 1
    byteCount += Int(gst_buffer_get_size(buffer))
    guard isKept, !isTooLarge else { return release() }
    gst_buffer_ref(buffer)
    buffers.append(buffer)
  }

  mutating func removeFirst() {
    if let buffer = buffers.popFirst() { gst_buffer_unref(buffer) }
  }

  /// Later frames can't be decoded after these.
  mutating func forget() {
    release()
    count = 0
    byteCount = 0
  }

  private mutating func release() {
    for buffer in buffers { gst_buffer_unref(buffer) }
    buffers.removeAll()
  }
}
