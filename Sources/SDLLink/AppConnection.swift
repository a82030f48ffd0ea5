import Glibc
import SDLApp
import SDLHeadUnit
import Synchronization

/// The app's connection to a head unit: one thread that reads, keeps time and decides. Video is written by the thread
/// that brings it, as long as the kernel takes it.
///
/// The thread keeps the connection alive, and the connection refers to its observer only weakly. So the owner must
/// ``stop(grace:)`` it before letting it go, and no event comes to an observer that is gone.
public final class AppConnection: Sendable {
  /// Where the head unit is.
  public enum Endpoint: Equatable, Sendable {
    /// A host name or numeric address, IPv6 without brackets.
    case tcp(host: String, port: UInt16)
    /// A head unit in this process, behind a socket pair.
    case builtIn(HeadUnitConfiguration)
  }

  /// What to connect to, and how.
  public struct Configuration: Sendable {
    public var endpoint: Endpoint
    public var session: AppSession.Configuration
    /// For resolving and connecting together.
    public var connectTimeout: Duration
    /// In frames; each is latency.
    public var videoQueueCapacity: Int

    /// With the usual limits.
    public init(
      endpoint: Endpoint, session: AppSession.Configuration, connectTimeout: Duration = .seconds(10),
      videoQueueCapacity: Int = 3
    ) {
      self.endpoint = endpoint
      self.session = session
      self.connectTimeout = connectTimeout
      self.videoQueueCapacity = videoQueueCapacity
    }
  }

  /// What other threads want from the connection thread.
  struct Orders: Sendable {
    /// Not nil when the wish has changed.
    var newWish: VideoWish??
    var stop: Stop?
  }

  /// The end as asked for.
  struct Stop: Sendable {
    var deadline: Duration
    /// How much of the time may be spent on video that is still queued.
    var drainTime: Duration
  }

  /// How long a head unit that is just starting may refuse connections before that is an error.
  private static let refusalPatience = Duration.seconds(2)
  private static let refusalPause = Duration.milliseconds(250)

  let configuration: Configuration
  let wakeUp = WakeUp()
  let queue: VideoQueue
  let outlet: Outlet
  private let orders = Monitor(Orders())
  private let receivedByteCount = Atomic<UInt64>(0)
  private let thread = WorkerThread(name: "sdl-connection")
  private let builtInHeadUnit = Mutex<BuiltInHeadUnit?>(nil)
  private weak let observer: (any AppConnectionObserver)?

  /// A connection that does nothing before ``start()``.
  public init(configuration: Configuration, observer: any AppConnectionObserver) {
    self.configuration = configuration
    self.observer = observer
    queue = VideoQueue(capacity: configuration.videoQueueCapacity)
    outlet = Outlet(queue: queue)
  }

  /// Begins to connect; failures of that come as the `ended` event. Throws only when no thread or descriptor can be
  /// had. A second start does nothing.
  public func start() throws(LinkError) {
    try wakeUp.open()
    try thread.start { self.run() }
  }

  /// Asks for the end: queued video and the session's farewell get at most `grace`, then the socket closes. Returns at
  /// once.
  public func stop(grace: Duration) {
    let stop = Stop(deadline: MonotonicClock.now + grace, drainTime: min(ConnectionLoop.drainTime, grace / 2))
    orders.withLock { orders in
      if let present = orders.stop, present.deadline <= stop.deadline { return }
      orders.stop = stop
    }
    wakeUp.signal()
  }

  /// Waits until the connection has ended, which only ``stop(grace:)`` makes certain. Does not wait in an observer's
  /// callback.
  public func join() {
    guard !isOnOwnThread else { return }
    thread.join()
  }

  /// Whether the caller runs in an observer's callback.
  private var isOnOwnThread: Bool {
    thread.isCurrent || builtInHeadUnit.withLock { $0 }?.server.isOnOwnThread == true
  }

  /// A snapshot.
  public var statistics: LinkStatistics {
    let counters = queue.counters
    return LinkStatistics(
      sentByteCount: outlet.sentByteCount, receivedByteCount: receivedByteCount.load(ordering: .relaxed),
      sentVideoMessages: counters.sentMessages,
      sentVideoByteCount: counters.sentByteCount, discardedVideoMessages: counters.discardedMessages,
      lastVideoDwellTime: counters.lastDwellTime, queuedFrames: counters.queuedFrames,
      queuedByteCount: counters.queuedByteCount)
  }
}

/// Video, from any thread.
extension AppConnection {
  /// What to stream from now on; nil ends the video service after what is queued has had half a second to leave.
  public func setVideoWish(_ wish: VideoWish?) {
    orders.withLock { $0.newWish = .some(wish) }
    wakeUp.signal()
  }

  /// Offers a payload made for the grant of `grantEpoch`. With anything but `queued` it still belongs to the caller.
  ///
  /// Writes it at once if that needs no waiting, and then payloads are released here.
  ///
  /// If `blocking`, waits while the queue is full; ``setFlushing(_:)`` ends that, as does the loss of the grant. It
  /// does not wait in an observer's callback.
  public func submit(_ payload: any VideoPayload, grantEpoch: UInt32, blocking: Bool) -> SubmitResult {
    let result = queue.submit(payload, grantEpoch: grantEpoch, blocking: blocking && !isOnOwnThread)
    // In an observer's callback the connection thread has more urgent things to write first.
    if result == .queued, !thread.isCurrent, queue.claim(), outlet.writeIfFree() != .idle { wakeUp.signal() }
    return result
  }

  /// Whether a frame that is offered now would have to wait: a live source may save the work of making it.
  public var isVideoQueueFull: Bool { queue.isFull }

  /// While on, nothing waits and ``submit(_:grantEpoch:blocking:)`` takes nothing. Queued payloads stay queued.
  public func setFlushing(_ isFlushing: Bool) {
    queue.setFlushing(isFlushing)
  }

  /// Whether, within `timeout`, all queued bytes were handed to the kernel. False at once when flushing, or when they
  /// had to be discarded.
  public func waitUntilDrained(timeout: Duration) -> Bool {
    let timeout = isOnOwnThread ? .zero : timeout
    return queue.waitUntilDrained(until: MonotonicClock.now + timeout)
  }
}

/// The connection thread.
extension AppConnection {
  func report(_ event: ConnectionEvent) {
    observer?.connection(self, didReport: event)
  }

  func takeNewWish() -> VideoWish?? {
    orders.withLock { $0.newWish.take() }
  }

  var stopOrder: Stop? { orders.withLock { $0.stop } }

  func count(received: Int) {
    receivedByteCount.wrappingAdd(UInt64(received), ordering: .relaxed)
  }

  private func run() {
    var failure: LinkError?
    do {
      if let reader = try openTransport() {
        outlet.open(reader.socket)
        report(.connected(peer: reader.peer))
        failure = ConnectionLoop(connection: self, reader: reader).run()
      }
    } catch {
      failure = error
    }
    // First, because until then the memory of queued payloads may be read.
    outlet.close()
    queue.close()
    if let server = builtInHeadUnit.withLock({ $0 })?.server {
      server.stop()
      server.join()
    }
    report(.ended(stopOrder == nil ? failure : nil))
  }

  /// Nil when the connection is not wanted any more.
  private func openTransport() throws(LinkError) -> FrameReader? {
    switch configuration.endpoint {
    case .tcp(let host, let port): try connect(host: host, port: port)
    case .builtIn(let headUnit): try startBuiltIn(headUnit)
    }
  }

  private func connect(host: String, port: UInt16) throws(LinkError) -> FrameReader? {
    let timeout = configuration.connectTimeout
    let deadline = MonotonicClock.now + timeout
    report(.resolving(host: host))
    let resolver = try Resolver.start(host: host, port: port, wakeUp: wakeUp)
    guard
      let resolved = resolver.wait(until: deadline, wakeUp: wakeUp, isWanted: { self.stopOrder == nil })
    else {
      guard stopOrder == nil else { return nil }
      throw .resolvingTimedOut(host: host, after: timeout)
    }
    let addresses = try resolved.get()
    let patience = min(MonotonicClock.now + Self.refusalPatience, deadline)
    while true {
      let began = MonotonicClock.now
      var connector = Connector(addresses: addresses, timeout: timeout, deadline: deadline, now: began)
      let outcome = connector.run(
        wakeUp: wakeUp, isWanted: { self.stopOrder == nil },
        willTry: { self.report(.connecting(address: $0.description)) })
      switch outcome {
      case .connected(let socket, let address): return FrameReader(socket: socket, peer: address.description)
      case .interrupted: return nil
      case .failed(.refused) where began < patience: waitForOrders(until: began + Self.refusalPause)
      case .failed(let error): throw error
      }
    }
  }

  private func waitForOrders(until deadline: Duration) {
    withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 1) { descriptors in
      descriptors[0] = pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
      pollDescriptors(descriptors, until: deadline)
    }
    wakeUp.clear()
  }

  private func startBuiltIn(_ headUnit: HeadUnitConfiguration) throws(LinkError) -> FrameReader {
    let (ours, theirs) = try Socket.pair()
    let observer = BuiltInObserver(connection: self)
    let server = try HeadUnitServer(configuration: headUnit, serving: theirs, observer: observer)
    builtInHeadUnit.withLock { $0 = BuiltInHeadUnit(server: server, observer: observer) }
    try server.start()
    return FrameReader(socket: ours, peer: "the built-in head unit")
  }
}

/// The other end of the built-in connection. The server refers to its observer only weakly.
private struct BuiltInHeadUnit: Sendable {
  var server: HeadUnitServer
  var observer: BuiltInObserver
}

/// Hands the built-in head unit's news on.
private final class BuiltInObserver: HeadUnitServerObserver {
  private weak let connection: AppConnection?

  init(connection: AppConnection) {
    self.connection = connection
  }

  func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) {
    guard case .session(_, let event) = event else { return }
    if case .videoData = event { return }
    connection?.report(.headUnit(event))
  }
}
