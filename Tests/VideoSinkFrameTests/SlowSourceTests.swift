import GStreamerKit
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Raw pictures that come seldom: what is sent in between costs next to nothing.
@Suite struct SlowSourceTests {
  /// As in ``KeepAliveTests``.
  private static let repeatByteCount = 60

  @Test func repeatsAreNoKeyFrames() throws {
    let harness = try SinkHarness(
      caps: Picture.caps().replacing("framerate=30/1", with: "framerate=1/4"),
      properties: "sync=false keep-alive-interval=30")
    try harness.start()
    var pictures: [Int] = []
    var count = 0
    for _ in 0..<3 {
      count = harness.headUnit.record.video.count
      pictures.append(harness.index)
      harness.pushPicture()
      try harness.headUnit.waitForFrames(count + 12)
    }
    let video = harness.headUnit.record.video
    #expect(video.map(isKeyFrame).count { $0 } == 3)
    let sizes = video.map(\.count)
    // The first ones make the picture finer.
    let repeats = video.indices.dropFirst(3).filter { !video[($0 - 2)...$0].contains(where: isKeyFrame) }
    #expect(repeats.count >= 18 && repeats.allSatisfy { sizes[$0] <= Self.repeatByteCount }, "\(sizes)")
    let decoded = try decode(video, width: 320, height: 240)
    #expect(decoded.count == video.count)
    #expect(Picture(320, 240, harness.index - 1).psnr(against: try #require(decoded.last)) > 28)
    #expect(harness.headUnit.record.violations == [])
  }

  /// Neither is the first one, which the base class has long before its time.
  @Test func theFirstPictureIsNotSentBeforeItsTime() throws {
    let headUnit = try TestHeadUnit(.small())
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=1/1 \
      ! sdlvideosink name=sink uri=\(headUnit.uri)
      """)
    try pipeline.play()
    try headUnit.waitForFrames(1)
    let began = Duration.nanoseconds(Int64(pipeline.element.pointer.pointee.base_time))
    let arrival = try #require(headUnit.record.arrivals.first) - began
    #expect(arrival >= .seconds(1), "\(arrival)")
  }

  /// While the next picture waits for its time, the one before it is repeated.
  @Test func noPictureIsSentBeforeItsTime() throws {
    let headUnit = try TestHeadUnit(.small())
    let pipeline = try Pipeline(
      """
      appsrc name=src format=time is-live=true min-latency=400000000 ! sdlvideosink name=sink uri=\(headUnit.uri) \
      keep-alive-interval=50
      """)
    let source = try FrameSource(
      pipeline, caps: Picture.caps().replacing("framerate=30/1", with: "framerate=1/1"), frameRate: 1)
    try pipeline.play()
    source.push([], at: 0, flags: GST_BUFFER_FLAG_GAP)
    try pipeline.waitForElementMessage("sdl-stream-started")
    for index in 1...2 { source.push(Picture(320, 240, index).bytes, at: index) }
    let sink = try pipeline.sink
    #expect(eventually { sink.statistics.shown == 2 })
    #expect(sink.statistics["frames-sent"] == 2, "\(sink.statistics.fields)")
    // What was sent is still on its way on a busy machine.
    let shown = Picture(320, 240, 2)
    var (record, found) = (headUnit.record, Int?.none)
    let hasCome = eventually {
      record = headUnit.record
      guard let decoded = try? decode(record.video, width: 320, height: 240), decoded.count == record.video.count
      else { return false }
      found = decoded.indices.first { shown.psnr(against: decoded[$0]) > 28 }
      return found != nil
    }
    #expect(hasCome)
    let began = Duration.nanoseconds(Int64(pipeline.element.pointer.pointee.base_time))
    let first = try #require(found)
    #expect(first > 3 && record.arrivals[first] - began >= .seconds(2.4), "\(first), \(record.arrivals[first] - began)")
  }
}
