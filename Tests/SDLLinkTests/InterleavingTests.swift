import Glibc
import SDLHeadUnit
import Testing

@testable import SDLApp

extension LinkTests {
  @Suite struct InterleavingTests {
    @Test func controlFramesGoBetweenFramesOfAMessage() throws {
      let pair = try RelayedPair()
      pair.relay.holdApp(true)
      let message = noise(8_000_000)
      let payload = TestPayload(message, cuts: [3_000_000])
      #expect(pair.connection.video.submit(payload, grantEpoch: pair.grant.epoch, blocking: true) == .queued)
      // The kernel's buffers are full in the middle of the message.
      #expect(eventually { pair.connection.isBlocked })
      #expect(payload.outcomes.isEmpty)
      let receivedBefore = pair.connection.statistics.receivedByteCount
      pair.relay.inject(
        .control(.heartbeat, service: .control, version: pair.grant.version, sessionID: pair.grant.sessionID))
      #expect(eventually { pair.connection.statistics.receivedByteCount > receivedBefore })
      pair.relay.holdApp(false)
      #expect(pair.headUnit.waitForMessages(1))
      #expect(pair.headUnit.videoMessages == [message])

      var decoder = FrameDecoder()
      decoder.append(pair.relay.received(from: .app))
      var headers: [FrameHeader] = []
      while let item = decoder.next() {
        guard case .frame(let frame) = item else {
          Issue.record("\(item)")
          return
        }
        headers.append(frame.header)
      }
      let reply = try #require(headers.firstIndex { $0.controlFrame == .heartbeatACK })
      let first = try #require(headers.firstIndex { $0.service == .video && $0.frameType == .first })
      let last = try #require(
        headers.lastIndex { $0.service == .video && $0.frameType == .consecutive && $0.frameInfo == 0 })
      #expect(first < reply && reply < last)
      pair.stop()
      #expect(pair.headUnit.protocolViolations.filter(\.isAboutFrames).isEmpty)
    }
  }
}
