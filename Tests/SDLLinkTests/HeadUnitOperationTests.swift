import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@testable import SDLHeadUnitLink

/// Whom a command is for.
@Suite struct HeadUnitOperationTests {
  private static func name(_ recipient: HeadUnitServer.Recipient?) -> String {
    switch recipient {
    case .app(let id): "app \(id)"
    case .appOnScreen: "on screen"
    case .appInFront: "in front"
    case .everyApp: "every"
    case nil: "none"
    }
  }

  /// Of an operation, and what it ends if it ends connections.
  private static func recipient(_ command: HeadUnitCommand, _ recipient: HeadUnitServer.Recipient) -> String {
    guard let operation = HeadUnitServer.Operation(command, for: recipient) else { return "no operation" }
    let transport: TransportRole? = if case .disconnect(_, let transport) = operation { transport } else { nil }
    return name(operation.requiredRecipient) + (transport.map { ", \($0)" } ?? "")
  }

  private static let touch = OnTouchEvent(kind: .begin, fingers: [])
  private static let place = OnTouchEvent.Sample(x: 1, y: 1)

  /// Without a step's app, and with the app 7: some name another one, or are for all, or for the head unit itself.
  @Test(
    arguments: [
      (.level(.full, .streamable), "on screen", "app 7"), (.audioStreaming(.audible), "on screen", "app 7"),
      (.resize(VideoSize(400, 240), scale: nil), "on screen", "app 7"),
      (.update(VideoStreamingCapability()), "on screen", "app 7"),
      (.activate(nil), "on screen", "app 7"), (.activate(2), "app 2", "app 2"),
      (.close(nil), "on screen", "app 7"), (.close(2), "app 2", "app 2"),
      (.touch(touch), "on screen", "app 7"),
      (.gesture(TouchGesture(from: place, to: place, duration: .zero)), "on screen", "app 7"),
      (.driverInput(.dismiss), "in front", "app 7"), (.endAudio, "on screen", "app 7"),
      (.endVideo, "on screen", "app 7"), (.cut, "on screen, primary", "app 7, primary"),
      (.cutSecondary, "on screen, secondary", "app 7, secondary"), (.unregister(.languageChange), "on screen", "app 7"),
      (.ignitionOff, "every", "every"), (.notify(.onVehicleData, [:]), "every", "every"),
      (.driverDistraction(OnDriverDistraction(isDistractionLimited: true)), "every", "every"),
      (.policyUpdate("https://a.example"), "every", "every"), (.answerOnce(.echo), "none", "app 7"),
      (.event(.emergency, isActive: true), "none", "none"), (.silent(true), "none", "none"),
      (.behave(.player(.absent)), "none", "none"), (.language("DE-DE"), "none", "none"),
      (.policy(.permit(.show, [])), "none", "none"), (.stall(.seconds(1)), "none", "none"),
      (.shape(nil), "none", "none"), (.refuseConnections(true), "none", "none"),
      (.serveSecondaryTransport(port: nil), "none", "none"), (.drive(nil), "none", "none"), (.quit, "none", "none"),
      (.fail("text"), "none", "none"), (.help, "no operation", "no operation"),
    ] as [(HeadUnitCommand, String, String)])
  func recipients(command: HeadUnitCommand, usual: String, ofAStep: String) {
    #expect(Self.recipient(command, .appOnScreen) == usual)
    #expect(Self.recipient(command, .app(7)) == ofAStep)
  }
}
