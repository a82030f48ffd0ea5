import GStreamerKit
import H264
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

@Suite struct KeyFrameTests {
  private static func upstreamRequest() -> UnsafeMutablePointer<GstEvent>? {
    gst_video_event_new_upstream_force_key_unit(.max, 1, 0)
  }

  private static func downstreamRequest() -> UnsafeMutablePointer<GstEvent>? {
    gst_video_event_new_downstream_force_key_unit(.max, .max, .max, 1, 0)
  }

  @Test func downstreamEventMakesTheNextFrameAKeyFrame() throws {
    let harness = try SinkHarness()
    try harness.start()
    try harness.deliver(3)
    harness.source.send(Self.downstreamRequest())
    try harness.deliver(2)
    harness.expectKeyFrames([true, false, false, true, false])
    #expect(eventually { (try? harness.statistics["key-frames-forced"]) == 1 })
    #expect(eventually { (try? harness.statistics["key-frames-sent"]) == 2 })
  }

  @Test func applicationAsksTheSink() throws {
    let harness = try SinkHarness()
    try harness.start()
    try harness.deliver(3)
    #expect(gst_element_send_event(try harness.pipeline.sink.pointer, Self.upstreamRequest()) != 0)
    try harness.deliver(2)
    harness.expectKeyFrames([true, false, false, true, false])
  }

  @Test func intervalIsKept() throws {
    let harness = try SinkHarness(isLive: false, properties: "sync=false keep-alive-interval=0 key-int-max=4")
    try harness.start()
    harness.pushPictures(9)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    harness.expectKeyFrames((0..<9).map { $0.isMultiple(of: 4) })
  }

  @Test func encodedVideoWaitsForAKeyFrame() throws {
    let units = try encodedUnits(20, keyFrameInterval: 10)
    // The service comes after the first frames, also on a busy machine.
    let configuration = HeadUnitConfiguration.small().with { $0.behaviour.videoStartDelay = .milliseconds(500) }
    let harness = try SinkHarness(configuration, caps: EncodedUnit.caps())
    let requests = try countKeyFrameRequests(at: harness.pipeline["src"].pad("src"))
    try harness.pipeline.play()
    // The size is in the caps, so that the stream can start before the first key frame.
    for unit in units[1..<3] { harness.push(unit.bytes, flags: unit.flags) }
    // Nothing is to be seen yet.
    try harness.wait(forStreamState: "suspended")
    #expect(harness.streamMessages == [])
    for unit in units[3..<10] { harness.push(unit.bytes, flags: unit.flags) }
    for (index, unit) in units[10...].enumerated() {
      harness.push(unit.bytes, flags: unit.flags)
      try harness.headUnit.waitForFrames(index + 1)
    }
    let received = harness.headUnit.record.video
    #expect(received.count == 10)
    #expect(received[0] == units[10].bytes)
    #expect(requests.withLock { $0 } == 1)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let statistics = try harness.statistics
    #expect(statistics["frames-dropped-waiting-for-key-frame"] + statistics["frames-dropped-not-streaming"] == 9)
    #expect(statistics["frames-dropped-waiting-for-key-frame"] >= 7)
    #expect(statistics["key-frames-forced"] == 1)
    #expect(harness.headUnit.record.violations == [])
  }

  /// Upstream has not answered a request, and another service needs a key frame.
  @Test func eachServiceAsks() throws {
    let units = try encodedUnits(20, keyFrameInterval: 20)
    let harness = try SinkHarness(caps: EncodedUnit.caps())
    let requests = try countKeyFrameRequests(at: harness.pipeline["src"].pad("src"))
    try harness.start()
    harness.push(units[0].bytes)
    try harness.headUnit.waitForFrames(1)
    for count in 1...2 {
      try harness.show(.background)
      try harness.wait(forStreamState: "stopped")
      harness.push(units[8 * count].bytes, flags: units[8 * count].flags)
      #expect(eventually { (try? harness.statistics["frames-dropped-suspended"]) == count })
      try harness.show(.full)
      _ = try harness.headUnit.wait(for: "service") { $0.starts.count == count + 1 ? true : nil }
      try harness.wait(forStreamState: "suspended")
      for unit in units[(8 * count + 1)...].prefix(3) { harness.push(unit.bytes, flags: unit.flags) }
      #expect(eventually { (try? harness.statistics["frames-dropped-waiting-for-key-frame"]) == 3 * count })
      #expect(eventually { requests.withLock { $0 } == count }, "\(requests.withLock { $0 }) for \(count)")
    }
  }

  /// However short the pause was: the head unit may have closed its decoder.
  @Test func aResumedStreamBeginsWithAKeyFrame() throws {
    let harness = try SinkHarness(properties: "sync=false keep-alive-interval=0 background-notice=false")
    try harness.start()
    try harness.deliver(3)
    try harness.setAppState(.background)
    try harness.wait(forStreamState: "suspended")
    try harness.setAppState(.foreground)
    try harness.wait(forStreamState: "streaming")
    try harness.deliver(2)
    harness.expectKeyFrames([true, false, false, true, false])
  }

  /// The first access unit begins with its delimiter, which comes first wherever the parameter sets come from (H.264,
  /// 7.4.1.2.3).
  @Test(arguments: [true, false]) func delimiterStays(hasParameterSets: Bool) throws {
    let unit = try #require(encodedUnits(1, encoder: "tune=zerolatency aud=true").first)
    try #require(try nalTypes(unit.bytes).first == .accessUnitDelimiter)
    let harness = try SinkHarness(caps: EncodedUnit.caps())
    try harness.start()
    harness.push(unit.bytes)
    #expect(try harness.headUnit.waitForFrames(1) == [unit.bytes])
    guard !hasParameterSets else { return }
    let bare = unit.bytes.withUnsafeBytes { bytes in
      AnnexB(bytes).filter { ![.sequenceParameterSet, .pictureParameterSet].contains($0.type) }
        .flatMap { [0, 0, 0, 1] + bytes[$0.range] }
    }
    harness.push(bare, flags: GST_BUFFER_FLAG_DISCONT)
    let first = try #require(try harness.headUnit.waitForFrames(2).last)
    let expected: [NALUnitType] = [.accessUnitDelimiter, .sequenceParameterSet, .pictureParameterSet]
    #expect(try nalTypes(first).starts(with: expected) && isKeyFrame(first))
    #expect(harness.headUnit.record.violations == [])
  }

  @Test func requestForEncodedVideoGoesUpstream() throws {
    let units = try encodedUnits(4)
    let harness = try SinkHarness(caps: EncodedUnit.caps())
    let requests = try countKeyFrameRequests(at: harness.pipeline["src"].pad("src"))
    try harness.pipeline.play()
    harness.push(units[0].bytes, flags: units[0].flags)
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    let before = requests.withLock { $0 }
    gst_element_send_event(try harness.pipeline.sink.pointer, Self.upstreamRequest())
    #expect(requests.withLock { $0 } == before + 1)
  }
}
