import Bluetooth
import GStreamerKit
import Glibc
import HTTPServe
import SDLHeadUnit
import SDLLink
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// What an application is told of what fails or ends, with the property to look at.
@Suite struct HeadUnitErrorTests {
  private static func expect(
    _ error: ElementError, _ code: GstResourceError, _ texts: [String], without others: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(
      error.domain == gst_resource_error_quark() && error.code == Int32(code.rawValue), sourceLocation: sourceLocation)
    for text in texts { #expect(error.text.contains(text), "\(error.text)", sourceLocation: sourceLocation) }
    for text in others { #expect(!error.text.contains(text), "\(error.text)", sourceLocation: sourceLocation) }
  }

  @Test func aPortThatCannotBeOpened() {
    func error(_ number: Int32, secondaryPort: UInt16 = 0) -> ElementError {
      ElementError(listening: .cannotListen(address: "127.0.0.1:4000", errno: number), secondaryPort: secondaryPort)
    }
    let (address, first, second) = ("property address", "with port=N", "with secondary-port=N")
    Self.expect(error(EADDRINUSE), GST_RESOURCE_ERROR_OPEN_READ, [first], without: [address, second])
    Self.expect(
      error(EADDRINUSE, secondaryPort: 4000), GST_RESOURCE_ERROR_OPEN_READ, [second], without: [address, first])
    // It is not the one for secondary transports, though that ends in the same way.
    Self.expect(error(EADDRINUSE, secondaryPort: 400), GST_RESOURCE_ERROR_OPEN_READ, [first], without: [second])
    Self.expect(error(EADDRINUSE, secondaryPort: 0), GST_RESOURCE_ERROR_OPEN_READ, [first], without: [second])
    let nowhere = error(EADDRNOTAVAIL, secondaryPort: 4000)
    Self.expect(nowhere, GST_RESOURCE_ERROR_OPEN_READ, [address, "use *"], without: [first, second])
    for number in [EMFILE, ENFILE] {
      Self.expect(error(number), GST_RESOURCE_ERROR_FAILED, ["127.0.0.1:4000"], without: [address, first, second])
    }
  }

  @Test func aHostThatIsNotFound() {
    for error in [
      LinkError.cannotResolve(host: "car.example", reason: "reason"),
      .resolvingTimedOut(host: "car.example", after: .seconds(5)),
    ] {
      Self.expect(
        ElementError(listening: error, secondaryPort: 0), GST_RESOURCE_ERROR_NOT_FOUND,
        ["car.example", "Check the property address"], without: [])
      Self.expect(
        ElementError(serving: .link(error)), GST_RESOURCE_ERROR_NOT_FOUND, ["car.example", "Check the property web"],
        without: ["address"])
    }
    let other = LinkError.system(operation: "start a thread", errno: EAGAIN)
    Self.expect(
      ElementError(listening: other, secondaryPort: 0), GST_RESOURCE_ERROR_FAILED, ["tart a thread failed"],
      without: ["property"])
    // Sentences begin with a capital letter.
    #expect(ElementError(listening: other, secondaryPort: 0).text.first?.isUppercase == true)
  }

  @Test func aPageThatCannotBeServed() {
    Self.expect(
      ElementError(serving: .noLibrary), GST_RESOURCE_ERROR_NOT_FOUND, ["libsoup-3.0-0", "leave web unset"], without: []
    )
    Self.expect(
      ElementError(serving: .link(.cannotListen(address: "a:1", errno: EADDRNOTAVAIL))), GST_RESOURCE_ERROR_OPEN_READ,
      ["no address a:1", "*:PORT"], without: ["web=N"])
    Self.expect(
      ElementError(serving: .link(.cannotListen(address: "a:1", errno: EADDRINUSE))), GST_RESOURCE_ERROR_OPEN_READ,
      ["a:1", "web=N"], without: ["*:PORT"])
    Self.expect(ElementError(serving: .other("reason")), GST_RESOURCE_ERROR_FAILED, ["reason"], without: ["web="])
  }

  /// Fields of messages, as the documentation names them.
  @Test func reasons() {
    let left: [(HeadUnitSession.UnregistrationReason, String)] = [
      (.requestedByApp, "app"), (.sessionEndedByApp, "session-ended"), (.registrationRefused, "registration-refused"),
      (.headUnit(.protocolViolation), "protocol-violation"), (.heartbeatTimeout, "heartbeat-timeout"),
      (.malformedFrames, "malformed-frames"), (.transportLost, "connection-lost"),
    ]
    for (reason, name) in left { #expect(reason.name == name) }
    let stopped: [(HeadUnitSession.StopReason, String)] = [
      (.endedByApp, "app"), (.endedByHeadUnit, "head-unit"), (.hmiLevelNone, "hmi-status"),
      (.streamingForbidden, "streaming-forbidden"), (.otherAppStarted, "other-app"), (.unregistered, "session-ended"),
      (.transportLost, "connection-lost"),
    ]
    for (reason, name) in stopped { #expect(reason.name == name) }
  }

  /// It connects to a phone instead of listening.
  @Test func addressOfAPhone() throws {
    func phone(_ address: String) throws(ElementError) -> BluetoothAddress? {
      var settings = HeadUnitSettings()
      settings.address = address
      return try settings.phone()
    }
    for none in ["127.0.0.1", "*", "bluetooth", "AA:BB:CC:DD:EE:FF"] { #expect(try phone(none) == nil) }
    let address = try #require(BluetoothAddress("AA:BB:CC:DD:EE:FF"))
    #expect(try phone("bluetooth:AA:BB:CC:DD:EE:FF") == address && phone("BlueTooth:aa:bb:cc:dd:ee:ff") == address)
    for wrong in ["bluetooth:", "bluetooth:AA:BB", "bluetooth:car"] {
      let error = #expect(throws: ElementError.self) { try phone(wrong) }
      #expect(
        error?.text.contains("'\(wrong)' names no phone") == true
          && error?.code == Int32(GST_RESOURCE_ERROR_SETTINGS.rawValue))
    }
  }
}
