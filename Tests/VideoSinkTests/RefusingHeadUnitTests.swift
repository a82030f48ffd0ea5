import GStreamerKit
import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Head units that refuse a session, a registration or video, or end the connection.
@Suite struct RefusingHeadUnitTests {
  private func failure(_ change: (inout HeadUnitBehaviour) -> Void) throws -> BusMessage.Fault {
    let harness = try SinkHarness(HeadUnitConfiguration.small().with { change(&$0.behaviour) })
    harness.pipeline.setState(GST_STATE_PLAYING)
    harness.pushPicture()
    let error = try harness.pipeline.waitForError()
    harness.pipeline.stop()
    return error
  }

  @Test func session() throws {
    let error = try failure { $0.rpcStart = .reject }
    #expect(
      error.isResource(GST_RESOURCE_ERROR_OPEN_READ_WRITE) && error.text.contains("refused the session"), "\(error)")
  }

  @Test(arguments: [
    (ResultCode.disallowed, GST_RESOURCE_ERROR_NOT_AUTHORIZED, "app-id"),
    (.tooManyApplications, GST_RESOURCE_ERROR_BUSY, "close another app"),
    (.invalidData, GST_RESOURCE_ERROR_NOT_AUTHORIZED, "language"),
  ])
  func registration(_ result: ResultCode, _ code: GstResourceError, _ advice: String) throws {
    let error = try failure { $0.registration = .result(result, success: false) }
    #expect(error.isResource(code))
    #expect(error.text.contains(result.rawValue) && error.text.contains(advice), "\(error)")
  }

  @Test func unregistration() throws {
    let harness = try SinkHarness()
    try harness.start()
    try harness.deliver(2)
    harness.headUnit.server.perform(.unregister(.appUnauthorized))
    let error = try harness.pipeline.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_NOT_AUTHORIZED))
    #expect(error.text.contains(UnregisteredReason.appUnauthorized.rawValue), "\(error)")
    harness.pipeline.stop()
  }

  @Test(arguments: [true, false])
  func lostConnection(isLive: Bool) throws {
    let harness = try SinkHarness(isLive: isLive, properties: "sync=false auto-reconnect=false")
    try harness.start()
    try harness.deliver(2)
    harness.headUnit.server.perform(.cut)
    let error = try harness.pipeline.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_WRITE), "\(error)")
    #expect(try harness.pipeline.waitForElementMessage("sdl-disconnected")["reason"]?.isEmpty == false)
    #expect(eventually { (try? harness.pipeline.sink["connection-state"]) != "streaming" })
    harness.pipeline.stop()
    #expect(try harness.statistics.areFramesConserved)
  }
}

/// A head unit whose own software fails at the configuration of video: SDL Core refuses the start, naming nothing, and
/// sets the app to HMI level NONE each time. A start without parameters needs no configuration.
@Suite struct RefusalAndLevelTests {
  @Test func startWithoutParametersIsReached() throws {
    let configuration = HeadUnitConfiguration.small().with {
      $0.behaviour.videoStarts = [.reject([]), .reject([]), .reject([]), .regular]
    }
    let harness = try SinkHarness(configuration, isTapped: true)
    try harness.pipeline.play()
    harness.pushPicture()
    for round in 1...3 {
      try harness.headUnit.wait(for: "refusal \(round)") { $0.refusals == round ? true : nil }
      try harness.headUnit.wait(for: "NONE") { record -> Bool? in
        guard case .hmiStatusSent(let status)? = record.events.last(where: Self.isStatus) else { return nil }
        return status.level == HMILevel.none ? true : nil
      }
      #expect(harness.tap?.requests == [String](repeating: "RAW 320×240", count: round))
      let warning = try harness.pipeline.waitForWarning()
      #expect(warning.text.contains("when the driver opens the app again"), "\(warning)")
      if round == 3 {
        let last = try harness.pipeline.waitForWarning()
        #expect(last.text.contains("refused to start video 3 times"), "\(last)")
        #expect(last.text.contains("a start without parameters, 320×240 when the driver opens"), "\(last)")
      }
      try harness.show(.full)
    }
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    try harness.deliver(2)
    #expect(harness.tap?.requests.last == "bare" && harness.tap?.requests.count == 4)
    #expect(try harness.statistics["stream-start-failures"] == 4)
    #expect(harness.pipeline.drain().allSatisfy { $0.error == nil })
  }

  private static func isStatus(_ event: HeadUnitSession.Event) -> Bool {
    if case .hmiStatusSent = event { true } else { false }
  }
}
