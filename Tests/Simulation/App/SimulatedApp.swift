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
  private enum Phase {
    case connecting(Connector, began: Duration)
    case opening(WebSocket, peer: String, until: Duration)
    case running(ConnectionLoop)
    case pausing(until: Duration)
    case ended
  }

  let name: String
  let plan: Plan
  let host: String
  let connection: AppConnection
  private(set) var video: SimulatedVideo?
  private(set) var sound: SimulatedSound?
  private(set) var requests: SimulatedRequests
  private var model: ReferenceModel
  private var peer: PeerModel
  private var input = InputOrder()
  private(set) var wantsButtons = false
  /// Of the touchable rectangles; nil before the application has set any.
  private(set) var rectangleCount: Int?
  private(set) var registeredAt: Duration?
  /// When services last ended because their session did.
  private var servicesEndedAt: Duration?
  /// That of its video.
  private var requestCount = 0
  private(set) var status = AppSession.Status()
  private(set) var failure: ConnectionFailure?
  private var phase = Phase.ended
  private var attempts: ConnectionAttempts
  private var descriptors: [pollfd] = []
  /// Until when its machine does nothing.
  private(set) var busyUntil = Duration.zero
  /// For how long it has done nothing, all in all.
  private var standstill = Duration.zero
  private let network: SimulatedNetwork
  private let note: (Simulation.Note) -> Void
  private var random: SeededGenerator
  private var isWoken = true
  /// As of the end of the last turn, as the real loop knows it while it waits.
  private var deadline: Duration?
  /// When it has to be over, once it was told to stop.
  private(set) var endDeadline: Duration?
  /// All that goes over its sockets, as the network has counted it.
  private(set) var traffic = LinkTraffic()

  /// Until when something may have been late.
  var disturbedUntil: () -> Duration = { .zero }

  init(
    _ plan: Plan, name: String, seed: UInt64, host: String, offersSecondary: Bool, unanswered: Set<String>,
    network: SimulatedNetwork,
    trace: ((String) -> Void)? = nil, note: @escaping (Simulation.Note) -> Void
  ) {
    self.plan = plan
    self.name = name
    self.host = host
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
    if plan.hasPresentation == true {
      session.icon = AppIcon(png: [UInt8](repeating: 7, count: 100_000))
      session.names = ["DE-DE": "Karte"]
    }
    requests = SimulatedRequests(
      encrypts: plan.encrypts, hasIcon: plan.hasPresentation == true, unanswered: unanswered)
    model = ReferenceModel(.init(encrypts: plan.encrypts, hasSecondary: offersSecondary && plan.webSocket == nil))
    peer = PeerModel(heartbeat: session.heartbeatInterval)
    var configuration = AppConnection.Configuration(
      endpoint: .tcp(host: SimulatedNetwork.carHost, port: SimulatedNetwork.primaryPort), session: session,
      videoQueueCapacity: plan.queueCapacity, reconnection: Reconnection.Timing(), clock: network.clock)
    configuration.makeSocket = { _ in network.makeSocket(host: host) }
    configuration.messageTrace = trace.map { TraceLines(name: name, line: $0) }
    if plan.encrypts { configuration.makeSecureChannel = { FakeChannel(isServer: !plan.beginsHandshake) } }
    attempts = ConnectionAttempts(configuration, now: network.now)
    let relay = Relay()
    connection = AppConnection(configuration: configuration, observer: relay)
    self.relay = relay
    relay.app = self
    video = plan.video.map { SimulatedVideo($0, connection: connection, network: network, note: note) }
    sound = plan.sound.map { SimulatedSound($0, connection: connection, network: network, note: note) }
    video?.fairness = MediaFairness(isEncrypted: plan.encrypts)
    sound?.fairness = video?.fairness
    video?.sound = sound
    sound?.video = video
    setNotifications(plan.notifications ?? [])
    if plan.webSocket == .foreign { network.foreignHosts.insert(host) }
    beginAttempt()
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
  func standStill(until time: Duration) {
    guard time > max(busyUntil, now) else { return }
    let duration = time - max(busyUntil, now)
    requests.standStill(for: duration)
    peer.standStill(for: duration)
    model.standStill(for: duration)
    standstill += duration
    busyUntil = time
  }

  func wake() { isWoken = true }

  private var loopDeadline: Duration? {
    switch phase {
    case .connecting(let connector, _): connector.nextDeadline
    case .opening(_, _, let time): time
    case .running(let loop): loop.nextDeadline
    case .pausing(let time): time
    case .ended: nil
    }
  }

  var nextDeadline: Duration? { busyUntil > now ? busyUntil : deadline }

  func isReady() -> Bool {
    guard busyUntil <= now else { return false }
    let isDue = deadline.map { $0 <= now } ?? false
    let isReadable =
      switch phase {
      case .running(let loop): network.poll(&loop.descriptors)
      case .connecting, .opening: network.poll(&descriptors)
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
    case .opening(let webSocket, let peer, let deadline): open(webSocket, to: peer, until: deadline)
    case .pausing(let time): if connection.stopCommand != nil { end(nil) } else if time <= now { beginAttempt() }
    case .ended: break
    }
    updateModel()
    deadline = loopDeadline.earlier(video?.nextDeadline).earlier(sound?.nextDeadline)
  }

  // MARK: From one attempt to connect to the next, as ``AppConnection`` makes them on its thread

  private func beginAttempt() {
    model.connects(now: now)
    let port = plan.webSocket == nil ? SimulatedNetwork.primaryPort : SimulatedNetwork.webSocketPort
    guard let address = NetworkEnd.address(SimulatedNetwork.carHost, port) else { return }
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
      guard plan.webSocket != nil else { return run(socket, address.description) }
      guard let request = try? WebSocketRequest(host: "car", target: "/") else { return }
      traffic.webSocketCount += 1
      let deadline = began + connection.configuration.connectTimeout
      open(WebSocket(socket, request: request, tls: nil), to: address.description, until: deadline)
    case .failed(let error):
      descriptors = []
      endAttempt(AppConnection.Ending(failure: .link(error), lastEpoch: attempts.lastEpoch))
    case .interrupted: end(nil)
    }
  }

  /// As ``WebSocketServer`` does it.
  private func open(_ webSocket: WebSocket, to peer: String, until deadline: Duration) {
    guard connection.stopCommand == nil else { return end(nil) }
    let failure: TransportFailure
    switch webSocket.advance() {
    case .open:
      descriptors = []
      return run(webSocket, peer)
    case .waiting(let events) where now < deadline:
      descriptors = [pollfd(fd: webSocket.descriptor, events: events, revents: 0)]
      return phase = .opening(webSocket, peer: peer, until: deadline)
    case .waiting: failure = TransportFailure(.unreachable, "no answer", advice: "")
    case .failed(let reason): failure = reason
    }
    descriptors = []
    let error = LinkError.noWebSocket(address: peer, failure)
    endAttempt(AppConnection.Ending(failure: .link(error), lastEpoch: attempts.lastEpoch))
  }

  private func run(_ socket: Socket, _ address: String) {
    model.connected(now: now)
    peer.connected(now: now)
    let loop = connection.makeLoop(FrameReader(socket: socket, peer: address), after: attempts.lastEpoch)
    phase = .running(loop)
    loop.begin()
    if !loop.takeTurn() { endAttempt(loop.ending) }
  }

  private func endAttempt(_ ending: AppConnection.Ending) {
    connection.endAttempt()
    endRequests()
    guard connection.stopCommand == nil, let failure = ending.failure else { return end(nil) }
    let pause = attempts.pause(after: ending, now: now, chance: .random(in: 0..<1, using: &random))
    guard let pause else { return end(failure) }
    phase = .pausing(until: now + pause)
    if let fault = model.lost(retryAfter: pause, now: now) { note(.finding(.pace, fault)) }
    connection.report(.lost(failure, retryAfter: pause))
  }

  private func end(_ failure: ConnectionFailure?) {
    self.failure = failure
    // Broken connections are made again; only what another attempt can't mend ends an app that was registered.
    if case .link(let error)? = failure, registeredAt != nil { note(.finding(.pace, "it has ended: \(error)")) }
    phase = .ended
    model.ended()
    connection.endAttempt()
    endRequests()
    note(.told("has ended\(failure.map { ": \($0)" } ?? "")"))
    connection.report(.ended(failure))
  }

  /// All requests are answered by now.
  private func endRequests() {
    if let fault = requests.connectionEnded() { note(.finding(.requests, fault)) }
  }

  // MARK: What the connection reports

  func connection(_ connection: AppConnection, didReport event: ConnectionEvent) {
    // What is requested because of it is for the next turn.
    wake()
    switch event {
    case .sessionChanged(let status, let events):
      let level = self.status.hmi?.level
      change(to: status)
      for event in events { take(event) }
      if status.hmi?.level != level, let fault = input.levelChanged() { note(.finding(.input, fault)) }
    case .session(let event): take(event)
    case .timerFired:
      video?.timerFired()
      sound?.timerFired()
    case .lost(let failure, let pause):
      if case .session(.heartbeatLost) = failure, let fault = peer.lostByHeartbeat(now: now) {
        note(.finding(.pace, fault))
      }
      if failure.isOfConnection, servicesEndedAt == now {
        note(.finding(.notifications, "services have ended with the session, which was lost: \(failure)"))
      }
      note(.event("lost \(failure)".prefixWord(2)))
      note(.told("has lost the head unit: \(failure), again after \(pause.text)"))
      video?.connectionLost()
      sound?.connectionLost()
      change(to: AppSession.Status())
    case .ended: change(to: AppSession.Status())
    case .stalled(let time):
      note(.told("notices that the head unit has read nothing for \(time.text)"))
      peer.noticed(now: now)
    case .faultFound(let text):
      if plan.webSocket != .foreign || !text.contains("text message") { note(.finding(.app, text)) }
    case .attempting, .resolving, .connecting, .waiting, .connected: break
    }
  }

  private func change(to status: AppSession.Status) {
    if self.status.secondary.state == .registered, status.secondary.state != .registered {
      model.secondaryLost(now: now)
      if status.headUnit != nil, endDeadline == nil { note(.event("lost second connection")) }
    }
    self.status = status
    if status.roundTrip != nil { peer.answeredHeartbeat() }
    note(.state("\(status.video.state)/\(status.audio.state)/\(status.hmi?.level?.rawValue ?? "-")"))
    video?.sessionChanged(to: status)
    sound?.sessionChanged(to: status)
    updateModel()
  }

  /// What driver and application want, and what the session says.
  private func updateModel() {
    let isUsable = status.headUnit != nil && endDeadline == nil
    if let count = video?.requestCount, count != requestCount {
      requestCount = count
      model.video.requestChanged(now: now)
    }
    // A second connection takes its time over a slow network.
    let isConnecting = [.connecting, .registering].contains(status.secondary.state) && disturbedUntil() >= now
    // TLS handshakes come one after the other.
    let waitsForSound = plan.encrypts && status.video.state == .stopped && status.audio.state == .starting
    let mayShow = isUsable && status.hmi?.allowsVideo == true && status.videoCapability != nil
    let wantsVideo =
      video?.request != nil && video?.appState.isInForeground == true && status.video.wait == nil
      && !(status.video.state == .stopped && isConnecting)
    model.video.update(
      status.video.state, isWanted: mayShow && wantsVideo && !waitsForSound, isAllowed: mayShow, now: now)
    let maySound = isUsable && status.hmi?.allowsAudio(isMedia: plan.isMedia) == true
    // Sound does not start while a start of video is not answered.
    let wantsSound =
      sound?.request != nil && status.hmi?.isAudible == true && status.audio.wait == nil
      && !(status.audio.state == .stopped && (status.video.state == .starting || isConnecting))
    model.audio.update(status.audio.state, isWanted: maySound && wantsSound, isAllowed: maySound, now: now)
  }

  private func take(_ event: AppSession.Event) {
    if let text = event.text { note(.told(text)) }
    switch event {
    case .sessionStarted: model.sessionStarted(now: now)
    case .registered:
      registeredAt = now
      model.registered(now: now)
    case .videoStartFailed(let failure, let request, let retryAfter):
      let fault = model.video.failed(failure, retryAfter: retryAfter, now: now)
      if let fault { note(.finding(.pace, fault)) }
      video?.startFailed(failure, request, retryAfter: retryAfter)
    case .audioStartFailed(let failure, let retryAfter):
      let fault = model.audio.failed(failure, retryAfter: retryAfter, now: now)
      if let fault { note(.finding(.pace, fault)) }
      sound?.startFailed(failure, retryAfter: retryAfter, hasVideo: video != nil)
    case .videoStopped(.headUnit): model.video.endedByHeadUnit(now: now)
    case .audioStopped(.headUnit): model.audio.endedByHeadUnit(now: now)
    case .videoStopped(.sessionEnded), .audioStopped(.sessionEnded): servicesEndedAt = now
    case .applicationRPC(let message):
      note(.event("\(message.function) \(message.parameters["resultCode"]?.string ?? "")"))
      let fault = requests.take(message, now: now, busyUntil: busyUntil, disturbedUntil: disturbedUntil())
      if let fault { note(.finding(.requests, fault)) }
    case .touch(let actions): if let fault = input.take(actions) { note(.finding(.input, fault)) }
    case .touchInterrupted: if let fault = input.interrupted() { note(.finding(.input, fault)) }
    case .keys(let actions): if let fault = input.take(actions, now: now) { note(.finding(.input, fault)) }
    default: break
    }
  }

  /// The app has read an RPC.
  func read(_ item: RPCWatch.Item) {
    switch item {
    case .unreadable: _ = requests.notificationRead(nil, now: now, busyUntil: busyUntil)
    case .message(let message) where message.type == .notification:
      let fault = requests.notificationRead(message.function, now: now, busyUntil: busyUntil)
      if let fault { note(.finding(.requests, fault)) }
    case .message(let message): requests.responseRead(message)
    }
  }

  /// The app has handed bytes to its kernel, or got some.
  func count(_ byteCount: Int, on path: SimulatedNetwork.Path?, isSent: Bool) {
    traffic.count(byteCount, isSent: isSent)
    guard path == .primary, !hasSessionFailed else { return }
    if isSent { peer.wrote() } else { peer.read(now: now) }
  }

  /// What should have happened before, or should not have.
  func check() {
    guard busyUntil < now else { return }
    if let fault = requests.fault(now: now, disturbedUntil: disturbedUntil()) { note(.finding(.requests, fault)) }
    if endDeadline == nil, !hasSessionFailed, let fault = model.fault(now: now) ?? peerFault() {
      note(.finding(.pace, fault))
    }
    if let fault = input.fault(status, now: now, standstill: standstill) { note(.finding(.input, fault)) }
    if let fault = traffic.fault(connection.statistics) { note(.finding(.statistics, fault)) }
  }

  /// What the application was not told, although nothing has happened for a while.
  var untoldFault: String? {
    if hasEnded, video?.isAnnounced == true || sound?.isAnnounced == true {
      return "\(name) has ended, and the application believes that it streams"
    }
    return video?.pauseFault
  }

  /// Whether the service has been in its state for long enough that the head unit knows.
  var isVideoSettled: Bool { model.video.isSettled(now: now) }
  var isAudioSettled: Bool { model.audio.isSettled(now: now) }

  /// Nothing is due any more: the connection only sends its last frames.
  private var hasSessionFailed: Bool {
    if case .running(let loop) = phase { loop.ending.failure != nil } else { false }
  }

  private func peerFault() -> String? {
    guard case .running = phase else { return nil }
    let hasMedia = video?.counters.queued ?? 0 > 0 || sound?.counters.queued ?? 0 > 0
    peer.update(isFull: network.isFull(host: host), hasMedia: hasMedia, now: now)
    return peer.fault(now: now)
  }

  // MARK: What the application does

  /// A step of a script; its words are those of ``World/perform(_:)``.
  func perform(_ words: [String], _ numbers: [Int]) {
    defer { wake() }
    switch words[2] {
    case "stop": stop()
    case "haptics": setHapticRectangles(numbers.last ?? 0)
    case "buttons": setButtonsWanted(words[3] == "on")
    case "burst":
      // More than may be sent at once.
      for number in 0..<(numbers.last ?? 0) { send(words[3], number: number % 6, byteCount: 100) }
    case "rpc": send(words[3], number: numbers.count > 1 ? numbers[1] : 0, byteCount: numbers.last ?? 0)
    case "notify": setNotifications(words[3].split(separator: ",").map(String.init))
    case "sound": sound?.perform(words[3])
    default: if video?.perform(words, numbers) == false { note(.finding(.decisions, "no action: \(words)")) }
    }
  }

  /// Sends a request; a `name` of ``RequestVocabulary``.
  private func send(_ name: String, number: Int, byteCount: Int) {
    guard let request = RequestVocabulary.request(name, number: number, byteCount: byteCount) else {
      return note(.finding(.decisions, "no request: \(name)"))
    }
    var isConnected = false
    if case .running = phase { isConnected = true }
    let fault = requests.send(
      request, over: connection, isRegistered: status.headUnit != nil, isConnected: isConnected,
      wantsButtons: wantsButtons, now: max(now, busyUntil))
    if let fault { note(.finding(.requests, fault)) }
  }

  /// The car has another speed, and the level lets the app know.
  func speedChanged() { requests.speedChanged(now: now) }

  private func setNotifications(_ names: [String]) {
    // An app that ends takes nothing else on.
    guard endDeadline == nil else { return }
    let functions = RequestVocabulary.notifications.filter { names.contains("\($0)") }
    requests.setNotifications(Set(functions), over: connection, now: now)
  }

  private func setHapticRectangles(_ count: Int) {
    rectangleCount = count
    let rectangles = (0..<count).map { HapticRectangle(id: $0, x: Double($0 * 20), y: 0, width: 19, height: 19) }
    connection.setHapticRectangles(HapticRectangleList(rectangles))
  }

  private func setButtonsWanted(_ isWanted: Bool) {
    wantsButtons = isWanted
    connection.setButtonsWanted(isWanted)
  }

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
