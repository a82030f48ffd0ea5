import GStreamerKit
import SDLApp
import SDLHeadUnit
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
    harness.expectKeyFrames([true, false, false])
    #expect(eventually { (try? harness.statistics["frames-encoded"]) == 3 })
  }

  /// The application pauses as long as it is asked to.
  @Test func fileWaitsAndLosesNothing() throws {
    let frameRate = 10
    let count = 12
    let harness = try SinkHarness(
      .small(activation: nil), isLive: false, caps: Picture.caps(frameRate: frameRate), frameRate: frameRate,
      properties: "keep-alive-interval=0")
    let standstills = Standstills()
    try harness.pipeline.play()
    harness.pushPictures(count)
    harness.source.end()
    try harness.pipeline.wait(for: "request") { $0.buffering == 0 ? true : nil }
    try harness.pipeline.waitForDriverRequest(GST_PROGRESS_TYPE_START)
    try harness.pipeline.reach(GST_STATE_PAUSED)
    let lost = standstills.lostFrames(harness.pipeline.pauseDelay)
    // Long enough that all frames would be late if the running time went on.
    harness.watch(for: .milliseconds(count * 1000 / frameRate))
    try harness.headUnit.show(.limited)
    try harness.pipeline.waitForDriverRequest(GST_PROGRESS_TYPE_COMPLETE)
    try harness.pipeline.wait(for: "request") { $0.buffering == 100 ? true : nil }
    try harness.pipeline.play()
    try harness.pipeline.waitForEnd()
    let arrivals = harness.headUnit.record.arrivals
    let statistics = try harness.statistics
    // As a busy machine is, but not as if the running time had gone on.
    let late = statistics["frames-dropped-late"]
    #expect(
      late < count / 2 && (count - late - lost...count).contains(arrivals.count),
      "\(statistics), of which \(lost) may be lost")
    // At its own speed: a busy machine makes it longer, never shorter.
    let span = try #require(arrivals.last) - (try #require(arrivals.first))
    #expect(span > .milliseconds((arrivals.count - 1) * 1000 / frameRate / 2), "\(span)")
    #expect(try harness.statistics.areFramesConserved)
  }

  /// The level while a file is to pause, and what the user is told then and after that.
  @Test(arguments: [
    (HMILevel.background, "Waiting for the driver to open the app", "The driver has opened the app"),
    (.limited, "Waiting for the head unit to allow video", "The head unit allows video"),
    (.full, "Waiting for the head unit to allow video", "The head unit allows video"),
  ])
  func whatAFileWaitsFor(_ level: HMILevel, _ waiting: String, _ over: String) throws {
    let harness = try SinkHarness(.small(activation: nil), isLive: false)
    try harness.pipeline.play()
    try harness.headUnit.waitForRegistration()
    try harness.show(HMIStatus(level: level, videoStreamingState: .notStreamable))
    let sink = try harness.pipeline.sink
    #expect(eventually { sink["hmi-level"] == level.rawValue.lowercased() })
    harness.pushPicture()
    for (type, text) in [(GST_PROGRESS_TYPE_START, waiting), (GST_PROGRESS_TYPE_COMPLETE, over)] {
      try harness.pipeline.wait(for: text) {
        $0.kind == .progress(type, code: "activate", text: text) ? true : nil
      }
      try harness.show(.full)
    }
  }

  /// The application was asked to pause because of a start that is not answered, and then the driver leaves.
  @Test func theDriverLeavesInAPause() throws {
    let harness = try SinkHarness(.small().with { $0.behaviour.videoStarts = [.silence] }, isLive: false)
    try harness.pipeline.play()
    harness.pushPicture()
    try harness.pipeline.wait(for: "request") { $0.buffering == 0 ? true : nil }
    try harness.headUnit.show(.background)
    try harness.pipeline.waitForDriverRequest(GST_PROGRESS_TYPE_START)
    // It is said once, whatever else the head unit reports.
    try harness.headUnit.show(.none)
    #expect(eventually { (try? harness.pipeline.sink["hmi-level"]) == "none" })
    try harness.pipeline.stopKeepingMessages()
    let requests = harness.pipeline.drain().count {
      if case .progress(GST_PROGRESS_TYPE_START, code: "activate", _) = $0.kind { true } else { false }
    }
    #expect(requests == 1)
  }

  /// Nothing is left that the application would wait for.
  @Test func theWaitForTheDriverEndsWithTheStream() throws {
    let harness = try SinkHarness(.small(activation: nil), isLive: false)
    try harness.pipeline.play()
    harness.pushPictures(2)
    try harness.pipeline.waitForDriverRequest(GST_PROGRESS_TYPE_START)
    try harness.pipeline.stopKeepingMessages()
    try harness.pipeline.waitForDriverRequest(GST_PROGRESS_TYPE_CANCELED)
    try harness.pipeline.wait(for: "end of the pause") { $0.buffering == 100 ? true : nil }
    #expect(harness.pipeline.drain().allSatisfy { $0.error == nil && $0.warning == nil })
    #expect(harness.headUnit.record.starts.isEmpty)
  }

  @Test(arguments: ["auto", "drop"]) func prerollNeedsNoHeadUnit(_ policy: String) throws {
    let silent = try RawPeer { $0.readToEnd() }
    let pipeline = try Pipeline(
      "videotestsrc ! sdlvideosink name=sink suspend-policy=\(policy) uri=\(silent.uri)")
    try pipeline.reach(GST_STATE_PAUSED)
    pipeline.drain()
    #expect(pipeline.messages.contains { $0.kind == .asyncDone })
    #expect(pipeline.messages.allSatisfy { $0.error == nil && $0.buffering == nil })
    #expect(eventually { (try? pipeline.sink["connection-state"]) == "registering" })
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

/// The HMI level changes every 10 ms.
@Suite struct FlickeringStatusTests {
  @Test func endsInTheRightState() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(headUnit.uri)")
    let sink = try pipeline.sink
    try pipeline.play()
    try headUnit.waitForFrames(3)
    for change in 0..<150 {
      try headUnit.show(change.isMultiple(of: 2) ? .none : .full)
      #expect(sink.statistics.areFramesConserved)
      g_usleep(10_000)
    }
    try headUnit.show(.full)
    #expect(eventually { sink["hmi-level"] == "full" && sink["stream-state"] == "streaming" })
    let count = headUnit.record.video.count
    try headUnit.waitForFrames(count + 5)
    let record = headUnit.record
    #expect(record.violations == [])
    #expect(record.starts.count == record.stopReasons.count + 1)
    let firsts = zip(record.starts, record.starts.dropFirst() + [record.video.count]).filter { $0 < $1 }.map(\.0)
    #expect(firsts.count > 1)
    for index in firsts { #expect(try startsStream(record.video[index]), "\(index) of \(record.starts)") }
    #expect(pipeline.drain().allSatisfy { $0.error == nil })
    pipeline.stop()
    let last = headUnit.record
    #expect(last.starts.count == last.stopReasons.count && last.violations == [])
    #expect(sink.statistics.areFramesConserved)
  }
}

/// The driver opens the app before the application has started its sources.
@Suite struct ReadyDriverTests {
  @Test func messageInReady() throws {
    let harness = try SinkHarness(.small(activation: nil))
    try harness.pipeline.reach(GST_STATE_READY)
    try harness.headUnit.waitForRegistration()
    let first = try harness.pipeline.waitForElementMessage("sdl-hmi-status")
    #expect(first["level"] == "none" && first["video-streaming-state"] == "not-streamable", "\(first)")
    try harness.headUnit.show(.full)
    let opened = try harness.pipeline.waitForElementMessage("sdl-hmi-status")
    #expect(opened["level"] == "full" && opened["video-streaming-state"] == "streamable", "\(opened)")
    #expect(try harness.pipeline.sink["hmi-level"] == "full")
    #expect(cgst_element_state(try harness.pipeline.sink.pointer) == GST_STATE_READY)
    // What the application does then.
    try harness.start()
    try harness.deliver(2)
    #expect(harness.headUnit.record.violations == [] && harness.headUnit.record.registrations.count == 1)
  }
}
