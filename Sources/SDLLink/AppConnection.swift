import Glibc
import SDLApp
import SDLHeadUnit
import Synchronization

/// The app's connection to a head unit, made again when it breaks: one thread that reads, keeps time and decides. Video is
/// written by the thread that brings it, as long as the kernel takes it.
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
    /// Nil ends with the first failure.
    public var reconnection: Reconnection.Timing?
    public var listener: (any ConversationListener)?

    /// With the usual limits.
    public init(
      endpoint: Endpoint, session: AppSession.Configuration, connectTimeout: Duration = .seconds(10),
      videoQueueCapacity: Int = 3, reconnection: Reconnection.Timing? = nil
    ) {
      self.endpoint = endpoint
      self.session = session
      self.connectTimeout = connectTimeout
      self.videoQueueCapacity = videoQueueCapacity
      self.reconnection = reconnection
    }
  }

  /// What other threads want from the connection thread.
  struct Commands: Sendable {
    var intent = VideoIntent()
    /// The session does not know of it yet.
    var isIntentNew = false
    /// When to report ``ConnectionEvent/alarm``.
    var timer: Duration?
    var stop: Stop?
  }

  /// What the app would do about video.
  struct VideoIntent: Equatable, Sendable {
    var wish: VideoStartRequest?
    var supportedDisplays: [VideoDisplay] = []
    var appState = AppState.foreground
    /// What can be touched; nil when the app has never said.
    var hapticRectangles: HapticRectangleList?
  }

  /// The end as asked for.
  struct Stop: Sendable {
    var deadline: Duration
    /// How much of the time may be spent on video that is still queued.
    var drainTime: Duration
  }

  /// Between two attempts to reach a head unit that refuses connections because it is just starting.
  static let refusalPause = Duration.milliseconds(250)

  let configuration: Configuration
  let wakeUp = WakeUp()
  let queue: VideoQueue
  let outlet: Outlet
  private let orders = Monitor(Commands())
  private let receivedByteCount = Atomic<UInt64>(0)
  private let thread = WorkerThread(name: "sdl-connection")
  let builtInHeadUnit = Mutex<BuiltInHeadUnit?>(nil)
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
      lastVideoDwellTime: counters.lastDwellTime, longestVideoDwellTime: counters.longestDwellTime,
      queuedFrames: counters.queuedFrames,
      queuedByteCount: counters.queuedByteCount)
  }
}

/// Video, from any thread.
extension AppConnection {
  /// What to stream from now on; nil ends the video service after what is queued has had half a second to leave.
  public func setVideoRequest(_ wish: VideoStartRequest?) {
    change { $0.wish = wish }
  }

  /// Which of the head unit's displays the app supports, for the head unit to know.
  public func setSupportedDisplays(_ displays: [VideoDisplay]) {
    change { $0.supportedDisplays = displays }
  }

  /// How the app stands to its user from now on. Outside the foreground the session keeps its grant; it is for the
  /// caller to send no more than a notice.
  public func setAppState(_ appState: AppState) {
    change { $0.appState = appState }
  }

  /// What can be touched in the pictures from now on; nil leaves the head unit as it is. Only the newest list is sent, when
  /// the head unit is ready for it.
  public func setHapticRectangles(_ list: HapticRectangleList?) {
    change { $0.hapticRectangles = list }
  }

  private func change(_ body: (inout VideoIntent) -> Void) {
    orders.withLock { orders in
      body(&orders.intent)
      orders.isIntentNew = true
    }
    wakeUp.signal()
  }

  /// Asks for ``ConnectionEvent/alarm`` at `time`, on the clock of ``MonotonicClock``, or when an earlier alarm comes that
  /// has been asked for. While there is no connection, none comes.
  public func setTimer(at time: Duration) {
    orders.withLock { $0.timer = $0.timer.earlier(time) }
    if !thread.isCurrent { wakeUp.signal() }
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

  /// The intent, if it is news.
  func takeNewIntent() -> VideoIntent? {
    orders.withLock { orders in
      defer { orders.isIntentNew = false }
      return orders.isIntentNew ? orders.intent : nil
    }
  }

  /// A session begins that has been told nothing.
  func renewIntent() {
    orders.withLock { $0.isIntentNew = true }
  }

  var timer: Duration? { orders.withLock { $0.timer } }

  /// Whether the alarm's time has come; if so, it is over.
  func takeElapsedTimer(now: Duration) -> Bool {
    orders.withLock { orders in
      guard let timer = orders.timer, timer <= now else { return false }
      orders.timer = nil
      return true
    }
  }

  var stopCommand: Stop? { orders.withLock { $0.stop } }

  func count(received: Int) {
    receivedByteCount.wrappingAdd(UInt64(received), ordering: .relaxed)
  }
}
