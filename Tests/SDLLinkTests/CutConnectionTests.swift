import Glibc
import SDLHeadUnit
import SDLHeadUnitLink
import TestSupport
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

extension LinkTests {
  /// The connection breaks, or stands still, after any number of bytes of its beginning up to the second frame, in
  /// either direction. `make check` takes a sample of the places, `make cuts` all of them.
  @Suite struct CutConnectionTests {
    /// Most of the time is spent waiting, so several head units in parallel are faster.
    private static let workerCount = 4
    private static let takesEveryPlace = getenv("EVERY_BYTE") != nil

    /// Random places and, in clear, around each end of a frame and of its headers.
    private static func places(of side: Relay.Side, _ way: Way, seed: UInt64) throws -> [Int] {
      let track = try Track(way)
      defer { track.stop() }
      let end = try track.byteCountOfTwoFrames(of: side)
      if takesEveryPlace { return Array(0...end) }
      var places: Set<Int> = [0, end]
      if way != .encrypted {
        var frameEnd = way == .webSocket ? try headByteCount(of: side) : 0
        places.formUnion([frameEnd - 1, frameEnd])
        for frame in try recordedFrames(of: side) {
          let header = way == .webSocket ? (frame.count < 126 ? 2 : 4) + (side == .app ? 4 : 0) : 0
          places.formUnion(
            [1, 2, header, header + 1, header + 4, header + 11, header + 12, header + 13].map { frameEnd + $0 })
          frameEnd += header + frame.count
          places.formUnion([frameEnd - 1, frameEnd])
        }
        places = places.filter { 0...end ~= $0 }
      }
      var generator = SeededGenerator(seed: seed)
      for _ in 0..<40 { places.insert(Int.random(in: 0...end, using: &generator)) }
      return places.sorted()
    }

    /// Bytes of the handshake that opens a WebSocket.
    private static func headByteCount(of side: Relay.Side) throws -> Int {
      let request = try WebSocketRequest(host: "127.0.0.1:12345", target: "/").bytes
      guard side == .headUnit else { return request.count }
      let head = try #require(HTTPHead(request[...]))
      guard case .accepted(let answer) = try WebSocketAnswer(to: head, origins: .none, at: nil) else { return 0 }
      return answer.count
    }

    @Test(arguments: [Relay.Side.app, .headUnit], Way.allCases)
    func anywhere(side: Relay.Side, way: Way) throws {
      try atEachPlace(of: side, way) { track, place, number in
        // Every third cut is a reset, the others are orderly closes.
        try track.comesBack(
          CuttingRelay.Cut(side: side, byteCount: place, fault: number.isMultiple(of: 3) ? .reset : .close))
      }
    }

    /// The end of a connection waits for nothing that its peer does; and where the peer goes on, so does the stream.
    @Test(arguments: [Relay.Side.app, .headUnit], Way.allCases)
    func standstill(side: Relay.Side, way: Way) throws {
      try atEachPlace(of: side, way) { track, place, number in
        try track.standsStill(
          CuttingRelay.Cut(side: side, byteCount: place, fault: .stall), goesOn: number.isMultiple(of: 2))
      }
    }

    /// The connection may be reset before the app has checked whether it was established.
    @Test func resetAtOnce() throws {
      let track = try Track(.clear)
      for _ in 0..<50 {
        #expect(try track.comesBack(CuttingRelay.Cut(side: .app, byteCount: 0, fault: .reset)))
      }
      track.stop()
    }

    /// - Parameter fault: returns whether the place was there.
    private func atEachPlace(
      of side: Relay.Side, _ way: Way, _ fault: @escaping @Sendable (Track, Int, Int) throws -> Bool
    ) throws {
      let places = try Self.places(of: side, way, seed: testSeed())
      let (descriptors, threads) = (ProcessCounts.descriptors, ProcessCounts.threads)
      let count = Monitor(0)
      let workers = try (0..<Self.workerCount).map { first in
        let thread = WorkerThread(name: "cuts")
        try thread.start {
          do {
            let track = try Track(way)
            defer { track.stop() }
            for (number, place) in places.enumerated() where number % Self.workerCount == first {
              if try fault(track, place, number / Self.workerCount) { count.withLock { $0 += 1 } }
            }
            #expect(track.headUnit.violations == [])
          } catch {
            Issue.record("\(error)")
          }
        }
        return thread
      }
      for worker in workers { worker.join() }
      // The last places may come after the second frame: not all handshakes have the same length.
      #expect(count.withLock { $0 } > places.count * 9 / 10, "of \(places.count)")
      #expect(
        eventually { ProcessCounts.descriptors <= descriptors && ProcessCounts.threads <= threads },
        "descriptors \(descriptors) → \(ProcessCounts.descriptors), threads \(threads) → \(ProcessCounts.threads)")
    }
  }

  /// How the frames of both sides travel.
  enum Way: CaseIterable {
    case clear
    /// Video over SDL's own TLS.
    case encrypted
    case webSocket
  }

  /// A head unit behind a relay, and one app after the other that sends two frames as soon as it may.
  private struct Track: Sendable {
    let headUnit = VideoArrivals()
    private let server: HeadUnitServer
    private let relay: CuttingRelay
    private let way: Way

    init(_ way: Way) throws {
      self.way = way
      let isEncrypted = way == .encrypted
      var configuration = quickHeadUnit()
      configuration.security = isEncrypted ? .require : .refuse
      server = try HeadUnitServer(
        configuration: configuration, address: "127.0.0.1", port: 0, tls: isEncrypted ? TestTLS.headUnit() : nil,
        observer: headUnit)
      let webSocketPort = try server.webSockets.listen(
        address: "127.0.0.1", port: 0, origins: AllowedOrigins(named: []), tls: nil)
      try server.start()
      relay = try CuttingRelay(to: way == .webSocket ? webSocketPort : try #require(server.port))
    }

    func stop() {
      relay.stop()
      server.stop()
      server.join()
    }

    func byteCountOfTwoFrames(of side: Relay.Side) throws -> Int {
      let stream = try Stream(self)
      let epoch = try #require(stream.observer.waitForGrant()?.epoch)
      #expect(headUnit.waitFor(Stream.frame(epoch), count: 2))
      let count = relay.byteCount(of: side)
      stream.stop("without a fault")
      return count
    }

    /// Whether the connection was cut before both frames had come through.
    func comesBack(_ cut: CuttingRelay.Cut) throws -> Bool {
      let place = "\(cut)"
      headUnit.forget()
      relay.arm(cut)
      let stream = try Stream(self)
      #expect(
        eventually { stream.observer.hasBeenLost || headUnit.messages.count == 2 },
        "\(place): \(stream.observer.events)")
      let wasCut = !relay.isArmed
      if !wasCut { relay.cutNow() }
      let epoch = try #require(stream.observer.waitForEpochAfterLoss(), "\(place)")
      #expect(headUnit.waitFor(Stream.frame(epoch), count: 2), "\(place)")
      stream.stop(place)
      #expect(stream.outcomes.suffix(2) == [[true], [true]], "\(place)")
      #expect(eventually { headUnit.isWithoutConnections && !relay.isServing }, "\(place)")
      return wasCut
    }

    /// Whether the connection has stood still before both frames had come through.
    func standsStill(_ cut: CuttingRelay.Cut, goesOn: Bool) throws -> Bool {
      let place = "\(cut)"
      headUnit.forget()
      relay.arm(cut)
      let stream = try Stream(self)
      #expect(
        eventually { relay.isStalled || headUnit.messages.count == 2 }, "\(place): \(stream.observer.events)")
      let wasStalled = !relay.isArmed
      relay.arm(nil)
      if goesOn {
        relay.resume()
        let epoch = try #require(stream.observer.waitForGrant()?.epoch, "\(place)")
        #expect(headUnit.waitFor(Stream.frame(epoch), count: 2), "\(place)")
        #expect(!stream.observer.hasBeenLost, "\(place)")
      }
      stream.stop(place) {
        relay.cutNow()
        relay.resume()
      }
      relay.resume()
      #expect(eventually { headUnit.isWithoutConnections && !relay.isServing }, "\(place)")
      return wasStalled
    }

    /// A connection that sends two frames with each grant.
    private struct Stream {
      private static let frameByteCount = 40

      let observer: ConnectionRecorder
      private let connection: AppConnection
      private let payloads: Monitor<[TestPayload]>

      /// Each byte is the epoch of the grant under which it is sent.
      static func frame(_ epoch: UInt32) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: epoch), count: frameByteCount)
      }

      init(_ track: Track) throws {
        let payloads = Monitor<[TestPayload]>([])
        self.payloads = payloads
        observer = ConnectionRecorder { connection, event in
          guard case .session(.videoStarted(let grant)) = event else { return }
          for _ in 0..<2 {
            let payload = TestPayload(Self.frame(grant.epoch))
            payloads.withLock { $0.append(payload) }
            let result = connection.video.submit(payload, grantEpoch: grant.epoch, blocking: false)
            if result != .queued { Issue.record("\(result)") }
          }
        }
        var session = testSession
        session.appID = TestCertificates.appID
        let isEncrypted = track.way == .encrypted
        session.encryption = isEncrypted ? .authenticateAndEncrypt : .none
        var configuration = AppConnection.Configuration(
          endpoint: track.way == .webSocket
            ? .webSocket(WebSocketServer(host: "127.0.0.1", port: track.relay.port))
            : .tcp(host: "127.0.0.1", port: track.relay.port), session: session,
          reconnection: Reconnection.Timing(first: .milliseconds(1)))
        configuration.tls = isEncrypted ? try TestTLS.app() : nil
        connection = AppConnection(configuration: configuration, observer: observer)
        connection.setVideoRequest(testRequest)
        try connection.start()
      }

      /// What became of each frame.
      var outcomes: [[Bool]] { payloads.withLock { $0.map(\.outcomes) } }

      /// Ends it at once, whatever the peer does; every frame and the end are told of once.
      /// - Parameter breakConnection: for an app that waits for its registration, as it does even then: head units
      ///   never forget one whose session ends before the answer.
      func stop(_ place: String, breakConnection: () -> Void = {}) {
        let (began, before) = (MonotonicClock.now, standstills.total)
        connection.stop(grace: .zero)
        if observer.registrationCount == 0 {
          for _ in 0..<20 where observer.endedCount == 0 { poll(nil, 0, 10) }
          if observer.endedCount == 0 { breakConnection() }
        }
        connection.join()
        #expect(MonotonicClock.now - began - (standstills.total - before) < .seconds(2), "\(place)")
        #expect(observer.waitForEnd() == .some(nil), "\(place)")
        #expect(observer.endedCount == 1, "\(place)")
        if case .ended = observer.events.last {} else { Issue.record("\(place): something comes after the end") }
        let epochs = observer.epochs
        #expect(zip(epochs, epochs.dropFirst()).allSatisfy { $0 < $1 }, "\(place): \(epochs)")
        #expect(outcomes.allSatisfy { $0.count == 1 }, "\(place)")
      }
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

  /// Whether `message` comes so many times.
  func waitFor(_ message: [UInt8], count: Int) -> Bool {
    state.wait(atLatest: MonotonicClock.now + testTimeout) { state in
      state.messages.count { $0 == message } >= count
    }
  }

  var isWithoutConnections: Bool { state.withLock { $0.connectionCount == 0 } }
  var violations: [Violation] { state.withLock { $0.violations } }
}

private let standstills = Standstills()
