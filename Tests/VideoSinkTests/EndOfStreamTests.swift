import CGStreamerApp
import GStreamerKit
import SDLApp
import SDLHeadUnit
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

@Suite struct EndOfStreamTests {
  @Test func emptyStreamEnds() throws {
    let harness = try SinkHarness(isLive: false)
    try harness.pipeline.play()
    harness.source.end()
    try harness.pipeline.waitForEnd()
    #expect(try harness.statistics["frames-in"] == 0)
  }

  @Test func liveStreamEndsWithoutTheDriver() throws {
    let harness = try SinkHarness(.small(activation: nil))
    try harness.pipeline.play()
    try harness.pipeline.waitForElementMessage("sdl-hmi-status")
    harness.pushPictures(3)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    #expect(try harness.statistics["frames-dropped-not-streaming"] == 3)
    #expect(harness.headUnit.record.starts.isEmpty)
  }

  @Test func endAgainstASilentPeer() throws {
    let silent = try RawPeer { $0.readToEnd() }
    let pipeline = try Pipeline("appsrc name=src format=time is-live=true ! sdlvideosink name=sink uri=\(silent.uri)")
    let source = try FrameSource(pipeline, caps: Picture.caps())
    try pipeline.play()
    source.push(Picture(320, 240, 0).bytes, at: 0)
    source.end()
    try pipeline.waitForEnd()
  }

  @Test func seekAfterTheEndStreamsAgain() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      """
      videotestsrc ! \(Picture.caps()) ! sdlvideosink name=sink sync=false keep-alive-interval=0 uri=\(headUnit.uri)
      """)
    func playFiveFrames() -> Bool {
      gst_element_seek(
        pipeline.element.pointer, 1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET,
        5 * 1_000_000_000 / 30) != 0
    }
    try pipeline.reach(GST_STATE_PAUSED)
    #expect(playFiveFrames())
    try pipeline.playFromStart()
    try pipeline.waitForEnd()
    // The picture of the first seek may have been shown in PAUSED.
    let statistics = try pipeline.sink.statistics
    let count = statistics["frames-sent"] + statistics["frames-repeated"]
    try headUnit.waitForFrames(count)
    try pipeline.reach(GST_STATE_PAUSED)
    #expect(playFiveFrames())
    #expect(try pipeline.waitForElementMessage("sdl-stream-started")["reason"] == "restarted")
    // It is seen before the pipeline plays.
    try headUnit.waitForFrames(count + 1)
    try pipeline.play()
    try pipeline.waitForEnd()
    let frames = try headUnit.waitForFrames(count + 5)
    #expect(isKeyFrame(frames[count]))
    #expect(headUnit.record.violations == [])
  }
}

/// EOS in every state: the queued frames are sent and the service ended before EOS is posted.
@Suite struct SuspendedEndTests {
  /// The longest EOS may take with a head unit that does not answer, for which the sink waits two seconds.
  private static let limit = Duration.seconds(10)

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
    harness.headUnit.server.perform(.stall(.seconds(20)))
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

  @Test func startThatIsNotAnswered() throws {
    var configuration = HeadUnitConfiguration.small()
    configuration.behaviour.videoStartDelay = .seconds(10)
    let harness = try SinkHarness(configuration)
    try harness.pipeline.play()
    harness.pushPictures(2)
    try harness.wait(forStreamState: "starting")
    let standstills = Standstills()
    // There is nothing to end: the two seconds for that are not waited for.
    #expect(try end(harness) < .milliseconds(1500) + standstills.total)
    #expect(try harness.statistics["frames-dropped-not-streaming"] == 2)
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

  /// Nothing waits for a driver, unless the application does.
  @Test(arguments: SuspendPolicyTests.Suspender.allCases, [true, false])
  func hidden(suspender: SuspendPolicyTests.Suspender, sync: Bool) throws {
    let harness = try SinkHarness(isLive: false, isPlayer: false, properties: "sync=\(sync) keep-alive-interval=0")
    try harness.start()
    // The first one is shown however late it comes.
    try harness.deliver(1)
    try suspender.suspend(harness)
    try harness.wait(forStreamState: suspender.streamState)
    harness.pushPictures(3)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    #expect(try harness.statistics["frames-dropped-suspended"] == 3 && harness.statistics.areFramesConserved)
    #expect(harness.headUnit.record.video.count == 1 && harness.headUnit.record.violations == [])
    // An application that would pause only now is not left in PAUSED, and the wait for the driver is over.
    #expect(harness.bufferings == [0, 100])
    let progress = harness.pipeline.messages.compactMap { message -> GstProgressType? in
      if case .progress(let type, code: "activate", _) = message.kind { type } else { nil }
    }
    #expect(progress == (suspender == .driver ? [GST_PROGRESS_TYPE_START, GST_PROGRESS_TYPE_CANCELED] : []))
  }
}

/// EOS waits until the last frames are sent; a pause or a flush interrupts that wait.
@Suite struct InterruptedEndTests {
  /// Less than the sink waits for a head unit that does not take the last frames.
  private static let limit = Duration.milliseconds(900)

  /// A file of noise, whose last frames can't leave.
  private func stuck() throws -> SinkHarness {
    let harness = try SinkHarness(
      .small(640, 480, frameRate: 60, maximumBitrate: nil), isLive: false, caps: Picture.caps(640, 480),
      properties: "sync=false bitrate=50000 speed-preset=ultrafast")
    try harness.start()
    harness.headUnit.server.setReading(false, for: try harness.headUnit.waitForApp())
    var generator = SeededGenerator(seed: 1)
    let noise = (0..<(640 * 480 * 3 / 16)).flatMap { _ in
      withUnsafeBytes(of: generator.next() as UInt64) { [UInt8]($0) }
    }
    let sink = try harness.pipeline.sink
    var looks = 0
    #expect(
      eventually {
        if sink.statistics["frames-in"] < harness.index { return false }
        looks = sink.statistics["frames-queued"] < 2 ? 0 : looks + 1
        if looks == 0 { harness.push(noise) }
        // Stuck when the queue has stayed full for so many looks.
        return looks == 50
      })
    return harness
  }

  /// Sends the end of the stream after stuck frames and interrupts the sink while it waits for them. On a machine that
  /// is too busy the sink's wait may time out before; then all is tried again.
  private func interrupted(_ interrupt: (SinkHarness) throws -> Void) throws -> SinkHarness {
    for _ in 0..<5 {
      let harness = try stuck()
      let hasCome = Monitor(false)
      gst_pad_add_probe(
        try harness.pipeline.sink.pad("sink"), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, noticeEnd,
        Unmanaged.passRetained(hasCome).toOpaque(), releaseFlag)
      let began = MonotonicClock.now
      harness.source.end()
      #expect(eventually { hasCome.withLock { $0 } })
      // Time for the event to get from the pad to the wait.
      g_usleep(50_000)
      try interrupt(harness)
      guard MonotonicClock.now - began < Self.limit, try harness.statistics["frames-queued"] >= 2 else { continue }
      #expect(!harness.pipeline.drain().contains { $0.kind == .endOfStream })
      return harness
    }
    throw TestFailure("the machine is too busy")
  }

  private func expectEnd(_ harness: SinkHarness) throws {
    harness.headUnit.server.setReading(true, for: try harness.headUnit.waitForApp())
    try harness.pipeline.waitForEnd()
    // The first one had no picture.
    try harness.headUnit.waitForFrames(harness.index - 1)
    #expect(eventually { (try? harness.statistics["frames-sent"]) == harness.index - 1 })
    try harness.headUnit.wait(for: "end") { $0.stopReasons == [.endedByApp] ? true : nil }
    #expect(harness.pipeline.drain().allSatisfy { $0.error == nil })
  }

  @Test func pauseDefersIt() throws {
    let harness = try interrupted { $0.pipeline.setState(GST_STATE_PAUSED) }
    try harness.pipeline.reach(GST_STATE_PAUSED)
    #expect(!harness.pipeline.drain().contains { $0.kind == .endOfStream })
    try harness.pipeline.play()
    try expectEnd(harness)
  }

  @Test func flushCancelsIt() throws {
    let harness = try interrupted { harness in
      let pad = try harness.pipeline.sink.pad("sink")
      #expect(gst_pad_send_event(pad, gst_event_new_flush_start()) != 0)
      #expect(gst_pad_send_event(pad, gst_event_new_flush_stop(1)) != 0)
    }
    // A second EOS, as after a seek to the end.
    let pad = try harness.pipeline.sink.pad("sink")
    var segment = GstSegment()
    gst_segment_init(&segment, GST_FORMAT_TIME)
    #expect(gst_pad_send_event(pad, gst_event_new_segment(&segment)) != 0)
    harness.headUnit.server.setReading(true, for: try harness.headUnit.waitForApp())
    #expect(gst_pad_send_event(pad, gst_event_new_eos()) != 0)
    try expectEnd(harness)
  }
}

private func noticeEnd(
  _ pad: UnsafeMutablePointer<GstPad>?, _ info: UnsafeMutablePointer<GstPadProbeInfo>?, _ data: gpointer?
) -> GstPadProbeReturn {
  if let data, let event = gst_pad_probe_info_get_event(info), event.pointee.type == GST_EVENT_EOS {
    Unmanaged<Monitor<Bool>>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.withLock { $0 = true } }
  }
  return GST_PAD_PROBE_OK
}

private func releaseFlag(_ data: gpointer?) {
  if let data { Unmanaged<Monitor<Bool>>.fromOpaque(data).release() }
}
