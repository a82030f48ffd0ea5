import GStreamerKit
import SDLLink
import Testing

@testable import Plugin

@Suite struct KeyFrameTests {
  private static func upstreamRequest() -> UnsafeMutablePointer<GstEvent>? {
    gst_video_event_new_upstream_force_key_unit(.max, 1, 0)
  }

  private static func downstreamRequest() -> UnsafeMutablePointer<GstEvent>? {
    gst_video_event_new_downstream_force_key_unit(.max, .max, .max, 1, 0)
  }

  private func expectKeyFrames(_ drive: Drive, _ expected: [Bool]) {
    #expect(drive.headUnit.record.video.map(isKeyFrame) == expected)
  }

  @Test func downstreamEventMakesTheNextFrameAKeyFrame() throws {
    let drive = try Drive()
    try drive.start()
    try drive.deliver(3)
    drive.source.send(Self.downstreamRequest())
    try drive.deliver(2)
    expectKeyFrames(drive, [true, false, false, true, false])
    #expect(try drive.statistics["key-frames-forced"] == 1)
    #expect(try drive.statistics["key-frames-sent"] == 2)
  }

  @Test func applicationAsksTheSink() throws {
    let drive = try Drive()
    try drive.start()
    try drive.deliver(3)
    #expect(gst_element_send_event(try drive.pipeline.sink.pointer, Self.upstreamRequest()) != 0)
    try drive.deliver(2)
    expectKeyFrames(drive, [true, false, false, true, false])
  }

  @Test func intervalIsKept() throws {
    let drive = try Drive(isLive: false, properties: "sync=false key-int-max=4")
    try drive.pipeline.play()
    drive.pushPictures(9)
    drive.source.end()
    try drive.pipeline.waitForEnd()
    expectKeyFrames(drive, (0..<9).map { $0.isMultiple(of: 4) })
  }

  @Test func encodedVideoWaitsForAKeyFrame() throws {
    let units = try encodedUnits(20, keyFrameInterval: 10)
    let drive = try Drive(caps: EncodedUnit.caps())
    let requests = try countKeyFrameRequests(at: drive.pipeline["src"].pad("src"))
    try drive.pipeline.play()
    // The size is in the caps, so that the stream can start before the first key frame.
    for unit in units[1..<3] { drive.push(unit.bytes, flags: unit.flags) }
    try drive.pipeline.waitForElementMessage("sdl-stream-started")
    for unit in units[3..<10] { drive.push(unit.bytes, flags: unit.flags) }
    for (index, unit) in units[10...].enumerated() {
      drive.push(unit.bytes, flags: unit.flags)
      try drive.headUnit.waitForFrames(index + 1)
    }
    let received = drive.headUnit.record.video
    #expect(received.count == 10)
    #expect(received[0] == units[10].bytes.suffix(received[0].count))
    #expect(requests.withLock { $0 } == 1)
    drive.source.end()
    try drive.pipeline.waitForEnd()
    let statistics = try drive.statistics
    #expect(statistics["frames-dropped-waiting-for-key-frame"] + statistics["frames-dropped-not-streaming"] == 9)
    #expect(statistics["frames-dropped-waiting-for-key-frame"] >= 7)
    #expect(statistics["key-frames-forced"] == 1)
    #expect(drive.headUnit.record.violations == [])
  }

  @Test func requestForEncodedVideoGoesUpstream() throws {
    let units = try encodedUnits(4)
    let drive = try Drive(caps: EncodedUnit.caps())
    let requests = try countKeyFrameRequests(at: drive.pipeline["src"].pad("src"))
    try drive.pipeline.play()
    drive.push(units[0].bytes, flags: units[0].flags)
    try drive.pipeline.waitForElementMessage("sdl-stream-started")
    let before = requests.withLock { $0 }
    gst_element_send_event(try drive.pipeline.sink.pointer, Self.upstreamRequest())
    #expect(requests.withLock { $0 } == before + 1)
  }
}
