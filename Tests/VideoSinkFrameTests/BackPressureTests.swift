import GStreamerKit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Head units that don't read.
@Suite struct BackPressureTests {
  /// A stream of pictures that are hard to encode, so that the kernel's buffers are soon full. None is repeated, which
  /// would take a place in the queue.
  private func pipeline(_ headUnit: TestHeadUnit, isLive: Bool, maximumLatency: Int = 150) throws -> Pipeline {
    try Pipeline(
      """
      videotestsrc is-live=\(isLive) pattern=snow ! video/x-raw,format=I420,width=640,height=480,framerate=30/1 \
      ! sdlvideosink name=sink sync=\(isLive) bitrate=50000 speed-preset=ultrafast max-latency=\(maximumLatency) \
      keep-alive-interval=0 uri=\(headUnit.uri)
      """)
  }

  /// Without a bound, the kernel's buffers and the queue fill; with one, pictures wait before they are encoded.
  @Test(arguments: [(0, "frames-dropped-queue-full"), (150, "frames-dropped-latency")])
  func liveSourceDropsAndRecovers(maximumLatency: Int, field: String) throws {
    let headUnit = try TestHeadUnit(.small(640, 480, maximumBitrate: nil))
    let pipeline = try pipeline(headUnit, isLive: true, maximumLatency: maximumLatency)
    try pipeline.play()
    try headUnit.waitForFrames(3)
    let app = try headUnit.waitForApp()
    headUnit.server.setReading(false, for: app)
    let sink = try pipeline.sink
    #expect(eventually { sink.statistics[field] > 3 })
    #expect(sink.statistics["frames-queued"] <= 4)
    #expect(sink.statistics.areFramesConserved)
    let before = headUnit.record.video.count
    headUnit.server.setReading(true, for: app)
    let sent = sink.statistics["frames-sent"]
    #expect(eventually { sink.statistics["frames-sent"] > sent + 10 })
    let frames = try headUnit.waitForFrames(before + 10)
    // Frames are dropped before they are encoded, so that the decoder misses no reference.
    #expect(try decode(frames, width: 640, height: 480).count == frames.count)
    // It has seen a pause that was its own doing, and then a rush that begins with any picture.
    let ownDoing = ["frameRate", "resumes after a pause", "picture before the first key frame"]
    let violations = headUnit.record.violations.map { "\($0)" }
    #expect(violations.allSatisfy { violation in ownDoing.contains { violation.contains($0) } }, "\(violations)")
    #expect(pipeline.drain().allSatisfy { $0.error == nil })
  }

  /// A pause while a frame waits for room is longer than the head unit keeps its decoder open without data.
  @Test(arguments: ["", "x264enc speed-preset=ultrafast key-int-max=1000 bitrate=50000 ! "])
  func filePauses(encoder: String) throws {
    let headUnit = try TestHeadUnit(.small(640, 480, frameRate: 120, maximumBitrate: nil))
    let pipeline = try Pipeline(
      """
      videotestsrc pattern=snow ! \(Picture.caps(640, 480)) ! \(encoder) \
      sdlvideosink name=sink sync=false bitrate=50000 speed-preset=ultrafast uri=\(headUnit.uri)
      """)
    try pipeline.playFromStart()
    try headUnit.waitForFrames(3)
    headUnit.server.setReading(false, for: try headUnit.waitForApp())
    let sink = try pipeline.sink
    #expect(eventually { sink.statistics["frames-queued"] == 4 }, "\(sink.statistics)")
    pipeline.setState(GST_STATE_PAUSED)
    headUnit.server.setReading(true, for: try headUnit.waitForApp())
    #expect(eventually { sink.statistics["queue-frames"] == 0 })
    let before = headUnit.record.video.count
    // Twice the time after which a head unit closes its decoder.
    g_usleep(2_000_000)
    // A raw picture is repeated all the time; encoded ones can't be while one waits.
    if encoder.isEmpty { #expect(headUnit.record.video.count > before) }
    let arrived = sink.statistics["frames-in"]
    try pipeline.reach(GST_STATE_PLAYING)
    #expect(eventually { sink.statistics["frames-in"] > arrived + 10 })
    try headUnit.waitForFrames(headUnit.record.video.count + 10)
    let violations = headUnit.record.violations.map { "\($0)" }
    #expect(!violations.contains { $0.contains("resumes after a pause") }, "\(violations)")
    #expect(sink.statistics.areFramesConserved)
    pipeline.stop()
    #expect(sink.statistics["frames-dropped-queue-full"] == 0 && sink.statistics["frames-dropped-discarded"] <= 1)
  }

  @Test func fileWaits() throws {
    let headUnit = try TestHeadUnit(.small(640, 480, frameRate: 120, maximumBitrate: nil))
    let pipeline = try pipeline(headUnit, isLive: false)
    try pipeline.play()
    try headUnit.waitForFrames(3)
    headUnit.server.setReading(false, for: try headUnit.waitForApp())
    let sink = try pipeline.sink
    // The pipeline is blocked when two polls with time between them see the same.
    var last = -1
    #expect(
      eventually {
        g_usleep(100_000)
        defer { last = sink.statistics["frames-in"] }
        return last == sink.statistics["frames-in"]
      })
    #expect(sink.statistics["frames-dropped-queue-full"] == 0)
    #expect(eventually { sink.statistics["frames-queued"] == 4 }, "\(sink.statistics)")
    #expect(sink.statistics.areFramesConserved)
    // The stop returns in time, although the head unit does not read.
    pipeline.stop()
    #expect(sink.statistics.areFramesConserved && sink.statistics["frames-queued"] == 0)
  }
}
