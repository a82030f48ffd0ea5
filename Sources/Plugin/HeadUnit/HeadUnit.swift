import Bluetooth
import Discovery
import GStreamerKit
import HeadUnitControl
import SDLHeadUnit
import SDLHeadUnitLink
import SDLLink
import SDLMessages
import SDLWire
import TLSEngine

/// A head unit in this process: one server for all its elements, from the start of the first to the stop of the last.
/// ``HeadUnits`` finds it.
///
/// It is the only observer of its server, so its list of apps is right for all members, who get it with every event.
final class HeadUnit: Sendable {
  private enum Phase {
    case starting
    case running
    /// It could not listen.
    case failed
  }

  private struct State: Sendable {
    var phase = Phase.starting
    var setup: HeadUnitSetup
    var apps = ServedApps()
    /// In the order in which they joined.
    var members: [HeadUnitRun]
    var hasServerEnded = false
    /// While it listens.
    var announcement: HeadUnitAnnouncement?
    /// Nil for none.
    var log: ConversationLog?
    /// Gets the events instead of `log`, to which it passes them; nil for none.
    var page: HeadUnitPage?
  }

  /// Without a limit, a callback that waits for a lock of the thread that ends the head unit would deadlock both.
  private static let longestEnd = Duration.seconds(1)

  let place: HeadUnitSetup.Place
  private let state: Monitor<State>
  /// A lock of its own, so that a run can use the server with its own lock held: `state` → a run's → `runningServer`.
  private let runningServer = Monitor<HeadUnitServer?>(nil)

  /// Creates one that does not listen yet.
  init(_ setup: HeadUnitSetup, first member: HeadUnitRun) {
    place = setup.place
    state = Monitor(State(setup: setup, members: [member]))
    member.join(self, setup, ServedApps())
  }

  var setup: HeadUnitSetup { state.withLock { $0.setup } }

  /// The apps that are registered with it.
  var apps: ServedApps { state.withLock { $0.apps } }

  /// 0 while it does not listen.
  var port: UInt16 { server?.port ?? 0 }

  /// The address of its page, with the token; nil while there is none.
  var pageURI: String? { state.withLock { $0.page?.uri } }

  /// Nil while it does not listen.
  var server: HeadUnitServer? { runningServer.withLock { $0 } }

  /// Begins to listen.
  ///
  /// - Returns: the address that apps connect to, with its port; nil for a head unit that connects to a phone.
  /// - Throws: the reason why it can't.
  func start(messageTrace: ProtocolLog) throws(ElementError) -> String? {
    let setup = self.setup
    do {
      // Before the port is opened, so that a bad script leaves none open.
      let script = try setup.script()
      let tls = try setup.tls()
      try beginLog(setup.settings)
      try servePage(setup)
      let server = try listen(setup, script: script, tls: tls, messageTrace: messageTrace)
      state.change { $0.phase = .running }
      return server.address
    } catch {
      endPageAndLog()
      state.change { $0.phase = .failed }
      throw error
    }
  }

  private func beginLog(_ settings: HeadUnitSettings) throws(ElementError) {
    let writer = try settings.conversation.writer(keepsRecent: settings.web != nil) { [weak self] error in
      // Without the lock: the application may do anything in reply.
      self?.state.withLock { $0.members.first }?.warn(error)
    }
    guard let writer else { return }
    let log = ConversationLog(writer)
    state.withLock { $0.log = log }
    do {
      try log.start()
    } catch {
      throw .resource(GST_RESOURCE_ERROR_FAILED, "The thread of the conversation log could not be started: \(error)")
    }
  }

  private func servePage(_ setup: HeadUnitSetup) throws(ElementError) {
    guard let address = setup.settings.pageAddress, let log = state.withLock({ $0.log }) else { return }
    let page = try HeadUnitPage(at: address, of: setup.configuration, log) { [weak self] command, text in
      self?.perform(command, text) ?? nil
    }
    state.withLock { $0.page = page }
  }

  /// Carries a command of the page out. Returns why it has no effect.
  private func perform(_ command: HeadUnitCommand, _ text: String) -> String? {
    let (hasApp, setup, log) = state.withLock { (!$0.apps.all.isEmpty, $0.setup, $0.log) }
    guard let server else { return "command without effect: the head unit does not listen" }
    let failure = server.carryOut(command, hasApp: hasApp, policy: setup.configuration.policy)
    log?.noteCommand(text, failure: failure)
    return failure
  }

  private func endPageAndLog() {
    let (page, log) = state.withLock { state in
      defer { (state.page, state.log) = (nil, nil) }
      return (state.page, state.log)
    }
    page?.stop()
    // All of the conversation is in the file then.
    log?.close()
  }

  private func listen(
    _ setup: HeadUnitSetup, script: HeadUnitScript, tls: TLSContext?, messageTrace: ProtocolLog
  ) throws(ElementError) -> HeadUnitServer {
    let phone = try setup.settings.phone()
    var admission = HeadUnitServer.Admission()
    admission.secondaryPort = UInt16(clamping: setup.settings.secondaryPort ?? 0)
    admission.secondaryOrigin = setup.settings.secondaryOrigin
    do throws(LinkError) {
      let server: HeadUnitServer
      if let phone {
        var bluetooth = BluetoothTransport.Configuration.headUnit(connectingTo: phone)
        bluetooth.log = { messageTrace.note($0) }
        server = try HeadUnitServer(
          configuration: setup.configuration, transport: BluetoothTransport(bluetooth), admission: admission,
          script: script, messageTrace: messageTrace, tls: tls, observer: self)
      } else {
        server = try HeadUnitServer(
          configuration: setup.configuration, address: place.address, port: place.port, admission: admission,
          script: script, messageTrace: messageTrace, tls: tls, observer: self)
      }
      runningServer.withLock { $0 = server }
      // Properties may have been set since the start began.
      state.withLock { state in
        server.configure(state.setup.configuration)
        server.setCondition(.activationStatus(state.setup.status))
      }
      do {
        try server.start()
      } catch {
        runningServer.withLock { $0 = nil }
        throw error
      }
      return server
    } catch {
      throw ElementError(listening: error, secondaryPort: admission.secondaryPort)
    }
  }

  /// Announces it on the local network, if that was asked for. Waits for Avahi, for some seconds at most.
  ///
  /// - Returns: its name there; nil if it was not asked for.
  func announce() throws(HeadUnitAnnouncement.Failure) -> String? {
    guard setup.settings.isAnnounced, port > 0 else { return nil }
    guard HeadUnitAnnouncement.canReach(place.address) else {
      throw HeadUnitAnnouncement.Failure(
        description: "only this machine reaches a head unit at \(place.address ?? ""): set address=* as well")
    }
    let announcement = try HeadUnitAnnouncement(port: port)
    state.withLock { $0.announcement = announcement }
    return announcement.name
  }

  /// Waits until it listens; false if it can't.
  func waitUntilRunning() -> Bool {
    state.wait(until: nil) { state in
      switch state.phase {
      case .starting: nil
      case .running: true
      case .failed: false
      }
    } ?? false
  }

  /// Stops listening, and has all connections closed. Does not wait: from now on the port is free.
  func stopListening() {
    let announcement = state.withLock { $0.announcement.take() }
    _ = consume announcement
    server?.stop()
  }

  /// Waits for the server's thread, unless this is it.
  func waitForEnd() {
    defer { endPageAndLog() }
    guard let server else { return }
    // The last reports of the server still reach the members.
    guard !server.isOnOwnThread,
      state.wait(atLatest: MonotonicClock.now + Self.longestEnd, until: { $0.hasServerEnded })
    else { return }
    server.join()
  }
}

/// Members.
extension HeadUnit {
  /// Adds a member, unless there is one already for the same service.
  ///
  /// - Returns: the member that was there first; nil if it was not added.
  func add(_ member: HeadUnitRun) -> HeadUnitRun? {
    state.withLock { state in
      if case .failed = state.phase { return nil }
      guard let first = state.members.first, !state.members.contains(where: { $0.service == member.service }) else {
        return nil
      }
      state.members.append(member)
      member.join(self, state.setup, state.apps)
      return first
    }
  }

  func remove(_ member: HeadUnitRun) {
    // The last reference must not go with the lock held.
    let members = state.withLock { state in
      defer { state.members.removeAll { $0 === member } }
      return state.members
    }
    withExtendedLifetime(members) {}
  }

  func isOnlyMember(_ member: HeadUnitRun) -> Bool {
    state.withLock { $0.members.allSatisfy { $0 === member } }
  }
}

extension HeadUnit: HeadUnitServerObserver {
  func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) {
    let (members, formerApps, apps, log, page) = state.withLock { state in
      let formerApps = state.apps
      state.apps.note(event)
      if case .ended = event { state.hasServerEnded = true }
      return (state.members, formerApps, state.apps, state.log, state.page)
    }
    if let page { page.note(event) } else { log?.note(event) }
    // So that the application is notified once: by the element of the event's service, otherwise by the video element.
    let service = event.service
    let reporting = members.first { $0.service == service ?? .video } ?? members.first
    for member in members where service == nil || member === reporting {
      member.receive(event, HeadUnitReport(formerApps: formerApps, apps: apps, isReporting: member === reporting))
    }
    if case .ended = event { state.broadcast() }
  }
}

/// Properties that are set while it runs; apps are told. They are read with the lock, so that of two threads that change
/// them the later value stays.
extension HeadUnit {
  /// The app on the screen, and later ones, get another status.
  func changeStatus(_ change: (inout HeadUnitSetup) -> Void) {
    state.withLock { state in
      change(&state.setup)
      let status = state.setup.status
      server?.setCondition(.activationStatus(status))
      server?.control(.appOnScreen) { $0.setHMIStatus(status, now: $1) }
    }
  }

  /// The audio state of the app on the screen, and of later ones, changes, but not the level.
  func changeAudioStreaming(to value: @autoclosure () -> AudioStreamingState) {
    state.withLock { state in
      let audioStreaming = value()
      state.setup.settings.audioStreaming = audioStreaming
      server?.setCondition(.activationStatus(state.setup.status))
      server?.control(.appOnScreen) { $0.setAudioStreaming(audioStreaming, now: $1) }
    }
  }

  /// The configuration of later registrations; apps that are registered get it by `input`. Its protection stays.
  func changeVideo(
    _ video: @autoclosure () -> HeadUnitVideoSettings,
    _ input: (@Sendable (inout HeadUnitSession, HeadUnitConfiguration, Duration) -> [HeadUnitSession.Action])? = nil
  ) {
    state.withLock { state in
      state.setup.video = video().keepingProtection(of: state.setup.video)
      let configuration = state.setup.configuration
      server?.configure(configuration)
      if let input { server?.control(.everyApp) { input(&$0, configuration, $1) } }
    }
  }
}

/// The context of an event for the members of a head unit.
struct HeadUnitReport: Sendable {
  var formerApps: ServedApps
  var apps: ServedApps
  var isReporting: Bool
}

extension HeadUnitServerEvent {
  /// The service of the event; nil for events of the app and the connection.
  var service: ServiceType? {
    guard case .session(_, let event) = self else { return nil }
    switch event {
    case .videoStartRequested, .videoStarted, .videoRefused, .videoData, .videoTimestamp, .videoMissed,
      .videoDataStopped, .videoStopped, .secured, .rpcProtected, .handshakeFailed:
      return .video
    case .audioStartRequested, .audioInClear, .audioStarted, .audioRefused, .audioData, .audioStopped: return .audio
    case .violation(let violation): return violation.service
    default: return nil
    }
  }
}

extension Violation {
  /// The service whose rule the app broke; nil for rules of other services.
  fileprivate var service: ServiceType? {
    switch self {
    case .audio, .audioWhileForbidden: .audio
    case .stream, .videoWhileForbidden: .video
    case .messageIDZero(let service), .encryptedFrame(let service), .clearFrame(let service),
      .undecryptableFrame(let service), .brokenMessage(let service, _), .startBeforeRegistration(let service),
      .startWhileActive(let service), .endOfServiceNotRunning(let service), .endServiceNotAcknowledged(let service, _),
      .dataWithoutService(let service), .dataAfterEndService(let service, _), .wrongTransport(let service, _):
      service
    default: nil
    }
  }
}
