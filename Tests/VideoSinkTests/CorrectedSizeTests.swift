import CGStreamerApp
import GStreamerKit
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Upstream corrects a size that the head unit does not take, which ends the mismatch without an error.
@Suite struct CorrectedSizeTests {
  @Test func liveRawVideoEndsWithoutAnError() throws {
    let harness = try SinkHarness(.small(800, 480, activation: nil))
    // A source that does not answer CAPS queries may be able to change its size.
    try harness.pipeline["src"].leaveCapsQueriesUnanswered()
    try harness.pipeline.play()
    try harness.pipeline.waitForElementMessage("sdl-connected")
    // The head unit's capabilities may not have arrived yet.
    #expect(
      eventually {
        harness.pushPicture()
        return (try? harness.statistics["frames-dropped-wrong-size"]) ?? 0 > 0
      })
    try expectEnd(of: harness, after: Picture.caps(800, 480)) { harness.pushPicture(800, 480) }
  }

  @Test func liveEncodedVideoEndsWithoutAnError() throws {
    let former = try encodedUnits(1)
    let mended = try encodedUnits(3, width: 800, height: 480)
    let harness = try SinkHarness(.small(800, 480, activation: nil), caps: EncodedUnit.caps())
    try harness.pipeline.play()
    try harness.pipeline.waitForElementMessage("sdl-connected")
    #expect(
      eventually {
        harness.push(former[0].bytes)
        return (try? harness.statistics["frames-dropped-wrong-size"]) ?? 0 > 0
      })
    var index = 0
    try expectEnd(of: harness, after: EncodedUnit.caps(800, 480)) {
      harness.push(mended[index].bytes, flags: mended[index].flags)
      index += 1
    }
  }

  private func expectEnd(of harness: SinkHarness, after caps: String, push: () -> Void) throws {
    harness.source.setCaps(caps)
    for _ in 0..<3 { push() }
    harness.source.end()
    try harness.pipeline.waitForEnd()
    #expect(harness.pipeline.drain().allSatisfy { $0.error == nil })
    #expect(try harness.statistics["frames-dropped-not-streaming"] >= 3)
    #expect(try harness.statistics.areFramesConserved)
  }

  @Test func slowLiveSourceStartsOnceInThePreferredSize() throws {
    // videotestsrc chooses the smallest of these sizes until the head unit's capabilities are known.
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! video/x-raw,format=I420,width=[480,800],height=[320,380],framerate=5/1 \
      ! sdlvideosink name=sink uri=sdl+builtin:core-listed
      """)
    try pipeline.play()
    let fields = try pipeline.waitForElementMessage("sdl-stream-started")
    #expect(fields["width"] == "800" && fields["height"] == "380")
    let sink = try pipeline.sink
    #expect(eventually { sink.statistics["frames-sent"] >= 3 })
    let messages = pipeline.drain()
    #expect(messages.count { $0.isElement("sdl-stream-started") } == 1)
    #expect(!messages.contains { $0.isElement("sdl-stream-stopped") })
    #expect(messages.allSatisfy { $0.error == nil && $0.warning == nil }, "\(messages)")
  }
}
