import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages
import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// A sink that is stopped while the head unit registers its app, and one whose app the head unit still has registered.
@Suite struct RegistrationEndTests {
  /// What the app has sent after the sink was in NULL.
  private struct Conversation {
    var isStopped = false
    var requests: [FunctionID] = []
    var hasEndedSession = false
    var isOver = false
  }

  /// NULL returns in time, and the app is unregistered when the head unit has registered it.
  @Test func stopsWhileRegistering() throws {
    let conversation = Monitor(Conversation())
    let headUnit = try RawPeer { connection in
      Self.serve(connection, conversation)
      conversation.withLock { $0.isOver = true }
      conversation.broadcast()
    }
    let pipeline = try Pipeline("videotestsrc is-live=true ! sdlvideosink name=sink uri=\(headUnit.uri)")
    try pipeline.play()
    #expect(conversation.wait(atLatest: MonotonicClock.now + testTimeout) { !$0.requests.isEmpty })
    pipeline.stop()
    #expect(try pipeline.sink["connection-state"] == "idle")
    #expect(conversation.withLock { $0.requests } == [.registerAppInterface])
    conversation.withLock { $0.isStopped = true }
    conversation.broadcast()
    let end = conversation.wait(until: MonotonicClock.now + testTimeout) { $0.isOver ? $0 : nil }
    #expect(end?.requests == [.registerAppInterface, .unregisterAppInterface] && end?.hasEndedSession == true)
  }

  /// Answers RegisterAppInterface once the sink is in NULL.
  private static func serve(_ connection: RawConnection, _ conversation: Monitor<Conversation>) {
    var decoder = FrameDecoder()
    while let bytes = connection.receive() {
      decoder.append(bytes)
      while case .frame(let frame)? = decoder.next() {
        switch frame.header.controlFrame {
        case .startService:
          var answer = RPCServiceAcknowledgement()
          answer.protocolVersion = ProtocolVersion(5, 4, 0)
          answer.hashID = 1
          connection.send(
            Frame.control(.startServiceACK, service: .rpc, version: 5, sessionID: 1, payload: answer.bytes(version: 5))
              .bytes)
        case .endService:
          conversation.withLock { $0.hasEndedSession = true }
          connection.send(Frame.control(.endServiceACK, service: .rpc, version: 5, sessionID: 1).bytes)
        default:
          guard let request = try? RPCMessage(payload: frame.payload) else { continue }
          conversation.withLock { $0.requests.append(request.function) }
          conversation.broadcast()
          conversation.wait(atLatest: MonotonicClock.now + testTimeout) { $0.isStopped }
          let answer = RPCMessage(
            type: .response, function: request.function, correlationID: request.correlationID,
            parameters: RPCResult(success: true, resultCode: .success).json)
          connection.send(
            Fragmentation(
              service: .rpc, version: 5, sessionID: 1, messageID: 1, payloadSize: answer.payload.count,
              maximumPayload: 1000
            ).frames(of: answer.payload))
        }
      }
    }
  }

  /// A program that was started again just after its end.
  @Test func formerSessionThatEnds() throws {
    let harness = try SinkHarness(
      HeadUnitConfiguration.small().with {
        $0.behaviour.registration = .result(.applicationRegisteredAlready, success: false)
      })
    try harness.pipeline.play()
    harness.pushPicture()
    let warning = try harness.pipeline.waitForWarning()
    for part in ["APPLICATION_REGISTERED_ALREADY", "own former session", "Connecting again in"] {
      #expect(warning.text.contains(part), "\(warning)")
    }
    harness.headUnit.server.perform(.behave(.registration(.regular)))
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    try harness.deliver(2)
    #expect(harness.pipeline.drain().allSatisfy { $0.error == nil })
  }
}
