import CGStreamerApp
import Foundation
import GStreamerKit
import SDLLink
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Films play from the first picture to the last, in other people's pipelines: the head unit's sizes are known before
/// an element chooses, and nothing starts before the picture could be shown.
@Suite struct FilmTests {
  /// No element adapts the size after the one that has chosen it.
  @Test(arguments: [
    (60, "videotestsrc num-buffers=60 ! x264enc speed-preset=ultrafast"), (1, "videotestsrc num-buffers=1"),
    // It holds a lock while it sends caps, and needs it to answer queries.
    (30, "videotestsrc num-buffers=30 ! aspectratiocrop aspect-ratio=5/3"),
  ])
  func everyFrameOfAFile(_ count: Int, _ source: String) throws {
    let headUnit = try TestHeadUnit(.small(400, 240, frameRate: 60))
    let pipeline = try Pipeline(
      "\(source) ! sdlvideosink name=sink sync=false keep-alive-interval=0 uri=\(headUnit.uri)")
    try pipeline.playFromStart()
    try pipeline.waitForEnd()
    #expect(headUnit.record.video.count == count)
    #expect(headUnit.record.startedSizes == [VideoSize(400, 240)])
    #expect(try pipeline.sink.statistics["frames-in"] == count && pipeline.sink.statistics.dropped == 0)
  }

  /// GStreamer itself would only say that the stream is not linked or not negotiated.
  @Test func encoderThatCannotFollow() throws {
    let headUnit = try TestHeadUnit(.small(400, 240))
    let pipeline = try Pipeline(
      "videotestsrc ! video/x-raw,width=64,height=48 ! x264enc ! h264parse ! sdlvideosink name=sink uri=\(headUnit.uri)"
    )
    try pipeline.play()
    let error = try pipeline.waitForError()
    #expect(error.text.contains("64×48, but the head unit takes 400×240"), "\(error)")
  }

  /// Makes a film with sound.
  private func makeFilm(_ path: String, _ width: Int, _ height: Int) throws {
    let pipeline = try Pipeline(
      """
      videotestsrc num-buffers=45 ! \(Picture.caps(width, height)) ! x264enc speed-preset=ultrafast \
      ! video/x-h264,profile=constrained-baseline ! h264parse ! mp4mux name=mux ! filesink location=\(path) \
      audiotestsrc num-buffers=66 ! audioconvert ! avenc_aac ! mux.
      """)
    try pipeline.play()
    try pipeline.waitForEnd()
  }

  /// H.264 of the head unit's size is passed through by playbin; everything else is decoded and scaled.
  @Test(arguments: ["playbin", "playbin3"], [(320, 240), (640, 360)])
  func playbinPlays(_ element: String, _ size: (Int, Int)) throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: url) }
    try makeFilm(url.path, size.0, size.1)
    let headUnit = try TestHeadUnit(.small(320, 240, frameRate: 60))
    let pipeline = try Pipeline(
      """
      \(element) name=player uri=\(url.absoluteString) audio-sink="fakesink sync=true" \
      video-sink="sdlvideosink name=sink max-lateness=-1 qos=false keep-alive-interval=0 uri=\(headUnit.uri)"
      """)
    try pipeline.pausePlayer()
    try pipeline.playFromStart()
    try pipeline.waitForEnd()
    let count = headUnit.record.video.count
    let late = try pipeline.sink.statistics["frames-dropped-late"]
    // After 0.75 s in which nothing was sent, H.264 goes on at the key frame before.
    let hasPaused = headUnit.record.gaps.contains { $0 > .milliseconds(500) }
    #expect((38 - late...45).contains(count) || ((46...90).contains(count) && hasPaused), "\(count), \(late) late")
    #expect(late < 15)
    #expect(headUnit.record.startedSizes == [VideoSize(320, 240)])
    #expect(try decode(headUnit.record.video, width: 320, height: 240).count == count)
    #expect(pipeline.messages.allSatisfy { $0.error == nil && $0.warning == nil })
  }

  /// A player takes its sinks to NULL when it changes to READY. The app stays on the car's screen.
  @Test(arguments: ["playbin", "playbin3"])
  func nextFilmKeepsTheRegistration(_ element: String) throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: url) }
    try makeFilm(url.path, 640, 360)
    let headUnit = try TestHeadUnit(.small(320, 240, frameRate: 60))
    let pipeline = try Pipeline(
      """
      \(element) name=player uri=\(url.absoluteString) audio-sink="fakesink sync=true" \
      video-sink="sdlvideosink name=sink max-lateness=-1 qos=false keep-alive-interval=0 uri=\(headUnit.uri)"
      """)
    try pipeline.pausePlayer()
    for _ in 1...2 {
      let former = headUnit.record.video.count
      try pipeline.playAsAPlayer()
      try pipeline.waitForEnd()
      // Of 45, as many as a busy machine encodes in time.
      let statistics = try pipeline.sink.statistics
      #expect((20...45).contains(headUnit.record.video.count - former), "\(statistics.fields)")
      #expect(statistics.areFramesConserved, "\(statistics.fields)")
      try pipeline.reach(GST_STATE_READY)
    }
    #expect(headUnit.record.connections.count == 1 && headUnit.record.violations == [])
    #expect(headUnit.record.disconnections == 0)
    pipeline.stop()
    _ = try headUnit.wait(for: "end") { $0.disconnections == 1 ? true : nil }
  }

  /// The sound would run on without the picture.
  @Test func lostConnectionAsksForAPause() throws {
    let harness = try SinkHarness(isLive: false, properties: "keep-alive-interval=0")
    try harness.start()
    harness.pushPictures(20)
    harness.source.end()
    try harness.headUnit.waitForFrames(8)
    let standstills = Standstills()
    harness.headUnit.server.perform(.cut)
    try harness.pipeline.waitForEnd()
    // What was on its way is lost, and what came late on a busy machine.
    let lost = standstills.lostFrames(harness.pipeline.pauseDelay)
    let (count, late) = (harness.headUnit.record.video.count, try harness.statistics["frames-dropped-late"])
    #expect((14 - lost...20).contains(count + late) && late < 6, "\(count), \(lost) lost, \(late) late")
    let requests = harness.bufferings.suffix(2)
    #expect(requests == [0, 100] && harness.headUnit.record.violations == [])
    #expect(try harness.statistics.areFramesConserved)
  }
}
