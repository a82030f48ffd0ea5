import GStreamerKit
import SDLApp
import SDLLink
import Synchronization

/// An app on a head unit, from NULL→READY to READY→NULL: connection, registration and status, and the services that use
/// them.
///
/// It stays registered whatever streams come and go in between, and connects again when the connection breaks.
/// Callbacks of an app that has ended never reach the element, which may have a new app by then.
///
/// Several elements may use it (``AppMember``), each with a stream of its own.
///
/// Locks: `state`, under which a service is attached. None is held while anything is posted, notified or waited for.
final class AppRun: Sendable {
  /// What is known of the app.
  struct Status: Sendable {
    var connection = ConnectionState.idle
    /// Address of the head unit.
    var peer = ""
    var headUnit: HeadUnitInfo?
    var hmi: HMIStatus?
    var lockScreen = LockScreen()
    /// What video the head unit takes; nil while it has not said on this connection.
    var video: VideoCapability?
    /// The right to send video, which outlives a stream whose end the head unit has not confirmed yet.
    var grant: VideoGrant?
    /// What TLS was agreed on, on this connection.
    var encryption: SecureChannelSummary?
    var isRPCEncrypted = false
    /// On this connection.
    var secondary = SecondaryTransportStatus()
    var isVideoSuspended = false
    var videoState = StreamState.stopped
    /// The right to send sound, as ``grant`` is for video.
    var audioGrant: AudioGrant?
    var isAudioSuspended = false
    var audioState = StreamState.stopped

    /// The property `hmi-level`.
    var level: HMILevel { hmi?.level ?? .none }

    /// What sound the head unit plays, be it assumed; nil while there is no head unit.
    var pcmFormat: PCMFormat? { headUnit.map { $0.announcedPCMFormat ?? PCMFormat() } }
  }

  struct VideoCapability: Sendable {
    var capability: VideoStreamingCapability?
    var fallbackSize: VideoSize?
  }

  struct State: Sendable {
    var status = Status()
    /// The elements that use the app, in the order in which they came.
    var members: [AppMember]
    /// A PROGRESS message was posted whose end has not been.
    var isInProgress = true
    /// The head unit was reached, so that its loss is worth a message.
    var isConnected = false
    /// A service has run since the app was made.
    var hasStreamed = false
    /// The last status has changed the level, rather than repeated it, as SDL Core does when a call takes the sound.
    var isLevelNew = false
    /// The registration was announced while nobody could hear of it.
    var isRegistrationUnheard = false
    /// The level has changed while nobody could hear of it.
    var isLevelUnheard = false
    var attemptBegan: Duration
    var isFailing = false
    /// The error message of that is on the bus.
    var isFailureKnown = false
    /// Its last element has left: no other one may join.
    var isEnding = false
    /// Ended by the last element: nothing reaches that any more.
    var isOver = false
    /// Whether its first element has started it.
    var hasBegun = false
    /// The connection's last event is still to come.
    var isConnectionRunning = false
    /// All elements are in NULL, and will soon be used again; nil unless that is so.
    var lingersUntil: Duration?
    /// It has waited for that in vain.
    var hasLingered = false
    /// `connection-state` has left `idle`, and its listeners do not know.
    var isStartUnannounced = true
  }

  /// How long it may take to unregister and close the connection.
  private static let closeTimeout = Duration.seconds(1)
  /// What is left of that at least, if ending the stream has taken long already.
  private static let shortestClose = Duration.milliseconds(400)
  /// For the connection's thread to end, beyond that. Without a limit, a callback that waits for a lock of the thread which ends the app
  /// would keep both for ever.
  private static let joinTimeout = Duration.milliseconds(250)
  /// No error of the connection is posted earlier after the start. One that comes at once, as from a closed port on this
  /// machine, is too early for gst-launch, whose handler on the posting thread quits a main loop that does not run yet, and
  /// which then never ends (`LaunchTests.anErrorThatComesAtOnce`). When that loop runs no element can know.
  private static let earliestFailure = Duration.milliseconds(250)

  /// What it was made with, for the first element.
  let settings: AppSettings
  let connection: AppConnection
  let state: Monitor<State>
  let time: TimeSource
  private let observer = Observer()
  /// Kept until the app's end, so that no other app takes it.
  private let number: Mutex<AppNumber?>
  let began: Duration

  /// An app that does nothing before ``start(_:)``.
  ///
  /// - Throws: the first thing in the settings that can't work.
  init<Host: AppHost>(_ settings: AppSettings, host: Host, time: TimeSource = .monotonic) throws(ElementError) {
    var number: AppNumber?
    if let headUnit = settings.headUnitOfDefaults { number = AppNumber(on: headUnit) }
    let log = ProtocolLog(host.gstElement)
    var configuration = try settings.connection(number: number?.value ?? 1) { log.note($0) }
    configuration.messageTrace = log
    configuration.clock = time
    self.settings = settings
    self.time = time
    began = time.now
    state = Monitor(State(members: [AppMember(host)], attemptBegan: began))
    self.number = Mutex(number)
    connection = AppConnection(configuration: configuration, observer: observer)
    observer.app.withLock { $0 = self }
  }

  /// Keeps the app alive until its end, since the connection refers to its observer only weakly.
  private final class Observer: AppConnectionObserver {
    let app = Monitor<AppRun?>(nil)

    func connection(_ connection: AppConnection, didReport event: ConnectionEvent) {
      guard let app = app.withLock({ $0 }) else { return }
      // A handler may stop and free the pipeline while it is called on this thread. The references keep the elements
      // until the handlers have returned.
      app.receive(event)
      if case .ended = event { app.noteConnectionEnd() }
    }
  }

  /// Begins to connect; what comes of it is reported on the connection thread.
  ///
  /// - Throws: when there is no thread to be had.
  func start() throws(ElementError) {
    // The connection's thread notifies it: a listener that restarted the element inside this state change would leave GStreamer
    // with two of them at once.
    let isWanted = state.withLock { state in
      guard !state.isOver else { return false }
      state.status.connection = .connecting
      state.isConnectionRunning = true
      state.hasBegun = true
      return true
    }
    guard isWanted else { return }
    do {
      try connection.start()
    } catch {
      noteConnectionEnd()
      throw .resource(GST_RESOURCE_ERROR_FAILED, "The connection's thread could not be started: \(error)")
    }
  }

  var status: Status { state.withLock { $0.status } }

  /// Whether it can serve a stream: neither failed nor ended. One that its first element has made, but not started yet, will.
  var isUsable: Bool {
    state.withLock { !$0.isFailing && !$0.isEnding && ($0.status.connection != .idle || !$0.hasBegun) }
  }

  var isOver: Bool { state.withLock { $0.isOver } }

  /// Reports everything to the element's stream from now on. `begin` gets what is known so far, with the lock held, so that no
  /// event is missed or comes twice.
  func attach<Result>(_ service: any AppService, of host: any AppHost, _ begin: (Status) -> Result) -> Result {
    state.withLock { state in
      _ = state.change(ObjectIdentifier(host)) { $0.service = service }
      return begin(state.status)
    }
  }

  /// Reports nothing more to `service`.
  func detach(_ service: any AppService) {
    state.withLock { state in
      for index in state.members.indices where state.members[index].service === service {
        state.members[index].service = nil
      }
    }
  }

  /// Posts an error, once, and makes the app and what it serves fail.
  func fail(_ error: ElementError, _ host: any AppHost) {
    let (isFirst, members) = state.withLock { state in
      defer {
        state.isFailing = true
        state.status.connection = .failed
      }
      return (!state.isFailing && !state.isOver, state.members)
    }
    guard isFirst else { return }
    countApp { $0.lastError = error.text }
    withServices(of: members) { $0.appIsFailing() }
    // Before any frame fails, because upstream then posts an error of its own that explains nothing.
    host.postError(error)
    state.withLock { $0.isFailureKnown = true }
    state.broadcast()
    withServices(of: members) { $0.appHasFailed() }
    // The application may have stopped, and even started, the elements in answer to the message.
    guard !isOver else { return }
    notify(.connectionState)
    // The connection is of no use any more.
    connection.stop(grace: Self.closeTimeout)
  }

  /// Fails because of the connection, or of what the head unit said: not before ``earliestFailure``, and behind the
  /// error message the progress that is under way ends with an error as well.
  func failConnection(_ error: ElementError, _ host: any AppHost) {
    _ = state.wait(until: began + Self.earliestFailure) { $0.isOver ? true : nil }
    fail(error, host)
    endProgress(GST_PROGRESS_TYPE_ERROR, error.text)
  }

  /// Ends the connection and waits for its threads, though not on one of them and not for ever. Whatever it still reports
  /// reaches nobody.
  ///
  /// - Parameters:
  ///   - member: the last element that uses the app.
  ///   - host: nil when the element is being freed, and can't post anything any more.
  ///   - time: has passed already since the element began to stop, and is taken off what the end may last.
  func end(_ member: AppMember, _ host: (any AppHost)?, after time: Duration = .zero) {
    stopLingering(member.host.id)
    let isFirst = state.withLock { state in
      defer { state.isOver = true }
      return !state.isOver
    }
    guard isFirst else { return }
    state.broadcast()
    let wasConnected = state.withLock { $0.isConnected }
    let grace = max(Self.closeTimeout - time, Self.shortestClose)
    connection.stop(grace: grace)
    if !connection.isOnObserverThread, waitForConnection(grace + Self.joinTimeout) { connection.join() }
    number.withLock { $0 = nil }
    member.host.end()
    observer.app.withLock { $0 = nil }
    let (last, isInProgress) = state.withLock { state in
      defer {
        state.members = []
        state.status = Status()
        state.isInProgress = false
      }
      return (state.status, state.isInProgress)
    }
    guard let host else { return }
    if isInProgress { host.postProgress(GST_PROGRESS_TYPE_CANCELED, "The connection was given up") }
    if last.lockScreen.status != .off { host.postLockScreen(LockScreen()) }
    if wasConnected { host.postDisconnected(reason: "closed by the app", retryAfter: nil) }
    host.notify(.connectionState)
    if last.level != .none { host.notify(.hmiLevel) }
    if last.headUnit != nil { host.notify(.headUnit) }
  }

  private func noteConnectionEnd() {
    state.withLock { $0.isConnectionRunning = false }
    state.broadcast()
  }

  /// False when its thread is still in a callback after `timeout`; that keeps what it needs.
  private func waitForConnection(_ timeout: Duration) -> Bool {
    state.wait(until: MonotonicClock.now + timeout) { $0.isConnectionRunning ? nil : true } ?? false
  }

  /// The element belongs to a pipeline by now: announces a registration or a level that nobody has heard of.
  func repeatUnheard(_ host: any AppHost) {
    let (isRegistrationUnheard, isLevelUnheard, status) = state.withLock { state in
      defer {
        state.isRegistrationUnheard = false
        state.isLevelUnheard = false
      }
      return (state.isRegistrationUnheard, state.isLevelUnheard, state.status)
    }
    guard isRegistrationUnheard || isLevelUnheard, let headUnit = status.headUnit else { return }
    if isRegistrationUnheard {
      host.postProgress(GST_PROGRESS_TYPE_COMPLETE, "Registered with \(headUnit.name)")
      host.postConnected(headUnit, uri: settings.uri, peer: status.peer)
    }
    if let hmi = status.hmi { host.postHMIStatus(hmi) }
  }

  /// Posts the end of a progress that is under way; at most one end for each START.
  func endProgress(_ type: GstProgressType, _ text: String) {
    let isOpen = state.withLock { state in
      defer { state.isInProgress = false }
      return state.isInProgress && !state.isOver
    }
    if isOpen { withPoster { $0.postProgress(type, text) } }
  }

  func enter(_ newState: ConnectionState) {
    let isNew = state.withLock { state in
      guard !state.isFailing, !state.isOver, state.status.connection != newState else { return false }
      state.status.connection = newState
      return true
    }
    if isNew { notify(.connectionState) }
  }
}

extension PropertyName {
  static let connectionState: PropertyName = "connection-state"
  static let hmiLevel: PropertyName = "hmi-level"
  static let headUnit: PropertyName = "head-unit"
  static let streamState: PropertyName = "stream-state"
}
