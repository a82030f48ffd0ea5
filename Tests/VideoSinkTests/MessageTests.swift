import GStreamerKit
import SDLHeadUnit
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport

@Suite struct MessageTests {
  @Test func lifecycleInOrder() throws {
    let harness = try SinkHarness(isLive: false)
    // Else a busy machine pauses meanwhile, and says so.
    try harness.start()
    harness.pushPictures(3)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    try harness.pipeline.stopKeepingMessages()
    let messages = harness.pipeline.drain().filter { $0.source == "sink" }
    let progress = messages.compactMap(\.progress)
    #expect(progress.first == GST_PROGRESS_TYPE_START)
    #expect(progress.last == GST_PROGRESS_TYPE_COMPLETE)
    #expect(progress.dropFirst().dropLast().allSatisfy { $0 == GST_PROGRESS_TYPE_CONTINUE })
    #expect(progress.count > 3)
    let elements = messages.compactMap { message in
      if case .element(let name) = message.kind { name } else { nil }
    }
    #expect(
      elements == [
        "sdl-connected", "sdl-hmi-status", "sdl-hmi-status", "sdl-lock-screen", "sdl-stream-started",
        "sdl-stream-stopped", "sdl-lock-screen", "sdl-disconnected",
      ])
  }

  @Test func fieldsOfTheMessages() throws {
    let harness = try SinkHarness(isLive: false)
    harness.pipeline.setState(GST_STATE_PAUSED)
    harness.push([], flags: GST_BUFFER_FLAG_GAP)
    let connected = try harness.pipeline.waitForElementMessage("sdl-connected")
    #expect(connected["uri"] == harness.headUnit.uri)
    #expect(connected["peer"] == "127.0.0.1:\(harness.headUnit.port)")
    #expect(connected["make"] == "SDL" && connected["model"] == "Generic" && connected["model-year"] == "2019")
    #expect(connected["protocol-version"] == "5.4.0" && connected["rpc-version"] == "8.0.0")
    let started = try harness.pipeline.waitForElementMessage("sdl-stream-started")
    #expect(started["reason"] == "first-start" && started["width"] == "320" && started["height"] == "240")
    #expect(started["protocol"] == "RAW" && started["codec"] == "H264" && started["service"] == "video")
    #expect(started["max-frame-payload"].flatMap { Int($0) } ?? 0 > 100_000)
    try harness.pipeline.reach(GST_STATE_PLAYING)
    harness.pushPictures(2)
    harness.source.end()
    let stopped = try harness.pipeline.waitForElementMessage("sdl-stream-stopped")
    #expect(stopped == ["reason": "app", "frames-sent": "2", "service": "video"])
    try harness.pipeline.waitForEnd()
    try harness.pipeline.stopKeepingMessages()
    #expect(try harness.pipeline.waitForElementMessage("sdl-disconnected")["reason"] == "closed by the app")
  }

  @Test func builtInHeadUnitIsAnnounced() throws {
    let pipeline = try Pipeline("videotestsrc num-buffers=3 ! sdlvideosink name=sink")
    try pipeline.play()
    let hint = try pipeline.wait(for: "hint") { $0.info }
    #expect(hint.text.contains("uri=sdl://HOST:12345"))
    #expect(try pipeline.waitForElementMessage("sdl-connected")["uri"] == "sdl+builtin:default")
    try pipeline.waitForEnd()
    #expect(pipeline.messages.allSatisfy { $0.warning == nil })
  }

  @Test func stoppingCancelsTheProgress() throws {
    let silent = try RawPeer { $0.readToEnd() }
    let pipeline = try Pipeline("videotestsrc ! sdlvideosink name=sink uri=\(silent.uri)")
    try pipeline.play()
    try pipeline.wait(for: "progress") { $0.progress == GST_PROGRESS_TYPE_CONTINUE ? true : nil }
    try pipeline.stopKeepingMessages()
    let progress = pipeline.drain().compactMap(\.progress)
    #expect(progress.first == GST_PROGRESS_TYPE_START && progress.last == GST_PROGRESS_TYPE_CANCELED)
    #expect(pipeline.messages.allSatisfy { $0.error == nil && $0.warning == nil })
  }

  @Test func errorComesBeforeTheProgressError() throws {
    let refusing = try RefusingPort()
    let pipeline = try Pipeline("videotestsrc ! sdlvideosink name=sink uri=sdl://127.0.0.1:\(refusing.port)")
    try pipeline.play()
    _ = try pipeline.waitForError()
    withExtendedLifetime(refusing) {}
    // The frame that waited fails after the error, which aborts the change of state: only then is another one asked
    // for.
    #expect(
      eventually {
        let messages = pipeline.drain()
        return messages.contains { $0.progress == GST_PROGRESS_TYPE_ERROR }
          && messages.contains { $0.error != nil && $0.source != "sink" }
      })
    #expect(pipeline.messages.first { $0.error != nil }?.source == "sink")
    try pipeline.reach(GST_STATE_READY)
    #expect(pipeline.drain().compactMap(\.progress).last == GST_PROGRESS_TYPE_ERROR)
  }

  @Test func propertiesInEveryState() throws {
    let harness = try SinkHarness(isLive: false)
    let sink = try harness.pipeline.sink
    #expect(sink["connection-state"] == "idle" && sink["hmi-level"] == "none")
    #expect(sink.structure("head-unit") == nil && sink.statistics.areFramesConserved)
    try harness.pipeline.reach(GST_STATE_READY)
    #expect(eventually { sink["connection-state"] == "ready" && sink["hmi-level"] == "full" })
    #expect(sink.structure("head-unit")?["make"] == "SDL" && sink["stream-state"] == "stopped")
    try harness.start()
    try harness.deliver(2)
    #expect(eventually { sink.statistics["frames-sent"] == 2 })
    #expect(sink["connection-state"] == "streaming" && sink["hmi-level"] == "full")
    let headUnit = try #require(sink.structure("head-unit"))
    #expect(headUnit["make"] == "SDL" && headUnit["protocol-version"] == "5.4.0")
    let capability = try #require(headUnit["video-capability"]).replacing("\\", with: "")
    #expect(capability.contains("width=(int)320") && capability.contains("max-bitrate=(int)10000"), "\(capability)")
    let statistics = sink.statistics
    #expect(statistics["connections"] == 1 && statistics["stream-starts"] == 1 && statistics["bytes-sent"] > 0)
    #expect(statistics["encode-time-maximum-ns"] > 0)
    try harness.pipeline.reach(GST_STATE_READY)
    #expect(sink["connection-state"] == "ready" && sink["hmi-level"] == "full" && sink["stream-state"] == "stopped")
    // Counters are kept after the stream.
    #expect(sink.statistics["frames-sent"] == statistics["frames-sent"])
    #expect(sink.statistics["bytes-sent"] >= statistics["bytes-sent"])
    #expect(sink.statistics.areFramesConserved && sink.statistics["frames-queued"] == 0)
    harness.pipeline.stop()
    #expect(sink["connection-state"] == "idle" && sink.statistics.areFramesConserved)
  }

  @Test func handlersMayCallEveryGetter() throws {
    let harness = try SinkHarness(isLive: false)
    let sink = try harness.pipeline.sink
    let reader = GetterCaller(sink.pointer)
    for property in ["connection-state", "stream-state", "hmi-level", "head-unit"] { reader.watch(property) }
    let bus = try nonNull(gst_element_get_bus(harness.pipeline.element.pointer))
    reader.watch(bus)
    try harness.start()
    try harness.headUnit.show(.background)
    try harness.pipeline.waitForElementMessage("sdl-stream-stopped")
    try harness.headUnit.show(.full)
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    try harness.deliver(2)
    try harness.setAppState(.resigning)
    try harness.pipeline.waitForElementMessage("sdl-stream-suspended")
    harness.pushPicture()
    try harness.pipeline.wait(for: "request") { $0.buffering == 0 ? true : nil }
    try harness.setAppState(.regaining)
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    harness.source.end()
    try harness.pipeline.waitForEnd()
    harness.pipeline.stop()
    gst_bus_set_sync_handler(bus, nil, nil, nil)
    gst_object_unref(bus)
    #expect(reader.calls.withLock { $0 } > 10)
  }
}
