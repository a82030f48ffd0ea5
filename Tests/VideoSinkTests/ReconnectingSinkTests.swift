import GStreamerKit
import SDLApp
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// A connection that breaks and is made again, as the application sees it.
@Suite struct ReconnectingSinkTests {
  private static let names = ["sdl-stream-stopped", "sdl-disconnected", "sdl-connected", "sdl-stream-started"]

  @Test func liveSource() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(headUnit.uri)")
    let sink = try pipeline.sink
    try pipeline.play()
    try headUnit.waitForFrames(5)
    // GStreamer tells of it on a thread of its own, after frames have come.
    try pipeline.reach(GST_STATE_PLAYING)
    let before = pipeline.drain().count
    let dropped = sink.statistics["frames-dropped-not-streaming"]
    headUnit.server.perform(.cut)
    #expect(eventually { sink.statistics.areFramesConserved && sink.statistics["connections"] == 2 })
    let start = try headUnit.wait(for: "second stream") { $0.starts.count == 2 ? $0.starts[1] : nil }
    try headUnit.waitForFrames(start + 10)
    #expect(sink.statistics.areFramesConserved)
    #expect(sink.statistics["frames-dropped-not-streaming"] >= dropped + 5)
    let messages = pipeline.drain()[before...]
    let reports = messages.filter { message in Self.names.contains { message.isElement($0) } }
    #expect(Self.names.elementsEqual(reports) { $1.isElement($0) }, "\(reports)")
    try #require(reports.count == 4)
    #expect(reports[0].fields["reason"] == "connection-lost")
    #expect(reports[1].fields["will-reconnect"] == "true")
    let pause = try #require(reports[1].fields["retry-after-ms"].flatMap { Int($0) })
    #expect((500...625).contains(pause))
    #expect(reports[3].fields["reason"] == "reconnected")
    #expect(messages.count { $0.warning?.isResource(GST_RESOURCE_ERROR_WRITE) == true } == 1)
    let hasStayed = messages.allSatisfy { message in
      if case .state = message.kind { false } else { message.error == nil }
    }
    #expect(hasStayed, "\(messages)")
    #expect(sink["connection-state"] == "streaming")
    let frames = Array(headUnit.record.video[start...])
    #expect(try startsStream(frames[0]))
    #expect(try decode(frames, width: 320, height: 240).count == frames.count)
    #expect(headUnit.record.violations == [])
  }

  @Test func fileLosesNothing() throws {
    let harness = try SinkHarness(.small(frameRate: 120), isLive: false)
    try harness.start()
    try harness.deliver(5)
    harness.headUnit.server.perform(.cut)
    try harness.pipeline.waitForElementMessage("sdl-disconnected")
    let standstills = Standstills()
    harness.pushPictures(20)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let statistics = try harness.statistics
    let sent = Int(statistics["frames-sent"])
    let lost = standstills.lostFrames(harness.pipeline.pauseDelay)
    #expect((max(5, 25 - lost)...25).contains(sent), "\(standstills.total), \(statistics)")
    // The GAP buffer that carried the caps had no picture.
    #expect(Int(statistics.dropped) == 26 - sent && statistics.areFramesConserved, "\(statistics)")
    #expect(isKeyFrame(harness.headUnit.record.video[5]))
  }

  /// Frames that the head unit has not read are lost with the connection; those before them in the pipeline are not.
  @Test func fileLosesWhatIsUnderWay() throws {
    let headUnit = try TestHeadUnit(.small(640, 480, frameRate: 120, maximumBitrate: nil))
    let pipeline = try Pipeline(
      """
      videotestsrc num-buffers=80 pattern=snow ! \(Picture.caps(640, 480)) \
      ! sdlvideosink name=sink sync=false bitrate=50000 speed-preset=ultrafast uri=\(headUnit.uri)
      """)
    let sink = try pipeline.sink
    try pipeline.playAsAPlayer()
    try headUnit.waitForFrames(3)
    headUnit.server.setReading(false, for: try headUnit.waitForApp())
    #expect(eventually { sink.statistics["queue-frames"] == 3 })
    let standstills = Standstills()
    headUnit.server.perform(.cut)
    try pipeline.waitForEnd()
    #expect(eventually { sink.statistics["frames-queued"] == 0 })
    let statistics = sink.statistics
    #expect(statistics["frames-in"] == 80 && statistics.areFramesConserved)
    #expect((1...4 + standstills.lostFrames(pipeline.pauseDelay)).contains(Int(statistics.dropped)), "\(statistics)")
    let record = headUnit.record
    #expect(record.starts.count == 2 && isKeyFrame(record.video[record.starts[1]]))
  }

  /// After the pause frames are neither sent faster nor dropped as late.
  @Test func fileGoesOnAtItsPace() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      """
      videotestsrc num-buffers=40 ! \(Picture.caps()) \
      ! sdlvideosink name=sink max-lateness=2000000000 uri=\(headUnit.uri)
      """)
    try pipeline.playAsAPlayer()
    try headUnit.waitForFrames(10)
    headUnit.server.perform(.cut)
    // Longer than frames may be late.
    headUnit.server.perform(.stall(.seconds(3)))
    try pipeline.waitForEnd()
    let record = headUnit.record
    let start = try #require(record.starts.last)
    let statistics = try pipeline.sink.statistics
    // A busy machine pauses late, and makes some late around the pause; without it all would be, but one in a second.
    let dropped = Int(statistics.dropped)
    #expect(dropped < 10, "\(statistics.fields), \(record.arrivals)")
    #expect(record.starts.count == 2 && record.video.count + dropped >= 36, "\(record.starts), \(statistics.fields)")
    let span = try #require(record.arrivals.last) - record.arrivals[start]
    // At 30 frames per second, with some room for a first that came late.
    #expect(span > .milliseconds((record.video.count - start - 1) * 33 * 7 / 10), "\(span)")
    #expect(statistics.areFramesConserved)
  }

  @Test(arguments: [true, false]) func headUnitIsGoneForGood(isLive: Bool) throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      "videotestsrc is-live=\(isLive) ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(headUnit.uri)")
    let sink = try pipeline.sink
    try pipeline.play()
    try headUnit.waitForFrames(3)
    headUnit.server.perform(.refuseConnections(true))
    headUnit.server.perform(.cut)
    #expect(eventually { sink.statistics["connect-attempts"] >= 3 && sink["connection-state"] == "reconnecting" })
    // One warning for the loss, not one for each attempt; read before the bus is flushed.
    #expect(pipeline.drain().count { $0.isElement("sdl-disconnected") } == 1)
    let attempts = sink.statistics["connect-attempts"]
    pipeline.stop()
    #expect(sink.statistics.areFramesConserved && sink.statistics["frames-queued"] == 0)
    #expect(sink.statistics["connect-attempts"] == attempts)
    #expect(sink["connection-state"] == "idle")
  }

  @Test func endWithNothingLeft() throws {
    let harness = try SinkHarness(isLive: false)
    try harness.start()
    try harness.deliver(3)
    harness.headUnit.server.perform(.refuseConnections(true))
    harness.headUnit.server.perform(.cut)
    try harness.pipeline.waitForElementMessage("sdl-disconnected")
    harness.source.end()
    try harness.pipeline.waitForEnd()
    harness.pipeline.stop()
  }

  @Test func endBehindFramesThatWait() throws {
    let harness = try SinkHarness(isLive: false)
    try harness.start()
    try harness.deliver(3)
    harness.headUnit.server.perform(.cut)
    try harness.pipeline.waitForElementMessage("sdl-disconnected")
    let standstills = Standstills()
    harness.pushPictures(5)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    try harness.headUnit.wait(for: "end") { $0.stopReasons.last == .endedByApp ? true : nil }
    let sent = Int(try harness.statistics["frames-sent"])
    let lost = standstills.lostFrames(harness.pipeline.pauseDelay)
    #expect((max(4, 8 - lost)...8).contains(sent), "\(standstills.total), \(sent)")
    try harness.headUnit.waitForFrames(sent)
  }
}

/// A head unit, or the network between, that falls silent while a connection is made again.
@Suite struct StallingStartTests {
  /// From the first byte of the session to the answer to a heartbeat after the registration. The head unit still has the
  /// connection that the sink has given up, and refuses the app as registered already as long as it has.
  @Test(arguments: [0, 400, nil]) func recovers(byteCount: Int?) throws {
    let headUnit = try TestHeadUnit()
    let relay = try StallingRelay(to: headUnit.port, stallingAfter: byteCount)
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(relay.uri) connect-timeout=1000 \
      heartbeat-interval=500
      """)
    try pipeline.play()
    try headUnit.waitForFrames(3)
    relay.cut()
    #expect(eventually { relay.isGivenUp }, "\(pipeline.drain())")
    // It keeps trying meanwhile, and may stream before the head unit learns of that: without a byte of the session the
    // app is not registered yet.
    #expect(eventually { relay.isTriedAgain })
    relay.release()
    let sink = try pipeline.sink
    #expect(eventually { sink["connection-state"] == "streaming" })
    let count = headUnit.record.video.count
    try headUnit.waitForFrames(count + 5)
    #expect(pipeline.drain().allSatisfy { $0.error == nil })
    #expect(sink.statistics.areFramesConserved)
    pipeline.stop()
  }
}

/// A head unit that hangs while the kernel has room for all that is sent.
@Suite struct HangingHeadUnitTests {
  @Test func isNoticed() throws {
    let harness = try SinkHarness(properties: "sync=false heartbeat-interval=500")
    try harness.start()
    #expect(eventually { (try? harness.statistics["round-trip-ns"]) ?? 0 > 0 })
    harness.headUnit.server.perform(.stall(.seconds(2)))
    let message = try harness.pipeline.waitForElementMessage("sdl-disconnected")
    #expect(message["reason"]?.contains("heartbeat") == true, "\(message)")
  }

  /// Heartbeats that nobody has asked for.
  @Test func isLookedForByDefault() throws {
    let harness = try SinkHarness()
    try harness.start()
    #expect(eventually { (try? harness.statistics["round-trip-ns"]) ?? 0 > 0 })
  }
}
