import GStreamerKit
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Two sinks in one pipeline.
@Suite struct TwoSinksTests {
  private func pipeline(_ first: TestHeadUnit, _ second: TestHeadUnit, source: String) throws -> Pipeline {
    try Pipeline(
      """
      \(source) ! \(Picture.caps()) ! tee name=t \
      t. ! queue ! sdlvideosink name=sink app-id=first app-name=First uri=\(first.uri) \
      t. ! queue ! sdlvideosink name=second app-id=second app-name=Second uri=\(second.uri)
      """)
  }

  @Test func twoHeadUnits() throws {
    let headUnits = [try TestHeadUnit(), try TestHeadUnit()]
    let pipeline = try pipeline(headUnits[0], headUnits[1], source: "videotestsrc num-buffers=45")
    try pipeline.play()
    try pipeline.waitForEnd()
    for headUnit in headUnits {
      try headUnit.wait(for: "end") { $0.stopReasons == [.endedByApp] ? true : nil }
      let record = headUnit.record
      #expect(record.video.count > 10 && record.violations == [])
      #expect(try decode(record.video, width: 320, height: 240).count == record.video.count)
    }
    pipeline.stop()
    #expect(try pipeline.sink.statistics.areFramesConserved && pipeline["second"].statistics.areFramesConserved)
  }

  /// One app is on the screen at a time; the driver switches between them.
  @Test func oneHeadUnit() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try pipeline(headUnit, headUnit, source: "videotestsrc is-live=true")
    let sinks = [try pipeline.sink, try pipeline["second"]]
    try pipeline.play()
    #expect(eventually { sinks.allSatisfy { $0.statistics["connections"] == 1 } })
    #expect(eventually { sinks.contains { $0["stream-state"] == "streaming" } })
    let streaming = try #require(sinks.firstIndex { $0["stream-state"] == "streaming" })
    let (front, back) = (sinks[streaming], sinks[1 - streaming])
    try headUnit.waitForFrames(3)
    #expect(back["stream-state"] == "stopped")
    // The app that came first has the screen.
    let ids = headUnit.record.registrations
    try #require(ids.count == 2)
    for (next, other, id) in [(back, front, ids[1]), (front, back, ids[0])] {
      let sent = next.statistics["frames-sent"]
      headUnit.server.perform(.activate(id))
      #expect(eventually { next["stream-state"] == "streaming" && other["stream-state"] == "stopped" })
      #expect(eventually { next.statistics["frames-sent"] > sent + 3 })
    }
    #expect(headUnit.record.starts.count == 3)
    #expect(headUnit.record.violations == [])
    gst_element_send_event(pipeline.element.pointer, gst_event_new_eos())
    try pipeline.waitForEnd()
    pipeline.stop()
    for sink in sinks { #expect(sink.statistics.areFramesConserved) }
  }
}
