import Glibc
import SDLApp
import SDLHeadUnit
import SDLWire
import Synchronization
import TLSEngine

/// The app's connection to a head unit, made again when it breaks: one thread that reads, keeps time and decides. Media is
/// written by the thread that brings it, as long as the kernel takes it.
///
/// The app is registered from the first connection to ``stop(grace:)``, with or without video: streams come and go in
/// between, by ``setVideoRequest(_:)``; so does sound, by ``setAudioRequest(_:)``.
///
/// The thread keeps the connection alive, and the connection refers to its observer only weakly. So the owner must
/// ``stop(grace:)`` it before letting it go, and no event comes to an observer that is gone.
public final class AppConnection: Sendable {
  /// Where the head unit is: how to get a connected descriptor.
  public enum Endpoint: Sendable {
    /// A host name or numeric address, IPv6 without brackets.
    case tcp(host: String, port: UInt16)
    /// A head unit in this process, behind a socket pair.
    case builtIn(HeadUnitConfiguration)
    /// A connection that stands already. It can't be made again, so there should be no ``Configuration/reconnection``.
    case descriptor(ConnectedDescriptor)
    /// Connections that come by themselves, however long that takes. It is started by the connection, and stopped at its end.
    case transport(any Transport)

    /// What its connections run over. Of a descriptor nothing is known.
    public var transportClass: TransportClass {
      switch self {
      case .tcp, .builtIn, .descriptor: .tcpWiFi
      case .transport(let transport): transport.transportClass
      }
    }
  }

  /// What to connect to, and how.
  public struct Configuration: Sendable {
    public var endpoint: Endpoint
    public var session: AppSession.Configuration
    /// For resolving and connecting together. Not for the wait for a peer that comes by itself, but for what it needs for that.
    public var connectTimeout: Duration
    /// In frames; each is latency.
    public var videoQueueCapacity: Int
    /// In payloads; a second of sound in pieces of 20 ms. No more than 1 MiB is queued, except for one larger payload.
    public var audioQueueCapacity = 50
    /// Nil ends with the first failure.
    public var reconnection: Reconnection.Timing?
    /// Gets the messages of the connection; nil for none.
    public var messageTrace: (any MessageTrace)?
    /// Of all time-outs and of ``AppConnection/setTimer(at:)``.
    public var clock: TimeSource
    /// This end of TLS; nil refuses handshakes. The role of a client needs ``AppSession/Configuration/beginsHandshake``.
    public var tls: TLSContext?

    /// With the usual limits.
    public init(
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
  public let video: MediaChannel
  /// Sound, from any thread.
  public let audio: MediaChannel
  let clock: TimeSource
  let wakeUp = WakeUp()
  let writer: ConnectionWriter
  let threads = ObserverThreads()
  /// For ``Endpoint/transport(_:)``.
  let inbox: TransportInbox
  private let commands = Monitor(Commands())
  private let receivedByteCount = Atomic<UInt64>(0)
  private weak let observer: (any AppConnectionObserver)?

  /// A connection that does nothing before ``start()``.
  public init(configuration: Configuration, observer: any AppConnectionObserver) {
    self.configuration = configuration
    self.observer = observer
    clock = configuration.clock
    inbox = TransportInbox(wakeUp: wakeUp)
    writer = ConnectionWriter(
      videoCapacity: configuration.videoQueueCapacity, audioCapacity: configuration.audioQueueCapacity, clock: clock,
      wakeUp: wakeUp)
    video = MediaChannel(.video, writer: writer, threads: threads)
    audio = MediaChannel(.audio, writer: writer, threads: threads)
  }

  /// Begins to connect; failures of that come as the `ended` event. A second start does nothing.
  ///
  /// - Throws: ``LinkError/system(operation:errno:)`` when no thread or descriptor can be had.
  public func start() throws(LinkError) {
    try wakeUp.open()
    try threads.connection.start { self.run() }
  }

  /// Asks for the end: queued video and the end of the session get at most `grace`, then the socket closes. Returns at
  /// once.
  ///
  /// Only a session whose registration is not answered yet may take longer, up to its own time-outs: SDL Core registers
  /// an app whose session has ended meanwhile, and never unregisters it. Whoever can't wait need not ``join()``.
  public func stop(grace: Duration) {
    let stop = Stop(deadline: clock.now + grace, drainTimeout: min(ConnectionLoop.drainTimeout, grace / 2))
    commands.withLock { commands in
      if let present = commands.stop, present.deadline <= stop.deadline { return }
      commands.stop = stop
    }
    wakeUp.signal()
  }

  /// What its primary transport runs over.
  public var transportClass: TransportClass { configuration.endpoint.transportClass }

  /// Waits until the connection has ended, which only ``stop(grace:)`` makes certain. Does not wait in an observer's
  /// callback.
  public func join() {
    guard !threads.isCurrent else { return }
    threads.connection.join()
  }

  /// Whether the caller runs in a callback of the observer, where nothing must be waited for that has to come from this very
  /// thread.
  public var isOnObserverThread: Bool { threads.isCurrent }

  /// A snapshot.
  public var statistics: LinkStatistics {
    LinkStatistics(
      sentByteCount: writer.sentByteCount, receivedByteCount: receivedByteCount.load(ordering: .relaxed),
      video: video.statistics, audio: audio.statistics)
  }
}

// MARK: What the app wants, from any thread

extension AppConnection {
  /// What to stream from now on; nil ends the video service after what is queued has had half a second to leave. The app
  /// stays registered.
  public func setVideoRequest(_ request: VideoStartRequest?) {
    changeVideo { $0.request = request }
  }

  /// Which of the head unit's displays the app supports, for the head unit to know.
  public func setSupportedDisplays(_ displays: [VideoDisplay]) {
    changeVideo { $0.supportedDisplays = displays }
  }

  /// How the app stands to its user from now on. Outside the foreground the session keeps its grant; it is for the
  /// caller to send no more than a notice.
  public func setAppState(_ appState: AppState) {
    changeVideo { $0.appState = appState }
  }

  /// What can be touched in the pictures from now on; nil leaves the head unit as it is. Only the newest list is sent, when
  /// the head unit is ready for it.
  public func setHapticRectangles(_ list: HapticRectangleList?) {
    changeVideo { $0.hapticRectangles = list }
  }

  /// Asks for sound from now on; nil ends the audio service after what is queued has had half a second to leave. The video goes
  /// on.
  public func setAudioRequest(_ request: AudioStartRequest?) {
    change { commands in commands.audio.change { $0.request = request } }
  }

  private func changeVideo(_ body: (inout VideoParameters) -> Void) {
    change { $0.video.change(body) }
  }

  private func change(_ body: (inout Commands) -> Void) {
    commands.withLock { body(&$0) }
    wakeUp.signal()
  }

  /// Asks for ``ConnectionEvent/timerFired`` at `time`, on the clock of ``Configuration/clock``, or at an earlier time that
  /// has been asked for. While there is no connection, none comes.
  public func setTimer(at time: Duration) {
    commands.withLock { $0.timer = $0.timer.earlier(time) }
    if !threads.connection.isCurrent { wakeUp.signal() }
  }
}

// MARK: The connection thread

extension AppConnection {
  func report(_ event: ConnectionEvent) {
    observer?.connection(self, didReport: event)
  }

  /// What has changed of the video's parameters since the last call; nil for nothing.
  func takeNewVideo() -> VideoParameters? {
    commands.withLock { $0.video.take() }
  }

  /// The same for audio.
  func takeNewAudio() -> AudioParameters? {
    commands.withLock { $0.audio.take() }
  }

  /// A session begins that knows nothing yet.
  func renewServices() {
    commands.withLock { commands in
      commands.video.renew()
      commands.audio.renew()
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

  func count(received: Int) {
    receivedByteCount.wrappingAdd(UInt64(received), ordering: .relaxed)
  }
}
