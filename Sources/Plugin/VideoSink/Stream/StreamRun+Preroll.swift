import GStreamerKit
import SDLApp
import SDLLink
import Synchronization

/// Preroll is: it could be shown. A file's first frame waits in PAUSED until the head unit would take it, so that all sinks of a
/// pipeline start together, and sound does not run ahead of the picture.
extension StreamRun {
  /// A wait for the driver that lasts longer is announced.
  private static let noticeableWait = Duration.seconds(1)

  /// On the streaming thread, with the frame that is to bring the element to PAUSED, before the base class has it.
  ///
  /// - Returns: false if the pad flushes, or the source wants its thread back.
  func waitForPreroll() -> Bool {
    // Without asynchronous state changes PLAYING would have to wait for this.
    guard gst_base_sink_is_async_enabled(sink.baseSink) != 0 else { return true }
    let isLive = frames.withValue { path in
      chooseForNewInput(path)
      return path.isUpstreamLive
    }
    let decision =
      waitForPreroll(isLive: isLive, until: time.now + Self.noticeableWait) ?? waitForDriver(isLive: isLive)
    deliverNotifications()
    return decision == .ready || decision == .stopped
  }

  /// What the base class hears of that frame: an error ends the change of state.
  func preroll() -> GstFlowReturn {
    state.withLock { $0.hasStopped } ? GST_FLOW_ERROR : GST_FLOW_OK
  }

  /// Nil when the time is over.
  private func waitForPreroll(isLive: Bool, until deadline: Duration?) -> VideoNegotiation.PrerollDecision? {
    waitForHeadUnit(until: deadline) { negotiation in
      let now = time.now
      let decision = negotiation.decidePreroll(isLive: isLive)
      apply(negotiation.takeOutputs(at: now))
      // GstBaseSink follows `unlock` by `unlock_stop` before this thread has seen the first. A step or a pause leaves the frame at
      // hand the one to show; a flush or the end of the pad does not.
      if isFlushPending.load(ordering: .acquiring) || cgst_pad_is_flushing(sink.pad) != 0 { return .interrupted }
      return decision == .wait || decision == .interrupted ? nil : decision
    }
  }

  /// Calls `attempt`, with the lock of `state`, until it returns something.
  ///
  /// - Returns: nil when there was nothing before `deadline`, or before the source that pushes on this thread wanted it back.
  func waitForHeadUnit<Result>(until deadline: Duration?, _ attempt: (inout VideoNegotiation) -> Result?) -> Result? {
    state.waitForHeadUnit(at: sink.pad, until: deadline, time: time, attempt)
  }

  private func waitForDriver(isLive: Bool) -> VideoNegotiation.PrerollDecision {
    guard state.withLock({ $0.isHiddenByDriver }) else {
      return waitForPreroll(isLive: isLive, until: nil) ?? .interrupted
    }
    postActivation(GST_PROGRESS_TYPE_START, "Waiting for the driver to open the app")
    let decision = waitForPreroll(isLive: isLive, until: nil) ?? .interrupted
    if decision == .ready {
      postActivation(GST_PROGRESS_TYPE_COMPLETE, "The driver has opened the app")
    } else {
      postActivation(GST_PROGRESS_TYPE_CANCELED, "The driver is not waited for any more")
    }
    return decision
  }

  private func postActivation(_ type: GstProgressType, _ text: String) {
    if !hasEnded { sink.postActivation(type, text) }
  }
}
