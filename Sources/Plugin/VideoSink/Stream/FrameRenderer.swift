import GStreamerKit
import SDLApp

/// Renders the frames of a stream: each is sent if it may be at its time, and passes otherwise.
///
/// `@unchecked Sendable`: only the streaming thread uses it, with the pad's stream lock, and ``forget()`` once the pad has
/// stopped.
final class FrameRenderer: @unchecked Sendable {
  /// The state of a frame when this thread gets the frame path.
  private struct Opening {
    /// Nothing is left to do for it.
    var outcome: FrameOutcome?
    /// The one that waited for the link, which it replaces.
    var replaced: FrameTime?
    /// Nil unless the frame may be sent at once.
    var permission: VideoNegotiation.Permission?
    var size: VideoSize?
  }

  /// The frame with which the base class has prerolled, until it is rendered.
  private var prerolled: Buffer?
  private var timeStamps = TimeStampWatch()

  /// The base class is about to wait for the time of a frame.
  func frameWaits(until time: GstClockTime, _ stream: VideoStream) {
    let runningTime = UInt64(stream.sink.runningTime(of: time))
    guard runningTime != .max, gst_base_sink_get_sync(stream.sink.baseSink) != 0,
      let complaint = timeStamps.frameWaits(until: runningTime, now: stream.sink.presentTime)
    else { return }
    stream.sink.warn(complaint.warning)
  }

  /// The picture that is seen while the pipeline stays in PAUSED; render brings the others at their time.
  func preroll(with buffer: UnsafeMutablePointer<GstBuffer>, _ stream: VideoStream) -> GstFlowReturn {
    prerolled = Buffer(retaining: buffer)
    var held = stream.frames.take(for: stream)
    chooseForNewInput(&held)
    var hasFailed = false
    do throws(ElementError) {
      try show(InputFrame(buffer, of: stream.sink), &held)
    } catch {
      held.path.output.announce(.error(error))
      hasFailed = true
    }
    stream.tell(held.giveBack())
    return hasFailed ? GST_FLOW_ERROR : stream.preroll()
  }

  /// New caps may come from other elements, with other ranges and sizes.
  private func chooseForNewInput(_ held: inout HeldPath<FramePath>) {
    guard held.path.isInputNew else { return }
    held.path.isInputNew = false
    held.whileGivenBack { $0.choose(.caps) }
  }

  private func show(_ frame: InputFrame, _ held: inout HeldPath<FramePath>) throws(ElementError) {
    guard cgst_buffer_has_flag(frame.buffer, GST_BUFFER_FLAG_GAP) == 0,
      held.path.format?.reasonToLeaveOut(frame.buffer) == nil
    else { return }
    try held.path.format?.preroll(frame)
    let size = noteEncodedSize(insteadOf: held.stream.state.withLock { $0.inputSize }, &held)
    takeRegions(of: frame.buffer, size, held.path, held.stream)
    guard let permission = held.stream.state.withLock({ $0.permission }) else { return }
    _ = held.path.format?.sendWaiting(permission, isLast: false, now: held.stream.time.now)
  }

  /// H.264 tells its size itself, whatever its caps said; returns the size from now on.
  private func noteEncodedSize(insteadOf size: VideoSize?, _ held: inout HeldPath<FramePath>) -> VideoSize? {
    guard let encodedSize = held.path.format?.encodedSize, encodedSize != size else { return size }
    held.stream.sink.log(GST_LEVEL_INFO, "the H.264 stream is \(encodedSize)")
    held.stream.inputChanged(encodedSize, isRaw: false)
    held.whileGivenBack { $0.deliverNotifications() }
    return encodedSize
  }

  private func takeRegions(
    of buffer: UnsafeMutablePointer<GstBuffer>, _ pictureSize: VideoSize?, _ path: FramePath, _ stream: VideoStream
  ) {
    guard let regions = path.changedRegions(of: buffer, pictureSize: pictureSize),
      let warning = stream.haptics.setOfFrames(regions, pictureSize: pictureSize)
    else { return }
    path.output.announce(.warning(warning))
  }

  func render(_ buffer: UnsafeMutablePointer<GstBuffer>, _ stream: VideoStream) -> GstFlowReturn {
    var frame = InputFrame(buffer, of: stream.sink)
    var opening = Opening()
    var held = stream.frames.take(for: stream) { path, state, negotiation in
      opening = open(buffer, path, &state.counters, &negotiation, now: stream.time.now)
    }
    if let deferred = opening.replaced {
      held.path.output.announceLoss(.latency, of: deferred)
      frame.isDue = true
    }
    let outcome = opening.outcome ?? send(frame, &held, opening)
    let flow = conclude(outcome, of: frame, held.path)
    if let complaint = watchTime(of: buffer, outcome, now: stream.time.now) {
      held.path.output.announce(.warning(complaint.warning))
    }
    stream.tell(held.giveBack(counting: outcome))
    if stream.touches.hasWaitingMotion { stream.touches.frameShown() }
    return flow
  }

  /// With the lock of counters and negotiation.
  private func open(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ path: FramePath, _ counters: inout VideoSinkCounters,
    _ negotiation: inout VideoNegotiation, now: Duration
  ) -> Opening {
    var opening = Opening()
    opening.replaced = path.format?.takeDeferred()
    if opening.replaced != nil { counters.frameDropped(.latency) }
    counters.frameArrived()
    if takePrerolled(buffer), let grant = negotiation.permission?.grant, path.isShown(buffer, in: grant) {
      opening.outcome = .unchanged
    } else if cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_GAP) != 0 {
      opening.outcome = .dropped(.noPicture)
    }
    opening.size = negotiation.inputSize
    // With the permission, the timing does not matter.
    if opening.outcome == nil, !path.isInputNew, negotiation.permission != nil,
      case .send(let permission) = negotiation.decide(.synchronized, now: now)
    {
      opening.permission = permission
    }
    return opening
  }

  private func watchTime(
    of buffer: UnsafeMutablePointer<GstBuffer>, _ outcome: FrameOutcome, now: Duration
  ) -> TimeStampWatch.Complaint? {
    let time = UInt64(buffer.pointee.pts)
    let isLeftOut =
      switch outcome {
      case .queued, .unchanged: false
      case .dropped(.late, _), .dropped(.frameRate, _): true
      // Its time stamp has no part in it.
      case .parametersKept, .remembered, .dropped, .failed: nil as Bool?
      }
    return isLeftOut.flatMap { timeStamps.frameCame(time == .max ? nil : time, isLeftOut: $0, now: now) }
  }

  /// Whether the base class has prerolled with the frame at hand.
  private func takePrerolled(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    guard let former = prerolled.take() else { return false }
    return former.pointer == buffer
  }

  /// The stream is over: buffers belong to pools of other elements.
  func forget() {
    prerolled = nil
  }

  /// Reacts to the outcome, before the path is given back.
  private func conclude(_ outcome: FrameOutcome, of frame: InputFrame, _ path: FramePath) -> GstFlowReturn {
    switch outcome {
    case .queued, .unchanged, .parametersKept: return GST_FLOW_OK
    case .remembered(let reason):
      path.output.announceLoss(reason, of: frame.time)
      return GST_FLOW_OK
    case .dropped(let reason, let result):
      path.resynchronize()
      path.output.announceLoss(reason, of: frame.time)
      return result
    case .failed(let error, let reason):
      if let error { path.output.announce(.error(error)) }
      path.resynchronize()
      path.output.announceLoss(reason, of: frame.time)
      return GST_FLOW_ERROR
    }
  }
}

// MARK: One frame

extension FrameRenderer {
  private func send(_ frame: InputFrame, _ held: inout HeldPath<FramePath>, _ opening: Opening) -> FrameOutcome {
    chooseForNewInput(&held)
    do throws(ElementError) {
      guard try held.path.begin(frame) else { return .dropped(.noPicture) }
    } catch {
      return .failed(error)
    }
    if let reason = held.path.format?.reasonToLeaveOut(frame.buffer) { return .dropped(reason) }
    let size = noteEncodedSize(insteadOf: opening.size, &held)
    takeRegions(of: frame.buffer, size, held.path, held.stream)
    return send(frame, &held, size == opening.size ? opening.permission : nil)
  }

  private func send(
    _ frame: InputFrame, _ held: inout HeldPath<FramePath>, _ permission: VideoNegotiation.Permission?
  ) -> FrameOutcome {
    var frame = frame
    var decision = permission.map { VideoNegotiation.FrameDecision.send($0) }
    while true {
      guard !held.wasFlushed else { return .dropped(.discarded) }
      let present = decision ?? decide(frame, &held)
      decision = nil
      switch present {
      case .send(let permission):
        let outcome = held.path.send(frame, permission)
        // A raw picture that waited for room when a pause came, in which the last one has to be repeated.
        if case .dropped(.discarded, GST_FLOW_FLUSHING) = outcome, !held.path.output.isInputEncoded {
          frame.isDue = true
          continue
        }
        if case .dropped(.notStreaming, GST_FLOW_OK) = outcome, !held.path.output.isInputEncoded,
          !held.path.output.isUpstreamLive,
          held.whileGivenBack({ $0.waitForEnd(ofGrant: permission.grant.epoch) })
        {
          frame.isDue = true
          continue
        }
        return outcome
      case .drop(let reason), .wait(let reason): return held.path.format?.pass(frame, reason) ?? .dropped(reason)
      case .askUpstream(let question, let dropsFrame):
        if held.whileGivenBack({ $0.askUpstream(question) }) != .stays, dropsFrame { return .dropped(.wrongSize) }
      case .interrupted:
        let result = held.whileGivenBack { gst_base_sink_wait_preroll($0.sink.baseSink) }
        guard result == GST_FLOW_OK else { return .dropped(.discarded, result) }
      case .fail(let problem):
        return .failed(problem.map { ElementError($0) }, problem == nil ? .discarded : .wrongSize)
      }
    }
  }

  /// Decides what to do with the frame at hand, after a moment in which that may change.
  private func decide(_ frame: InputFrame, _ held: inout HeldPath<FramePath>) -> VideoNegotiation.FrameDecision {
    let isSynchronized = held.stream.sink.isSynchronized(frame.buffer.pointee.pts)
    let timing: BufferTiming =
      held.path.output.isUpstreamLive ? .live : isSynchronized ? .synchronized : .unsynchronized
    // The thread that adds notifications delivers them: another one, with a frame, may be unable to do what an
    // application asks for in answer.
    var mustDeliver = false
    let decision = held.stream.state.withLock { decide(timing, &$0, held.stream, &mustDeliver) }
    guard case .wait = decision else {
      if mustDeliver { held.whileGivenBack { $0.deliverNotifications() } }
      return decision
    }
    return held.whileGivenBack { stream in
      if mustDeliver { stream.deliverNotifications() }
      stream.sink.log(GST_LEVEL_DEBUG, "waiting until the head unit shows the app")
      let next = stream.waitForHeadUnit { negotiation -> VideoNegotiation.FrameDecision? in
        switch decide(timing, &negotiation, stream, &mustDeliver) {
        case .wait, .drop: nil
        case let next: next
        }
      }
      if mustDeliver { stream.deliverNotifications() }
      return next ?? decision
    }
  }

  /// While frames may be sent, which is the usual case, there are no outputs to carry out.
  private func decide(
    _ timing: BufferTiming, _ negotiation: inout VideoNegotiation, _ stream: VideoStream, _ mustDeliver: inout Bool
  ) -> VideoNegotiation.FrameDecision {
    let now = stream.time.now
    stream.noteRendering(&negotiation)
    let decision = negotiation.decide(timing, now: now)
    if case .send = decision { return decision }
    mustDeliver = stream.carryOut(&negotiation, at: now) || mustDeliver
    return decision
  }
}

// MARK: The end

extension FrameRenderer {
  /// Waits for the time of a GAP or of the end. At the end the last frames are delivered and the service is closed
  /// before the application hears of it.
  func wait(for event: UnsafeMutablePointer<GstEvent>, _ stream: VideoStream) -> GstFlowReturn {
    let result = stream.sink.waitByParent(for: event)
    guard result == GST_FLOW_OK, event.pointee.type == GST_EVENT_EOS else { return result }
    let sent = sendRest(stream)
    guard sent == GST_FLOW_OK else { return sent }
    if let mismatch = stream.state.withLock({ $0.finalMismatch }) {
      stream.fail(mismatch)
      return GST_FLOW_ERROR
    }
    let drained = stream.waitUntilDrained(of: "frames")
    return drained == GST_FLOW_OK ? stream.endService() : drained
  }

  /// A picture that waits for the link is the last one; waiting H.264 frames go as far as the head unit takes them.
  private func sendRest(_ stream: VideoStream) -> GstFlowReturn {
    stream.withPath { path in
      path.format?.inputEnded()
      sendWaiting(path, stream)
    }
    while stream.withPath({ $0.waitingCount > 0 }) {
      // An empty queue counts as drained, even if nothing may enter it.
      let interrupted = stream.waitWhileInterrupted()
      guard interrupted == GST_FLOW_OK else { return interrupted }
      // The connection's thread may have filled the queue just now.
      let drained = stream.waitUntilDrained(of: "frames")
      guard drained == GST_FLOW_OK else { return drained }
      stream.withPath { path in
        let former = path.waitingCount
        sendWaiting(path, stream)
        if path.waitingCount == former, !stream.state.withLock({ $0.isInterrupted }) {
          path.format?.dropWaiting(.notStreaming)
        }
      }
    }
    stream.closeLastPicture()
    return GST_FLOW_OK
  }

  private func sendWaiting(_ path: FramePath, _ stream: VideoStream) {
    guard let permission = stream.state.withLock({ $0.permission }) else { return }
    _ = path.format?.sendWaiting(permission, isLast: true, now: stream.time.now)
  }
}
