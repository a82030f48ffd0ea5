import GStreamerKit
import SDLLink
import SDLMessages
import Testing

@testable import Plugin

/// The app is shown when the driver wants it, not when the pipeline does.
@Suite struct DriverTests {
  @Test func liveSourceLosesFramesMeanwhile() throws {
    let drive = try Drive(.small(activation: nil))
    try drive.pipeline.play()
    // Before it, nobody can tell a driver who is elsewhere from a head unit that is not ready.
    try drive.pipeline.waitForElementMessage("sdl-hmi-status")
    drive.pushPictures(10)
    #expect(eventually { (try? drive.statistics["frames-dropped-suspended"]) == 10 })
    #expect(try drive.statistics.areFramesConserved)
    #expect(try drive.pipeline.sink["connection-state"] == "ready")
    try drive.headUnit.show(.full)
    try drive.pipeline.waitForElementMessage("sdl-stream-started")
    try drive.deliver(3)
    #expect(drive.headUnit.record.video.map(isKeyFrame) == [true, false, false])
    #expect(try drive.statistics["frames-encoded"] == 3)
  }

  @Test func fileWaitsAndLosesNothing() throws {
    let drive = try Drive(.small(activation: nil), isLive: false)
    try drive.pipeline.play()
    drive.pushPictures(12)
    drive.source.end()
    try drive.headUnit.waitForRegistration()
    try drive.pipeline.waitForElementMessage("sdl-connected")
    #expect(eventually { (try? drive.statistics["frames-queued"]) == 1 })
    #expect(try drive.statistics.areFramesConserved)
    try drive.headUnit.show(.limited)
    try drive.pipeline.waitForEnd()
    #expect(drive.headUnit.record.video.count == 12)
    #expect(try drive.statistics["frames-sent"] == 12)
    #expect(try drive.statistics.dropped == 0)
  }

  @Test func fileGoesOnAtItsOwnSpeed() throws {
    let frameRate = 10
    let count = 12
    let drive = try Drive(
      .small(activation: nil), isLive: false, caps: Picture.caps(frameRate: frameRate), frameRate: frameRate,
      properties: "max-lateness=-1")
    try drive.pipeline.play()
    drive.pushPictures(count)
    drive.source.end()
    try drive.pipeline.waitForElementMessage("sdl-connected")
    #expect(eventually { (try? drive.statistics["frames-queued"]) == 1 })
    // Long enough that all frames would be late if the clock were not corrected.
    let shown = MonotonicClock.now + .milliseconds(count * 1000 / frameRate)
    #expect(eventually { MonotonicClock.now > shown })
    try drive.headUnit.show(.full)
    try drive.pipeline.waitForEnd()
    let arrivals = drive.headUnit.record.arrivals
    #expect(arrivals.count == count)
    // A busy machine makes it longer, never shorter.
    let span = try #require(arrivals.last) - (try #require(arrivals.first))
    #expect(span > .milliseconds((count - 1) * 1000 / frameRate / 2), "\(span)")
  }

  @Test func prerollNeedsNoHeadUnit() throws {
    let silent = try RawPeer { $0.readToEnd() }
    let pipeline = try Pipeline("videotestsrc ! sdlvideosink name=sink uri=\(silent.uri)")
    try pipeline.reach(GST_STATE_PAUSED)
    pipeline.drain()
    #expect(pipeline.messages.contains { $0.kind == .asyncDone })
    #expect(pipeline.messages.allSatisfy { $0.error == nil })
    #expect(eventually { (try? pipeline.sink["connection-state"]) == "registering" })
  }

  @Test(arguments: [true, false])
  func streamStopsAndReturns(isLive: Bool) throws {
    let drive = try Drive(isLive: isLive)
    try drive.start()
    try drive.deliver(3)
    let before = drive.headUnit.record.video.count
    try drive.headUnit.show(.background)
    #expect(try drive.pipeline.waitForElementMessage("sdl-stream-stopped")["reason"] == "hmi-status")
    #expect(try drive.pipeline.sink["hmi-level"] == "background")
    #expect(try drive.pipeline.sink["connection-state"] == "ready")
    drive.pushPictures(4)
    if isLive {
      #expect(eventually { (try? drive.statistics["frames-dropped-suspended"]) ?? 0 >= 4 })
    } else {
      #expect(eventually { (try? drive.statistics["frames-queued"]) == 1 })
    }
    #expect(try drive.statistics.areFramesConserved)
    #expect(drive.headUnit.record.video.count == before)
    try drive.headUnit.show(.full)
    #expect(try drive.pipeline.waitForElementMessage("sdl-stream-started")["reason"] == "restarted")
    if !isLive { try drive.headUnit.waitForFrames(before + 4) }
    try drive.deliver(2)
    let record = drive.headUnit.record
    #expect(record.starts.count == 2)
    #expect(isKeyFrame(record.video[try #require(record.starts.last)]))
    #expect(try nalTypes(record.video[try #require(record.starts.last)]).first == .sequenceParameterSet)
    #expect(record.violations == [])
  }

  @Test func manyChangesOfLevelEndInTheLast() throws {
    let drive = try Drive()
    try drive.start()
    for _ in 0..<25 {
      try drive.headUnit.show(.background)
      drive.pushPicture()
      try drive.headUnit.show(.full)
      drive.pushPicture()
    }
    let before = drive.headUnit.record.video.count
    #expect(
      eventually {
        drive.pushPicture()
        return drive.headUnit.record.video.count > before + 3
      })
    #expect(try drive.pipeline.sink["connection-state"] == "streaming")
    #expect(try drive.statistics.areFramesConserved)
  }

  @Test func headUnitEndsTheService() throws {
    let drive = try Drive()
    try drive.start()
    try drive.deliver(2)
    drive.headUnit.server.endVideoService(for: try drive.headUnit.waitForApp())
    #expect(try drive.pipeline.waitForElementMessage("sdl-stream-stopped")["reason"] == "head-unit")
    // The head unit sees its EndService acknowledged, or it would not accept a new start.
    #expect(try drive.pipeline.waitForElementMessage("sdl-stream-started")["reason"] == "restarted")
    try drive.deliver(2)
    #expect(drive.headUnit.record.video.suffix(2).map(isKeyFrame) == [true, false])
    #expect(drive.headUnit.record.violations == [])
  }

  @Test func pauseKeepsTheService() throws {
    let drive = try Drive(isLive: false)
    try drive.start()
    try drive.deliver(2)
    drive.pipeline.setState(GST_STATE_PAUSED)
    drive.pushPicture()
    try drive.pipeline.reach(GST_STATE_PAUSED)
    #expect(try drive.pipeline.waitForElementMessage("sdl-stream-suspended")["reason"] == "paused")
    drive.pipeline.setState(GST_STATE_PLAYING)
    #expect(try drive.pipeline.waitForElementMessage("sdl-stream-started")["reason"] == "resumed")
    try drive.headUnit.waitForFrames(3)
    try drive.deliver(2)
    #expect(drive.headUnit.record.starts.count == 1)
    #expect(drive.headUnit.record.violations == [])
  }
}
