import GStreamerKit
import SDLApp
import SDLHeadUnit
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// EOS in every state: the queued frames are sent and the service ended before EOS is posted.
@Suite struct SuspendedEndTests {
  /// The longest EOS may take with a head unit that does not answer.
  private static let limit = Duration.seconds(3)

  private func end(_ harness: SinkHarness) throws -> Duration {
    let began = MonotonicClock.now
    harness.source.end()
    try harness.pipeline.waitForEnd()
    return MonotonicClock.now - began
  }

  @Test func orderAtTheHeadUnit() throws {
    let harness = try SinkHarness(isLive: false)
    try harness.start()
    harness.pushPictures(10)
    _ = try end(harness)
    // The sink has waited for the acknowledgement, so nothing is in flight.
    let record = harness.headUnit.record
    #expect(record.video.count == 10 && record.stopReasons == [.endedByApp] && record.violations == [])
    #expect(try harness.streamState == "stopped" && harness.streamMessages == ["started first-start", "stopped app"])
    let messages = harness.pipeline.messages
    let stopped = try #require(messages.firstIndex { $0.isElement("sdl-stream-stopped") })
    #expect(try stopped < #require(messages.firstIndex { $0.kind == .endOfStream }))
  }

  @Test func headUnitThatDoesNotAnswer() throws {
    let harness = try SinkHarness(isLive: false)
    try harness.start()
    try harness.deliver(2)
    harness.headUnit.server.perform(.silent(true))
    #expect(try end(harness) < Self.limit)
    #expect(harness.headUnit.record.stopReasons == [.endedByApp])
  }

  @Test func headUnitThatHangs() throws {
    let harness = try SinkHarness(isLive: false)
    try harness.start()
    try harness.deliver(2)
    harness.headUnit.server.perform(.stall(.milliseconds(3500)))
    harness.pushPictures(2)
    #expect(try end(harness) < Self.limit)
  }

  @Test(arguments: [true, false])
  func suspendedByTheApp(isLive: Bool) throws {
    let harness = try SinkHarness(isLive: isLive)
    try harness.start()
    try harness.deliver(2)
    try harness.setAppState(.background)
    try harness.wait(forStreamState: "suspended")
    #expect(try end(harness) < Self.limit)
    let record = harness.headUnit.record
    #expect(record.video.count == 2 && record.stopReasons == [.endedByApp] && record.violations == [])
    #expect(harness.streamMessages == ["started first-start", "suspended app-state", "stopped app"])
    // There is nothing left to resume.
    try harness.setAppState(.foreground)
    try harness.settle()
    #expect(try harness.streamState == "stopped" && harness.headUnit.record.starts.count == 1)
  }

  @Test func suspendedByTheDriver() throws {
    let harness = try SinkHarness(isLive: true)
    try harness.start()
    try harness.deliver(2)
    try harness.show(.background)
    try harness.wait(forStreamState: "stopped")
    harness.pushPictures(2)
    #expect(try end(harness) < Self.limit)
    #expect(try harness.statistics["frames-dropped-suspended"] == 2)
    #expect(harness.headUnit.record.video.count == 2 && harness.headUnit.record.starts.count == 1)
  }

  @Test func duringTheNotice() throws {
    let harness = try SinkHarness(.small(frameRate: 15))
    try harness.start()
    try harness.deliver(2)
    try harness.setAppState(.resigning)
    try harness.headUnit.waitForFrames(5)
    #expect(try end(harness) < Self.limit)
    let record = harness.headUnit.record
    #expect(record.stopReasons == [.endedByApp] && record.violations == [])
    harness.watch(for: .milliseconds(150))
    #expect(harness.headUnit.record.video.count == record.video.count)
  }

  /// Frames of a file that wait for the app come first.
  @Test(arguments: SuspendPolicyTests.Suspender.allCases)
  func held(suspender: SuspendPolicyTests.Suspender) throws {
    let harness = try SinkHarness(isLive: false, properties: "sync=false suspend-policy=block")
    try harness.start()
    try harness.deliver(2)
    try suspender.suspend(harness)
    try harness.wait(forStreamState: suspender.streamState)
    harness.pushPictures(3)
    harness.source.end()
    #expect(eventually { (try? harness.statistics["frames-queued"]) == 1 })
    harness.watch(for: .milliseconds(100))
    #expect(!harness.pipeline.drain().contains { $0.kind == .endOfStream })
    try suspender.resume(harness)
    try harness.pipeline.waitForEnd()
    #expect(harness.headUnit.record.video.count == 5 && harness.headUnit.record.stopReasons.last == .endedByApp)
    #expect(try harness.statistics["frames-sent"] == 5)
  }
}
