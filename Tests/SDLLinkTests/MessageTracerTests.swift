import SDLMessages
import SDLWire
import Synchronization
import TestSupport
import Testing

@testable import SDLLink

/// The lines of a connection's messages.
@Suite struct MessageTracerTests {
  private final class Lines: MessageTrace {
    let isEnabled: Bool
    private let lines = Mutex<[String]>([])

    init(isEnabled: Bool) {
      self.isEnabled = isEnabled
    }

    var all: [String] { lines.withLock { $0 } }

    func trace(_ line: String) {
      lines.withLock { $0.append(line) }
    }
  }

  /// What is sent encrypted can be read.
  @Test(arguments: [true, false]) func bothDirections(isEnabled: Bool) {
    let lines = Lines(isEnabled: isEnabled)
    var tracer = MessageTracer(lines, prefix: "app 1 ", clock: TimeSource(ManualClock()))
    let request = RPCMessage(
      type: .request, function: .show, correlationID: 7, parameters: ["mainField1": .string("Hello")])
    tracer?.noteSent(
      ProtectedMessage(
        service: .rpc, version: 5, sessionID: 1, messageID: 1, payload: request.payload, maximumPayload: 1000))
    let heartbeat = Frame.control(.heartbeat, service: .control, version: 5, sessionID: 1)
    tracer?.noteSent(heartbeat.bytes)
    tracer?.noteReceived(.frame(heartbeat))
    let expected = [
      #"app 1 → Show request 7 {"mainField1":"Hello"}"#, "app 1 → \(ControlFrame.heartbeat.name)",
      "app 1 ← \(ControlFrame.heartbeat.name)",
    ]
    #expect(lines.all == (isEnabled ? expected : []))
  }
}
