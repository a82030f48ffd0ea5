import SDLHeadUnit
import Testing

@testable import SDLApp
@testable import SDLLink

extension LinkTests {
  /// The connection breaks after any number of bytes of its beginning, in either direction.
  @Suite struct CutConnectionTests {
    /// One cut in every place takes long enough: every so many of them are resets, the others in good order.
    private static let resetStride = 3
    private static let payloadByteCount = 40
    /// Of the rest, most of which is what the head unit says of itself, only every so many bytes are looked at.
    private static let everyByteCount = 400
    private static let stride = 7

    /// Most of the time is spent waiting, so that several head units get it done sooner.
    private static let workerCount = 4

    @Test(arguments: [Relay.Side.app, .headUnit]) func anywhere(side: Relay.Side) throws {
      let ends = Monitor<[Int]>([])
      let workers = try (0..<Self.workerCount).map { first in
        let thread = WorkerThread(name: "cuts")
        try thread.start {
          do {
            let end = try self.cutEverywhere(side, from: first)
            ends.withLock { $0.append(end) }
          } catch {
            Issue.record("\(error)")
          }
        }
        return thread
      }
      for worker in workers { worker.join() }
      let lengths = ends.withLock { $0 }
      #expect(lengths.count == Self.workerCount)
      // The conversation has no fewer bytes than its registration.
      #expect(lengths.allSatisfy { $0 > 400 }, "\(lengths)")
    }

    /// Cuts after `first` bytes and then in steps, to the end of the beginning; returns where that was.
    private func cutEverywhere(_ side: Relay.Side, from first: Int) throws -> Int {
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
      var byteCount = first
      while true {
        let isReset = byteCount.isMultiple(of: Self.resetStride)
        relay.arm(CuttingRelay.Cut(side: side, byteCount: byteCount, isReset: isReset))
        let place = "after \(byteCount) bytes of the \(side), reset: \(isReset)"
        guard try streamComesBack(relay, headUnit, place) else { break }
        byteCount += Self.workerCount * (byteCount < Self.everyByteCount ? 1 : Self.stride)
      }
      #expect(headUnit.violations == [])
      return byteCount
    }

    /// The head unit may be gone before the app has looked whether it was reached.
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
        // What arrives says under which grant it was sent.
        let number = UInt8(truncatingIfNeeded: grant.epoch)
        let payload = TestPayload([UInt8](repeating: number, count: Self.payloadByteCount))
        payloads.withLock { $0.append(payload) }
        let result = connection.submit(payload, grantEpoch: grant.epoch, blocking: false)
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
      #expect(eventually { headUnit.isDeserted }, "\(place)")
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

/// What comes to a head unit, without the history of the hundreds of connections before.
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

  var isDeserted: Bool { state.withLock { $0.connectionCount == 0 } }
  var violations: [Violation] { state.withLock { $0.violations } }
}
