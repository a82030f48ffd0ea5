import SDLHeadUnit
import SDLHeadUnitLink
import TestSupport
import Testing

@testable import SDLApp
@testable import SDLLink

extension LinkTests {
  /// The connection breaks after any number of bytes of its beginning, in either direction.
  @Suite struct CutConnectionTests {
    /// Every third cut is a reset, the others are orderly closes.
    private static let resetStride = 3
    private static let payloadByteCount = 40
    /// Most of the time is spent waiting, so several head units in parallel are faster.
    private static let workerCount = 4

    /// Around each end of a frame and of its header, and at random places between.
    private static func places(of side: Relay.Side, seed: UInt64) throws -> [Int] {
      var end = 0
      var places: Set<Int> = [0]
      for frame in try recordedFrames(of: side) {
        places.formUnion([end + 1, end + 4, end + 11, end + 12, end + 13])
        end += frame.count
        places.formUnion([end - 1, end])
      }
      var generator = SeededGenerator(seed: seed)
      for _ in 0..<60 { places.insert(Int.random(in: 0...end, using: &generator)) }
      return places.sorted()
    }

    @Test(arguments: [Relay.Side.app, .headUnit]) func anywhere(side: Relay.Side) throws {
      let seed = testSeed()
      let places = try Self.places(of: side, seed: seed)
      let cutCount = Monitor(0)
      let workers = try (0..<Self.workerCount).map { first in
        let thread = WorkerThread(name: "cuts")
        try thread.start {
          do {
            let own = places.enumerated().filter { $0.offset % Self.workerCount == first }.map(\.element)
            let count = try self.cut(side, at: own)
            cutCount.withLock { $0 += count }
          } catch {
            Issue.record("\(error)")
          }
        }
        return thread
      }
      for worker in workers { worker.join() }
      // The last places may come after the first video, of which the record has none.
      #expect(cutCount.withLock { $0 } > places.count * 9 / 10, "of \(places.count)")
    }

    /// Returns how many connections were cut before their first video.
    private func cut(_ side: Relay.Side, at places: [Int]) throws -> Int {
      let headUnit = VideoArrivals()
      let server = try HeadUnitServer(
        configuration: quickHeadUnit(), address: "127.0.0.1", port: 0, observer: headUnit)
      try server.start()
      let relay = try CuttingRelay(to: try #require(server.port))
      defer {
        relay.stop()
        server.stop()
        server.join()
      }
      var count = 0
      for (index, byteCount) in places.enumerated() {
        let isReset = index.isMultiple(of: Self.resetStride)
        relay.arm(CuttingRelay.Cut(side: side, byteCount: byteCount, isReset: isReset))
        let place = "after \(byteCount) bytes of the \(side), reset: \(isReset)"
        if try streamComesBack(relay, headUnit, place) { count += 1 }
      }
      #expect(headUnit.violations == [])
      return count
    }

    /// The connection may be reset before the app has checked whether it was established.
    @Test func resetAtOnce() throws {
      let headUnit = VideoArrivals()
      let server = try HeadUnitServer(
        configuration: quickHeadUnit(), address: "127.0.0.1", port: 0, observer: headUnit)
      try server.start()
      let relay = try CuttingRelay(to: try #require(server.port))
      for round in 0..<50 {
        relay.arm(CuttingRelay.Cut(side: .app, byteCount: 0, isReset: true))
        #expect(try streamComesBack(relay, headUnit, "round \(round)"))
      }
      relay.stop()
      server.stop()
      server.join()
    }

    /// Whether the connection was cut before its first video came through.
    private func streamComesBack(_ relay: CuttingRelay, _ headUnit: VideoArrivals, _ place: String) throws -> Bool {
      headUnit.forget()
      let payloads = Monitor<[TestPayload]>([])
      let observer = ConnectionRecorder { connection, event in
        guard case .session(.videoStarted(let grant)) = event else { return }
        // Each byte is the epoch of the grant under which it is sent.
        let number = UInt8(truncatingIfNeeded: grant.epoch)
        let payload = TestPayload([UInt8](repeating: number, count: Self.payloadByteCount))
        payloads.withLock { $0.append(payload) }
        let result = connection.video.submit(payload, grantEpoch: grant.epoch, blocking: false)
        if result != .queued { Issue.record("\(place): \(result)") }
      }
      let connection = makeConnection(
        port: relay.port, reconnection: Reconnection.Timing(first: .milliseconds(1)), observer: observer)
      connection.setVideoRequest(testRequest)
      try connection.start()
      #expect(eventually { observer.hasBeenLost || !headUnit.messages.isEmpty }, "\(place): \(observer.events)")
      let wasCut = !relay.isArmed
      if !wasCut { relay.cutNow() }
      let epoch = try #require(observer.waitForEpochAfterLoss(), "\(place)")
      let message = [UInt8](repeating: UInt8(truncatingIfNeeded: epoch), count: Self.payloadByteCount)
      #expect(headUnit.waitFor(message), "\(place)")
      let began = MonotonicClock.now
      connection.stop(grace: .zero)
      connection.join()
      #expect(MonotonicClock.now - began < .seconds(2), "\(place)")
      expectOneEnd(observer, place)
      for payload in payloads.withLock({ $0 }) { #expect(payload.outcomes.count == 1, "\(place)") }
      #expect(payloads.withLock { $0.last }?.outcomes == [true], "\(place)")
      #expect(eventually { headUnit.isWithoutConnections }, "\(place)")
      return wasCut
    }

    private func expectOneEnd(_ observer: ConnectionRecorder, _ place: String) {
      #expect(observer.waitForEnd() == .some(nil), "\(place)")
      #expect(observer.endedCount == 1, "\(place)")
      if case .ended = observer.events.last {} else { Issue.record("\(place): something comes after the end") }
      let epochs = observer.epochs
      #expect(zip(epochs, epochs.dropFirst()).allSatisfy { $0 < $1 }, "\(place): \(epochs)")
    }
  }
}

/// Records the messages of the present connection to a head unit, without those of the hundreds before.
private final class VideoArrivals: HeadUnitServerObserver {
  private struct State: Sendable {
    var connectionCount = 0
    var messages: [[UInt8]] = []
    var violations: [Violation] = []
  }
  private let state = Monitor(State())

  func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) {
    state.withLock { state in
      switch event {
      case .connected: state.connectionCount += 1
      case .disconnected: state.connectionCount -= 1
      case .session(_, .videoData(let bytes)): state.messages.append(bytes)
      case .session(_, .violation(.stream)): break
      case .session(_, .violation(let violation)): state.violations.append(violation)
      default: break
      }
    }
    state.broadcast()
  }

  func forget() { state.withLock { $0.messages = [] } }

  var messages: [[UInt8]] { state.withLock { $0.messages } }

  func waitFor(_ message: [UInt8]) -> Bool {
    state.wait(until: MonotonicClock.now + testTimeout) { $0.messages.contains(message) ? true : nil } ?? false
  }

  var isWithoutConnections: Bool { state.withLock { $0.connectionCount == 0 } }
  var violations: [Violation] { state.withLock { $0.violations } }
}
