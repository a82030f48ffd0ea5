import Glibc
import SDLApp
import SDLLink
import SDLWire
import Synchronization
import TLSEngine

/// The app's connection to a head unit, made again when it breaks: one thread that reads, runs timers and decides. The
/// streaming threads write media themselves, as long as the kernel takes it.
///
/// The app is registered from the first connection to ``stop(grace:)``, with or without streams: video comes and goes
/// by ``setVideoRequest(_:)``, sound by ``setAudioRequest(_:)``.
///
/// The thread keeps the connection alive, and the connection refers to its observer only weakly. So the owner must
/// ``stop(grace:)`` it before letting it go, and no event comes to an observer that is gone.
package final class AppConnection: Sendable {
  /// The head unit, and the parameters of the connection.
  package struct Configuration: Sendable {
    package var endpoint: Endpoint
    package var session: AppSession.Configuration
    /// For resolving and connecting together. The wait for a peer that connects by itself is not limited, only the
    /// preparation of the transport.
    package var connectTimeout: Duration
    /// In frames; each is latency.
    package var videoQueueCapacity: Int
    /// In payloads; a second of sound in pieces of 20 ms. No more than 1 MiB is queued, except for one larger payload.
    package var audioQueueCapacity = 50
    /// Nil ends with the first failure.
    package var reconnection: Reconnection.Timing?
    /// Gets the messages of the connection; nil for none.
    package var messageTrace: (any MessageTrace)?
    /// Gets the conversation of all connections, decrypted; nil for none. The owner closes it.
    package var conversation: ConversationWriter?
    /// The clock of all time-outs and of ``AppConnection/setTimer(at:)``.
    package var clock: TimeSource
    /// Makes the sockets of TCP connections.
    package var makeSocket: SocketMaker = Socket.tcp
    /// This end of TLS; nil refuses handshakes. The role of a client needs
    /// ``AppSession/Configuration/beginsHandshake``.
    package var tls: TLSContext? { didSet { makeSecureChannel = tls?.makeChannel } }
    /// Makes the channel of ``tls``, except in a simulation.
    package var makeSecureChannel: SecureChannelFactory?

    /// With the usual limits.
    package init(
      endpoint: Endpoint, session: AppSession.Configuration, connectTimeout: Duration = .seconds(10),
      videoQueueCapacity: Int = 3, reconnection: Reconnection.Timing? = nil, clock: TimeSource = .monotonic
    ) {
      self.endpoint = endpoint
      self.session = session
      self.connectTimeout = connectTimeout
      self.videoQueueCapacity = videoQueueCapacity
      self.reconnection = reconnection
      self.clock = clock
    }
  }

  let configuration: Configuration
  /// Video, from any thread.
  package let video: MediaChannel
  /// Sound, from any thread.
  package let audio: MediaChannel
  let clock: TimeSource
  let wakeUp = WakeUp()
  let writer: ConnectionWriter
  private let thread = WorkerThread(name: "sdl-connection")
  /// For ``Endpoint/transport(_:)``.
  let inbox: TransportInbox
  private let commands = Monitor(Commands())
  private let receivedByteCount = Atomic<UInt64>(0)
  private let hasLocalPeer = Atomic(false)
  private weak let observer: (any AppConnectionObserver)?

  /// A connection that does nothing before ``start()``.
  package init(configuration: Configuration, observer: any AppConnectionObserver) {
    self.configuration = configuration
    self.observer = observer
    clock = configuration.clock
    inbox = TransportInbox(wakeUp: wakeUp)
    writer = ConnectionWriter(
      videoCapacity: configuration.videoQueueCapacity, audioCapacity: configuration.audioQueueCapacity, clock: clock,
      wakeUp: wakeUp)
    video = MediaChannel(.video, writer: writer, thread: thread)
    audio = MediaChannel(.audio, writer: writer, thread: thread)
  }

  /// Begins to connect; failures of that come as the `ended` event. A second start does nothing.
  ///
  /// - Throws: ``LinkError/system(operation:errno:)`` when no thread or descriptor can be had.
  package func start() throws(LinkError) {
    try wakeUp.open()
    try thread.start { self.run() }
  }

  /// Asks for the end: queued media and the end of the session get at most `grace`, then the socket closes. Returns at
  /// once.
  ///
  /// Only a session whose registration is not answered yet may take longer, up to its own time-outs: SDL Core registers
  /// an app whose session has ended meanwhile, and never unregisters it. A caller that can't wait need not ``join()``.
  package func stop(grace: Duration) {
    let stop = Stop(deadline: clock.now + grace, drainTimeout: min(ConnectionLoop.drainTimeout, grace / 2))
    commands.withLock { commands in
      if let present = commands.stop, present.deadline <= stop.deadline { return }
      commands.stop = stop
    }
    wakeUp.signal()
  }

  /// What its primary transport runs over.
  package var transportClass: TransportClass { configuration.endpoint.transportClass }

  /// Whether the head unit of the last connection is on this machine.
  package var isPeerOnThisMachine: Bool { hasLocalPeer.load(ordering: .relaxed) }

  /// Waits until the connection has ended, which only ``stop(grace:)`` makes certain. Does not wait in an observer's
  /// callback.
  package func join() {
    thread.join()
  }

  /// Whether the caller runs in a callback of the observer, where it must not wait for anything that this thread has to
  /// do.
  package var isOnObserverThread: Bool { thread.isCurrent }

  package var statistics: LinkStatistics {
    LinkStatistics(
      sentByteCount: writer.sentByteCount, receivedByteCount: receivedByteCount.load(ordering: .relaxed),
      video: video.statistics, audio: audio.statistics)
  }
}

// MARK: The app's requests, from any thread

extension AppConnection {
  /// What to stream from now on; nil ends the video service, after half a second at most for queued frames to leave.
  /// The app stays registered.
  package func setVideoRequest(_ request: VideoStartRequest?) {
    changeVideo { $0.request = request }
  }

  /// Tells the head unit which of its displays the app supports.
  package func setSupportedDisplays(_ displays: [VideoDisplay]) {
    changeVideo { $0.supportedDisplays = displays }
  }

  /// The app's state from now on. Outside the foreground the session keeps its grant; the caller must send no more than
  /// a notice.
  package func setAppState(_ appState: AppState) {
    changeVideo { $0.appState = appState }
  }

  /// The touchable rectangles in the pictures from now on; nil leaves the head unit as it is. Only the newest list is
  /// sent, when the head unit is ready for it.
  package func setHapticRectangles(_ list: HapticRectangleList?) {
    changeVideo { $0.hapticRectangles = list }
  }

  /// Whether the app subscribes to the car's buttons from now on.
  package func setButtonsWanted(_ isWanted: Bool) {
    changeVideo { $0.wantsButtons = isWanted }
  }

  /// Asks for sound from now on; nil ends the audio service, after half a second at most for queued sound to leave. The
  /// video goes on.
  package func setAudioRequest(_ request: AudioStartRequest?) {
    change { commands in commands.audio.change { $0.request = request } }
  }

  /// Sends an RPC request of the application, after earlier ones. Exactly one answer follows
  /// (``AppSession/Event/applicationRPC(_:)``).
  ///
  /// - Parameter bulk: of PutFile and SystemRequest.
  /// - Returns: its correlation id, which the answer has as well.
  package func request(
    _ function: FunctionID, _ parameters: JSONObject, bulk: [UInt8] = []
  ) throws(ApplicationRequest.Refusal) -> Int32 {
    let id = try commands.withLock { commands throws(ApplicationRequest.Refusal) -> Int32 in
      let wantsButtons = commands.video.parameters.wantsButtons
      guard !ApplicationRequest.isReserved(function, parameters, wantsButtons: wantsButtons) else {
        throw .reserved(function)
      }
      return try commands.application.add(function, parameters, bulk: bulk)
    }
    wakeUp.signal()
    return id
  }

  /// Which notifications the application gets from now on (``AppSession/Event/applicationRPC(_:)``).
  package func setNotifications(_ functions: Set<FunctionID>) {
    change { commands in commands.notifications.change { $0 = functions } }
  }

  private func changeVideo(_ body: (inout VideoParameters) -> Void) {
    change { $0.video.change(body) }
  }

  private func change(_ body: (inout Commands) -> Void) {
    commands.withLock { body(&$0) }
    wakeUp.signal()
  }

  /// Asks for ``ConnectionEvent/timerFired`` at `time`, on the clock of ``Configuration/clock``, or at an earlier time
  /// that has been asked for. It does not fire while there is no connection.
  package func setTimer(at time: Duration) {
    commands.withLock { $0.timer = $0.timer.earlier(time) }
    if !thread.isCurrent { wakeUp.signal() }
  }
}

// MARK: The connection thread

extension AppConnection {
  func report(_ event: ConnectionEvent) {
    observer?.connection(self, didReport: event)
  }

  /// Reports what `socket` complains of.
  func reportComplaint(of socket: Socket) {
    if let text = socket.takeComplaint() { report(.faultFound("From the head unit: \(text)")) }
  }

  /// Reports the complaints of the other end, if it belongs to the transport.
  func reportFaults() {
    for fault in inbox.takeFaults() { report(.faultFound(fault)) }
  }

  /// The video's parameters, if they have changed since the last call; else nil.
  func takeNewVideo() -> VideoParameters? {
    commands.withLock { $0.video.take() }
  }

  /// The same for audio.
  func takeNewAudio() -> AudioParameters? {
    commands.withLock { $0.audio.take() }
  }

  /// Which notifications the application wants, if that has changed since the last call, and its requests since then.
  func takeApplication() -> (notifications: Set<FunctionID>?, requests: [ApplicationRequest]) {
    commands.withLock { ($0.notifications.take(), $0.application.take()) }
  }

  /// The app is registered, and may send requests of the application.
  func openApplication() {
    commands.withLock { $0.application.open() }
  }

  func noteAnswer(to id: Int32) {
    commands.withLock { $0.application.answered(id) }
  }

  /// The connection has ended: its last requests are answered.
  private func closeApplication() {
    for request in commands.withLock({ $0.application.close() }) {
      report(.session(.applicationRPC(request.aborted)))
    }
  }

  /// A session begins that knows nothing yet.
  private func renewServices() {
    commands.withLock { commands in
      commands.video.renew()
      commands.audio.renew()
      commands.notifications.renew()
    }
  }

  var timer: Duration? { commands.withLock { $0.timer } }

  /// Whether the timer's time has come; if so, it is over.
  func takeElapsedTimer(now: Duration) -> Bool {
    commands.withLock { commands in
      guard let timer = commands.timer, timer <= now else { return false }
      commands.timer = nil
      return true
    }
  }

  var stopCommand: Stop? { commands.withLock { $0.stop } }

  func notePeer(isOnThisMachine: Bool) {
    hasLocalPeer.store(isOnThisMachine, ordering: .relaxed)
  }

  func count(received: Int) {
    receivedByteCount.wrappingAdd(UInt64(received), ordering: .relaxed)
  }
}

// MARK: From one attempt to connect to the next, on the connection thread

extension AppConnection {
  struct Ending {
    /// Nil after ``stop(grace:)``.
    var failure: ConnectionFailure?
    /// How long the app was registered; nil if it never was.
    var registeredTime: Duration?
    /// The epoch of the last grant, from which the next attempt continues the epochs.
    var lastEpoch: UInt32
  }

  private func run() {
    let failure = runAttempts()
    if let transport {
      transport.stop()
      inbox.discard()
    }
    report(.ended(failure))
  }

  /// Returns why no further attempt is made; nil after ``stop(grace:)``.
  private func runAttempts() -> ConnectionFailure? {
    var attempts = ConnectionAttempts(configuration, now: clock.now)
    while true {
      let ending = attempt(after: attempts.lastEpoch, isFirst: !attempts.wasRegistered)
      guard stopCommand == nil, let failure = ending.failure else { return nil }
      guard let pause = attempts.pause(after: ending, now: clock.now, chance: .random(in: 0..<1)) else {
        return failure
      }
      report(.lost(failure, retryAfter: pause))
      wait(until: clock.now + pause)
      guard stopCommand == nil else { return nil }
    }
  }

  private var transport: (any Transport)? {
    if case .transport(let transport) = configuration.endpoint { transport } else { nil }
  }

  /// One connection, from its beginning to its end.
  private func attempt(after lastEpoch: UInt32, isFirst: Bool) -> Ending {
    var ending = Ending(lastEpoch: lastEpoch)
    report(.attempting)
    do {
      if let reader = try ConnectionOpener(self).open(isFirst: isFirst) {
        ending = makeLoop(reader, after: lastEpoch).run()
      }
    } catch {
      ending.failure = .link(error)
    }
    endAttempt()
    return ending
  }

  /// The connection is over, or could not be made.
  func endAttempt() {
    // First, because until then the payloads' memory may be read.
    writer.close()
    transport?.disconnect()
    reportFaults()
    closeApplication()
  }

  /// A connection is established.
  func makeLoop(_ reader: FrameReader, after lastEpoch: UInt32) -> ConnectionLoop {
    writer.open(reader.socket)
    renewServices()
    report(.connected(peer: reader.peer))
    return ConnectionLoop(connection: self, reader: reader, lastEpoch: lastEpoch)
  }

  /// Returns earlier only after ``stop(grace:)``, and when a peer has connected.
  func wait(until time: Duration) {
    while stopCommand == nil, !inbox.isReady, clock.now < time {
      wakeUp.wait(until: time, clock: clock)
    }
  }
}

/// Decides whether another attempt to connect follows one that has ended, and when.
struct ConnectionAttempts {
  private var reconnection: Reconnection?
  /// Until when the first connection is tried again; nil where peers connect by themselves, which may take any time.
  private let firstDeadline: Duration?
  private(set) var wasRegistered = false
  /// The epoch of the last grant, from which the next session continues.
  private(set) var lastEpoch: UInt32 = 0

  init(_ configuration: AppConnection.Configuration, now: Duration) {
    reconnection = configuration.reconnection.map(Reconnection.init(timing:))
    var waitsForPeers = false
    if case .transport(let transport) = configuration.endpoint { waitsForPeers = transport.waitsForPeers }
    firstDeadline = waitsForPeers ? nil : now + configuration.connectTimeout
  }

  /// - Parameter chance: a random number between 0 and 1.
  /// - Returns: the pause before the next attempt; nil if there is none.
  mutating func pause(after ending: AppConnection.Ending, now: Duration, chance: Double) -> Duration? {
    lastEpoch = ending.lastEpoch
    if ending.registeredTime != nil { wasRegistered = true }
    guard let failure = ending.failure else { return nil }
    let mayHeal =
      wasRegistered
      ? failure.canHeal
      : failure.isRegisteredAlready || failure.mayHealAtFirst && firstDeadline.map { now < $0 } ?? true
    return mayHeal ? reconnection?.pause(registeredTime: ending.registeredTime, chance: chance) : nil
  }
}

/// Counters of a connection, over all attempts.
package struct LinkStatistics: Equatable, Sendable {
  /// All bytes handed to the kernel.
  package var sentByteCount: UInt64 = 0
  package var receivedByteCount: UInt64 = 0
  package var video = MediaChannelStatistics()
  package var audio = MediaChannelStatistics()
}
