import GStreamerKit
import Glibc
import SDLApp
import SDLAppLink
import SDLLink
import Synchronization

/// An app on a head unit, from NULL→READY to READY→NULL: connection, registration and status, and the streams that use
/// them.
///
/// It stays registered while streams come and go, and connects again when the connection breaks. Callbacks of an app
/// that has ended never reach the element, which may have a new app by then.
///
/// Several elements may use it (``AppMember``), each with a stream of its own. One of them posts the app's messages;
/// all of them notify.
///
/// Locks: `state`, under which a stream is attached. None is held while anything is posted, notified or waited for.
final class AppClient: Sendable {
  /// How long it may take to unregister and close the connection.
  private static let closeTimeout = Duration.seconds(1)
  /// The least of that time that remains if ending the stream has taken long.
  private static let shortestClose = Duration.milliseconds(400)
  /// How long after that the connection thread may take to end. Without a limit, a callback that waits for a lock of
  /// the thread that ends the app would deadlock both.
  private static let joinTimeout = Duration.milliseconds(250)
  /// No error of the connection is posted earlier after the start. An immediate one, as from a closed port on this
  /// machine, is too early for gst-launch: its handler on the posting thread quits a main loop that does not run yet,
  /// so gst-launch never ends (`LaunchTests.anErrorThatComesAtOnce`). An element can't know when that loop runs.
  private static let earliestFailure = Duration.milliseconds(250)
  /// How long it stays registered for a sink that is in NULL.
  private static let lingerTime = Duration.seconds(5)

  /// The settings of the first element.
  let settings: AppSettings
  let connection: AppConnection
  private let state: Monitor<AppClientState>
  private let time: TimeSource
  private let observer = Observer()
  /// Kept until the app's end, so that no other app takes it.
  private let number: Mutex<AppNumber?>
  private let reports: AppReports
  /// Why the app has no icon although one is set.
  let iconFault: ElementError?
  private let began: Duration

  /// An app that does nothing before ``start()``.
  ///
  /// - Throws: the first thing in the settings that can't work.
  init(_ settings: AppSettings, _ element: any AppElement, time: TimeSource = .monotonic) throws(ElementError) {
    var number: AppNumber?
    if let headUnit = settings.headUnitOfDefaults { number = AppNumber(on: headUnit) }
    let log = ProtocolLog(element.gstElement)
    var configuration = try settings.connection(number: number?.value ?? 1, clock: time) { log.note($0) }
    configuration.messageTrace = log
    do throws(ElementError) {
      configuration.session.icon = try settings.icon.map { path throws(ElementError) in try AppIcon(path: path) }
      iconFault = nil
    } catch {
      iconFault = error
    }
    self.settings = settings
    self.time = time
    began = time.now
    state = Monitor(AppClientState(AppMember(element)))
    reports = AppReports(settings, state, time: time)
    self.number = Mutex(number)
    connection = AppConnection(configuration: configuration, observer: observer)
    observer.app.withLock { $0 = self }
    requestNotifications()
  }

  /// Keeps the app alive until its end, since the connection refers to its observer only weakly.
  private final class Observer: AppConnectionObserver {
    let app = Monitor<AppClient?>(nil)

    func connection(_ connection: AppConnection, didReport event: ConnectionEvent) {
      guard let app = app.withLock({ $0 }) else { return }
      // A handler may stop and free the pipeline while it is called on this thread. The references keep the elements
      // until the handlers have returned.
      app.reports.receive(event, of: app)
      if case .ended = event { app.state.change { $0.connectionEnded() } }
    }
  }

  var status: AppStatus { state.withLock { $0.status } }

  /// Whether it can serve a stream: neither failed nor ended.
  var isUsable: Bool { state.withLock { $0.isUsable } }

  var isOver: Bool { state.isOver }

  /// Begins to connect; the result is reported on the connection thread.
  ///
  /// - Throws: when the thread can't be started.
  func start() throws(ElementError) {
    // The connection's thread notifies it: a listener that restarted the element inside this state change would leave
    // GStreamer with two of them at once.
    guard state.withLock({ $0.start() }) else { return }
    do {
      try connection.start()
    } catch {
      state.change { $0.connectionEnded() }
      throw .resource(GST_RESOURCE_ERROR_FAILED, "The connection's thread could not be started: \(error)")
    }
  }

  /// Posts an error, once, and makes the app and its streams fail.
  ///
  /// - Parameter stream: the stream whose error it is, if any. One that has ended does not make its successor fail.
  /// - Returns: false if the stream has ended.
  @discardableResult
  func fail(_ error: ElementError, _ element: any AppElement, of stream: (any AppStream)? = nil) -> Bool {
    let (isCurrent, isFirst, listeners) = state.withLock { state in
      let isCurrent = stream.map { state.members.contains($0) } ?? true
      return (isCurrent, isCurrent && state.fail(), state.members)
    }
    guard isFirst else { return isCurrent }
    state.members.countApp { $0.lastError = error.text }
    state.withStreams(of: listeners) { $0.appIsFailing() }
    // Before any frame fails, because upstream then posts an error of its own that does not explain the cause.
    element.postError(error)
    let members = state.change { state in
      state.failureIsKnown()
      return state.members
    }
    state.withStreams(of: members) { $0.appHasFailed() }
    // The application may have stopped, and even started, the elements in answer to the message.
    guard !isOver else { return true }
    state.members.notify(.connectionState)
    // The connection is of no use any more.
    connection.stop(grace: Self.closeTimeout)
    return true
  }

  /// Fails because of the connection or the head unit: not before ``earliestFailure``. After the error message, the
  /// present PROGRESS ends with an error as well.
  func failConnection(_ error: ElementError, _ element: any AppElement, of stream: (any AppStream)? = nil) {
    _ = state.wait(until: began + Self.earliestFailure) { $0.isOver ? true : nil }
    guard fail(error, element, of: stream) else { return }
    endProgress(GST_PROGRESS_TYPE_ERROR, error.text)
  }

  /// Ends the connection and waits for its threads, for a limited time, and not on one of them. Its later reports do
  /// not reach an element.
  ///
  /// - Parameters:
  ///   - member: the last element that uses the app.
  ///   - element: nil when the element is being freed, and can't post anything any more.
  ///   - time: has passed since the element began to stop, and is subtracted from the time for the end.
  private func end(_ member: AppMember, _ element: (any AppElement)?, after time: Duration) {
    stopLingering(member.id)
    let (isFirst, wasConnected) = state.change { ($0.end(), $0.status.peer != nil) }
    guard isFirst else { return }
    let grace = max(Self.closeTimeout - time, Self.shortestClose)
    connection.stop(grace: grace)
    let joinDeadline = MonotonicClock.now + grace + Self.joinTimeout
    // A thread that is still in a callback keeps its references.
    if !connection.isOnObserverThread,
      state.wait(until: joinDeadline, for: { $0.isConnectionRunning ? nil : true }) != nil
    {
      connection.join()
    }
    number.withLock { $0 = nil }
    member.element.end()
    observer.app.withLock { $0 = nil }
    let (last, isInProgress) = state.withLock { $0.clear() }
    guard let element else { return }
    if isInProgress { element.postProgress(GST_PROGRESS_TYPE_CANCELED, "Connecting was cancelled") }
    if last.lockScreen.status != .off { element.postLockScreen(LockScreen()) }
    if wasConnected { element.postDisconnected(reason: "closed by the app", retryAfter: nil) }
    for property in last.properties { element.notify(property) }
  }

  /// The element belongs to a pipeline by now: announces a registration or a level whose messages no application has
  /// received.
  func repeatUnheard(_ element: any AppElement) {
    let (unheard, status) = state.withLock { state in
      defer { state.unheard = .nothing }
      return (state.unheard, state.status)
    }
    guard unheard != .nothing, let headUnit = status.headUnit else { return }
    if unheard == .registration {
      element.postProgress(GST_PROGRESS_TYPE_COMPLETE, "Registered with \(headUnit.name)")
      element.postConnected(headUnit, uri: settings.uri, peer: status.peer ?? "")
    }
    if let hmi = status.session.hmi { element.postHMIStatus(hmi) }
  }

  /// Posts the end of the present PROGRESS; at most one end for each START.
  func endProgress(_ type: GstProgressType, _ text: String) {
    if state.withLock({ $0.endProgress() }) { state.members.withPoster { $0.postProgress(type, text) } }
  }
}

// MARK: The elements and their streams

extension AppClient {
  /// Reports everything to the element's stream from now on. `begin` gets the present status, with the lock held, so
  /// that no event is missed or comes twice.
  func attach<Result>(
    _ stream: any AppStream, of element: any AppElement, _ begin: (AppSession.Status) -> Result
  ) -> Result {
    let (result, hasFailed) = state.withLock { state in
      state.members.change(ObjectIdentifier(element)) { $0.stream = stream }
      let result = begin(state.status.session)
      // It has come too late to be told.
      if state.phase == .failing || state.phase == .failed { stream.appIsFailing() }
      return (result, state.phase == .failed)
    }
    if hasFailed { stream.appHasFailed() }
    return result
  }

  /// Stops reporting to `stream`.
  func detach(_ stream: any AppStream) {
    state.withLock { $0.members.detach(stream) }
  }

  /// Another element uses the app.
  ///
  /// - Returns: the name of the first one; nil if another element streams the same, or the app can't be used.
  func join(_ element: any AppElement) -> String? {
    let member = AppMember(element)
    let first = state.withLock { $0.join(member) }
    requestNotifications()
    return first
  }

  /// The element wants other notifications. They are read with the lock, so that of two threads that change them the
  /// later value stays.
  func setNotifications(_ notifications: @autoclosure () -> Set<FunctionID>, of element: any AppElement) {
    state.withLock { $0.members.change(ObjectIdentifier(element)) { $0.notifications = notifications() } }
    requestNotifications()
  }

  /// The set of wanted notifications has changed.
  private func requestNotifications() {
    // With the lock, so that the connection gets changes in order.
    state.withLock { state in
      let own: Set<FunctionID> = settings.policyUpdates == .none ? [] : [.onSystemRequest]
      connection.setNotifications(state.members.notifications.union(own))
    }
  }

  /// The name of the element that streams `kind`; nil if none does.
  func elementName(of kind: StreamService) -> String? {
    state.members.name(of: kind)
  }

  /// The element does not use the app any more. The last one ends the app, and releases it from elements that are in
  /// NULL already.
  ///
  /// - Parameters:
  ///   - element: nil when the element is being freed, and can't post anything any more.
  ///   - time: has passed already since the element began to stop.
  /// - Returns: whether the app continues.
  @discardableResult
  func leave(_ id: ObjectIdentifier, _ element: (any AppElement)?, after time: Duration = .zero) -> Bool {
    let (left, others, goesOn) = state.withLock { $0.leave(id) }
    guard let left else { return false }
    guard !goesOn else {
      left.element.end()
      requestNotifications()
      return true
    }
    end(left, element, after: time)
    for other in others { other.element.withReference { $0.appHasLingered(self) } }
    return false
  }
}

// MARK: Waiting for the head unit's formats, so that upstream chooses its first caps from them

extension AppClient {
  /// The head unit's formats, as `value` reads them from the status; nil if they are not known yet.
  ///
  /// On a streaming thread, waits for that as long as the first connection may take; ``interrupt(_:)``, failure and the
  /// end of the app end the wait. Other threads get the present state at once: the wait may depend on an application's
  /// main thread.
  ///
  /// - Parameters:
  ///   - element: the one that answers.
  ///   - pad: its sink pad. While a stream's pad flushes, its thread must not wait, because others wait for it.
  func awaitForCaps<Value>(
    of element: any AppElement, _ pad: UnsafeMutablePointer<GstPad>, _ value: (AppStatus) -> Value?
  ) -> Value? {
    let id = ObjectIdentifier(element)
    let (present, asker) = state.withLock { (value($0.status), $0.members[id]) }
    // In READY a pad is flushing too, but nothing waits for its thread.
    let mayFlush = asker?.stream == nil
    guard present == nil, StreamingThread.isCurrent, !connection.isOnObserverThread else { return present }
    let deadline = began + .milliseconds(Int64(settings.connectTimeout))
    let result = state.wait(until: deadline) { state -> Value?? in
      if let value = value(state.status) { return .some(value) }
      let isOver = state.phase == .failed || state.isOver || !state.isConnectionRunning
      let member = state.members[id]
      let isInterrupted = member?.isGoingDown ?? true || member?.interruptions != asker?.interruptions
      return isOver || isInterrupted || !mayFlush && cgst_pad_is_flushing(pad) != 0 ? .some(nil) : nil
    }
    return result ?? nil
  }

  /// The element's pipeline flushes, or changes its state: its streaming threads must return.
  func interrupt(_ element: any AppElement) {
    state.change { $0.members.change(ObjectIdentifier(element)) { $0.interruptions &+= 1 } }
  }

  /// Between PAUSED→READY and READY→PAUSED no streaming thread waits: its element is about to stop.
  func setGoingDown(_ isGoingDown: Bool, _ element: any AppElement) {
    state.change { $0.members.change(ObjectIdentifier(element)) { $0.isGoingDown = isGoingDown } }
  }
}

// MARK: A player that changes to READY between two films

/// The player takes its sinks to NULL meanwhile (``GStreamerElement/isInReadyPipeline``). The app stays registered for
/// a while then, and so stays on the car's screen (`FilmTests.nextFilmKeepsTheRegistration`).
extension AppClient {
  /// The element begins to wait for the next film; the app lingers once all of its elements do.
  ///
  /// - Returns: whether there is a registration to keep.
  func linger(_ element: any AppElement) -> Bool {
    let end = time.now + Self.lingerTime
    let (isKept, isLast) = state.withLock { $0.linger(ObjectIdentifier(element), until: end) }
    guard isLast else { return isKept }
    connection.setTimer(at: end)
    return true
  }

  /// The next film begins for the element, or the app is to end.
  func stopLingering(_ id: ObjectIdentifier) {
    state.withLock { $0.stopLingering(id) }
  }

  /// Ends an app that lingers: at once if `now` is nil, otherwise if it has waited long enough. On the connection
  /// thread.
  func endLinger(at now: Duration? = nil) {
    let (isOver, end) = state.withLock { ($0.endLinger(at: now), $0.lingersUntil) }
    // The timer fired for an earlier time.
    if let end { connection.setTimer(at: end) }
    if isOver { state.members.withElements { $0.appHasLingered(self) } }
  }
}
