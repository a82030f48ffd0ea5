import GStreamerKit
import SDLApp
import SDLLink

/// A wait for the driver that lasts longer is announced.
private let noticeableWait = Duration.seconds(1)

/// Preroll is: it could be shown, or heard. A file's first buffer waits in PAUSED until the head unit would take it, so
/// that all sinks of a pipeline start together, and sound and picture do not run ahead of each other.
extension StreamRun {
  /// On the streaming thread, with the buffer that is to bring the element to PAUSED, before the base class has it.
  ///
  /// - Returns: false if the pad flushes, or the source wants its thread back.
  func waitForPreroll() -> Bool {
    // Without asynchronous state changes PLAYING would have to wait for this.
    guard gst_base_sink_is_async_enabled(sink.baseSink) != 0 else { return true }
    let isLive = prepareForPreroll()
    let decision = waitForPreroll(isLive: isLive, until: time.now + noticeableWait) ?? waitForDriver(isLive: isLive)
    deliverNotifications()
    return decision == .ready || decision == .stopped
  }

  /// What the base class hears of that buffer: an error ends the change of state.
  func preroll() -> GstFlowReturn {
    state.withLock { $0.hasStopped } ? GST_FLOW_ERROR : GST_FLOW_OK
  }

  /// Calls `attempt`, with the lock of `state`, until it returns something.
  ///
  /// - Returns: nil when there was nothing before `deadline`, or before the source that pushes on this thread wanted it
  ///   back.
  func waitForHeadUnit<Result>(until deadline: Duration?, _ attempt: (inout Negotiation) -> Result?) -> Result? {
    while true {
      let nextPoll = MonotonicClock.now + UpstreamSource.pollInterval
      if let result = state.wait(until: min(deadline ?? nextPoll, nextPoll), for: attempt) { return result }
      if let deadline, time.now >= deadline { return nil }
      if UpstreamSource.isInterrupted(at: sink.pad) { return nil }
    }
  }

  /// Nil when the time is over.
  private func waitForPreroll(isLive: Bool, until deadline: Duration?) -> PrerollDecision? {
    waitForHeadUnit(until: deadline) { negotiation in
      let now = time.now
      let decision = negotiation.decidePreroll(isLive: isLive)
      apply(negotiation.takeOutputs(at: now))
      // GstBaseSink follows `unlock` by `unlock_stop` before this thread has seen the first. A step or a pause leaves
      // the buffer at hand the one to play; a flush or the end of the pad does not.
      if progress.isFlushPending || cgst_pad_is_flushing(sink.pad) != 0 { return .interrupted }
      return decision == .wait || decision == .interrupted ? nil : decision
    }
  }

  private func waitForDriver(isLive: Bool) -> PrerollDecision {
    guard state.withLock({ $0.isSuspendedByDriver }) else {
      return waitForPreroll(isLive: isLive, until: nil) ?? .interrupted
    }
    postActivation(GST_PROGRESS_TYPE_START, driverWaitTexts.waiting)
    let decision = waitForPreroll(isLive: isLive, until: nil) ?? .interrupted
    if decision == .ready {
      postActivation(GST_PROGRESS_TYPE_COMPLETE, driverWaitTexts.over)
    } else {
      postActivation(GST_PROGRESS_TYPE_CANCELED, "The driver is not waited for any more")
    }
    return decision
  }

  private func postActivation(_ type: GstProgressType, _ text: String) {
    if !hasEnded { sink.postActivation(type, text) }
  }
}
