import GStreamerKit
import SDLApp
import SDLAppLink
import SDLLink
import Synchronization

/// The stream of a sink that is an app, from READY→PAUSED to PAUSED→READY: the common part of sound and video: it
/// passes inputs to the negotiation, carries out its outputs, and notifies the application.
///
/// What posts or pushes is called while the thread does not have the path (``PathAccess``): an application or an element
/// may answer with a flush on this thread, which needs the path.
protocol AppStream: AnyObject, Sendable {
  associatedtype Sink: AppElement
  associatedtype Negotiation: StreamNegotiation
  associatedtype Notification: Sendable

  var sink: Sink { get }
  var app: AppClient { get }
  var time: TimeSource { get }
  var state: Monitor<Negotiation> { get }
  var notifications: NotificationQueue<Notification> { get }
  var progress: StreamProgress { get }
  /// The path to the head unit.
  var channel: MediaChannel { get }

  // Its states.
  /// Takes over the present status of the app.
  func begin()
  /// PAUSED→READY begins; events still reach upstream.
  func prepareToEnd()
  /// The service is about to end: takes back other data that the head unit has got for it.
  func willEndService()
  /// The stream is over: gives up the rest. Nothing is posted for it any more.
  func discardRest()

  // Inputs of the pad.
  /// False if the caps can't be read.
  func setCaps(_ caps: UnsafeMutablePointer<GstCaps>) -> Bool
  /// Before the base class has the event.
  func observe(_ event: UnsafeMutablePointer<GstEvent>)

  // Reports of the app's connection, on its thread, without locks.
  /// The session has this status now; without a connection, it is empty.
  func sessionChanged(to status: AppSession.Status)
  /// An event of the app's session, whose status is known already.
  func appReported(_ event: AppSession.Event)
  /// The time set with ``AppConnection/setTimer(at:)``, or an earlier one, has come.
  func timerFired()

  /// The negotiation is about to get an input: tells it what it has to know of the sink.
  func prepareInput()

  // Outputs of the negotiation.
  /// Carries out outputs of the negotiation, with its lock: the connection only stores them, and calls nothing back.
  ///
  /// - Returns: whether there are notifications among them.
  func apply(_ outputs: [Negotiation.Output]) -> Bool
  func post(_ notification: Notification)
  /// The property `stream-state` was notified. Without locks.
  func streamStateChanged(to state: StreamState)

  /// The texts for the application while it was asked for a pause because of the driver, and after that.
  var driverWaitTexts: (waiting: String, over: String) { get }
}

/// State that the threads of a stream share: whether it is over, and how often its pad was flushed.
final class StreamProgress: Sendable {
  fileprivate let isOver = Atomic(false)
  /// While a PROGRESS message says that the stream waits for the driver: the text for the end of that.
  fileprivate let driverWait = Mutex<String?>(nil)
  private let endedFlushes = Atomic<UInt>(0)

  /// How often a flush has ended.
  var flushCount: UInt { endedFlushes.load(ordering: .relaxed) }

  func flushEnded() {
    endedFlushes.wrappingAdd(1, ordering: .relaxed)
  }
}

extension AppStream {
  func prepareToEnd() {}
  func willEndService() {}
  func prepareInput() {}
  func streamStateChanged(to state: StreamState) {}

  var connection: AppConnection { app.connection }

  /// Whether it must leave the element alone.
  var hasEnded: Bool { progress.isOver.load(ordering: .acquiring) }

  var streamState: StreamState { state.withLock { $0.streamState } }

  /// Gives an input to the negotiation and carries out its outputs. The lock is still held then, so that the connection
  /// gets them in order.
  ///
  /// Posts nothing: see ``deliverNotifications()``.
  @discardableResult
  func update<Result, Failure>(
    _ body: (inout Negotiation) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    prepareInput()
    let now = time.now
    return try state.change { negotiation throws(Failure) in
      defer { carryOut(&negotiation, at: now) }
      return try body(&negotiation)
    }
  }

  /// Carries out the outputs of the negotiation, with its lock held.
  ///
  /// - Returns: whether the caller has to deliver notifications.
  @discardableResult
  func carryOut(_ negotiation: inout Negotiation, at now: Duration) -> Bool {
    let hasNotifications = apply(negotiation.takeOutputs(at: now))
    return notifications.add(negotiation.streamState) || hasNotifications
  }

  /// The same, and then delivers the notifications.
  @discardableResult
  func updateAndDeliver<Result, Failure>(
    _ body: (inout Negotiation) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { deliverNotifications() }
    return try update(body)
  }

  /// Posts the notifications that wait. Without locks.
  func deliverNotifications() {
    notifications.deliver(deliver)
  }

  private func deliver(_ item: NotificationQueue<Notification>.Item) {
    switch item {
    case .notification(let notification): post(notification)
    case .state(let state):
      sink.notify(.streamState)
      // A handler may have begun another stream.
      if !hasEnded { streamStateChanged(to: state) }
    case .driverWait: tellDriverWait()
    }
  }

  /// Posts a notification that video and sound share.
  func postShared(_ notification: StreamNotification) {
    switch notification {
    case .suspended(let reason):
      sink.countStream { $0.suspended(at: time.now) }
      sink.postStreamSuspended(reason: reason)
    case .suspendedTimeBegan: sink.countStream { $0.suspended(at: time.now) }
    case .waiting(let wait): sink.postStreamWaiting(wait)
    case .requestPause:
      setPause(true)
      tellDriverWait()
    case .requestPlaying:
      // Before gst-launch is asked to play on: it does not while there is progress.
      endDriverWait(isOver: !state.withLock { $0.isDriverElsewhere })
      setPause(false)
    }
  }

  /// The head unit may have told only now that it is the driver for whom the application was asked to pause.
  func driverMayHaveLeft() {
    guard isWaitingForDriver else { return }
    notifications.add(.driverWait)
    deliverNotifications()
  }

  private var isWaitingForDriver: Bool { state.withLock { $0.hasRequestedPause && $0.isDriverElsewhere } }

  /// Says once that it is the driver for whom the application was asked to pause. Among the notifications, lest it says so
  /// after it was asked to play on.
  private func tellDriverWait() {
    guard !hasEnded, isWaitingForDriver else { return }
    let texts = driverWaitTexts
    let isNew = progress.driverWait.withLock { over in
      defer { over = texts.over }
      return over == nil
    }
    if isNew { postActivation(GST_PROGRESS_TYPE_START, texts.waiting) }
  }

  /// - Parameter isOver: whether the driver lets the app be seen, or heard.
  private func endDriverWait(isOver: Bool) {
    guard let over = progress.driverWait.withLock({ $0.take() }) else { return }
    if isOver {
      postActivation(GST_PROGRESS_TYPE_COMPLETE, over)
    } else {
      postActivation(GST_PROGRESS_TYPE_CANCELED, "Stopped waiting for the driver")
    }
  }

  private func postActivation(_ type: GstProgressType, _ text: String) {
    sink.log(GST_LEVEL_INFO, text)
    sink.post(gst_message_new_progress(sink.gstElement.cast(), type, "activate", text))
  }

  /// Posts a warning; the stream goes on.
  func warn(_ error: ElementError) {
    if !hasEnded { sink.warn(error) }
  }

  /// Posts an error, and makes every following buffer fail.
  func fail(_ error: ElementError) {
    _ = app.fail(error, sink, of: self)
  }

  /// The same for an error that the head unit has caused; see ``AppClient/failConnection(_:_:of:)``.
  func failConnection(_ error: ElementError) {
    app.failConnection(error, sink, of: self)
  }

  /// Players pause below 100 %, and continue at 100 % unless the user has paused meanwhile. REQUEST_STATE, which few
  /// players support, would make them play even then. Sound and picture of an app pause together.
  private func setPause(_ isWanted: Bool) {
    guard app.setPause(isWanted, sink) else { return }
    let percent: Int32 = isWanted ? 0 : 100
    sink.log(
      GST_LEVEL_INFO, "asking the application to \(percent == 100 ? "play on" : "pause") (buffering \(percent) %)")
    sink.post(gst_message_new_buffering(sink.gstElement.cast(), percent))
  }
}

/// Inputs of application and pipeline.
extension AppStream {
  func play() {
    updateAndDeliver { $0.played() }
  }

  func pause() {
    updateAndDeliver { $0.paused() }
  }

  func setFlushing(_ isFlushing: Bool) {
    update { $0.setFlushing(isFlushing) }
    channel.setFlushing(isFlushing)
  }
}

/// Errors that come from the connection.
extension AppStream {
  /// The app is about to fail; nothing else may fail before the error message.
  func appIsFailing() {
    update { $0.beginFailing() }
  }

  /// The app has failed. The error message is posted, so frames may fail from now on.
  func appHasFailed() {
    updateAndDeliver { $0.failed() }
  }
}

/// How long queued buffers may take to leave, and then the service to end; after that both are given up.
private let stopTimeout = Duration.milliseconds(600)
/// At the end of the stream: how long the last buffers may take to reach the kernel.
private let drainTimeout = Duration.seconds(1)
/// How long, after that, they may take to reach the head unit, and then the service to end.
private let serviceEndTimeout = Duration.seconds(2)

private enum EndOutcome { case ended, interrupted }

extension AppStream {
  /// Ends the service, waits a moment until it has ended, and leaves the app registered.
  func end() {
    update { $0.stop() }
    willEndService()
    let deadline = time.now + stopTimeout
    if !connection.isOnObserverThread { state.wait(atLatest: deadline) { !$0.hasGrant } }
    let isStopKnown = notifications.end(deliver)
    progress.isOver.store(true, ordering: .releasing)
    endDriverWait(isOver: false)
    setPause(false)
    app.detach(self)
    discardRest()
    if !isStopKnown { sink.notify(.streamState) }
  }

  /// Waits until the queue is empty.
  ///
  /// - Parameter content: its name for the log.
  func waitUntilDrained(of content: String) -> GstFlowReturn {
    while !channel.waitUntilDrained(timeout: drainTimeout) {
      guard state.withLock({ $0.isInterrupted }) else {
        sink.log(GST_LEVEL_WARNING, "the head unit did not read the last \(content) in time")
        return GST_FLOW_OK
      }
      let interrupted = waitWhileInterrupted()
      guard interrupted == GST_FLOW_OK else { return interrupted }
    }
    return GST_FLOW_OK
  }

  /// On the streaming thread: lets another one have the lock of the base class, which it needs to end its interruption.
  func waitWhileInterrupted() -> GstFlowReturn {
    state.withLock { $0.isInterrupted } ? gst_base_sink_wait_preroll(sink.baseSink) : GST_FLOW_OK
  }

  /// The stream has ended: closes the service before the application gets EOS. A service that the head unit has not
  /// granted yet is not waited for.
  func endService() -> GstFlowReturn {
    let hadGrant = updateAndDeliver { negotiation in
      defer { negotiation.streamEnded() }
      return negotiation.hasGrant
    }
    guard hadGrant else { return GST_FLOW_OK }
    let deadline = MonotonicClock.now + serviceEndTimeout
    while true {
      let outcome = state.wait(until: deadline) { negotiation -> EndOutcome? in
        if negotiation.isInterrupted { return .interrupted }
        return negotiation.hasServiceEnded ? .ended : nil
      }
      switch outcome {
      case .interrupted:
        let result = gst_base_sink_wait_preroll(sink.baseSink)
        guard result == GST_FLOW_OK else { return result }
      case .ended: return GST_FLOW_OK
      case nil:
        sink.log(GST_LEVEL_WARNING, "the head unit did not confirm the end of the stream in time")
        return GST_FLOW_OK
      }
    }
  }
}

extension AppStream {
  /// With the lock of `state`, for a buffer that is rendered. An element that is set to PLAYING by itself completes that
  /// in GstBaseSink, with its first buffer; what comes before the start of a segment is rendered in PAUSED.
  func noteRendering(_ negotiation: inout Negotiation) {
    guard negotiation.isPrerolling else { return }
    let isPlaying = cgst_element_state(sink.gstElement) == GST_STATE_PLAYING
    if isPlaying { negotiation.played() } else { negotiation.prerolled() }
  }

  /// The result for the base class: an error ends the state change.
  func preroll() -> GstFlowReturn {
    updateAndDeliver { $0.prerolled() }
    return state.withLock { $0.hasStopped } ? GST_FLOW_ERROR : GST_FLOW_OK
  }

  /// Calls `attempt`, with the lock of `state`, until it returns something.
  ///
  /// - Returns: nil when the head unit, or the connection's thread, has changed nothing in time.
  func waitForHeadUnit<Result>(
    atMost time: Duration = longestBufferWait, _ attempt: (inout Negotiation) -> Result?
  ) -> Result? {
    state.wait(until: MonotonicClock.now + time, for: attempt)
  }

  /// A grant has ended since something was made for it that is not live: the connection refuses that before the end is
  /// reported here.
  ///
  /// - Returns: false if the end was not reported in time, so that what was made is lost.
  func waitForEnd(ofGrant epoch: UInt32) -> Bool {
    state.wait(atLatest: MonotonicClock.now + longestBufferWait) {
      $0.isInterrupted || $0.permittedEpoch != epoch
    }
  }
}
