import GStreamerKit
import SDLApp
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Nothing that the head unit can show is supported by the app, for a while.
@Suite struct UnsupportedDisplaysTests {
  private static let ratio = "landscape::min-aspect-ratio=1.5 landscape::max-aspect-ratio=3 portrait::enabled=false"

  private func warnings(_ pipeline: Pipeline) -> [String] { pipeline.drain().compactMap(\.warning?.text) }

  private func waitForStart(_ pipeline: Pipeline, width: Int) throws {
    try pipeline.wait(for: "\(width)") {
      $0.isElement("sdl-stream-started") && $0.fields["width"] == "\(width)" ? 1 : nil
    }
  }

  /// Frames are dropped, counted, and go on being so.
  private func expectDropping(_ pipeline: Pipeline, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let sink = try pipeline.sink
    let before = sink.statistics["frames-dropped-wrong-size"]
    #expect(
      eventually { sink.statistics["frames-dropped-wrong-size"] >= before + 3 }, sourceLocation: sourceLocation)
    #expect(sink.statistics.areFramesConserved, sourceLocation: sourceLocation)
  }

  /// Other sizes that the head unit had offered belong to its former layout.
  @Test("Too narrow: stop with a warning, and come back", arguments: [ChoiceTests.core, .small(800, 380)])
  func update(_ configuration: HeadUnitConfiguration) throws {
    let headUnit = try TestHeadUnit(configuration)
    let pipeline = try ChoiceTests.pipeline(headUnit, Self.ratio)
    try pipeline.play()
    try waitForStart(pipeline, width: 800)
    try headUnit.waitForFrames(2)
    headUnit.server.perform(.resize(VideoSize(400, 380), scale: 1))
    let warning = try pipeline.waitForWarning()
    #expect(warning.isStream(GST_STREAM_ERROR_FORMAT))
    #expect(warning.text.contains("400×380") && warning.text.contains("aspect ratio 1.05"), "\(warning)")
    #expect(warning.text.contains("is below landscape::min-aspect-ratio 1.5"), "\(warning)")
    let stopped = try pipeline.waitForElementMessage("sdl-stream-stopped")
    #expect(stopped["reason"] == "out-of-range")
    try expectDropping(pipeline)
    #expect(headUnit.record.starts.count == 1)

    headUnit.server.perform(.resize(VideoSize(640, 320), scale: 1))
    try waitForStart(pipeline, width: 640)
    let count = headUnit.record.video.count
    try headUnit.waitForFrames(count + 2)
    #expect(headUnit.record.starts.count == 2 && headUnit.record.violations == [])
    #expect(warnings(pipeline).count == 1 && pipeline.drain().allSatisfy { $0.error == nil })
    // The app has reported once what it supports.
    #expect(headUnit.record.appCapabilities.count == 1)
  }

  @Test("Pictures that are too large: one of two displays, and the only one") func largePictures() throws {
    let other = ChoiceTests.entry(320, 240, inches: 8)
    let headUnit = try TestHeadUnit(ChoiceTests.headUnit(8192, 4320, inches: 8, additional: [other]))
    let pipeline = try Pipeline("videotestsrc is-live=true ! sdlvideosink name=sink uri=\(headUnit.uri)")
    try pipeline.play()
    let warning = try pipeline.waitForWarning()
    #expect(warning.text.contains("8192×4320 is left out"), "\(warning)")
    try waitForStart(pipeline, width: 320)
    pipeline.stop()
    let small = try TestHeadUnit(.small(640, 360))
    let refused = try Pipeline(
      "videotestsrc is-live=true ! sdlvideosink name=sink uri=\(small.uri) max-width=320 max-height=240")
    try refused.play()
    let error = try refused.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT) && error.text.contains("max-width × max-height"), "\(error)")
  }

  @Test("The same warning is not repeated, another one is") func warningsOfUpdates() throws {
    let headUnit = try TestHeadUnit(.small(800, 380))
    let pipeline = try ChoiceTests.pipeline(headUnit, Self.ratio)
    try pipeline.play()
    try waitForStart(pipeline, width: 800)
    for _ in 0..<2 {
      for size in [VideoSize(400, 380), VideoSize(400, 390)] {
        headUnit.server.perform(.resize(size, scale: 1))
        try pipeline.wait(for: "\(size)") { $0.warning?.text.contains("\(size)") }
        // What else an update may bring.
        try headUnit.update { $0.maxBitrate = 5000 + size.height }
      }
    }
    headUnit.server.perform(.resize(VideoSize(800, 380), scale: 1))
    try waitForStart(pipeline, width: 800)
    #expect(warnings(pipeline).count == 4, "\(warnings(pipeline))")
  }

  @Test("An update of the diagonal alone") func diagonal() throws {
    let headUnit = try TestHeadUnit(ChoiceTests.headUnit(800, 480, inches: 8))
    let pipeline = try ChoiceTests.pipeline(headUnit, "landscape::min-diagonal=7")
    try pipeline.play()
    try waitForStart(pipeline, width: 800)
    try headUnit.update { $0.diagonalScreenSize = 5 }
    let warning = try pipeline.waitForWarning()
    #expect(warning.text.contains("diagonal 5.0 in is below landscape::min-diagonal 7.0 in"), "\(warning)")
    try expectDropping(pipeline)
    try headUnit.update { $0.diagonalScreenSize = 9 }
    try waitForStart(pipeline, width: 800)
    #expect(pipeline.drain().allSatisfy { $0.error == nil })
  }

  @Test("An update of the diagonal alone: another display of the same size") func otherDisplay() throws {
    let other = ChoiceTests.entry(320, 240, inches: 9).with { $0.maxBitrate = 300 }
    let headUnit = try TestHeadUnit(ChoiceTests.headUnit(320, 240, inches: 8, additional: [other]))
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! sdlrangefilter landscape::min-diagonal=7 \
      ! sdlvideosink name=sink uri=\(headUnit.uri) bitrate=2000
      """)
    try pipeline.play()
    try headUnit.waitForFrames(2)
    let sink = try pipeline.sink
    #expect(sink.statistics["bitrate-target-kbps"] == 2000)
    try headUnit.update { $0.diagonalScreenSize = 5 }
    #expect(eventually { sink.statistics["bitrate-target-kbps"] == 200 })
    #expect(headUnit.record.starts.count == 1)
    #expect(pipeline.drain().allSatisfy { $0.error == nil && $0.warning == nil })
  }

  @Test("Ranges that change") func ranges() throws {
    let headUnit = try TestHeadUnit(.small(640, 360))
    let pipeline = try ChoiceTests.pipeline(headUnit, "landscape::max-width=600")
    let child = try Child("landscape", of: pipeline["filter"])
    try pipeline.play()
    #expect(try pipeline.waitForWarning().text.contains("width 640 is above landscape::max-width 600"))
    for round in 1...3 {
      try expectDropping(pipeline)
      child.set("max-width", "700")
      try headUnit.wait(for: "start \(round)") { $0.starts.count >= round ? 1 : nil }
      let count = headUnit.record.video.count
      try headUnit.waitForFrames(count + 2)
      child.set("max-width", "600")
      try headUnit.wait(for: "stop \(round)") { $0.stopReasons.count >= round ? 1 : nil }
    }
    #expect(headUnit.record.violations == [])
    // The head unit may see the last stop before it is reported.
    #expect(eventually { warnings(pipeline).count >= 4 }, "\(warnings(pipeline))")
    #expect(warnings(pipeline).count == 4 && pipeline.drain().allSatisfy { $0.error == nil })
  }

  /// The sink learns of it without a frame.
  @Test func rangesThatChangeInAPause() throws {
    let headUnit = try TestHeadUnit(.small(640, 360))
    let pipeline = try ChoiceTests.pipeline(headUnit, "landscape::max-width=700")
    try pipeline.play()
    try waitForStart(pipeline, width: 640)
    try pipeline.reach(GST_STATE_PAUSED)
    try Child("landscape", of: pipeline["filter"]).set("max-width", "600")
    #expect(try pipeline.waitForWarning().text.contains("landscape::max-width 600"))
    try headUnit.wait(for: "stop") { $0.stopReasons.isEmpty ? nil : 1 }
  }

  @Test("Upstream that can't change lives on as well") func fixedSource() throws {
    let headUnit = try TestHeadUnit(.small(640, 360))
    let pipeline = try Pipeline(
      """
      appsrc name=src format=time is-live=true ! sdlrangefilter name=filter landscape::max-width=600 ! queue \
      ! sdlvideosink name=sink uri=\(headUnit.uri) sync=false
      """)
    let source = try FrameSource(pipeline, caps: Picture.caps(640, 360))
    try pipeline.play()
    let picture = Picture(640, 360, 0).bytes
    var index = 0
    func push() {
      source.push(picture, at: index)
      index += 1
    }
    push()
    _ = try pipeline.waitForWarning()
    let sink = try pipeline.sink
    #expect(
      eventually {
        push()
        return sink.statistics["frames-dropped-wrong-size"] >= 3
      })
    try Child("landscape", of: pipeline["filter"]).set("max-width", "640")
    #expect(
      eventually {
        push()
        return headUnit.record.video.count >= 2
      })
    #expect(pipeline.drain().allSatisfy { $0.error == nil })
  }

  @Test("A file runs to its end") func file() throws {
    let headUnit = try TestHeadUnit(.small(640, 360))
    let pipeline = try Pipeline(
      """
      videotestsrc num-buffers=20 ! sdlrangefilter landscape::enabled=false portrait::enabled=false \
      ! sdlvideosink name=sink uri=\(headUnit.uri) sync=false
      """)
    try pipeline.play()
    _ = try pipeline.waitForWarning()
    try pipeline.waitForEnd()
    #expect(pipeline.drain().allSatisfy { $0.error == nil })
    #expect(headUnit.record.starts.isEmpty)
    #expect(try pipeline.sink.statistics["frames-dropped-wrong-size"] == 20)
  }

  @Test("Ranges that exclude each other, in two filters") func twoFilters() throws {
    let headUnit = try TestHeadUnit(ChoiceTests.core)
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! sdlrangefilter landscape::max-width=480 portrait::enabled=false \
      ! sdlrangefilter name=filter landscape::min-width=500 ! sdlvideosink name=sink uri=\(headUnit.uri)
      """)
    try pipeline.play()
    let warning = try pipeline.waitForWarning()
    #expect(warning.text.contains("is above landscape::max-width 480"), "\(warning)")
    #expect(warning.text.contains("is below landscape::min-width 500"), "\(warning)")
    try expectDropping(pipeline)
    try Child("landscape", of: pipeline["filter"]).set("min-width", "450")
    try waitForStart(pipeline, width: 480)
    #expect(pipeline.drain().allSatisfy { $0.error == nil })
  }

  /// With an encoder in the application's pipeline.
  @Test func encodedVideo() throws {
    let headUnit = try TestHeadUnit(.small(640, 360))
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! sdlrangefilter name=filter landscape::max-width=600 \
      ! x264enc tune=zerolatency speed-preset=ultrafast bitrate=500 ! video/x-h264,profile=constrained-baseline \
      ! sdlvideosink name=sink uri=\(headUnit.uri)
      """)
    try pipeline.play()
    _ = try pipeline.waitForWarning()
    try expectDropping(pipeline)
    #expect(pipeline.drain().allSatisfy { $0.error == nil })
  }

  /// The size is wrong, and not only for the ranges.
  @Test(arguments: [false, true]) func sizeThatIsSupportedElsewhere(isHeadUnitKnown: Bool) throws {
    let headUnit = try TestHeadUnit(.small(800, 480, additional: [(320, 240)]))
    let pipeline = try Pipeline(
      """
      appsrc name=src format=time is-live=true ! sdlrangefilter landscape::min-width=500 \
      ! sdlvideosink name=sink uri=\(headUnit.uri) sync=false
      """)
    let source = try FrameSource(pipeline, caps: Picture.caps(320, 240))
    try pipeline.play()
    let sink = try pipeline.sink
    if isHeadUnitKnown { #expect(eventually { sink.structure("head-unit")?["video-capability"] != nil }) }
    let picture = Picture(320, 240, 0).bytes
    var index = 0
    #expect(
      eventually {
        source.push(picture, at: index)
        index += 1
        return pipeline.drain().contains { $0.error != nil }
      }, "\(sink.statistics)")
    // If the head unit speaks while the first caps are on their way, the filter has them negotiated anew before the
    // sink sees a picture, and says itself why that fails.
    let messages = pipeline.drain()
    let texts = messages.compactMap { $0.error?.text }
    #expect(texts.contains { $0.contains("width 320 is below landscape::min-width 500") }, "\(messages)")
    for error in messages.compactMap({ $0.source == "sink" ? $0.error?.text : nil }) {
      for part in ["320×240", "800×480", "videoconvertscale"] { #expect(error.contains(part), "\(error)") }
    }
  }
}

/// The query by itself.
@Suite struct RangesQueryTests {
  private static let displays = [
    VideoDisplay(size: VideoSize(800, 380), scale: 1.5, diagonal: 5), VideoDisplay(size: VideoSize(200, 200)),
  ]

  /// Asked from a pad after the source pad of `element`.
  private func ask(_ element: Element, _ displays: [VideoDisplay]) throws -> [Int: String] {
    let pad = try nonNull(gst_pad_new("sink", GST_PAD_SINK))
    gst_object_ref_sink(pad)
    defer { gst_object_unref(pad) }
    let peer = try element.pad("src")
    try #require(gst_pad_link(peer, pad) == GST_PAD_LINK_OK)
    defer { gst_pad_unlink(peer, pad) }
    return RangesQuery.ask(pad, displays)
  }

  @Test func reasons() throws {
    let filter = try Element("sdlrangefilter")
    #expect(try ask(filter, Self.displays).isEmpty)
    try Child("landscape", of: filter).set("min-diagonal", "6")
    #expect(try ask(filter, Self.displays) == [0: "diagonal 5.0 in is below landscape::min-diagonal 6.0 in"])
    try Child("portrait", of: filter).set("enabled", "false")
    try Child("landscape", of: filter).set("max-width", "150")
    #expect(
      try ask(filter, Self.displays) == [
        0: "width 533 is above landscape::max-width 150",
        1: "width 200 is above landscape::max-width 150 and portrait::enabled is false",
      ])
  }

  @Test func noObjection() throws {
    #expect(try ask(Element("queue"), Self.displays).isEmpty)
    #expect(try ask(Element("sdlrangefilter"), []).isEmpty)
    // More displays than a query can hold, and displays that it cannot describe.
    let many = [VideoDisplay](repeating: Self.displays[0], count: 1000)
    let filter = try Element("sdlrangefilter")
    try Child("landscape", of: filter).set("enabled", "false")
    #expect(try ask(filter, many).isEmpty)
    #expect(try ask(filter, [VideoDisplay(size: VideoSize(1, 1))]).isEmpty)
  }
}
