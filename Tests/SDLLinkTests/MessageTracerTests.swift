import SDLMessages
import SDLWire
import TestSupport
import Testing

@testable import SDLLink

/// The readable lines of a connection's messages.
@Suite struct MessageTracerTests {
  private final class Trace: MessageTrace {
    let isEnabled: Bool
    private let state = Monitor<[String]>([])

    init(isEnabled: Bool) {
      self.isEnabled = isEnabled
    }

    var lines: [String] { state.withLock { $0 } }

    func trace(_ line: String) {
      state.withLock { $0.append(line) }
    }
  }

  @Test(arguments: [true, false]) func bothDirections(isEnabled: Bool) throws {
    let trace = Trace(isEnabled: isEnabled)
    var tracer = try #require(MessageTracer(trace, prefix: "1 ", clock: TimeSource(ManualClock())))
    let start = Frame.control(.startService, service: .video, version: 5, sessionID: 1, payload: [])
    let end = Frame.control(.endService, service: .video, version: 5, sessionID: 1, payload: [])
    let rpc = RPCMessage(type: .request, function: .show, correlationID: 7)
    tracer.noteReceived(.frame(start))
    tracer.noteSent(start.bytes + end.bytes)
    tracer.noteSent(
      ProtectedMessage(
        service: .rpc, version: 5, sessionID: 1, messageID: 2, payload: rpc.payload, maximumPayload: 1000))
    let lines = ["1 ← StartService video", "1 → StartService video", "1 → EndService video", "1 → Show request 7 {}"]
    #expect(trace.lines == (isEnabled ? lines : []))
  }
}
