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

  let settings: AppSettings
  let connection: AppConnection
  private let state: Monitor<AppClientState>
  private let time: TimeSource
  private let observer = Observer()
  /// Kept until the app's end, so that no other app takes it.
  private let number: Mutex<AppNumber?>
  private let reports: AppReports
  /// Nil for none.
  private let conversation: ConversationWriter?
  /// Why the app has no icon although one is set.
  let iconFault: ElementError?
  private let began: Duration

  /// An app that does nothing before ``start()``.
  ///
  /// - Throws: the first thing in the settings that can't work.
  init(
    _ settings: AppSettings, _ first: AppMember, _ log: ProtocolLog, time: TimeSource = .monotonic
  ) throws(ElementError) {
    var number: AppNumber?
    if let headUnit = settings.headUnitOfDefaults { number = AppNumber(on: headUnit) }
    state = Monitor(AppClientState(first))
    conversation = try settings.conversation.writer(clock: time) { [state] error in
      state.members.withPoster { $0.warn(error) }
    }
    var configuration = try settings.connection(number: number?.value ?? 1, clock: time) { log.note($0) }
    configuration.messageTrace = log
    configuration.conversation = conversation
    do throws(ElementError) {
      configuration.session.icon = try settings.icon.map { path throws(ElementError) in try AppIcon(path: path) }
      iconFault = nil
    } catch {
      iconFault = error
    }
    self.settings = settings
    self.time = time
    began = time.now
    reports = AppReports(settings, state, time: time)
    self.number = Mutex(number)
    connection = AppConnection(configuration: configuration, observer: observer)
    observer.app.withLock { $0 = self }
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
      try conversation?.start()
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

  /// Fails because of the connection or the head unit. After the error message, the present PROGRESS ends with an error
  /// as well.
  func failConnection(_ error: ElementError, _ element: any AppElement, of stream: (any AppStream)? = nil) {
    guard fail(error, element, of: stream) else { return }
    endProgress(GST_PROGRESS_TYPE_ERROR, error.text)
  }

  /// Ends the connection and waits for its threads, for a limited time, and not on one of them. Its later reports do
  /// not reach an element.
  ///
  /// - Parameter isQuiet: whether nobody may be told.
  func end(isQuiet: Bool = false) {
    let (members, status, isInProgress, spent) = state.change { state in
      (state.end(), state.status, state.isInProgress, state.timeOfStreamEnd(now: time.now))
    }
    guard var members else { return }
    let grace = isQuiet ? Self.shortestClose : max(Self.closeTimeout - spent, Self.shortestClose)
    connection.stop(grace: grace)
    let joinDeadline = MonotonicClock.now + grace + Self.joinTimeout
    // A thread that is still in a callback keeps its references.
    if !connection.isOnObserverThread,
      state.wait(atLatest: joinDeadline, until: { !$0.isConnectionRunning })
    {
      connection.join()
    }
    conversation?.close()
    number.withLock { $0 = nil }
    observer.app.withLock { $0 = nil }
    state.withLock { $0.clear() }
    if !isQuiet { members.withPoster { tellEnd($0, status, isInProgress: isInProgress) } }
    members.removeAll()
  }

  private func tellEnd(_ element: any AppElement, _ status: AppStatus, isInProgress: Bool) {
    if isInProgress { element.postProgress(GST_PROGRESS_TYPE_CANCELED, "Connecting was cancelled") }
    if status.lockScreen.status != .off { element.postLockScreen(LockScreen()) }
    if status.peer != nil { element.postDisconnected(reason: "closed by the app", retryAfter: nil) }
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

  func detach(_ stream: any AppStream) {
    state.withLock { $0.members.detach(stream) }
  }

  /// Another element uses the app; false if it can't, since another streams the same or the app does not go on.
  func join(_ member: AppMember) -> Bool {
    state.withLock { $0.phase < .failing && $0.members.join(member) }
  }

  /// The element wants other notifications. They are read with the lock, so that of two threads that change them the
  /// later value stays, and the connection gets changes in order.
  func setNotifications(_ notifications: @autoclosure () -> Set<FunctionID>, of element: any AppElement) {
    state.withLock { state in
      state.members.change(ObjectIdentifier(element)) { $0.notifications = notifications() }
      let own: Set<FunctionID> = settings.policyUpdates == .none ? [] : [.onSystemRequest]
      connection.setNotifications(state.members.notifications.union(own))
    }
  }

  var isAbandoned: Bool { state.members.areAway }

  /// No element uses it, and it was registered with other settings than those of the next one.
  func isAbandoned(for settings: AppSettings) -> Bool {
    state.members.areAway && !settings.isServed(by: self.settings)
  }

  /// The first element that uses it; nil if none does.
  var firstElement: AppMember? { state.members.first }

  /// The name of the element that streams `kind`; nil if none does.
  func elementName(of kind: StreamService) -> String? {
    state.members.name(of: kind)
  }

  /// The element does not use the app any more, which goes on.
  ///
  /// - Returns: whether others use it.
  func leave(_ element: any AppElement) -> Bool {
    state.withLock { $0.members.leave(ObjectIdentifier(element)) }
  }

  /// A stream has ended, after it was waited for: what was said until then is in the log.
  func noteStreamEnd(at now: Duration, took time: Duration) {
    state.withLock { $0.streamEnd = (now, time) }
    conversation?.finish()
  }

  /// The element needs a pause until its buffers may be sent, or not any more; returns whether to tell the application.
  func setPause(_ isWanted: Bool, _ element: any AppElement) -> Bool {
    let id = ObjectIdentifier(element)
    let pipeline = element.pipelineAddress
    return state.withLock { state in
      isWanted ? state.members.requestPause(id, of: pipeline) : state.members.takeBackPause(id)
    }
  }
}

// MARK: Waiting for the head unit's formats, so that upstream chooses its first caps from them

extension AppClient {
  /// Waits until the head unit's formats are known, or the app has failed, as sinks wait for the device that they open.
  ///
  /// - Parameter time: how long at most, since the start of the connection.
  /// - Returns: whether the app has not failed.
  func awaitOpening(of element: any AppElement, atMost time: Duration) -> Bool {
    guard !connection.isOnObserverThread else { return true }
    let isOpen = state.wait(until: began + time) { state in
      if state.phase >= .failed { return false }
      // A player may take the element off the bus as soon as it is in READY.
      return element.areFormatsKnown(state.toldSession) ? true : nil
    }
    return isOpen ?? true
  }
}
