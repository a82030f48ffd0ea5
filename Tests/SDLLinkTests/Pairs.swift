import Glibc
import SDLHeadUnit
import TestSupport
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLHeadUnitLink
@testable import SDLLink

/// The right to send.
func makeGrant(_ epoch: UInt32, of service: ServiceType = .video, maximumPayload: Int = 1000) -> MediaGrant {
  MediaGrant(service: service, epoch: epoch, sessionID: 9, version: 5, maximumPayload: maximumPayload)
}

extension ConnectionWriter {
  func setVideoGrant(_ grant: MediaGrant?, sending frames: [[UInt8]], peer: String) throws {
    try setGrants([GrantChange(medium: .video, grant: grant)], sending: frames.map { .frames($0) }, peer: peer)
  }
}

/// A head unit that opens every app at once and takes any size.
func quickHeadUnit() -> HeadUnitConfiguration {
  var configuration = HeadUnitPreset.standard.configuration
  configuration.activation = .zero
  configuration.refusesUnknownSizes = false
  return configuration
}

let testSession = AppSession.Configuration(appName: "Test", appID: "test", appType: .navigation, language: "EN-US")
let testRequest = VideoStartRequest(size: VideoSize(800, 480))

/// A connection to a TCP port of this machine.
func makeConnection(
  port: UInt16, host: String = "127.0.0.1", connectTimeout: Duration = .seconds(10), capacity: Int = 3,
  reconnection: Reconnection.Timing? = nil, clock: ManualClock? = nil, name: String = "Test", id: String? = nil,
  heartbeat: Duration? = testSession.heartbeatInterval, observer: ConnectionRecorder
) -> AppConnection {
  var session = testSession
  session.appName = name
  session.appID = id ?? name.lowercased()
  session.heartbeatInterval = heartbeat
  let connection = AppConnection(
    configuration: AppConnection.Configuration(
      endpoint: .tcp(host: host, port: port), session: session, connectTimeout: connectTimeout,
      videoQueueCapacity: capacity, reconnection: reconnection, clock: clock.map { TimeSource($0) } ?? .monotonic),
    observer: observer)
  let wakeUp = connection.wakeUp
  clock?.onAdvance { wakeUp.signal() }
  return connection
}

extension AppConnection {
  /// Whether the kernel has taken what it takes while the peer does not read.
  var isBlocked: Bool {
    let sent = writer.sentByteCount
    poll(nil, 0, 20)
    return video.statistics.queuedFrames > 0 && sent == writer.sentByteCount
  }

  /// Waits for at least one round of the connection thread, from the commands to the next wait, so that earlier
  /// commands are carried out. Uses the timer.
  func settle(_ observer: ConnectionRecorder) -> Bool {
    (0..<2).allSatisfy { _ in
      let count = observer.timerCount
      setTimer(at: clock.now)
      return eventually { observer.timerCount > count }
    }
  }
}

extension TimeSource {
  init(_ clock: ManualClock) {
    self.init { clock.now }
  }
}

extension Reconnection.Timing {
  /// Reconnection pauses that are short enough for tests.
  init(first: Duration, longest: Duration = .milliseconds(20), steady: Duration = .seconds(10)) {
    self.init()
    self.first = first
    self.longest = max(first, longest)
    self.steady = steady
  }
}

/// An app that streams to a head unit over TCP.
struct StreamingPair {
  let headUnit = HeadUnitRecorder()
  let app: ConnectionRecorder
  let server: HeadUnitServer
  let connection: AppConnection
  let grant: VideoGrant

  /// `clock` is that of both sides; without one, they have the real time.
  init(
    _ configuration: HeadUnitConfiguration = quickHeadUnit(), capacity: Int = 3, clock: ManualClock? = nil,
    app: ConnectionRecorder = ConnectionRecorder()
  ) throws {
    self.app = app
    var configuration = configuration
    // A clock that stands still would let the start wait without end.
    if clock != nil { configuration.videoStartTime = nil }
    server = try HeadUnitServer(
      configuration: configuration, address: "127.0.0.1", port: 0, clock: clock.map { TimeSource($0) } ?? .monotonic,
      observer: headUnit)
    let wakeUp = server.wakeUp
    clock?.onAdvance { wakeUp.signal() }
    try server.start()
    connection = makeConnection(port: try #require(server.port), capacity: capacity, clock: clock, observer: app)
    connection.setVideoRequest(testRequest)
    try connection.start()
    grant = try #require(app.waitForGrant())
  }

  func stop() {
    connection.stop(grace: .seconds(1))
    connection.join()
    server.stop()
    server.join()
  }
}
