import GStreamerKit
import SDLApp
import SDLHeadUnit
import SDLLink
import Testing

@testable import Plugin

/// L27, in every situation: what is left is delivered, the service ended, and only then the application told.
@Suite struct SuspendedEndTests {
  /// With a head unit that says nothing.
  private static let limit = Duration.seconds(3)

  private func end(_ drive: Drive) throws -> Duration {
    let began = MonotonicClock.now
    drive.source.end()
    try drive.pipeline.waitForEnd()
    return MonotonicClock.now - began
  }

  @Test func orderAtTheHeadUnit() throws {
    let drive = try Drive(isLive: false)
    try drive.start()
    drive.pushPictures(10)
    _ = try end(drive)
    // The acknowledgement was waited for, so nothing is under way any more.
    let record = drive.headUnit.record
    #expect(record.video.count == 10 && record.stopReasons == [.endedByApp] && record.violations == [])
    #expect(try drive.streamState == "stopped" && drive.streamMessages == ["started first-start", "stopped app"])
    let messages = drive.pipeline.messages
    let stopped = try #require(messages.firstIndex { $0.isElement("sdl-stream-stopped") })
    #expect(try stopped < #require(messages.firstIndex { $0.kind == .endOfStream }))
  }

  @Test func headUnitThatDoesNotAnswer() throws {
    let drive = try Drive(isLive: false)
    try drive.start()
    try drive.deliver(2)
    drive.headUnit.server.perform(.silent(true))
    #expect(try end(drive) < Self.limit)
    #expect(drive.headUnit.record.stopReasons == [.endedByApp])
  }

  @Test func headUnitThatHangs() throws {
    let drive = try Drive(isLive: false)
    try drive.start()
    try drive.deliver(2)
    drive.headUnit.server.perform(.stall(.milliseconds(3500)))
    drive.pushPictures(2)
    #expect(try end(drive) < Self.limit)
  }

  @Test(arguments: [true, false])
  func suspendedByTheApp(isLive: Bool) throws {
    let drive = try Drive(isLive: isLive)
    try drive.start()
    try drive.deliver(2)
    try drive.setAppState(.background)
    try drive.wait(forStreamState: "suspended")
    #expect(try end(drive) < Self.limit)
    let record = drive.headUnit.record
    #expect(record.video.count == 2 && record.stopReasons == [.endedByApp] && record.violations == [])
    #expect(drive.streamMessages == ["started first-start", "suspended app-state", "stopped app"])
    // There is nothing left to resume.
    try drive.setAppState(.foreground)
    try drive.settle()
    #expect(try drive.streamState == "stopped" && drive.headUnit.record.starts.count == 1)
  }

  @Test func suspendedByTheDriver() throws {
    let drive = try Drive(isLive: true)
    try drive.start()
    try drive.deliver(2)
    try drive.show(.background)
    try drive.wait(forStreamState: "stopped")
    drive.pushPictures(2)
    #expect(try end(drive) < Self.limit)
    #expect(try drive.statistics["frames-dropped-suspended"] == 2)
    #expect(drive.headUnit.record.video.count == 2 && drive.headUnit.record.starts.count == 1)
  }

  @Test func duringTheNotice() throws {
    let drive = try Drive(.small(frameRate: 15))
    try drive.start()
    try drive.deliver(2)
    try drive.setAppState(.resigning)
    try drive.headUnit.waitForFrames(5)
    #expect(try end(drive) < Self.limit)
    let record = drive.headUnit.record
    #expect(record.stopReasons == [.endedByApp] && record.violations == [])
    drive.watch(for: .milliseconds(150))
    #expect(drive.headUnit.record.video.count == record.video.count)
  }

  /// Frames of a file that wait for the app come first.
  @Test(arguments: SuspendPolicyTests.Suspender.allCases)
  func held(suspender: SuspendPolicyTests.Suspender) throws {
    let drive = try Drive(isLive: false, properties: "sync=false suspend-policy=block")
    try drive.start()
    try drive.deliver(2)
    try suspender.suspend(drive)
    try drive.wait(forStreamState: suspender.streamState)
    drive.pushPictures(3)
    drive.source.end()
    #expect(eventually { (try? drive.statistics["frames-queued"]) == 1 })
    drive.watch(for: .milliseconds(100))
    #expect(!drive.pipeline.drain().contains { $0.kind == .endOfStream })
    try suspender.resume(drive)
    try drive.pipeline.waitForEnd()
    #expect(drive.headUnit.record.video.count == 5 && drive.headUnit.record.stopReasons.last == .endedByApp)
    #expect(try drive.statistics["frames-sent"] == 5)
  }
}
