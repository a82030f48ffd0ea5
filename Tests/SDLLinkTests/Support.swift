import Glibc
import SDLHeadUnit
import SDLMessages
import Synchronization
import Testing

@testable import SDLApp
@testable import SDLLink

/// All tests of this target, one after the other: some count the process's threads and descriptors.
@Suite(.serialized, .timeLimit(.minutes(2))) enum LinkTests {}

/// How long a test waits for what must happen; reached only when it fails.
let testTimeout = Duration.seconds(20)

/// Asks until `condition` holds; for states that nobody announces.
func eventually(_ condition: () -> Bool) -> Bool {
  let deadline = MonotonicClock.now + testTimeout
  while !condition() {
    guard MonotonicClock.now < deadline else { return false }
    poll(nil, 0, 1)
  }
  return true
}

/// A payload in several memory blocks that counts its releases.
final class TestPayload: VideoPayload {
  // Never written after init, and freed only in deinit: safe to read from any thread.
  nonisolated(unsafe) private let memory: UnsafeMutableRawBufferPointer
  private let cuts: [Int]
  private let releases = Mutex<[Bool]>([])
  let isKeyFrame = true

  /// `cuts` are the places where a new block begins, in ascending order.
  init(_ bytes: [UInt8], cuts: [Int] = []) {
    memory = .allocate(byteCount: max(bytes.count, 1), alignment: 1)
    memory.copyBytes(from: bytes)
    self.cuts = [0] + cuts + [bytes.count]
  }

  deinit { memory.deallocate() }

  var byteCount: Int { cuts.last ?? 0 }
  var segmentCount: Int { cuts.count - 1 }
  func segment(at index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: memory[cuts[index]..<cuts[index + 1]])
  }
  func release(wasSent: Bool) { releases.withLock { $0.append(wasSent) } }

  /// One entry per release: whether it was sent.
  var outcomes: [Bool] { releases.withLock { $0 } }
}

/// Bytes that look like nothing, the same for the same seed.
func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
  var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
  return (0..<count).map { _ in
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return UInt8(truncatingIfNeeded: state)
  }
}

/// Keeps the events of a connection.
final class ConnectionRecorder: AppConnectionObserver {
  private struct State: Sendable {
    var events: [ConnectionEvent] = []
    var endedCount = 0
    var grants: [VideoGrant] = []
    var stopCount = 0
  }
  private let state = Monitor(State())
  private let callback: @Sendable (AppConnection, ConnectionEvent) -> Void

  init(_ callback: @escaping @Sendable (AppConnection, ConnectionEvent) -> Void = { _, _ in }) {
    self.callback = callback
  }

  func connection(_ connection: AppConnection, didReport event: ConnectionEvent) {
    state.withLock { state in
      state.events.append(event)
      if case .ended = event { state.endedCount += 1 }
      if case .session(.videoStarted(let grant)) = event { state.grants.append(grant) }
      if case .session(.videoStopped) = event { state.stopCount += 1 }
    }
    state.broadcast()
    callback(connection, event)
  }

  var events: [ConnectionEvent] { state.withLock { $0.events } }
  var endedCount: Int { state.withLock { $0.endedCount } }

  func waitFor<Result>(_ match: @escaping (ConnectionEvent) -> Result?) -> Result? {
    state.wait(until: MonotonicClock.now + testTimeout) { $0.events.lazy.compactMap(match).first }
  }

  /// The failure of the `ended` event; nil, after testTimeout, if there is no such event.
  func waitForEnd() -> ConnectionFailure?? {
    waitFor { if case .ended(let error) = $0 { .some(error) } else { nil } }
  }

  /// Of all grants, in the order of their coming.
  var epochs: [UInt32] { state.withLock { $0.grants.map(\.epoch) } }

  /// The failures after which the connection was to be made again, and the pauses before that.
  var losses: [(failure: ConnectionFailure, pause: Duration)] {
    events.compactMap { if case .lost(let failure, let pause) = $0 { (failure, pause) } else { nil } }
  }

  var hasBeenLost: Bool { !losses.isEmpty }

  /// Of the first grant after the first loss.
  func waitForEpochAfterLoss() -> UInt32? {
    state.wait(until: MonotonicClock.now + testTimeout) { state in
      let afterLoss = state.events.drop { if case .lost = $0 { false } else { true } }
      return afterLoss.lazy.compactMap { event -> UInt32? in
        if case .session(.videoStarted(let grant)) = event { grant.epoch } else { nil }
      }.first
    }
  }

  func waitForLoss(number: Int = 1) -> Bool { eventually { self.losses.count >= number } }

  var latestGrant: VideoGrant? { state.withLock { $0.grants.last } }

  func waitForStop(number: Int) -> Bool {
    state.wait(until: MonotonicClock.now + testTimeout) { $0.stopCount >= number ? true : nil } ?? false
  }

  func waitForGrant(number: Int = 1) -> VideoGrant? {
    state.wait(until: MonotonicClock.now + testTimeout) { $0.grants.count >= number ? $0.grants[number - 1] : nil }
  }
}

/// Keeps the events of a head unit.
final class HeadUnitRecorder: HeadUnitServerObserver {
  private struct State: Sendable {
    var events: [HeadUnitServerEvent] = []
    var videoMessages: [[UInt8]] = []
    var protocolViolations: [Violation] = []
  }
  private let state = Monitor(State())
  private let keepsVideo: Bool

  init(keepsVideo: Bool = true) {
    self.keepsVideo = keepsVideo
  }

  func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) {
    state.withLock { state in
      switch event {
      case .session(_, .videoData(let bytes)): state.videoMessages.append(keepsVideo ? bytes : [])
      // The tests' video is noise.
      case .session(_, .violation(.stream)): break
      case .session(_, .violation(let violation)): state.protocolViolations.append(violation)
      default: state.events.append(event)
      }
    }
    state.broadcast()
  }

  var videoMessages: [[UInt8]] { state.withLock { $0.videoMessages } }
  var protocolViolations: [Violation] { state.withLock { $0.protocolViolations } }

  func waitForMessages(_ count: Int) -> Bool {
    state.wait(until: MonotonicClock.now + testTimeout) { $0.videoMessages.count >= count ? true : nil } ?? false
  }

  func waitFor<Result>(_ match: @escaping (HeadUnitServerEvent) -> Result?) -> Result? {
    state.wait(until: MonotonicClock.now + testTimeout) { $0.events.lazy.compactMap(match).first }
  }

  func hasReported(_ match: (HeadUnitServerEvent) -> Bool) -> Bool {
    state.withLock { $0.events.contains(where: match) }
  }

  /// In the order of their coming.
  var connectionIDs: [UInt8] {
    state.withLock { $0.events.compactMap { if case .connected(let id, _) = $0 { id } else { nil } } }
  }

  /// What one app was told, in order.
  func statuses(of id: UInt8) -> [HMIStatus] {
    state.withLock { state in
      state.events.compactMap { if case .session(id, .hmiStatusSent(let status)) = $0 { status } else { nil } }
    }
  }

  func waitForConnection() -> UInt8? { waitFor { if case .connected(let id, _) = $0 { id } else { nil } } }
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
  reconnection: Reconnection.Timing? = nil, observer: ConnectionRecorder
) -> AppConnection {
  AppConnection(
    configuration: AppConnection.Configuration(
      endpoint: .tcp(host: host, port: port), session: testSession, connectTimeout: connectTimeout,
      videoQueueCapacity: capacity, reconnection: reconnection),
    observer: observer)
}

extension Reconnection.Timing {
  /// Pauses that tests can afford.
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
  let app = ConnectionRecorder()
  let server: HeadUnitServer
  let connection: AppConnection
  let grant: VideoGrant

  init(_ configuration: HeadUnitConfiguration = quickHeadUnit(), capacity: Int = 3) throws {
    server = try HeadUnitServer(configuration: configuration, address: "127.0.0.1", port: 0, observer: headUnit)
    try server.start()
    connection = makeConnection(port: try #require(server.port), capacity: capacity, observer: app)
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

/// A raw peer for what no head unit does.
final class RawListener {
  let socket: Socket
  let port: UInt16

  init(address: String = "127.0.0.1") throws {
    let bound: SocketAddress
    (socket, bound) = try Socket.listening(address: address, port: 0)
    port = bound.port
  }

  func accept() throws -> Socket {
    var descriptor: Int32 = -1
    try #require(
      eventually {
        descriptor = Glibc.accept(socket.descriptor, nil, nil)
        return descriptor >= 0
      })
    return Socket(adopting: descriptor)
  }
}

extension Socket {
  /// Everything until `isEnough`, or the peer's end.
  func readAll(until isEnough: ([UInt8]) -> Bool = { _ in false }) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let deadline = MonotonicClock.now + testTimeout
    while !isEnough(bytes), MonotonicClock.now < deadline {
      switch buffer.withUnsafeMutableBytes({ receive(into: $0) }) {
      case .bytes(let count): bytes += buffer[..<count]
      case .wouldBlock: poll(nil, 0, 1)
      case .endOfStream, .failed: return bytes
      }
    }
    return bytes
  }

  func write(_ bytes: [UInt8]) {
    _ = bytes.withUnsafeBytes { send($0) }
  }
}
