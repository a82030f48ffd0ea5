import Glibc
import SDLApp
import SDLHeadUnit
import TestSupport

@testable import SDLAppLink
@testable import SDLLink

/// An app with a connection, the real one but for its thread, and what is streamed over it.
///
/// `@unchecked Sendable`: a simulation has one thread.
final class SimulatedApp: AppConnectionObserver, @unchecked Sendable {
  /// What the user has set.
  struct Plan: Codable {
    var video: SimulatedVideo.Plan?
    var sound: SimulatedSound.Plan?
    var isMedia = false
    var encrypts = false
    var requiresEncryption = false
    var beginsHandshake = false
    /// Seconds between heartbeats; nil for none.
    var heartbeat: Int?
    var restartsOnForeground = false
    var usesSecondary = true
    var queueCapacity = 3
  }

  private enum Phase {
    case connecting(Connector, began: Duration)
    case running(ConnectionLoop)
    case pausing(until: Duration)
    case ended
  }

  let name: String
  let plan: Plan
  let connection: AppConnection
  private(set) var video: SimulatedVideo?
  private(set) var sound: SimulatedSound?
  private(set) var status = AppSession.Status()
  private(set) var failure: ConnectionFailure?
  private var phase = Phase.ended
  private var attempts: ConnectionAttempts
  private var descriptors: [pollfd] = []
  private let network: SimulatedNetwork
  private let note: (Simulation.Note) -> Void
  private var random: SeededGenerator
  private var isWoken = true
  /// As of the end of the last turn, as the real loop knows it while it waits.
  private var deadline: Duration?
  private var busyUntil = Duration.zero
  /// When it has to be over, once it was told to stop.
  private(set) var endDeadline: Duration?

  init(
    _ plan: Plan, name: String, seed: UInt64, host: String, network: SimulatedNetwork, trace: ((String) -> Void)? = nil,
    note: @escaping (Simulation.Note) -> Void
  ) {
    self.plan = plan
    self.name = name
    self.network = network
    self.note = note
    random = SeededGenerator(seed: seed)
    var session = AppSession.Configuration(appName: name, appID: name, appType: .navigation, language: "EN-US")
    session.isMediaApplication = plan.isMedia
    session.heartbeatInterval = plan.heartbeat.map { .seconds($0) }
    session.restartsOnForeground = plan.restartsOnForeground
    session.usesSecondaryTransport = plan.usesSecondary
    session.encryption = plan.encrypts ? .authenticateAndEncrypt : .none
    session.encryptionPolicy = plan.requiresEncryption ? .require : .prefer
    session.beginsHandshake = plan.beginsHandshake
    var configuration = AppConnection.Configuration(
      endpoint: .tcp(host: SimulatedNetwork.carHost, port: SimulatedNetwork.primaryPort), session: session,
      videoQueueCapacity: plan.queueCapacity, reconnection: Reconnection.Timing(), clock: network.clock)
    configuration.makeSocket = { _ in network.makeSocket(host: host) }
    configuration.messageTrace = trace.map { Messages(name: name, line: $0) }
    if plan.encrypts { configuration.makeSecureChannel = { FakeChannel(isServer: !plan.beginsHandshake) } }
    attempts = ConnectionAttempts(configuration, now: network.now)
    let relay = Relay()
    connection = AppConnection(configuration: configuration, observer: relay)
    self.relay = relay
    relay.app = self
    video = plan.video.map { SimulatedVideo($0, connection: connection, network: network, note: note) }
    sound = plan.sound.map { SimulatedSound($0, connection: connection, network: network, note: note) }
    beginAttempt()
  }

  /// `@unchecked Sendable`: a simulation has one thread.
  private struct Messages: MessageTrace, @unchecked Sendable {
    let name: String
    let line: (String) -> Void
    var isEnabled: Bool { true }
    func trace(_ message: String) { line("      \(name) \(message)") }
  }

  private final class Relay: AppConnectionObserver, @unchecked Sendable {
    weak var app: SimulatedApp?

    func connection(_ connection: AppConnection, didReport event: ConnectionEvent) {
      app?.connection(connection, didReport: event)
    }
  }

  private let relay: Relay
  private var now: Duration { network.now }

  var hasEnded: Bool { if case .ended = phase { true } else { false } }

  // MARK: Time

  /// The machine does nothing for a while.
  func standStill(until time: Duration) { busyUntil = max(busyUntil, time) }

  func wake() { isWoken = true }

  private var loopDeadline: Duration? {
    switch phase {
    case .connecting(let connector, _): connector.nextDeadline
    case .running(let loop): loop.nextDeadline
    case .pausing(let time): time
    case .ended: nil
    }
  }

  var nextDeadline: Duration? { busyUntil > now ? deadline.map { max($0, busyUntil) } ?? busyUntil : deadline }

  func isReady() -> Bool {
    guard busyUntil <= now else { return false }
    let isDue = deadline.map { $0 <= now } ?? false
    let isReadable =
      switch phase {
      case .running(let loop): network.poll(&loop.descriptors)
      case .connecting: network.poll(&descriptors)
      case .pausing, .ended: false
      }
    return isReadable || isDue || isWoken
  }

  /// Why it takes turns, for people.
  var readiness: String {
    var events = descriptors
    if case .running(let loop) = phase { events = loop.descriptors }
    return "\(name), deadline \(nextDeadline.map { "\($0 - now)" } ?? "-"), events "
      + events.map { "\($0.events):\($0.revents)" }.joined(separator: " ")
  }

  func takeTurn() {
    isWoken = false
    video?.advance()
    sound?.advance()
    switch phase {
    case .running(let loop):
      loop.handleDescriptors()
      if !loop.takeTurn() { endAttempt(loop.ending) }
    case .connecting(let connector, let began): connect(connector, began: began)
    case .pausing(let time): if connection.stopCommand != nil { end(nil) } else if time <= now { beginAttempt() }
    case .ended: break
    }
    deadline = loopDeadline.earlier(video?.nextDeadline).earlier(sound?.nextDeadline)
  }

  // MARK: From one attempt to connect to the next, as ``AppConnection`` makes them on its thread

  private func beginAttempt() {
    guard let address = NetworkEnd.address(SimulatedNetwork.carHost, SimulatedNetwork.primaryPort) else { return }
    let configuration = connection.configuration
    let connector = Connector(
      addresses: [address], timeout: configuration.connectTimeout, deadline: now + configuration.connectTimeout,
      clock: network.clock, makeSocket: configuration.makeSocket)
    connect(connector, began: now)
  }

  private func connect(_ connector: Connector, began: Duration) {
    guard connection.stopCommand == nil else { return end(nil) }
    var connector = connector
    let answer = descriptors.isEmpty ? nil : connector.handle(descriptors[...])
    switch answer ?? connector.advance() {
    case nil:
      descriptors = connector.descriptors
      phase = .connecting(connector, began: began)
      _ = network.poll(&descriptors)
    case .connected(let socket, let address):
      descriptors = []
      let reader = FrameReader(socket: socket, peer: address.description)
      let loop = connection.makeLoop(reader, after: attempts.lastEpoch)
      phase = .running(loop)
      loop.begin()
      if !loop.takeTurn() { endAttempt(loop.ending) }
    case .failed(let error):
      descriptors = []
      endAttempt(AppConnection.Ending(failure: .link(error), lastEpoch: attempts.lastEpoch))
    case .interrupted: end(nil)
    }
  }

  private func endAttempt(_ ending: AppConnection.Ending) {
    connection.writer.close()
    guard connection.stopCommand == nil, let failure = ending.failure else { return end(nil) }
    let pause = attempts.pause(after: ending, now: now, chance: .random(in: 0..<1, using: &random))
    guard let pause else { return end(failure) }
    phase = .pausing(until: now + pause)
    connection.report(.lost(failure, retryAfter: pause))
  }

  private func end(_ failure: ConnectionFailure?) {
    self.failure = failure
    phase = .ended
    connection.writer.close()
    connection.report(.ended(failure))
  }

  // MARK: What the connection reports

  func connection(_ connection: AppConnection, didReport event: ConnectionEvent) {
    // What is requested because of it is for the next turn.
    wake()
    switch event {
    case .sessionChanged(let status, let events):
      change(to: status)
      for event in events { take(event) }
    case .session(let event): take(event)
    case .timerFired:
      video?.timerFired()
      sound?.timerFired()
    case .lost(let failure, _):
      note(.event("lost \(failure)".prefixWord(2)))
      change(to: AppSession.Status())
    case .ended: change(to: AppSession.Status())
    case .attempting, .resolving, .connecting, .waiting, .connected, .stalled, .faultFound: break
    }
  }

  private func change(to status: AppSession.Status) {
    self.status = status
    note(.state("\(status.videoState)/\(status.audioState)/\(status.hmi?.level?.rawValue ?? "-")"))
    video?.sessionChanged(to: status)
    sound?.sessionChanged(to: status)
  }

  private func take(_ event: AppSession.Event) {
    switch event {
    case .videoStartFailed(let failure, let request, let retryAfter):
      video?.startFailed(failure, request, retryAfter: retryAfter)
    case .audioStartFailed(let failure, let retryAfter):
      sound?.startFailed(failure, retryAfter: retryAfter, hasVideo: video != nil)
    default: break
    }
  }

  // MARK: What the application does

  /// Asks for the end, as a pipeline does that goes to NULL.
  func stop() {
    video?.stop()
    sound?.stop()
    let isPending = status.headUnit == nil
    connection.stop(grace: .seconds(1))
    // A registration that is under way may use up its own time-outs.
    endDeadline = max(now, busyUntil) + (isPending ? .seconds(25) : .milliseconds(1100))
    wake()
  }
}

extension String {
  /// Its first words.
  func prefixWord(_ count: Int) -> String { split(separator: " ").prefix(count).joined(separator: " ") }
}
