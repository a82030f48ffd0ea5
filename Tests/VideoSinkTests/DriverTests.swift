import GStreamerKit
import SDLLink
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The HMI level, which the driver decides, opens and closes the stream, in every state of the pipeline.
@Suite struct DriverTests {
  @Test func liveSourceLosesFramesMeanwhile() throws {
    let harness = try SinkHarness(.small(activation: nil))
    try harness.pipeline.play()
    // Before it, a driver who is elsewhere and a head unit that is not ready look the same.
    try harness.pipeline.waitForElementMessage("sdl-hmi-status")
    harness.pushPictures(10)
    #expect(eventually { (try? harness.statistics["frames-dropped-not-streaming"]) == 10 })
    #expect(try harness.statistics.areFramesConserved)
    #expect(try harness.pipeline.sink["connection-state"] == "ready")
    try harness.headUnit.show(.full)
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    try harness.deliver(3)
    #expect(harness.headUnit.record.video.map(isKeyFrame) == [true, false, false])
    #expect(eventually { (try? harness.statistics["frames-encoded"]) == 3 })
  }

  @Test func fileWaitsAndLosesNothing() throws {
    let harness = try SinkHarness(.small(activation: nil), isLive: false)
    try harness.pipeline.play()
    harness.pushPictures(12)
    harness.source.end()
    try harness.headUnit.waitForRegistration()
    try harness.pipeline.waitForDriverRequest(GST_PROGRESS_TYPE_START)
    // The pipeline prerolls so long: nothing is to start before the picture does.
    #expect(harness.pipeline.messages.allSatisfy { $0.kind != .asyncDone })
    #expect(try harness.statistics.areFramesConserved)
    try harness.headUnit.show(.limited)
    try harness.pipeline.waitForDriverRequest(GST_PROGRESS_TYPE_COMPLETE)
    try harness.pipeline.waitForEnd()
    #expect(harness.headUnit.record.video.count == 12)
    #expect(try harness.statistics["frames-sent"] == 12)
    #expect(try harness.statistics.dropped == 0)
  }

  @Test func fileGoesOnAtItsOwnSpeed() throws {
    let frameRate = 10
    let count = 12
    let harness = try SinkHarness(
      .small(activation: nil), isLive: false, caps: Picture.caps(frameRate: frameRate), frameRate: frameRate,
      properties: "max-lateness=-1")
    try harness.pipeline.play()
    harness.pushPictures(count)
    harness.source.end()
    try harness.pipeline.waitForDriverRequest(GST_PROGRESS_TYPE_START)
    // Long enough that all frames would be late if the running time had begun.
    let shown = MonotonicClock.now + .milliseconds(count * 1000 / frameRate)
    #expect(eventually { MonotonicClock.now > shown })
    try harness.headUnit.show(.full)
    try harness.pipeline.waitForEnd()
    let arrivals = harness.headUnit.record.arrivals
    #expect(arrivals.count == count)
    // A busy machine makes it longer, never shorter.
    let span = try #require(arrivals.last) - (try #require(arrivals.first))
    #expect(span > .milliseconds((count - 1) * 1000 / frameRate / 2), "\(span)")
  }

  @Test func prerollThatWaitsCanBeStopped() throws {
    let harness = try SinkHarness(.small(activation: nil), isLive: false)
    try harness.pipeline.play()
    harness.pushPictures(2)
    try harness.pipeline.waitForDriverRequest(GST_PROGRESS_TYPE_START)
    try harness.pipeline.stopKeepingMessages()
    try harness.pipeline.waitForDriverRequest(GST_PROGRESS_TYPE_CANCELED)
    #expect(harness.pipeline.drain().allSatisfy { $0.error == nil && $0.warning == nil })
    #expect(harness.headUnit.record.starts.isEmpty)
  }

  /// With the policy `drop` nothing waits.
  @Test func prerollNeedsNoHeadUnit() throws {
    let silent = try RawPeer { $0.readToEnd() }
    let pipeline = try Pipeline("videotestsrc ! sdlvideosink name=sink suspend-policy=drop uri=\(silent.uri)")
    try pipeline.reach(GST_STATE_PAUSED)
    pipeline.drain()
    #expect(pipeline.messages.contains { $0.kind == .asyncDone })
    #expect(pipeline.messages.allSatisfy { $0.error == nil })
    #expect(eventually { (try? pipeline.sink["connection-state"]) == "registering" })
  }

  @Test(arguments: [true, false])
  func streamStopsAndReturns(isLive: Bool) throws {
    let harness = try SinkHarness(isLive: isLive)
    try harness.start()
    try harness.deliver(3)
    let before = harness.headUnit.record.video.count
    try harness.headUnit.show(.background)
    #expect(try harness.pipeline.waitForElementMessage("sdl-stream-stopped")["reason"] == "hmi-status")
    #expect(try harness.pipeline.sink["hmi-level"] == "background")
    #expect(try harness.pipeline.sink["connection-state"] == "ready")
    harness.pushPictures(4)
    if isLive {
      #expect(eventually { (try? harness.statistics["frames-dropped-suspended"]) ?? 0 >= 4 })
    } else {
      #expect(eventually { (try? harness.statistics["frames-queued"]) == 1 })
    }
    #expect(try harness.statistics.areFramesConserved)
    #expect(harness.headUnit.record.video.count == before)
    try harness.headUnit.show(.full)
    #expect(try harness.pipeline.waitForElementMessage("sdl-stream-started")["reason"] == "restarted")
    if !isLive { try harness.headUnit.waitForFrames(before + 4) }
    try harness.deliver(2)
    let record = harness.headUnit.record
    #expect(record.starts.count == 2)
    #expect(isKeyFrame(record.video[try #require(record.starts.last)]))
    #expect(try nalTypes(record.video[try #require(record.starts.last)]).first == .sequenceParameterSet)
    #expect(record.violations == [])
  }

  @Test func manyChangesOfLevelEndInTheLast() throws {
    let harness = try SinkHarness()
    try harness.start()
    for _ in 0..<25 {
      try harness.headUnit.show(.background)
      harness.pushPicture()
      try harness.headUnit.show(.full)
      harness.pushPicture()
    }
    // Frames of an earlier stream may be in flight until the last one has started.
    try harness.settle()
    try harness.wait(forStreamState: "streaming")
    let before = harness.headUnit.record.video.count
    #expect(
      eventually {
        harness.pushPicture()
        return harness.headUnit.record.video.count > before + 3
      })
    #expect(try harness.pipeline.sink["connection-state"] == "streaming")
    #expect(try harness.statistics.areFramesConserved)
  }

  @Test func headUnitEndsTheService() throws {
    let harness = try SinkHarness()
    try harness.start()
    try harness.deliver(2)
    harness.headUnit.server.perform(.endVideo)
    #expect(try harness.pipeline.waitForElementMessage("sdl-stream-stopped")["reason"] == "head-unit")
    // The head unit sees its EndService acknowledged, or it would not accept a new start.
    #expect(try harness.pipeline.waitForElementMessage("sdl-stream-started")["reason"] == "restarted")
    try harness.deliver(2)
    #expect(harness.headUnit.record.video.suffix(2).map(isKeyFrame) == [true, false])
    #expect(harness.headUnit.record.violations == [])
  }

  @Test func pauseKeepsTheService() throws {
    let harness = try SinkHarness(isLive: false)
    try harness.start()
    try harness.deliver(2)
    harness.pipeline.setState(GST_STATE_PAUSED)
    harness.pushPicture()
    try harness.pipeline.reach(GST_STATE_PAUSED)
    #expect(try harness.pipeline.waitForElementMessage("sdl-stream-suspended")["reason"] == "paused")
    harness.pipeline.setState(GST_STATE_PLAYING)
    #expect(try harness.pipeline.waitForElementMessage("sdl-stream-started")["reason"] == "resumed")
    try harness.headUnit.waitForFrames(3)
    try harness.deliver(2)
    #expect(harness.headUnit.record.starts.count == 1)
    #expect(harness.headUnit.record.violations == [])
  }
}
