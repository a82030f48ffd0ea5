import CGStreamerApp
import GStreamerKit
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

@Suite struct HeadUnitSourceStateTests {
  /// An app reads no more of them.
  @Test(arguments: [100, 101]) func additionalSizes(count: Int) throws {
    let source = try Element("sdlheadunitsrc")
    source.set("additional-sizes", Array(repeating: "480x320", count: count).joined(separator: ","))
    #expect((source["additional-sizes"]?.ranges(of: "480x320").count == count) == (count == 100))
  }

  @Test func everyOrder() throws {
    let source = try Element("sdlheadunitsrc")
    source.set("port", "0")
    for order in GstState.orders {
      for state in order {
        #expect(gst_element_set_state(source.pointer, state) != GST_STATE_CHANGE_FAILURE)
        _ = source.statistics
        #expect((source["current-port"] == "0") == (state == GST_STATE_NULL || state == GST_STATE_READY))
      }
    }
    #expect(gst_element_set_state(source.pointer, GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
    #expect(source["current-port"] == "0" && source["apps"] == "<  >")
  }

  @Test func samePortAgainAndAgain() throws {
    let port = try RawPeer.unusedPort()
    let screen = try Pipeline("sdlheadunitsrc name=src port=\(port) screen-size=320x240 ! fakesink sync=false")
    let app = try Pipeline(
      "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=sdl://127.0.0.1:\(port)")
    try app.play()
    for _ in 0..<20 {
      try screen.play()
      screen.stop()
    }
    try screen.play()
    let source = try screen["src"]
    #expect(eventually { source.statistics["frames-out"] > 3 })
    #expect(screen.drain().allSatisfy { $0.error == nil })
  }

  @Test func pauseAndPlay() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240")
    let app = try Pipeline(
      "videotestsrc is-live=true pattern=ball ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(screen.uri)")
    try app.play()
    _ = try screen.pull(3)
    #expect(screen.pipeline.setState(GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE)
    let taken = screen.statistics["frames-in"]
    // The app is served on.
    #expect(eventually { screen.statistics["frames-in"] > taken + 5 })
    #expect(screen.statistics["frames-queued"] <= 60)
    try screen.pipeline.play()
    let samples = try screen.pull(80)
    for (earlier, later) in zip(samples, samples.dropFirst()) { #expect(earlier.time <= later.time) }
    #expect(screen.statistics.areFramesBalanced)
  }

  /// Running time goes on in a pause: a picture that comes in it is not shown as much later as the pause was long.
  @Test func aPictureThatComesInAPause() throws {
    let units = try encodedUnits(4, keyFrameInterval: 1)
    let screen = try HeadUnitPipeline("screen-size=320x240")
    func runningTime() -> UInt64 { UInt64(gst_element_get_current_running_time(screen.source.pointer)) }
    let app = try RawApp.streaming(port: screen.port)
    app.video(units[0].bytes)
    let first = try screen.pull(1)[0]
    #expect(screen.pipeline.setState(GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE)
    let paused = runningTime()
    #expect(eventually { runningTime() > paused + 2_000_000_000 })
    for unit in units[1...] { app.video(unit.bytes) }
    #expect(eventually { screen.statistics["frames-in"] >= 3 })
    #expect(screen.statistics["frames-out"] == 1)
    try screen.pipeline.play()
    let times = [first.time] + (try screen.pull(3).map(\.time))
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    #expect(times[3] < paused + 2_000_000_000, "\(times), paused at \(paused)")
    #expect(screen.statistics.areFramesBalanced)
  }

  /// As a sink makes it that a flushing seek in another branch has reached.
  @Test func runningTimeThatBeginsAnew() throws {
    let units = try encodedUnits(2)
    let screen = try HeadUnitPipeline("screen-size=320x240")
    let source = screen.source.pointer
    func runningTime() -> UInt64 { UInt64(gst_element_get_current_running_time(source)) }
    let app = try RawApp.streaming(port: screen.port)
    // More than passes between the new beginning and the second picture.
    #expect(eventually { runningTime() > 5_000_000_000 })
    app.video(units[0].bytes)
    let first = try screen.pull(1)[0]
    // The sink has prerolled with it: a pipeline that still goes to PLAYING may set the former base time once more.
    try screen.pipeline.reach(GST_STATE_PLAYING)
    let object: UnsafeMutablePointer<GstObject> = source.cast()
    let formerBaseTime = gst_element_get_base_time(source)
    #expect(gst_element_post_message(source, gst_message_new_reset_time(object, 0)) != 0)
    // Since 1.28 elements learn of it only with a state, which the pipeline sets when that sink has prerolled again.
    screen.pipeline.setState(GST_STATE_PLAYING)
    #expect(gst_element_get_base_time(source) > formerBaseTime)
    app.video(units[1].bytes)
    let second = try screen.pull(1)[0]
    // On a machine that has stood still for longer this shows nothing.
    #expect(second.time < first.time || runningTime() > first.time)
  }

  /// NULL in a handler on the server's own thread, and then once more from the beginning.
  @Test func stopInACallback() throws {
    let port = try RawPeer.unusedPort()
    let screen = try Pipeline("sdlheadunitsrc name=src port=\(port) screen-size=320x240 ! fakesink sync=false")
    let source = try screen["src"]
    let app = try Pipeline(
      "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=sdl://127.0.0.1:\(port)")
    for name in ["sdl-app-registered", "sdl-hmi-status", "sdl-stream-started"] {
      let handler = StateSetter(screen.element.pointer, at: name)
      try screen.play()
      if name == "sdl-app-registered" { try app.play() }
      try handler.wait()
      #expect(source["current-port"] == "0")
      handler.remove()
    }
    try screen.play()
    #expect(eventually { source.statistics["frames-out"] > 3 })
  }

  @Test func endOfStreamFromOutside() throws {
    let screen = try HeadUnitPipeline()
    gst_element_send_event(screen.pipeline.element.pointer, gst_event_new_eos())
    try screen.pipeline.waitForEnd()
  }

  @Test func endOfStreamInAPause() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240")
    let app = try RawApp.streaming(port: screen.port)
    app.video(try encodedUnits(1)[0].bytes)
    _ = try screen.pull(1)
    #expect(screen.pipeline.setState(GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE)
    gst_element_send_event(screen.pipeline.element.pointer, gst_event_new_eos())
    // Sinks only post it in PLAYING.
    try screen.pipeline.play()
    try screen.pipeline.waitForEnd()
  }

  @Test func propertiesOfThePresets() throws {
    let source = try Element("sdlheadunitsrc")
    #expect(source["screen-size"] == "800x480" && source["formats"] == "RAW/H264" && source["framerate"] == "30")
    source.set("preset", "core")
    #expect(source["screen-size"] == "800x380" && source["max-bitrate"] == "20000")
    #expect(source["additional-sizes"]?.contains("800x380@1.5") == true)
    source.set("max-bitrate", "3000")
    source.set("preset", "generic-hmi")
    #expect(source["max-bitrate"] == "3000" && source["screen-size"] == "960x600")
    source.set("screen-size", "640x480")
    #expect(source["screen-size"] == "640x480" && source["additional-sizes"] == nil)
    source.set("additional-sizes", "320x240, 640x480@2")
    #expect(source["additional-sizes"] == "320x240, 640x480@2.0")
    source.set("formats", "RTP/H264,RAW/H264")
    #expect(source["formats"] == "RTP/H264, RAW/H264")
  }
}

/// Takes an element to NULL at the first message of a name, on the thread that posts it.
///
/// `@unchecked Sendable`: what changes is in a monitor, and GStreamer's objects have locks of their own.
private final class StateSetter: @unchecked Sendable {
  private let pipeline: UnsafeMutablePointer<GstElement>
  private let name: String
  private let isDone = Monitor(false)

  init(_ pipeline: UnsafeMutablePointer<GstElement>, at name: String) {
    self.pipeline = pipeline
    self.name = name
    let bus = gst_element_get_bus(pipeline)
    gst_bus_set_sync_handler(
      bus,
      { _, message, data in
        guard let message, let data else { return GST_BUS_PASS }
        Unmanaged<StateSetter>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.handle(message) }
        return GST_BUS_PASS
      }, Unmanaged.passUnretained(self).toOpaque(), nil)
    gst_object_unref(bus)
  }

  func remove() {
    let bus = gst_element_get_bus(pipeline)
    gst_bus_set_sync_handler(bus, nil, nil, nil)
    gst_object_unref(bus)
  }

  func wait() throws {
    guard isDone.wait(atLatest: MonotonicClock.now + testTimeout, until: { $0 }) else {
      throw TestFailure("no \(name)")
    }
  }

  private func handle(_ message: UnsafeMutablePointer<GstMessage>) {
    guard message.pointee.type == GST_MESSAGE_ELEMENT, let structure = gst_message_get_structure(message),
      gst_structure_has_name(structure, name) != 0, !isDone.withLock({ $0 })
    else { return }
    gst_element_set_state(pipeline, GST_STATE_NULL)
    isDone.withLock { $0 = true }
    isDone.broadcast()
  }
}
