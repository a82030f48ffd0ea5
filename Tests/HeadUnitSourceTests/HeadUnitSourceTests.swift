import CGStreamerApp
import GStreamerKit
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// `sdlvideosink` and `sdlheadunitsrc` with each other.
@Suite struct HeadUnitSourceTests {
  /// An app that shows a moving ball.
  private func app(_ uri: String, caps: String = Picture.caps(), properties: String = "") throws -> Pipeline {
    try Pipeline("videotestsrc is-live=true pattern=ball ! \(caps) ! sdlvideosink name=sink uri=\(uri) \(properties)")
  }

  @Test func picturesArriveAsTheyWere() throws {
    let screen = try HeadUnitPipeline(
      "screen-size=320x240",
      through: "h264parse ! avdec_h264 max-threads=1 ! videoconvert ! video/x-raw,format=I420 !")
    let pipeline = try Pipeline(
      """
      appsrc name=src format=time is-live=true ! sdlvideosink name=sink sync=false keep-alive-interval=0 \
      bitrate=6000 speed-preset=veryfast uri=\(screen.uri)
      """)
    let source = try FrameSource(pipeline, caps: Picture.caps())
    try pipeline.play()
    source.push([], at: 0, flags: GST_BUFFER_FLAG_GAP)
    try pipeline.waitForElementMessage("sdl-stream-started")
    let sink = try pipeline.sink
    let pictures = (0..<12).map { Picture(320, 240, $0) }
    for (index, picture) in pictures.enumerated() {
      source.push(picture.bytes, at: index)
      // Of a live source, a newer picture takes the place of one that still waits.
      #expect(eventually { sink.statistics["frames-sent"] == index + 1 })
    }
    // All but what the decoder holds back without knowing that nothing more comes.
    for picture in pictures.prefix(8) {
      let quality = picture.psnr(against: try #require(screen.pull()).bytes)
      #expect(quality > 30, "\(quality) dB")
    }
    let caps = try #require(screen.pull()).caps
    #expect(caps.contains("width=(int)320") && caps.contains("height=(int)240"), "\(caps)")
    #expect(screen.statistics.areFramesBalanced)
    #expect(screen.statistics["violations"] == 0, "\(screen.source["violations"] ?? "")")
  }

  @Test func buffersAreWholeAccessUnits() throws {
    let units = try encodedUnits(25)
    let screen = try HeadUnitPipeline("screen-size=320x240")
    let pipeline = try Pipeline(
      "appsrc name=src format=time ! sdlvideosink name=sink sync=false uri=\(screen.uri)")
    let source = try FrameSource(pipeline, caps: EncodedUnit.caps())
    try pipeline.play()
    for (index, unit) in units.enumerated() { source.push(unit.bytes, at: index, flags: unit.flags) }
    source.end()
    try pipeline.waitForEnd()
    let samples = try screen.pull(units.count)
    for (unit, sample) in zip(units, samples) { #expect(unit.bytes == sample.bytes) }
    for (index, (unit, sample)) in zip(units, samples).enumerated() {
      #expect(sample.isDelta == unit.isDelta)
      #expect(sample.isDiscontinuous == (index == 0))
      #expect(
        sample.caps.hasPrefix("video/x-h264, stream-format=(string)byte-stream, alignment=(string)au, width=(int)320"),
        "\(sample.caps)")
      #expect(sample.caps.contains("framerate=(fraction)30/1"), "\(sample.caps)")
    }
    for (earlier, later) in zip(samples, samples.dropFirst()) { #expect(earlier.time <= later.time) }
    pipeline.stop()
    #expect(eventually { screen.statistics["apps"] == 0 })
    #expect(screen.statistics.areFramesBalanced && screen.statistics["frames-out"] == units.count)
  }

  @Test func theAppComesFirst() throws {
    let port = try RawPeer.unusedPort()
    let app = try app("sdl://127.0.0.1:\(port)")
    try app.play()
    try app.wait(for: "attempt") { $0.progress == GST_PROGRESS_TYPE_CONTINUE ? true : nil }
    let screen = try Pipeline(
      "sdlheadunitsrc name=src port=\(port) screen-size=320x240 ! decodebin ! fakesink name=out")
    try screen.play()
    try app.waitForElementMessage("sdl-stream-started")
    let source = try screen["src"]
    #expect(eventually { source.statistics["frames-out"] > 10 })
  }

  @Test func appsComeAndGo() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240")
    for round in 1...3 {
      let app = try app(screen.uri)
      try app.play()
      let first = try screen.pull { $0.isDiscontinuous }
      #expect(try startsStream(first.bytes) && !first.isDelta)
      _ = try screen.pull(5)
      app.stop()
      let registered = try screen.pipeline.waitForElementMessage("sdl-app-registered")
      #expect(registered["name"] == "GStreamer" && registered["app-id"] == "gst-smartdevicelink")
      let started = try screen.pipeline.waitForElementMessage("sdl-stream-started")
      #expect(started["width"] == "320" && started["protocol"] == "RAW" && started["codec"] == "H264")
      let stopped = try screen.pipeline.waitForElementMessage("sdl-stream-stopped")
      #expect(stopped["reason"] == "app")
      let gone = try screen.pipeline.waitForElementMessage("sdl-app-unregistered")
      #expect(["app", "session-ended"].contains(gone["reason"]))
      #expect(screen.statistics["registrations"] == round && screen.statistics["apps"] == 0)
    }
    #expect(!screen.pipeline.drain().contains { $0.kind == .endOfStream })
  }

  @Test func theHeadUnitComesAndGoes() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240")
    let app = try app(screen.uri)
    try app.play()
    _ = try screen.pull(3)
    screen.pipeline.stop()
    try app.waitForElementMessage("sdl-disconnected")
    screen.source.set("port", "\(screen.port)")
    try screen.pipeline.play()
    #expect(try screen.pull(3).first?.isDiscontinuous == true)
    #expect(screen.statistics.areFramesBalanced)
  }

  @Test func endOfStreamOnRequest() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240 eos-on-disconnect=true")
    let app = try app(screen.uri)
    try app.play()
    _ = try screen.pull(3)
    app.stop()
    while screen.pull() != nil {}
    try screen.pipeline.waitForEnd()
    #expect(screen.statistics["frames-queued"] == 0)
  }

  @Test func resizeWhileItRuns() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240")
    let app = try Pipeline(
      "videotestsrc is-live=true pattern=ball ! videoconvertscale ! sdlvideosink name=sink uri=\(screen.uri)")
    try app.play()
    #expect(try screen.pull { _ in true }.caps.contains("width=(int)320, height=(int)240"))
    screen.source.set("screen-size", "480x272")
    let resized = try screen.pull { $0.caps.contains("width=(int)480, height=(int)272") }
    #expect(!resized.isDelta && resized.isDiscontinuous)
    #expect(screen.source["screen-size"] == "480x272")
    // Another app is told the new size from the beginning.
    app.stop()
    #expect(eventually { screen.statistics["apps"] == 0 })
    let other = try self.app(screen.uri, caps: Picture.caps(480, 272))
    try other.play()
    #expect(try screen.pull { $0.isDiscontinuous }.caps.contains("width=(int)480, height=(int)272"))
    #expect(screen.statistics["violations"] == 0, "\(screen.source["violations"] ?? "")")
  }

  @Test func ratesWhileItRuns() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240 max-bitrate=8000")
    let app = try app(screen.uri)
    try app.play()
    _ = try screen.pull(2)
    screen.source.set("max-bitrate", "200")
    let sink = try app.sink
    func isTold(_ text: String) -> Bool {
      sink["head-unit"]?.filter { $0 != "\\" && $0 != "\"" }.contains(text) ?? false
    }
    #expect(eventually { isTold("max-bitrate=(int)200") }, "\(sink["head-unit"] ?? "")")
    screen.source.set("framerate", "12")
    #expect(eventually { isTold("preferred-fps=(int)12") }, "\(sink["head-unit"] ?? "")")
    #expect(screen.source["max-bitrate"] == "200" && screen.source["framerate"] == "12")
    // That there is no limit any more is told as well: a member that is missing would be unchanged.
    screen.source.set("framerate", "0")
    #expect(eventually { isTold("preferred-fps=(int)0") }, "\(sink["head-unit"] ?? "")")
    screen.source.set("max-bitrate", "0")
    #expect(eventually { isTold("max-bitrate=(int)0") }, "\(sink["head-unit"] ?? "")")
  }
}
