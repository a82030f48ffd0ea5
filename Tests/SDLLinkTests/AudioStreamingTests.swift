import SDLHeadUnit
import SDLHeadUnitLink
import SDLMessages
import Synchronization
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

extension ConnectionRecorder {
  /// The audio grants so far.
  var audioGrants: [AudioGrant] {
    events.compactMap { if case .session(.audioStarted(let grant)) = $0 { grant } else { nil } }
  }

  func waitForAudioGrant(number: Int = 1) -> AudioGrant? {
    guard eventually({ self.audioGrants.count >= number }) else { return nil }
    return audioGrants[number - 1]
  }

  func waitForAudioState(_ state: StreamState) -> Bool {
    eventually {
      let states = self.events.compactMap {
        if case .sessionChanged(let status, _) = $0 { status.audio.state } else { nil }
      }
      return states.last == state
    }
  }
}

extension LinkTests {
  /// Sound over real sockets, beside the video of the same app: samples that are sent arrive bit for bit.
  @Suite struct AudioStreamingTests {
    /// Of 20 ms at 16 kHz, 16 bit.
    private static let pieceSize = 640

    private static func pieces(_ count: Int, seed: UInt64 = 1) -> [[UInt8]] {
      (0..<count).map { noise(pieceSize, seed: seed &+ UInt64($0)) }
    }

    /// Asks for sound as well.
    private static func speakingPair() throws -> (StreamingPair, AudioGrant) {
      let pair = try StreamingPair()
      pair.connection.setAudioRequest(AudioStartRequest())
      return (pair, try #require(pair.app.waitForAudioGrant()))
    }

    @Test func besideVideo() throws {
      let (pair, grant) = try Self.speakingPair()
      #expect(grant.format == PCMFormat() && !grant.isFormatAssumed)
      #expect(grant.epoch != pair.grant.epoch)
      let frames = (0..<60).map { noise(30_000, seed: UInt64($0)) }
      let thread = WorkerThread(name: "video")
      let (connection, videoGrant) = (pair.connection, pair.grant)
      try thread.start {
        for frame in frames {
          _ = connection.video.submit(TestPayload(frame), grantEpoch: videoGrant.epoch, blocking: true)
        }
      }
      let sound = Self.pieces(50)
      let payloads = sound.map { TestPayload($0, cuts: [320]) }
      for payload in payloads {
        #expect(pair.connection.audio.submit(payload, grantEpoch: grant.epoch, blocking: true) == .queued)
      }
      thread.join()
      #expect(pair.connection.audio.waitUntilDrained(timeout: testTimeout))
      #expect(pair.headUnit.waitForMessages(60))
      #expect(eventually { pair.headUnit.audioMessages.count == 50 })
      #expect(pair.headUnit.audioMessages == sound)
      #expect(pair.headUnit.videoMessages == frames)
      #expect(payloads.allSatisfy { $0.outcomes == [true] })
      let statistics = pair.connection.statistics.audio
      #expect(statistics.sentMessages == 50 && statistics.sentByteCount == 32_000)
      // Video goes on without sound.
      pair.connection.setAudioRequest(nil)
      #expect(pair.app.waitForAudioState(.stopped))
      let last = TestPayload(noise(1000))
      #expect(pair.connection.video.submit(last, grantEpoch: pair.grant.epoch, blocking: true) == .queued)
      #expect(pair.headUnit.waitForMessages(61))
      pair.stop()
      #expect(pair.headUnit.protocolViolations == [])
    }

    /// The sound that is queued when its end is asked for arrives before the end.
    @Test func theEndWaitsForTheSound() throws {
      let (pair, grant) = try Self.speakingPair()
      let sound = Self.pieces(40)
      for piece in sound {
        _ = pair.connection.audio.submit(TestPayload(piece), grantEpoch: grant.epoch, blocking: true)
      }
      pair.connection.setAudioRequest(nil)
      let statistics = pair.headUnit.waitFor { event -> AudioStreamStatistics? in
        if case .session(_, .audioStopped(.endedByApp, let statistics)) = event { statistics } else { nil }
      }
      #expect(try #require(statistics).samples == 40 * 320)
      #expect(pair.headUnit.audioMessages == sound)
      let late = TestPayload(sound[0])
      #expect(pair.connection.audio.submit(late, grantEpoch: grant.epoch, blocking: true) == .closed)
      #expect(late.outcomes == [])
      // The next prompt is heard as well.
      pair.connection.setAudioRequest(AudioStartRequest())
      let next = try #require(pair.app.waitForAudioGrant(number: 2))
      #expect(pair.connection.audio.submit(late, grantEpoch: next.epoch, blocking: false) == .queued)
      #expect(eventually { pair.headUnit.audioMessages == sound + [sound[0]] })
      pair.stop()
    }

    /// While the app is not audible nothing is taken, and nothing arrives; then it goes on with the same grant.
    @Test func phoneCall() throws {
      let (pair, grant) = try Self.speakingPair()
      let sound = Self.pieces(4)
      func submit(_ piece: [UInt8]) -> SubmitResult {
        pair.connection.audio.submit(TestPayload(piece), grantEpoch: grant.epoch, blocking: true)
      }
      #expect(submit(sound[0]) == .queued)
      #expect(eventually { pair.headUnit.audioMessages.count == 1 })
      pair.server.perform(.event(.phoneCall, isActive: true))
      #expect(pair.app.waitForAudioState(.suspended))
      #expect(submit(sound[1]) == .closed)
      pair.server.perform(.event(.phoneCall, isActive: false))
      #expect(pair.app.waitForAudioState(.streaming))
      pair.server.perform(.audioStreaming(.attenuated))
      #expect(submit(sound[2]) == .queued && submit(sound[3]) == .queued)
      #expect(eventually { pair.headUnit.audioMessages.count == 3 })
      #expect(pair.headUnit.audioMessages == [sound[0], sound[2], sound[3]])
      #expect(pair.app.audioGrants.count == 1)
      pair.stop()
      #expect(pair.headUnit.protocolViolations == [])
    }

    @Test func reconnection() throws {
      let pair = try ReconnectingPair()
      pair.connection.setAudioRequest(AudioStartRequest())
      let first = try #require(pair.app.waitForAudioGrant())
      let sound = Self.pieces(2)
      #expect(
        pair.connection.audio.submit(TestPayload(sound[0]), grantEpoch: first.epoch, blocking: true) == .queued)
      #expect(eventually { pair.headUnit.audioMessages.count == 1 })
      pair.relay.cutNow()
      let second = try #require(pair.app.waitForAudioGrant(number: 2))
      #expect(second.epoch > first.epoch)
      #expect(
        pair.connection.audio.submit(TestPayload(sound[1]), grantEpoch: first.epoch, blocking: true) == .stale)
      #expect(
        pair.connection.audio.submit(TestPayload(sound[1]), grantEpoch: second.epoch, blocking: true) == .queued)
      #expect(eventually { pair.headUnit.audioMessages.count == 2 })
      #expect(pair.headUnit.audioMessages == sound)
      pair.stop()
    }

    /// The queue is full after a second of sound, and no thread waits; what was taken arrives once the head unit reads
    /// again.
    @Test func headUnitThatDoesNotRead() throws {
      let pair = try RelayedPair()
      pair.connection.setAudioRequest(AudioStartRequest())
      let grant = try #require(pair.app.waitForAudioGrant())
      pair.relay.holdApp(true)
      // Fills the kernel's buffers.
      let picture = TestPayload(noise(8_000_000))
      #expect(pair.connection.video.submit(picture, grantEpoch: pair.grant.epoch, blocking: false) == .queued)
      #expect(eventually { pair.connection.isBlocked })
      let sound = Self.pieces(200)
      var taken: [[UInt8]] = []
      var results: [SubmitResult] = []
      for piece in sound {
        let result = pair.connection.audio.submit(TestPayload(piece), grantEpoch: grant.epoch, blocking: false)
        if result == .queued { taken.append(piece) }
        results.append(result)
      }
      #expect(taken.count == 50 && results.filter { $0 == .full }.count == 150)
      #expect(pair.connection.statistics.audio.queuedByteCount == 50 * Self.pieceSize)
      // A streaming thread that waits is freed by flushing.
      let outcome = Mutex<SubmitResult?>(nil)
      let waiting = WorkerThread(name: "audio")
      let channel = pair.connection.audio
      try waiting.start {
        let result = channel.submit(TestPayload([1, 2]), grantEpoch: grant.epoch, blocking: true)
        outcome.withLock { $0 = result }
      }
      channel.setFlushing(true)
      waiting.join()
      #expect(outcome.withLock { $0 } == .flushing)
      channel.setFlushing(false)
      pair.relay.holdApp(false)
      #expect(eventually { pair.headUnit.audioMessages.count == 50 })
      #expect(pair.headUnit.audioMessages == taken)
      #expect(pair.headUnit.waitForMessages(1))
      pair.stop()
    }

    @Test func builtInHeadUnitTakesSound() throws {
      let app = ConnectionRecorder()
      let connection = AppConnection(
        configuration: AppConnection.Configuration(
          endpoint: .transport(BuiltInHeadUnit(quickHeadUnit())), session: testSession),
        observer: app)
      connection.setAudioRequest(AudioStartRequest())
      try connection.start()
      let grant = try #require(app.waitForAudioGrant())
      let payload = TestPayload([1, 2])
      #expect(connection.audio.submit(payload, grantEpoch: grant.epoch, blocking: true) == .queued)
      connection.setAudioRequest(nil)
      #expect(app.waitForAudioState(.stopped))
      connection.stop(grace: .seconds(1))
      connection.join()
      #expect(payload.outcomes == [true])
      #expect(!app.events.contains { if case .faultFound = $0 { true } else { false } })
    }
  }
}
