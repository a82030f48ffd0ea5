import CGStreamerApp
import GStreamerKit
import H264
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// `low-delay-delimiter`: each picture ends with the delimiter of the next one, and begins with none.
@Suite struct DelimiterTests {
  private static let properties = "keep-alive-interval=0 low-delay-delimiter=true"

  private func expectMovedDelimiters(
    _ frames: [[UInt8]], isEnded: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    if isEnded, let last = frames.last {
      #expect(try nalTypes(last).contains(.accessUnitDelimiter) == false, sourceLocation: sourceLocation)
    }
    for frame in frames.dropLast(isEnded ? 1 : 0) {
      let types = try nalTypes(frame)
      #expect(
        types.last == .accessUnitDelimiter && types.count { $0 == .accessUnitDelimiter } == 1,
        sourceLocation: sourceLocation)
    }
    #expect(
      try decode(frames, width: 320, height: 240).count == frames.count, sourceLocation: sourceLocation)
  }

  @Test func rawPictures() throws {
    let harness = try SinkHarness(properties: "sync=false skip-unchanged=false \(Self.properties)")
    try harness.start()
    try harness.deliver(5)
    try expectMovedDelimiters(harness.headUnit.record.video)
    #expect(harness.headUnit.record.violations == [])
    #expect(try harness.statistics["video-bytes-sent"] == harness.headUnit.record.video.reduce(0) { $0 + $1.count })
  }

  /// None is left without a picture when the app ends its service: at the end of the stream, or in READY.
  @Test(arguments: ["EOS", "READY"]) func theEnd(by way: String) throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      """
      videotestsrc num-buffers=\(way == "EOS" ? 5 : -1) ! video/x-raw,width=320,height=240,framerate=30/1 \
      ! sdlvideosink name=sink sync=\(way == "READY") uri=\(headUnit.uri) \(Self.properties)
      """)
    try pipeline.playFromStart()
    try headUnit.waitForFrames(3)
    if way == "EOS" { try pipeline.waitForEnd() } else { try pipeline.reach(GST_STATE_READY) }
    _ = try headUnit.wait(for: "the end") { $0.stopReasons.first }
    try expectMovedDelimiters(headUnit.record.video, isEnded: true)
    #expect(headUnit.record.violations == [])
  }

  /// x264enc writes delimiters, and h264parse puts them into blocks of their own, or lengths in front of them.
  @Test(arguments: ["byte-stream", "avc"]) func encodedPictures(format: String) throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      """
      videotestsrc num-buffers=20 ! video/x-raw,width=320,height=240,framerate=30/1 \
      ! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=7 aud=true ! h264parse \
      ! video/x-h264,stream-format=\(format),alignment=au,profile=constrained-baseline \
      ! sdlvideosink name=sink sync=false uri=\(headUnit.uri) \(Self.properties)
      """)
    try pipeline.play()
    try pipeline.waitForEnd()
    _ = try headUnit.wait(for: "the end") { $0.stopReasons.first }
    #expect(headUnit.record.video.count == 21)
    try expectMovedDelimiters(headUnit.record.video, isEnded: true)
    #expect(headUnit.record.violations == [])
  }

  /// What the property is for: a decoder that finds pictures in a byte stream has each one frame earlier.
  @Test func decodersShowPicturesEarlier() throws {
    let plain = try picturesShown("")
    let early = try picturesShown(Self.properties)
    #expect(early == plain + 1, "\(early), \(plain)")
  }

  /// How many of ten pictures a decoder has shown when the last one has come.
  private func picturesShown(_ properties: String) throws -> Int {
    let harness = try SinkHarness(properties: "sync=false keep-alive-interval=0 skip-unchanged=false \(properties)")
    try harness.start()
    try harness.deliver(10)
    let decoder = try Pipeline(
      "appsrc name=src format=time ! h264parse ! avdec_h264 max-threads=1 ! appsink name=out sync=false async=false")
    let source = try FrameSource(decoder, caps: "video/x-h264,stream-format=byte-stream")
    try decoder.play()
    for (index, frame) in harness.headUnit.record.video.prefix(10).enumerated() { source.push(frame, at: index) }
    let sink: UnsafeMutablePointer<GstAppSink> = try decoder["out"].pointer.cast()
    var pictures = 0
    // Far more than decoding takes, beyond which nothing comes without a further frame.
    while let sample = gst_app_sink_try_pull_sample(sink, 2_000_000_000) {
      pictures += 1
      gst_mini_object_unref(UnsafeMutableRawPointer(sample).assumingMemoryBound(to: GstMiniObject.self))
    }
    return pictures
  }
}
