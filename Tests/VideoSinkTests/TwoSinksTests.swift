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

  /// Head units register each app once, and would refuse the second for ever.
  @Test func oneApp() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! \(Picture.caps()) ! tee name=t \
      t. ! queue ! sdlvideosink name=sink app-id=map app-name=First uri=\(headUnit.uri) \
      t. ! queue ! sdlvideosink name=second app-id=map app-name=Second uri=\(headUnit.uri)
      """)
    pipeline.setState(GST_STATE_PLAYING)
    let error = try pipeline.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_BUSY), "\(error)")
    #expect(
      error.text.contains("app-id map already")
        && (error.text.contains("sink shows") || error.text.contains("second shows")), "\(error)")
  }

  /// The head unit does not know pipelines, nor case, nor how a URI names it.
  @Test(arguments: [
    ("videotestsrc is-live=true ! sdlvideosink", false), ("audiotestsrc is-live=true ! sdlaudiosink", true),
  ])
  func oneAppInTwoPipelines(_ elements: String, _ canBeShared: Bool) throws {
    let (headUnit, other) = (try TestHeadUnit(), try TestHeadUnit())
    let first = try Pipeline(
      """
      videotestsrc is-live=true ! \(Picture.caps()) ! \
      sdlvideosink name=sink app-id=map app-name=First uri=\(headUnit.uri)
      """)
    try first.play()
    try headUnit.wait(for: "the first app") { $0.registrations.count == 1 ? true : nil }
    let uri = headUnit.uri.replacing("127.0.0.1", with: "localhost")
    let second = try Pipeline("\(elements) name=sink app-id=Map app-name=Second uri=\(uri)")
    #expect(second.setState(GST_STATE_READY) == GST_STATE_CHANGE_FAILURE)
    let error = try second.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_BUSY), "\(error)")
    let path = try #require(String(freeing: gst_object_get_path_string(first.sink.pointer.cast())))
    #expect(error.text.hasPrefix("\(path) has registered the app with the app-id Map already"), "\(error)")
    #expect(error.text.contains("context sdl.apps") == canBeShared, "\(error)")
    // Another head unit has not registered it.
    try second.sink.set("uri", other.uri)
    try second.play()
    try other.wait(for: "the second app") { $0.registrations.count == 1 ? true : nil }
    second.stop()
    // Once the first one has gone, it is free.
    first.stop()
    try second.sink.set("uri", headUnit.uri)
    try second.play()
    try headUnit.wait(for: "the second app") { $0.registrations.count == 2 ? true : nil }
    #expect(second.drain().count { $0.error != nil } == 1)
  }

  /// Each has a head unit of its own.
  @Test func oneAppOnBuiltInHeadUnits() throws {
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! video/x-raw,width=800,height=480 ! tee name=t \
      t. ! queue ! sdlvideosink name=sink app-id=map uri=sdl+builtin:default \
      t. ! queue ! sdlvideosink name=second app-id=map uri=sdl+builtin:default
      """)
    try pipeline.play()
    let sinks = [try pipeline.sink, try pipeline["second"]]
    #expect(eventually { sinks.allSatisfy { $0.statistics["frames-sent"] > 0 } }, "\(pipeline.drain())")
    #expect(pipeline.drain().allSatisfy { $0.error == nil && $0.warning == nil })
  }

  /// Both default apps get a number, and those of two head units have nothing to do with each other.
  @Test func defaultApps() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! \(Picture.caps()) ! tee name=t \
      t. ! queue ! sdlvideosink name=sink uri=\(headUnit.uri) t. ! queue ! sdlvideosink name=second uri=\(headUnit.uri)
      """)
    try pipeline.play()
    _ = try headUnit.wait(for: "registrations") { $0.registrations.count == 2 ? true : nil }
    #expect(pipeline.drain().allSatisfy { $0.error == nil && $0.warning == nil })
  }

  /// One app was meant, and becomes two.
  @Test(arguments: [
    ("app-name=Map", "app-name=Music", "app-name"), ("app-id=map app-name=A", "app-id=music app-name=A", "app-id"),
  ])
  func pictureAndSoundOfDifferentApps(_ picture: String, _ sound: String, _ property: String) throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink \(picture) uri=\(headUnit.uri) \
      audiotestsrc is-live=true ! sdlaudiosink name=sound \(sound) uri=\(headUnit.uri)
      """)
    pipeline.setState(GST_STATE_PLAYING)
    let warning = try pipeline.waitForWarning()
    #expect(warning.isResource(GST_RESOURCE_ERROR_SETTINGS), "\(warning)")
    #expect(warning.text.contains("sink and sound") || warning.text.contains("sound and sink"), "\(warning)")
    #expect(warning.text.contains("their \(property) differs"), "\(warning)")
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
