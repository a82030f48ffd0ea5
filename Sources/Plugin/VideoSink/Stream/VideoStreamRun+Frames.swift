import GStreamerKit
import SDLApp
import SDLLink

/// The frames: wait for the right to send, then hand them to the frame path. On the streaming thread.
extension VideoStreamRun {
  /// The picture that is seen while the pipeline stays in PAUSED; render brings the others at their time.
  func preroll(with buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn {
    withFrames { path in
      chooseForNewInput(path)
      guard path.isRaw, cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_GAP) == 0 else { return }
      path.lastPicture.preroll(buffer, for: sink.runningTime(UInt64(buffer.pointee.pts)))
    }
    return preroll()
  }

  func render(_ buffer: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn {
    defer {
      announceBitrate()
      if touches.hasWaitingMotion { unlocked { touches.frameShown() } }
    }
    return withFrames { path in
      defer { noteBitrate(path) }
      let flushCount = progress.flushCount
      chooseForNewInput(path)
      guard !path.seek.takeShown(buffer) else { return GST_FLOW_OK }
      let replacesDeferred = path.takeDeferredPicture()
      if replacesDeferred { _ = drop(.latency, path) }
      sink.counters.withLock { $0.frameArrived() }
      if cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_GAP) != 0 {
        sink.counters.withLock { $0.frameDropped(.noPicture) }
        return GST_FLOW_OK
      }
      path.begin(buffer)
      if case .h264 = path.format {
        if cgst_buffer_has_flag(buffer, GST_BUFFER_FLAG_DISCONT) != 0 { path.breakOff() }
        do throws(ElementError) {
          guard try path.passthrough.readParameterSets(of: buffer) else { return drop(.noPicture, path) }
        } catch {
          fail(error)
          return drop(.noPicture, path, GST_FLOW_ERROR)
        }
        if let size = path.passthrough.size { takeEncodedSize(size) }
      }
      observeRegions(of: buffer, path)
      return send(buffer, path, replacesDeferred: replacesDeferred, flushCount: flushCount)
    }
  }

  /// Has the frame path for `body`, and then posts and pushes what that has led to.
  func withFrames<Result>(_ body: (FramePath) -> Result) -> Result {
    let (result, announcements) = frames.withValue { (body($0), $0.announcements.take()) }
    announce(announcements)
    return result
  }

  /// Without the frame path.
  func announce(_ announcements: [FrameAnnouncements.Item]) {
    guard !announcements.isEmpty, !hasEnded else { return }
    unlocked {
      for announcement in announcements {
        switch announcement {
        case .warning(let warning): sink.warn(warning)
        case .reconfigure: Event.reconfigure()?.push(on: sink.pad)
        case .keyFrameRequest: sink.requestKeyFrame()
        }
      }
    }
  }

  /// The elements that new caps come from may have other ranges, and may be able to send other sizes.
  func chooseForNewInput(_ path: FramePath) {
    guard path.isInputNew else { return }
    path.isInputNew = false
    choose(.caps)
  }

  /// Regions hold until a frame has others.
  private func observeRegions(of buffer: UnsafeMutablePointer<GstBuffer>, _ path: FramePath) {
    guard path.updateRegions(from: buffer, pictureSize: inputSize) else { return }
    haptics.setOfFrames(path.regions.rectangles, pictureSize: inputSize) { path.announcements.add(.warning($0)) }
  }

  var inputSize: VideoSize? { state.withLock { $0.inputSize } }

  private func takeEncodedSize(_ size: VideoSize) {
    guard inputSize != size else { return }
    sink.log(GST_LEVEL_INFO, "the H.264 stream is \(size)")
    setInputSize(size, isRaw: false)
  }

  private func send(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ path: FramePath, replacesDeferred: Bool, flushCount: UInt
  ) -> GstFlowReturn {
    var isDue = replacesDeferred
    while true {
      // Somebody who was told of something has flushed the pipeline with this frame.
      guard progress.flushCount == flushCount else { return drop(.discarded, path) }
      guard let decision = decide(path) else { return drop(.discarded, path, GST_FLOW_FLUSHING) }
      switch decision {
      case .send(let permission):
        let outcome = path.send(buffer, permission, isDue: isDue)
        if case .dropped(.notStreaming, GST_FLOW_OK) = outcome, path.isRaw, !path.isUpstreamLive,
          waitForEnd(of: permission.grant, path)
        {
          isDue = true
          continue
        }
        return finish(outcome, permission.grant, path)
      case .drop(let reason):
        if reason == .notStreaming, path.isUpstreamLive, case .h264 = path.format,
          path.hold(buffer, insteadOf: reason)
        {
          return GST_FLOW_OK
        }
        return drop(reason, path)
      case .askUpstream(let question, let dropsFrame):
        if askUpstream(question) != .stays, dropsFrame { return drop(.wrongSize, path) }
      case .wait, .pauseRequested: break
      case .interrupted:
        let result = frames.whileGivenBack { gst_base_sink_wait_preroll(sink.baseSink) }
        guard result == GST_FLOW_OK else { return drop(.discarded, path, result) }
      case .fail(let problem):
        if let problem { fail(problem) }
        return drop(problem == nil ? .discarded : .wrongSize, path, GST_FLOW_ERROR)
      }
    }
  }

  /// From the connection's refusal of a frame to the event that ends the grant here; on another thread, hence soon.
  private static let grantEndTimeout = Duration.seconds(1)

  /// The grant ended while a picture that is not live was encoded, which therefore waits for the next grant. The connection
  /// refuses frames before the end is reported here.
  ///
  /// - Returns: False if the end was not reported in time; the picture is lost then.
  private func waitForEnd(of grant: VideoGrant, _ path: FramePath) -> Bool {
    let deadline = time.now + Self.grantEndTimeout
    let hasEnded = frames.whileGivenBack {
      waitForHeadUnit(until: deadline) { negotiation in
        negotiation.isInterrupted || negotiation.permission?.grant.epoch != grant.epoch ? true : nil
      }
    }
    return hasEnded ?? false
  }

  /// How soon an application pauses that follows the request for it.
  private static let promptPause = Duration.milliseconds(250)

  /// Decides what to do with the frame at hand, and waits until that is possible; nil if the source wants its thread back meanwhile.
  private func decide(_ path: FramePath) -> VideoNegotiation.FrameDecision? {
    let isLive = path.isUpstreamLive
    // What is sent before its time does not tell that the pipeline plays.
    if path.isAhead, let permission = state.withLock({ $0.isInterrupted ? nil : $0.permission }) {
      return .send(permission)
    }
    var decision = state.withLock { decide(&$0, isLive: isLive) }
    if decision == .wait {
      let began = time.now
      sink.log(GST_LEVEL_INFO, "waiting until the head unit shows the app")
      let next = frames.whileGivenBack {
        waitForHeadUnit(until: nil) { negotiation in
          let decision = self.decide(&negotiation, isLive: isLive)
          return decision == .wait ? nil : decision
        }
      }
      guard let next else {
        deliverNotifications()
        return nil
      }
      decision = next
      // The time stamps of a live source go on by themselves. An application that follows the request to pause stops running
      // time at once, and what little has passed until then is made up for.
      let waited = time.now - began
      let isHeldUp = decision != .interrupted || waited > Self.promptPause
      if !isLive, !path.isAhead, isHeldUp { path.delay.extend(by: waited, sink.baseSink) }
    }
    if case .send = decision { return decision }
    deliverNotifications()
    return decision
  }

  /// While frames may be sent, which is the usual case, there are no outputs to carry out.
  private func decide(_ negotiation: inout VideoNegotiation, isLive: Bool) -> VideoNegotiation.FrameDecision {
    let now = time.now
    let decision = negotiation.decide(isLive: isLive, now: now)
    if case .send = decision { return decision }
    apply(negotiation.takeOutputs(at: now))
    return decision
  }

  private func finish(_ outcome: FramePath.Outcome, _ grant: VideoGrant, _ path: FramePath) -> GstFlowReturn {
    switch outcome {
    case .queued(let isFirstOfService):
      if let warning = path.pixelWarning.take() { warn(warning) }
      if isFirstOfService {
        noteFirstFrame(of: grant)
        deliverNotifications()
      }
      return GST_FLOW_OK
    case .kept:
      sink.counters.withLock { $0.frameDropped(.noPicture) }
      return GST_FLOW_OK
    case .deferred: return GST_FLOW_OK
    case .unchanged:
      sink.counters.withLock { $0.frameUnchanged() }
      return GST_FLOW_OK
    case .dropped(let reason, let result): return drop(reason, path, result)
    case .failed(let error):
      fail(error)
      return drop(.noPicture, path, GST_FLOW_ERROR)
    }
  }

  /// The first frame of a service may complete a resize.
  func noteFirstFrame(of grant: VideoGrant) {
    let lostFrames = sink.counters.withLock { $0.framesLost }
    let now = time.now
    let isResized = update { $0.firstFrameQueued(of: grant, lostFrames: lostFrames, now: now) }
    if isResized { sink.counters.withLock { $0.resizes &+= 1 } }
  }

  /// Counts a frame that is not sent. H.264 frames depend on each other, so the next one must stand alone; of raw ones
  /// nothing has been encoded yet.
  private func drop(
    _ reason: FrameDropReason, _ path: FramePath, _ result: GstFlowReturn = GST_FLOW_OK
  ) -> GstFlowReturn {
    sink.counters.withLock { $0.frameDropped(reason) }
    if case .h264 = path.format { path.breakOff() }
    sink.log(GST_LEVEL_LOG, "dropped a frame: \(reason)")
    if reason.isLossOfQuality {
      let (time, isLive) = (path.frameTime, path.isUpstreamLive)
      unlocked { sink.postQoS(time, isLive: isLive) }
    }
    return result
  }
}
