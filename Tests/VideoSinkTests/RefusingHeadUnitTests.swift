import GStreamerKit
import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Head units that refuse a session, a registration or video, or end the connection.
@Suite struct RefusingHeadUnitTests {
  private func failure(_ change: (inout HeadUnitBehaviour) -> Void, isLive: Bool = true) throws -> BusMessage.Fault {
    let harness = try SinkHarness(HeadUnitConfiguration.small().with { change(&$0.behaviour) }, isLive: isLive)
    try harness.pipeline.play()
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

  @Test(arguments: [true, false])
  func unregistration(isLive: Bool) throws {
    let harness = try SinkHarness(isLive: isLive)
    try harness.start()
    try harness.deliver(2)
    harness.headUnit.server.perform(.unregister(.appUnauthorized))
    let error = try harness.pipeline.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_NOT_AUTHORIZED))
    #expect(error.text.contains(UnregisteredReason.appUnauthorized.rawValue), "\(error)")
    harness.pipeline.stop()
  }

  @Test func videoWithoutAReason() throws {
    let configuration = HeadUnitConfiguration.small().with {
      $0.behaviour.videoStarts = [.reject([]), .regular]
      $0.behaviour.dropsToNoneAfterRefusal = false
    }
    let harness = try SinkHarness(configuration)
    try harness.pipeline.play()
    harness.pushPicture()
    let warning = try harness.pipeline.waitForWarning()
    #expect(warning.isResource(GST_RESOURCE_ERROR_NOT_AUTHORIZED))
    #expect(warning.text.contains("Trying again in 2 s"), "\(warning)")
    #expect(try harness.statistics["stream-start-failures"] == 1)
    // It does.
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    try harness.deliver(2)
    #expect(harness.headUnit.record.refusals == 1)
  }

  @Test func videoAsTheDriverLeaves() throws {
    let configuration = HeadUnitConfiguration.small().with { $0.behaviour.videoStarts = [.reject([]), .regular] }
    let harness = try SinkHarness(configuration)
    try harness.pipeline.play()
    harness.pushPicture()
    _ = try harness.pipeline.waitForWarning()
    // SDL Core takes the level away with the refusal; when the driver opens the app again it works at once.
    try harness.headUnit.wait(for: "NONE") { record in
      record.events.contains {
        if case .hmiStatusSent(let status) = $0 { status.level == HMILevel.none } else { false }
      }
        && record.refusals == 1 ? true : nil
    }
    try harness.headUnit.show(.full)
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    try harness.deliver(2)
  }

  @Test func videoBecauseOfItsFormat() throws {
    let error = try failure {
      $0.videoStarts = [.reject(["videoProtocol"], reason: "no RAW today")]
      $0.dropsToNoneAfterRefusal = false
    }
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT))
    #expect(error.text.contains("videoProtocol") && error.text.contains("no RAW today"), "\(error)")
  }

  @Test func headUnitThatInsistsOnAnotherSize() throws {
    let configuration = HeadUnitConfiguration.small().with {
      $0.behaviour.videoStarts = [.acknowledge(VideoServiceParameters(width: 160, height: 120))]
    }
    let headUnit = try TestHeadUnit(configuration)
    let pipeline = try Pipeline(
      "videotestsrc is-live=true ! videoscale ! sdlvideosink name=sink sync=false uri=\(headUnit.uri)")
    try pipeline.play()
    try headUnit.waitForFrames(3)
    let unit = try #require(headUnit.record.video.first)
    #expect(try parameterSet(unit).width == 160 && parameterSet(unit).height == 120)
    #expect(headUnit.record.violations == [])
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

  @Test func lostHeartbeat() throws {
    let configuration = HeadUnitConfiguration.small().with { $0.behaviour.heartbeat = .silence }
    let harness = try SinkHarness(configuration, properties: "sync=false heartbeat-interval=1000 auto-reconnect=false")
    try harness.start()
    let error = try harness.pipeline.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_WRITE) && error.text.contains("heartbeat"), "\(error)")
  }

  @Test func unwillingGoodbye() throws {
    let harness = try SinkHarness(
      HeadUnitConfiguration.small().with { $0.behaviour.serviceEnd = .silence }, isLive: false)
    try harness.start()
    try harness.deliver(1)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    harness.pipeline.stop()
  }
}
