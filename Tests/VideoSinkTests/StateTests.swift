import GStreamerKit
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// State changes in every order, as in GStreamer's generic/states test, with each kind of peer.
@Suite struct StateTests {
  private func cycle(_ sink: Element) {
    for order in GstState.orders {
      for state in order {
        let result = gst_element_set_state(sink.pointer, state)
        #expect(result != GST_STATE_CHANGE_FAILURE)
        _ = sink.statistics
      }
    }
    #expect(gst_element_set_state(sink.pointer, GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
    #expect(sink["connection-state"] == "idle")
  }

  @Test func everyOrderWithTheBuiltInHeadUnit() throws {
    #expect(GstState.orders.count == 24)
    cycle(try Element("sdlvideosink"))
  }

  @Test func everyOrderWithASilentPeer() throws {
    let peer = try RawPeer { $0.readToEnd() }
    let sink = try Element("sdlvideosink")
    sink.set("uri", peer.uri)
    sink.set("open-timeout", "100")
    cycle(sink)
  }

  @Test func everyOrderWithARefusedPort() throws {
    let refusing = try RefusingPort()
    let sink = try Element("sdlvideosink")
    sink.set("uri", "sdl://127.0.0.1:\(refusing.port)")
    sink.set("open-timeout", "100")
    cycle(sink)
    withExtendedLifetime(refusing) {}
  }

  @Test func everyOrderWithFramesFlowing() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      "videotestsrc ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(headUnit.uri)")
    let seed = testSeed()
    var random = SeededGenerator(seed: seed)
    for order in GstState.orders.shuffled(using: &random).prefix(12) {
      for state in order { #expect(pipeline.setState(state) != GST_STATE_CHANGE_FAILURE, "seed \(seed)") }
    }
    try pipeline.reach(GST_STATE_NULL)
    #expect(try pipeline.sink.statistics.areFramesConserved, "seed \(seed)")
    try pipeline.play()
    let count = headUnit.record.video.count
    try headUnit.waitForFrames(count + 3)
    #expect(headUnit.record.violations == [], "seed \(seed)")
  }

  /// With `auto` the streaming thread waits for the head unit's sizes meanwhile.
  @Test(arguments: ["auto", "drop"]) func flushAndSeekWhileConnecting(policy: String) throws {
    let peer = try RawPeer { $0.readToEnd() }
    let pipeline = try Pipeline(
      "videotestsrc ! \(Picture.caps()) ! sdlvideosink name=sink suspend-policy=\(policy) uri=\(peer.uri)")
    if policy == "drop" { try pipeline.reach(GST_STATE_PAUSED) }
    pipeline.setState(GST_STATE_PLAYING)
    for second in 0..<10 {
      #expect(
        gst_element_seek_simple(
          pipeline.element.pointer, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, gint64(second) * 1_000_000_000) != 0)
    }
    if policy == "drop" { try pipeline.reach(GST_STATE_PLAYING) }
    #expect(try pipeline.sink.statistics.areFramesConserved)
    #expect(pipeline.drain().allSatisfy { $0.error == nil })
    pipeline.stop()
  }

  @Test func seeksWhileStreaming() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      "videotestsrc ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(headUnit.uri)")
    try pipeline.play()
    for second in 1..<6 {
      let count = headUnit.record.video.count
      try headUnit.waitForFrames(count + 2)
      #expect(
        gst_element_seek_simple(
          pipeline.element.pointer, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, gint64(second) * 10_000_000_000) != 0)
    }
    let count = headUnit.record.video.count
    let frames = try headUnit.waitForFrames(count + 2)
    #expect(try decode(frames, width: 320, height: 240).count == frames.count)
    #expect(try pipeline.sink.statistics.areFramesConserved)
  }

  @Test func elementGoesAfterAnError() throws {
    let refusing = try RefusingPort()
    let sink = try Element("sdlvideosink")
    sink.set("uri", "sdl://127.0.0.1:\(refusing.port)")
    #expect(gst_element_set_state(sink.pointer, GST_STATE_PAUSED) == GST_STATE_CHANGE_ASYNC)
    #expect(eventually { sink["connection-state"] == "idle" || sink["connection-state"] == "failed" })
    #expect(gst_element_set_state(sink.pointer, GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
    withExtendedLifetime(refusing) {}
  }

  @Test func errorIsForgottenInNull() throws {
    let headUnit = try TestHeadUnit()
    let refusing = try RefusingPort()
    let pipeline = try Pipeline(
      "videotestsrc ! \(Picture.caps()) ! sdlvideosink name=sink uri=sdl://127.0.0.1:\(refusing.port)")
    try pipeline.play()
    _ = try pipeline.waitForError()
    withExtendedLifetime(refusing) {}
    try pipeline.reach(GST_STATE_NULL)
    #expect(try pipeline.sink["connection-state"] == "idle")
    try pipeline.sink.set("uri", headUnit.uri)
    try pipeline.play()
    try headUnit.waitForFrames(3)
  }

  @Test func manyCycles() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline("videotestsrc ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(headUnit.uri)")
    for cycle in 1...30 {
      let count = headUnit.record.video.count
      try pipeline.play()
      try headUnit.waitForFrames(count + 1)
      pipeline.stop()
      #expect(try pipeline.sink.statistics["connections"] == cycle)
    }
    try headUnit.wait(for: "disconnections") { $0.disconnections == 30 ? true : nil }
    #expect(headUnit.record.violations == [])
  }
}
