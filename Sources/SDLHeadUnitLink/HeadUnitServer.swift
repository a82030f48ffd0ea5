import CLinux
import Glibc
import SDLHeadUnit
import SDLLink
import SDLMessages
import SDLWire
import Synchronization
import TLSEngine

/// The head unit's side: one thread that serves all apps, each with a session of its own.
///
/// Like ``AppConnection``: the thread keeps the server alive, the observer is held weakly, and the owner must
/// ``stop()`` it.
package final class HeadUnitServer: Sendable {
  enum Source: Sendable {
    case listener(ListeningPort)
    /// One established connection; the server ends with it.
    case connection(Socket)
    /// It is started and stopped by the server.
    case transport(any Transport)
  }

  /// The configuration of the first connections; ``configure(_:)`` replaces it for later ones.
  let configuration: HeadUnitConfiguration
  let admission: Admission
  let script: HeadUnitScript
  let messageTrace: (any MessageTrace)?
  /// Makes this end of TLS; nil has none. The role of a server needs ``HeadUnitConfiguration/beginsHandshake`` to be
  /// false.
  private let makeSecureChannel: SecureChannelFactory?
  private let handshakes = Monitor(HandshakeBudget())
  let clock: TimeSource
  /// Of the ports.
  let makeSocket: SocketMaker
  let source: Source
  let wakeUp = WakeUp()
  /// The port of secondary transports; nil until the first is offered.
  private let secondary = Mutex<ListeningPort?>(nil)
  package let webSockets = ServedWebSockets()
  private let operations = Mutex<[Operation]>([])
  private let isStopped = Atomic(false)
  private let thread = WorkerThread(name: "sdl-head-unit")
  private weak let observer: (any HeadUnitServerObserver)?

  /// Which connections are accepted. The defaults are more than tests need.
  package struct Admission: Sendable {
    /// Connections at once; 255 in any case. More are closed at once, unless another can be closed instead: one that has
    /// been without a registered app for a second, or one of an address that has more than the newcomer's.
    package var maximumConnectionCount = 16
    /// Sessions on each connection, each with an app of its own. A start of another is refused.
    package var maximumSessionCount = 8
    /// A connection without a registered app is closed after so long, so that it takes no other app's place; nil never.
    package var registrationTime: Duration? = .seconds(10)
    /// The memory, in bytes, that incomplete messages of all apps together take. Beyond it messages are dropped, first
    /// those of sessions without a registered app.
    package var maximumIncompleteByteCount = 32 << 20
    /// The port for secondary transports, which is open while they are offered
    /// (``HeadUnitBehaviour/SecondaryTransportOffer/served``); 0 takes any that is free.
    package var secondaryPort: UInt16 = 0
    /// Where connections to that port may come from.
    package var secondaryOrigin = SecondaryOrigin.same
    /// How the ids of sessions are chosen.
    package var sessionIDs = SessionIDs.random

    /// The limits of every head unit in this project.
    package init() {}

    /// The limits of a single adopted connection: it has no time limit, because it can't keep another app out.
    fileprivate static var adopted: Admission {
      var admission = Admission()
      admission.registrationTime = nil
      return admission
    }
  }

  /// Listens for apps. `address` is a host name or numeric address, nil for all of this machine's; port 0 takes any
  /// that is free. The script's time begins with ``start()``.
  package convenience init(
    configuration: HeadUnitConfiguration, address: String?, port: UInt16, admission: Admission = Admission(),
    script: HeadUnitScript = HeadUnitScript(), messageTrace: (any MessageTrace)? = nil, tls: TLSContext? = nil,
    clock: TimeSource = .monotonic, observer: any HeadUnitServerObserver
  ) throws(LinkError) {
    try self.init(
      configuration: configuration, source: .listener(ListeningPort(address: address, port: port)),
      admission: admission, script: script, messageTrace: messageTrace,
      makeSecureChannel: Self.secureChannels(of: tls), clock: clock, observer: observer)
  }

  /// Serves the apps to which `transport` connects. The script's time begins with ``start()``.
  package convenience init(
    configuration: HeadUnitConfiguration, transport: any Transport, admission: Admission = Admission(),
    script: HeadUnitScript = HeadUnitScript(), messageTrace: (any MessageTrace)? = nil, tls: TLSContext? = nil,
    clock: TimeSource = .monotonic, observer: any HeadUnitServerObserver
  ) throws(LinkError) {
    try self.init(
      configuration: configuration, source: .transport(transport), admission: admission, script: script,
      messageTrace: messageTrace, makeSecureChannel: Self.secureChannels(of: tls), clock: clock,
      observer: observer)
  }

  /// Serves one connected stream socket.
  convenience init(
    configuration: HeadUnitConfiguration, serving socket: Socket, tls: TLSContext? = nil,
    clock: TimeSource = .monotonic, observer: any HeadUnitServerObserver
  ) throws(LinkError) {
    try self.init(
      configuration: configuration, source: .connection(socket), admission: .adopted,
      script: HeadUnitScript(), messageTrace: nil, makeSecureChannel: Self.secureChannels(of: tls),
      clock: clock, observer: observer)
  }

  /// Called directly only by a simulation, which has sockets and channels of its own.
  init(
    configuration: HeadUnitConfiguration, source: Source, admission: Admission, script: HeadUnitScript,
    messageTrace: (any MessageTrace)?, makeSecureChannel: SecureChannelFactory?, clock: TimeSource,
    makeSocket: @escaping SocketMaker = Socket.tcp, observer: any HeadUnitServerObserver
  ) throws(LinkError) {
    self.configuration = configuration
    self.source = source
    var admission = admission
    admission.maximumConnectionCount = min(max(admission.maximumConnectionCount, 1), Int(UInt8.max))
    self.admission = admission
    self.script = script
    self.messageTrace = messageTrace
    self.makeSecureChannel = makeSecureChannel
    self.clock = clock
    self.makeSocket = makeSocket
    self.observer = observer
    try wakeUp.open()
    if configuration.behaviour.secondaryTransport == .served { _ = try openSecondaryPort(admission.secondaryPort) }
  }

  private static func secureChannels(of tls: TLSContext?) -> SecureChannelFactory? {
    guard let tls else { return nil }
    return { TLSChannel(tls.makeSession()) }
  }

  /// Makes a channel for each handshake of the apps at an address; nil without TLS.
  func secureChannels(for address: String) -> SecureChannelFactory? {
    guard let makeSecureChannel else { return nil }
    return { [handshakes, clock] () throws(SecureChannelFailure) in
      guard handshakes.withLock({ $0.allows(address, at: clock.now) }) else {
        throw SecureChannelFailure(.handshakeFailed, "too many handshakes of all apps")
      }
      return try makeSecureChannel()
    }
  }

  /// The port that apps connect to; nil for an adopted connection and a transport.
  package var port: UInt16? {
    if case .listener(let port) = source { port.address.port } else { nil }
  }

  /// The address that apps connect to, with its port; nil for an adopted connection and a transport.
  package var address: String? {
    if case .listener(let port) = source { port.address.description } else { nil }
  }

  /// The port for secondary transports; nil while none has been offered.
  package var secondaryPort: UInt16? { secondaryListener?.address.port }

  var secondaryListener: ListeningPort? { secondary.withLock { $0 } }

  /// Another port for secondary transports, on the addresses of the first port, if there is one. The former one is
  /// closed.
  func openSecondaryPort(_ port: UInt16) throws(LinkError) -> ListeningPort {
    let listener =
      switch source {
      case .listener(let first): try ListeningPort(besides: first, port: port)
      case .connection: try ListeningPort(address: "127.0.0.1", port: port, makeSocket: makeSocket)
      // The phone is not on this machine.
      case .transport: try ListeningPort(address: nil, port: port, makeSocket: makeSocket)
      }
    secondary.withLock { $0 = listener }
    // Otherwise it would stay open if the server was stopped meanwhile.
    if isStopRequested { listener.shutDown() }
    return listener
  }

  package func start() throws(LinkError) {
    try thread.start { HeadUnitLoop(server: self).run() }
    do {
      try webSockets.start { self.submit(.transport($0)) }
    } catch {
      stop()
      throw error
    }
    guard case .transport(let transport) = source else { return }
    do {
      try transport.start { self.submit(.transport($0)) }
    } catch {
      stop()
      throw error
    }
  }

  /// Closes all connections, once the data of earlier calls has been offered to the kernel. Returns at once, and with
  /// the port free for another server.
  package func stop() {
    isStopped.store(true, ordering: .releasing)
    if case .listener(let port) = source { port.shutDown() }
    webSockets.port?.shutDown()
    secondaryListener?.shutDown()
    wakeUp.signal()
  }

  /// Waits for the end, which only ``stop()`` makes certain. Does not wait in an observer's callback.
  package func join() {
    thread.join()
  }

  /// Whether the caller is in one of the observer's callbacks, where ``join()`` does not wait.
  package var isOnOwnThread: Bool { thread.isCurrent }
  var isStopRequested: Bool { isStopped.load(ordering: .acquiring) }

  func report(_ event: HeadUnitServerEvent) {
    observer?.server(self, didReport: event)
  }

  /// Reports what the script's expectations came to since the last call.
  func reportTests(of script: inout HeadUnitScriptRun) {
    for picture in script.takePictures() { observer?.server(self, needs: picture) }
    for outcome in script.takeOutcomes() { report(.tested(outcome)) }
    while let end = script.takeEnd() { report(.testEnded(end)) }
  }

  func takeOperations() -> [Operation] {
    operations.withLock { operations in
      defer { operations = [] }
      return operations
    }
  }

  func submit(_ operation: Operation) {
    operations.withLock { $0.append(operation) }
    wakeUp.signal()
  }
}

// MARK: Control of the sessions, from any thread. An id that is not connected is ignored.

extension HeadUnitServer {
  /// Gives sessions an input, on the server's thread, with the present time.
  package func control(
    _ recipient: Recipient, _ input: @escaping @Sendable (inout HeadUnitSession, Duration) -> [HeadUnitSession.Action]
  ) {
    submit(.control(recipient, input))
  }

  /// The configuration of later connections, except for the behaviour, which commands change. Later registrations over
  /// present connections get its screen and video capability.
  package func configure(_ configuration: HeadUnitConfiguration) {
    submit(.configure(configuration))
  }

  /// Changes a condition for all apps, also for those that connect later.
  package func setCondition(_ change: HeadUnitConditions.Change) {
    submit(.setCondition(change))
  }

  /// A test's task with a picture is done.
  /// - Parameter failure: why not; nil if all is well.
  package func end(_ picture: HeadUnitScriptRun.Picture, failure: String?) {
    submit(.endPicture(picture, failure: failure))
  }

  /// Off lets the connection fill up, like a head unit that hangs.
  package func setReading(_ isReading: Bool, for id: UInt8) {
    submit(.read(id: id, isReading))
  }

  /// Carries a command out, on the server's thread. Without a recipient nothing happens, except that a one-time answer
  /// waits for the next app; ``HeadUnitCommand/help`` is left to the caller.
  package func perform(_ command: HeadUnitCommand) {
    if let operation = Operation(command, for: .appOnScreen) { submit(operation) }
  }
}

/// How a ``HeadUnitServer`` chooses the ids of its sessions.
package enum SessionIDs: Sendable {
  /// Any that is free: what an app may do on a second connection depends on nothing but its session's id, so that it
  /// should not be guessed at once.
  case random
  /// 1, 2, 3 …; for tests.
  case ascending

  /// An id that is not in `used`. There are fewer sessions than ids.
  /// - Parameter number: that of the app.
  func next(for number: UInt8, besides used: Set<UInt8>) -> UInt8 {
    let free = (1...UInt8.max).filter { !used.contains($0) }
    switch self {
    case .random: return free.randomElement() ?? number
    case .ascending: return free.first { $0 >= number } ?? free.first ?? number
    }
  }
}
