import Foundation
import SDLHeadUnit
import SDLHeadUnitLink
import SDLLink
import SDLMessages
import TLSEngine
import Testing

/// A head unit that listens on a local port and records everything.
final class TestHeadUnit {
  /// What has come so far.
  struct Record: Sendable {
    /// Ids of the apps that have connected, in order.
    var connections: [UInt8] = []
    /// The same in the order of their registrations.
    var registrations: [UInt8] = []
    var disconnections = 0
    var events: [HeadUnitSession.Event] = []
    /// The access units of all video services.
    var video: [[UInt8]] = []
    /// When each of them came.
    var arrivals: [Duration] = []
    /// The times from one to the next.
    var gaps: [Duration] { zip(arrivals, arrivals.dropFirst()).map { $1 - $0 } }
    /// How many there were when each service started.
    var starts: [Int] = []
    var violations: [Violation] = []
    /// Without bursts, which a head unit sees that stood still and then reads everything at once.
    var violationsBesidesBursts: [Violation] { violations.filter { !"\($0)".contains("frameRate") } }
    /// The sound of all audio services.
    var audio: [UInt8] = []
    /// How many bytes of it there were when each service started.
    var audioStarts: [Int] = []
    /// When each of its messages came, and how many bytes of it there were then.
    var audioArrivals: [(time: Duration, byteCount: Int)] = []

    var audioStopReasons: [HeadUnitSession.StopReason] {
      events.compactMap { if case .audioStopped(let reason, _) = $0 { reason } else { nil } }
    }

    var refusals: Int { events.count { if case .videoRefused = $0 { true } else { false } } }

    /// The displays that the app has reported as supported.
    var appCapabilities: [VideoStreamingCapability] {
      events.compactMap { if case .appCapability(let capability) = $0 { capability } else { nil } }
    }

    /// The touch messages that were sent.
    var touches: Int { events.count { if case .touchSent = $0 { true } else { false } } }

    /// Every list of touchable rectangles that has come.
    var hapticLists: [[HapticRectangle]] {
      events.compactMap { if case .hapticRectangles(let list) = $0 { list } else { nil } }
    }

    var stopReasons: [HeadUnitSession.StopReason] {
      events.compactMap { if case .videoStopped(let reason) = $0 { reason } else { nil } }
    }
  }

  private final class Recorder: HeadUnitServerObserver {
    let record = Monitor(Record())

    func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) {
      record.withLock { record in
        switch event {
        case .connected(let id, _): record.connections.append(id)
        case .disconnected: record.disconnections += 1
        case .ended, .refused, .secondaryTransportRefused, .secondaryPortFailed, .stepExecuted, .stepSkipped,
          .transport, .stepsDropped, .tested, .testEnded:
          break
        case .session(_, .videoData(let message)):
          record.video.append(message)
          record.arrivals.append(MonotonicClock.now)
        case .session(_, .audioData(let message)):
          record.audio += message
          record.audioArrivals.append((MonotonicClock.now, record.audio.count))
        case .session(let id, let event):
          record.events.append(event)
          if case .appRegistered = event { record.registrations.append(id) }
          if case .videoStarted = event { record.starts.append(record.video.count) }
          if case .audioStarted = event { record.audioStarts.append(record.audio.count) }
          if case .violation(let violation) = event { record.violations.append(violation) }
        }
      }
      record.broadcast()
    }
  }

  /// Milliseconds that every head unit takes to start video, unless a test says how long: what passes on a quick machine
  /// only fails then.
  private static let startDelay = ProcessInfo.processInfo.environment["SDL_TEST_START_DELAY"].flatMap { Int($0) }.map {
    Duration.milliseconds($0)
  }

  private let recorder = Recorder()
  /// What the other end says of itself, for the texts of failures.
  var otherEnd: () -> String = { "" }
  let server: HeadUnitServer
  let port: UInt16

  /// - Parameter tls: for encryption; nil without.
  init(_ configuration: HeadUnitConfiguration = .small(), tls: TLSContext? = nil) throws {
    var configuration = configuration
    if configuration.behaviour.videoStartDelay == nil { configuration.behaviour.videoStartDelay = Self.startDelay }
    server = try HeadUnitServer(
      configuration: configuration, address: "127.0.0.1", port: 0, tls: tls, observer: recorder)
    port = try #require(server.port)
    try server.start()
  }

  deinit {
    server.stop()
    server.join()
  }

  /// The video capability of ``HeadUnitConfiguration/small(_:_:frameRate:maximumBitrate:additional:activation:)``.
  static var smallCapability: VideoStreamingCapability {
    HeadUnitConfiguration.small().videoCapability ?? VideoStreamingCapability()
  }

  /// For the sink's property.
  var uri: String { "sdl://127.0.0.1:\(port)" }

  var record: Record { recorder.record.withLock { $0 } }

  /// Clears the record but for the connections, for tests that measure memory.
  func forget() {
    recorder.record.withLock { record in
      let connections = record.connections
      record = Record()
      record.connections = connections
    }
  }

  /// Waits for what `match` finds in the record.
  @discardableResult
  func wait<R>(for what: String, _ match: (Record) -> R?) throws -> R {
    guard let result = recorder.record.wait(until: MonotonicClock.now + testTimeout, for: { match($0) }) else {
      throw TestFailure(
        "no \(what) at the head unit, but \(record.events), \(record.video.count) frames\n\(otherEnd())")
    }
    return result
  }

  /// Whether `condition` comes true before `deadline`.
  func await(until deadline: Duration, _ condition: (Record) -> Bool) -> Bool {
    recorder.record.wait(atLatest: deadline, until: { condition($0) })
  }

  /// Waits for as many access units in all.
  @discardableResult
  func waitForFrames(_ count: Int) throws -> [[UInt8]] {
    try wait(for: "\(count) frames") { $0.video.count >= count ? $0.video : nil }
  }

  /// Waits for as many bytes of sound in all.
  @discardableResult
  func waitForSound(_ byteCount: Int) throws -> [UInt8] {
    try wait(for: "\(byteCount) bytes of sound") { $0.audio.count >= byteCount ? $0.audio : nil }
  }

  /// The app that connected last.
  func waitForApp() throws -> UInt8 { try wait(for: "app") { $0.connections.last } }

  func waitForRegistration() throws {
    try wait(for: "registration") { record in
      record.events.contains { if case .appRegistered = $0 { true } else { false } } ? true : nil
    }
  }

  /// The head unit's own software changes what it can show; absent members stay as they are.
  func update(_ change: (inout VideoStreamingCapability) -> Void) throws {
    var update = VideoStreamingCapability()
    change(&update)
    server.control(.app(try waitForApp())) { [update] in $0.updateCapability(update, now: $1) }
  }

  /// What the driver does.
  func show(_ level: HMILevel) throws {
    let isVisible = level == .full || level == .limited
    try show(HMIStatus(level: level, videoStreamingState: isVisible ? .streamable : .notStreamable))
  }

  func show(_ status: HMIStatus) throws {
    server.control(.app(try waitForApp())) { $0.setHMIStatus(status, now: $1) }
  }
}
