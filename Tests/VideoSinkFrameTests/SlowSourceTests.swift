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
    let repeats = zip(video, video.dropFirst(3)).filter { !isKeyFrame($0) && !isKeyFrame($1) }.map(\.1.count)
    #expect(repeats.suffix(8).allSatisfy { $0 <= Self.repeatByteCount }, "\(sizes)")
    let decoded = try decode(video, width: 320, height: 240)
    #expect(decoded.count == video.count)
    #expect(Picture(320, 240, harness.index - 1).psnr(against: try #require(decoded.last)) > 28)
    #expect(harness.headUnit.record.violations == [])
  }
}
