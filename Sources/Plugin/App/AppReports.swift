import GStreamerKit
import SDLApp
import SDLAppLink
import SDLLink
import SDLWire

/// What an app's connection reports, as the state of the app, messages and notifications. The app handles each event
/// first, then the streams.
///
/// On the connection's thread and without any lock held, except for `state`, as briefly as in ``AppClient``.
final class AppReports: Sendable {
  private let settings: AppSettings
  private let state: Monitor<AppClientState>
  private let time: TimeSource
  private let policyFetch = PolicyFetch()

  init(_ settings: AppSettings, _ state: Monitor<AppClientState>, time: TimeSource) {
    self.settings = settings
    self.state = state
    self.time = time
  }

  func receive(_ event: ConnectionEvent, of app: AppClient) {
    let (listeners, isOver) = state.withLock { ($0.members, $0.isOver) }
    guard !isOver else { return }
    switch event {
    // The next film connects again.
    case .lost where listeners.areAway, .ended where listeners.areAway: app.end()
    case .attempting:
      state.members.countApp { $0.attempts &+= 1 }
      if state.withLock({ $0.beginAttempt(at: time.now) }) { state.members.notify(.connectionState) }
    case .resolving(let name): progress(.resolving, "Resolving \(name)")
    case .connecting(let address): progress(.connecting, "Connecting to \(address)")
    case .waiting(let status): wait(status)
    case .connected(let peer):
      state.withLock { $0.status.peer = peer }
      progress(.registering, "Connected to \(peer), starting a session")
    case .session(let event):
      receive(event, of: app)
      state.withStreams(of: listeners) { $0.appReported(event) }
    case .sessionChanged(let status, let events): sessionChanged(to: status, by: events, app)
    case .stalled(let time):
      warn(.stalled(for: time))
    case .faultFound(let text):
      // The built-in head unit checks the stream, so that faults are found before a car is there.
      warn(.stream(GST_STREAM_ERROR_FORMAT, text))
    case .lost(let failure, let pause):
      connectionLost(failure, retryAfter: pause, app, listeners)
    case .ended(let failure):
      connectionEnded(failure, app, listeners)
    case .timerFired:
      state.withStreams(of: listeners) { $0.timerFired() }
    }
  }

  private func sessionChanged(to status: AppSession.Status, by events: [AppSession.Event], _ app: AppClient) {
    let (former, isLevelNew, listeners) = state.withLock { state in
      let former = state.status.session
      return (former, state.sessionChanged(to: status), state.members)
    }
    if let time = status.roundTrip, time != former.roundTrip { state.members.countApp { $0.roundTrip = time } }
    if isLevelNew { state.members.notify(.hmiLevel) }
    if status.permissions != former.permissions { state.members.notify(.permissions) }
    for event in events where !state.isOver { receive(event, of: app) }
    state.withStreams(of: listeners) {
      $0.sessionChanged(to: status)
      $0.driverMayHaveLeft()
    }
    for event in events { state.withStreams(of: listeners) { $0.appReported(event) } }
    state.change { $0.toldSession = $0.status.session }
  }

  private func progress(_ newState: ConnectionState, _ text: String) {
    enter(newState)
    state.members.withPoster { $0.postProgress(GST_PROGRESS_TYPE_CONTINUE, text) }
  }

  /// A car has to connect by itself; waiting for it is no error.
  private func wait(_ status: TransportStatus) {
    switch status {
    case .waiting(let peer): progress(.waiting, "Waiting for \(peer)")
    case .blocked(let failure):
      let error = ElementError(failure)
      progress(.waiting, error.text)
      warn(error)
    }
  }

  private func enter(_ newState: ConnectionState) {
    if state.withLock({ $0.enter(newState) }) { state.members.notify(.connectionState) }
  }

  private func receive(_ event: AppSession.Event, of app: AppClient) {
    switch event {
    case .touch: return
    case .hmiStatus:
      let isHeard = state.members.isHeard
      state.withLock { if $0.unheard != .registration { $0.unheard = isHeard ? .nothing : .level } }
    default: break
    }
    if case .applicationRPC(let message) = event {
      post(message, app.connection)
    } else {
      state.members.withPoster { $0.post(event) }
    }
    switch event {
    case .registered(let headUnit): registered(headUnit, app)
    case .hmiStatus(let status): changeLockScreen { $0.receive(status) }
    case .driverDistraction(let distraction): changeLockScreen { $0.receive(distraction) }
    case .videoCapability: state.members.notify(.headUnit)
    case .videoStarted, .audioStarted:
      enter(.streaming)
      if settings.usesTLS { state.members.notify(.encryptionState) }
    case .videoStopped(let reason), .audioStopped(let reason):
      if !state.withLock({ $0.status.isStreaming }), reason != .connectionLost, reason != .sessionEnded {
        enter(.ready)
      }
    case .rpcProtected: state.members.notify(.encryptionState)
    default: break  // A failure is handled with the end of the connection, which is reported next.
    }
  }

  private func post(_ message: RPCMessage, _ connection: AppConnection) {
    let wanted = state.members.notifications
    state.members.withPoster { element in
      if message.function == .onSystemRequest {
        policyFetch.take(OnSystemRequest(message), settings.policyUpdates, element, connection) { [weak self] in
          self?.warn($0)
        }
      }
      if message.type == .response || wanted.contains(message.function) { element.postRPC(message) }
    }
  }

  private func warn(_ error: ElementError) {
    state.members.withPoster { $0.warn(error) }
  }

  private func changeLockScreen(_ change: (inout LockScreen) -> Void) {
    if let changed = state.withLock({ $0.changeLockScreen(change) }) {
      state.members.withPoster { $0.postLockScreen(changed) }
    }
  }

  private func registered(_ headUnit: HeadUnitInfo, _ app: AppClient) {
    let (peer, attemptBegan) = state.withLock { ($0.status.peer ?? "", $0.attemptBegan ?? time.now) }
    let connectTime = time.now - attemptBegan
    state.members.countApp { counters in
      counters.connections &+= 1
      counters.connectTime = connectTime
    }
    enter(.ready)
    let isHeard = state.members.isHeard
    state.withLock { $0.unheard = isHeard ? .nothing : .registration }
    app.endProgress(GST_PROGRESS_TYPE_COMPLETE, "Registered with \(headUnit.name)")
    state.members.withPoster { $0.postConnected(headUnit, uri: settings.uri, peer: peer) }
    state.members.notify(.headUnit)
  }

  /// The connection will be made again; the pipeline stays as it is.
  private func connectionLost(
    _ failure: ConnectionFailure, retryAfter pause: Duration, _ app: AppClient, _ listeners: AppMembers
  ) {
    let hadStreamed = state.withLock { $0.hasStreamed }
    let last = forgetConnection(.reconnecting, failure, listeners)
    let text = ElementError(failure, wasStreaming: hadStreamed).text
    let retry = "Connecting again in \(pause.inTenthsOfSeconds)."
    app.endProgress(GST_PROGRESS_TYPE_ERROR, text)
    // Once for each loss, not for each attempt.
    if last.peer != nil {
      warn(.resource(GST_RESOURCE_ERROR_WRITE, "\(text) \(retry)"))
      state.members.withPoster { $0.postDisconnected(reason: "\(failure)", retryAfter: pause) }
    }
    state.withLock { $0.beginProgress() }
    state.members.withPoster { $0.postProgress(GST_PROGRESS_TYPE_START, retry) }
  }

  private func connectionEnded(_ failure: ConnectionFailure?, _ app: AppClient, _ listeners: AppMembers) {
    if let failure {
      let error = ElementError(failure, wasStreaming: state.withLock { $0.hasStreamed })
      state.members.withPoster { app.failConnection(error, $0) }
    }
    guard !state.isOver else { return }
    let hasFailed = state.withLock { $0.phase == .failing || $0.phase == .failed }
    let last = forgetConnection(.idle, failure, listeners)
    guard last.peer != nil else { return }
    // Without a failure, the element has ended the connection itself, perhaps after an error.
    var reason = failure.map { "\($0)" }
    if reason == nil, hasFailed { state.members.countApp { reason = $0.lastError } }
    state.members.withPoster { $0.postDisconnected(reason: reason ?? "closed by the app", retryAfter: nil) }
  }

  /// Forgets the status of the connection.
  ///
  /// - Returns: the former status.
  private func forgetConnection(
    _ newState: ConnectionState, _ failure: ConnectionFailure?, _ listeners: AppMembers
  ) -> AppStatus {
    let last = state.withLock { $0.connectionLost() }
    if let failure { state.members.countApp { $0.lastError = "\(failure)" } }
    enter(newState)
    changeLockScreen { $0 = LockScreen() }
    if last.level != .none { state.members.notify(.hmiLevel) }
    if last.session.permissions != nil { state.members.notify(.permissions) }
    state.withStreams(of: listeners) { $0.sessionChanged(to: AppSession.Status()) }
    return last
  }
}
