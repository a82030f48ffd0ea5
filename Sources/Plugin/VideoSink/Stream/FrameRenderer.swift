import GStreamerKit
import SDLApp

/// Renders the frames of a stream: each waits for the permission to be sent, and then goes to the frame path. Frames
/// that a seek needs in advance go before their time.
///
/// `@unchecked Sendable`: only the streaming thread uses it, with the pad's stream lock.
final class FrameRenderer: @unchecked Sendable {
  /// How long the event for the end of a grant may take after the connection has refused a frame; it is on its way on
  /// another thread.
  private static let grantEndTimeout = Duration.seconds(1)
  /// How soon an application that follows the request to pause does so.
  private static let promptPause = Duration.milliseconds(250)

  /// The state of a frame when this thread gets the frame path.
  private struct Opening {
    /// There is nothing to send: it was shown before its time, or has no picture.
    var isDone = false
    /// It replaces one that waited for the link.
    var replacesDeferred = false
    /// Nil unless the frame may be sent at once.
    var permission: VideoNegotiation.Permission?
    /// The size of the input.
    var size: VideoSize?
  }

  /// The progress of a seek, for H.264.
  private var seek = SeekProgress()
  private var isLive = false

  /// Frames of other caps follow.
  func inputChanged(isRaw: Bool, _ sink: VideoSink) {
    sink.takesAhead = !isRaw
    sink.syncsByPresentation = false
  }

  /// FLUSH_STOP has come.
  func flushed() {
    seek.flushed()
  }

  /// The picture that is shown while the pipeline stays in PAUSED; render brings the others at their time.
  func preroll(with buffer: UnsafeMutablePointer<GstBuffer>, _ stream: VideoStream) -> GstFlowReturn {
    let isDue = stream.withPath { path -> Bool in
      stream.chooseForNewInput(path)
      guard cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_GAP) == 0 else { return false }
      guard !path.isRaw else { return path.raw.preroll(buffer) }
      path.h264.preroll(buffer)
      return false
    }
    // The connection thread sends it.
    if isDue { stream.connection.setTimer(at: stream.time.now) }
    return stream.preroll()
  }

  func render(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ stream: VideoStream, isAhead: Bool = false
  ) -> GstFlowReturn {
    let flushCount = stream.progress.flushCount
    let (path, opening) = stream.frames.take { path, counters, negotiation in
      open(buffer, path, &counters, &negotiation, isAhead: isAhead, now: stream.time.now)
    }
    if opening.replacesDeferred { path.announceLoss(.latency) }
    var outcome = FrameOutcome?.none
    if !opening.isDone {
      let frame = Frame(buffer: buffer, isDue: opening.replacesDeferred, flushCount: flushCount)
      path.isAhead = isAhead
      outcome = send(frame, path, stream, opening)
      path.isAhead = false
    }
    let flow = conclude(outcome, path)
    stream.tell(stream.frames.give(counting: outcome))
    if stream.touches.hasWaitingMotion { stream.touches.frameShown() }
    return flow
  }

  /// With the lock of counters and negotiation.
  private func open(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ path: FramePath, _ counters: inout VideoSinkCounters,
    _ negotiation: inout VideoNegotiation, isAhead: Bool, now: Duration
  ) -> Opening {
    var opening = Opening()
    guard !seek.takeShown(buffer) else {
      opening.isDone = true
      return opening
    }
    opening.replacesDeferred = path.raw.takeDeferred()
    if opening.replacesDeferred { counters.frameDropped(.latency) }
    counters.frameArrived()
    guard cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_GAP) == 0 else {
      counters.frameDropped(.noPicture)
      opening.isDone = true
      return opening
    }
    opening.size = negotiation.inputSize
    // With the permission, whether upstream is live does not matter.
    if !isAhead, !path.isInputNew, negotiation.permission != nil,
      case .send(let permission) = negotiation.decide(isLive: false, now: now)
    {
      opening.permission = permission
    }
    return opening
  }

  /// Reacts to the outcome, before the path is given back.
  private func conclude(_ outcome: FrameOutcome?, _ path: FramePath) -> GstFlowReturn {
    switch outcome {
    case nil, .queued, .unchanged, .parametersKept: return GST_FLOW_OK
    case .dropped(let reason, let result):
      path.format?.frameLost()
      path.announceLoss(reason)
      return result
    case .failed(let error, let reason):
      if let error { path.announce(.error(error)) }
      path.format?.frameLost()
      path.announceLoss(reason)
      return GST_FLOW_ERROR
    }
  }
}

// MARK: One frame

extension FrameRenderer {
  private struct Frame {
    let buffer: UnsafeMutablePointer<GstBuffer>
    /// It is sent whatever the frame rate.
    var isDue: Bool
    let flushCount: UInt
  }

  private func send(
    _ frame: Frame, _ path: FramePath, _ stream: VideoStream, _ opening: Opening
  ) -> FrameOutcome {
    stream.chooseForNewInput(path)
    do throws(ElementError) {
      guard try path.begin(frame.buffer) else { return .dropped(.noPicture) }
    } catch {
      return .failed(error)
    }
    var (permission, size) = (opening.permission, opening.size)
    if !path.isRaw, let encodedSize = path.h264.passthrough.size, encodedSize != size {
      stream.sink.log(GST_LEVEL_INFO, "the H.264 stream is \(encodedSize)")
      stream.setInputSize(encodedSize, isRaw: false)
      (permission, size) = (nil, encodedSize)
    }
    if let regions = path.changedRegions(of: frame.buffer, pictureSize: size) {
      stream.setRegions(regions, size, path)
    }
    return send(frame, path, stream, permission)
  }

  private func send(
    _ frame: Frame, _ path: FramePath, _ stream: VideoStream, _ permission: VideoNegotiation.Permission?
  ) -> FrameOutcome {
    var frame = frame
    var decision = permission.map { VideoNegotiation.FrameDecision.send($0) }
    while true {
      // A message or event was answered with a flush, which includes this frame.
      guard stream.progress.flushCount == frame.flushCount else { return .dropped(.discarded) }
      guard let present = decision ?? decide(path, stream) else { return .dropped(.discarded, GST_FLOW_FLUSHING) }
      decision = nil
      switch present {
      case .send(let permission):
        let outcome = path.send(frame.buffer, permission, isDue: frame.isDue)
        if case .dropped(.notStreaming, GST_FLOW_OK) = outcome, path.isRaw, !path.isUpstreamLive,
          waitForEnd(of: permission.grant, stream)
        {
          frame.isDue = true
          continue
        }
        return outcome
      case .drop(let reason):
        let isKept = path.format?.keep(frame.buffer, insteadOf: reason) ?? false
        return isKept ? .queued : .dropped(reason)
      case .askUpstream(let question, let dropsFrame):
        if stream.askUpstream(question) != .stays, dropsFrame { return .dropped(.wrongSize) }
      case .wait, .pauseRequested: break
      case .interrupted:
        let result = stream.frames.whileGivenBack { gst_base_sink_wait_preroll(stream.sink.baseSink) }
        guard result == GST_FLOW_OK else { return .dropped(.discarded, result) }
      case .fail(let problem):
        return .failed(problem.map { ElementError($0) }, problem == nil ? .discarded : .wrongSize)
      }
    }
  }

  /// The grant ended while a picture that is not live was encoded; it waits for the next grant. The connection refuses
  /// frames before the end is reported here.
  ///
  /// - Returns: False if the end was not reported in time; the picture is lost then.
  private func waitForEnd(of grant: VideoGrant, _ stream: VideoStream) -> Bool {
    let deadline = stream.time.now + Self.grantEndTimeout
    return stream.frames.whileGivenBack {
      stream.waitForHeadUnit(until: deadline) { negotiation in
        negotiation.isInterrupted || negotiation.permission?.grant.epoch != grant.epoch ? true : nil
      }
    } ?? false
  }

  /// Decides what to do with the frame at hand, and waits until that is possible; nil if the source wants its thread
  /// back meanwhile.
  private func decide(_ path: FramePath, _ stream: VideoStream) -> VideoNegotiation.FrameDecision? {
    let isLive = path.isUpstreamLive
    // A frame that is sent before its time does not show that the pipeline plays.
    if path.isAhead, let permission = stream.state.withLock({ $0.isInterrupted ? nil : $0.permission }) {
      return .send(permission)
    }
    // The thread that adds notifications delivers them: another one, with a frame, may be unable to do what an
    // application asks for in answer.
    var mustDeliver = false
    defer { if mustDeliver { stream.deliverNotifications() } }
    var decision = stream.state.withLock { decide(&$0, isLive: isLive, stream, &mustDeliver) }
    if decision == .wait {
      let began = stream.time.now
      stream.sink.log(GST_LEVEL_INFO, "waiting until the head unit shows the app")
      let next = stream.frames.whileGivenBack {
        stream.waitForHeadUnit(until: nil) { negotiation in
          let decision = self.decide(&negotiation, isLive: isLive, stream, &mustDeliver)
          return decision == .wait ? nil : decision
        }
      }
      guard let next else { return nil }
      decision = next
      // The time stamps of a live source continue by themselves. An application that follows the request to pause stops
      // running time at once, and the short time until then is made up for.
      let waited = stream.time.now - began
      if !isLive, decision != .interrupted || waited > Self.promptPause { path.extendDelay(by: waited) }
    }
    return decision
  }

  /// While frames may be sent, which is the usual case, there are no outputs to carry out.
  private func decide(
    _ negotiation: inout VideoNegotiation, isLive: Bool, _ stream: VideoStream, _ mustDeliver: inout Bool
  ) -> VideoNegotiation.FrameDecision {
    let now = stream.time.now
    let decision = negotiation.decide(isLive: isLive, now: now)
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
      path.raw.inputEnded()
      sendWaiting(path, stream)
    }
    while stream.withPath({ $0.h264.hasWaiting }) {
      // The connection's thread may have filled the queue just now.
      let drained = stream.waitUntilDrained(of: "frames")
      guard drained == GST_FLOW_OK else { return drained }
      stream.withPath { path in
        let former = path.h264.waitingCount
        sendWaiting(path, stream)
        if path.h264.waitingCount == former, !stream.state.withLock({ $0.isInterrupted }) {
          path.h264.dropWaiting(.notStreaming)
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

// MARK: Seeks

/// The head unit decodes, so for passed-through H.264 it gets the sought picture, and all frames from the key frame on
/// that this depends on, as fast as the link takes them, while the pipeline is still in PAUSED. The base class drops
/// all but the last, and shows that in PLAYING.
extension FrameRenderer {
  /// Before the base class sees the buffer.
  ///
  /// - Returns: nil if the base class has to take it, which shows it at its time.
  func takeAhead(_ buffer: UnsafeMutablePointer<GstBuffer>, _ stream: VideoStream) -> GstFlowReturn? {
    let base = stream.sink.baseSink
    guard !isLive, seek.concerns(buffer, base.pointee.segment) || stream.sink.syncsByPresentation
    else { return nil }
    // As the base class calls render.
    cgst_base_sink_preroll_lock(base)
    defer { cgst_base_sink_preroll_unlock(base) }
    guard base.pointee.flushing == 0, base.pointee.eos == 0, base.pointee.have_newsegment != 0 else { return nil }
    let place = stream.withPath { path in
      isLive = path.isUpstreamLive
      return self.place(of: buffer, path)
    }
    switch place {
    case .outside: return nil
    case .skipped:
      stream.sink.count { counters in
        counters.frameArrived()
        counters.frameDropped(.frameRate)
      }
      return GST_FLOW_OK
    case .ahead:
      guard let result = show(buffer, stream) else {
        stream.withPath { $0.requireKeyFrame() }
        return nil
      }
      return result
    case .inside:
      guard seek.preroll == .seek, let result = show(buffer, stream) else {
        if seek.preroll != .done { seek.prerolled(with: nil) }
        return nil
      }
      guard result == GST_FLOW_OK else { return result }
      // The base class prerolls with it, and then waits for its time, but it is not sent again.
      seek.prerolled(with: buffer)
      return nil
    }
  }

  /// Sends a frame at once; nil if frames can't be sent now.
  private func show(_ buffer: UnsafeMutablePointer<GstBuffer>, _ stream: VideoStream) -> GstFlowReturn? {
    guard stream.state.withLock({ $0.permission != nil }) else { return nil }
    return render(buffer, stream, isAhead: true)
  }

  private func place(of buffer: UnsafeMutablePointer<GstBuffer>, _ path: FramePath) -> SegmentPlace {
    guard !isLive, !path.isRaw, cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_GAP) == 0 else { return .outside }
    let segment = path.sink.baseSink.pointee.segment
    // A key frame alone is shown as soon as it is decoded.
    path.sink.syncsByPresentation = SegmentPlace.showsOnlyKeyFrames(segment)
    let place = SegmentPlace(
      of: segment, presentation: UInt64(buffer.pointee.pts), decoding: UInt64(buffer.pointee.dts),
      duration: UInt64(buffer.pointee.duration), isKeyFrame: path.h264.passthrough.isKeyFrame(buffer),
      beginsAnew: seek.preroll == .seek, mayBeReordered: seek.reorderedCount < path.h264.passthrough.reorderingDepth)
    if seek.note(place, isShownLater: buffer.pointee.pts > segment.start) { path.requireKeyFrame() }
    return place
  }
}
