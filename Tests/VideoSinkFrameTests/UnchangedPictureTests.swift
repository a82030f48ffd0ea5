import CGStreamerApp
import GStreamerKit
import SDLApp
import Testing

@testable import Plugin
@testable import PluginTestSupport
@testable import SDLLink

/// Pictures that equal the one before are not sent, once the head unit shows that one sharply.
@Suite struct UnchangedPictureTests {
  /// How equal pictures come.
  enum Memory: CaseIterable { case same, new }

  private func harness(_ properties: String = "", layout: Picture.Layout = .i420) throws -> SinkHarness {
    try SinkHarness(
      isLive: false, caps: Picture.caps(format: layout),
      properties: "sync=false keep-alive-interval=0 bitrate=600 \(properties)")
  }

  /// Pushes a picture again and again, and waits until each has been counted.
  private func push(
    _ picture: Picture, _ count: Int, _ memory: Memory = .new, layout: Picture.Layout = .i420, padding: Int = 0,
    to harness: SinkHarness
  ) throws {
    let original = try picture.buffer(layout, padding: padding, from: harness.source)
    defer { gst_buffer_unref(original) }
    for _ in 0..<count {
      let buffer =
        memory == .same
        ? try nonNull(gst_buffer_copy(original))
        : try picture.buffer(layout, padding: padding, from: harness.source)
      harness.push(buffer)
    }
    #expect(
      eventually {
        (try? harness.statistics).map { $0["frames-in"] == harness.index && $0["frames-queued"] == 0 } ?? false
      })
  }

  /// The pictures that the head unit's decoder shows.
  private func decoded(_ harness: SinkHarness) throws -> [[UInt8]] {
    let sent = try harness.statistics["frames-sent"] + harness.statistics["frames-repeated"]
    return try decode(try harness.headUnit.waitForFrames(sent), width: 320, height: 240)
  }

  @Test(arguments: Picture.Layout.allCases.map { ($0, Memory.new) } + [(.i420, .same)])
  func stillPicture(_ layout: Picture.Layout, _ memory: Memory) throws {
    // Without further key frames, which are due by the clock, and after which the picture has to settle anew.
    let harness = try harness("key-int-max=100000", layout: layout)
    try harness.start()
    let picture = Picture(320, 240, 1)
    try push(picture, 300, memory, layout: layout, padding: 24, to: harness)
    let statistics = try harness.statistics
    #expect(statistics["frames-sent"] + statistics["frames-unchanged"] == 300 && statistics.areFramesConserved)
    #expect((2...80).contains(statistics["frames-encoded"]), "\(statistics.fields)")
    let reference = try self.harness("skip-unchanged=false key-int-max=100000", layout: layout)
    try reference.start()
    try push(picture, 150, memory, layout: layout, padding: 24, to: reference)
    #expect(try reference.statistics["frames-sent"] == 150 && reference.statistics["frames-unchanged"] == 0)
    let quality = picture.psnr(against: try #require(try decoded(harness).last))
    let full = picture.psnr(against: try #require(try decoded(reference).last))
    #expect(
      quality > full - 0.1, "\(quality) dB, \(full) dB with every picture encoded: \(statistics.fields)")
    #expect(harness.headUnit.record.violations == [])
  }

  @Test func everyChangeShowsAtOnce() throws {
    let harness = try harness()
    try harness.pipeline.play()
    var picture = Picture(320, 240, 1)
    try push(picture, 150, to: harness)
    for step in 0..<6 {
      let before = try harness.statistics["frames-sent"]
      let place = 320 * (20 + 30 * step) + 40 * step + 17
      let value: UInt8 = picture.luma[place] < 128 ? 235 : 16
      picture.luma[place] = value
      try push(picture, 1, to: harness)
      #expect(try harness.statistics["frames-sent"] == before + 1)
      try push(picture, 100, to: harness)
      let shown = try #require(try decoded(harness).last)
      #expect(abs(Int(shown[place]) - Int(value)) < 60, "pixel \(place) is \(shown[place]) and not \(value)")
    }
    // Back and forth: each differs from what the decoder shows.
    let before = try harness.statistics["frames-sent"]
    for index in 0..<6 { try push(Picture(320, 240, index % 2), 1, to: harness) }
    #expect(try harness.statistics["frames-sent"] == before + 6)
  }

  @Test func chromaCounts() throws {
    let harness = try harness()
    try harness.pipeline.play()
    var picture = Picture(320, 240, 1)
    try push(picture, 150, to: harness)
    for plane in [\Picture.blue, \Picture.red] {
      let before = try harness.statistics["frames-sent"]
      picture[keyPath: plane][160 * 119 + 159] ^= 1
      try push(picture, 1, to: harness)
      #expect(try harness.statistics["frames-sent"] == before + 1)
      try push(picture, 100, to: harness)
    }
  }

  /// The same bytes are another picture in another format.
  @Test func theFormatCounts() throws {
    let harness = try harness()
    try harness.pipeline.play()
    let picture = Picture(320, 240, 1)
    try push(picture, 150, to: harness)
    let before = try harness.statistics["frames-sent"]
    var other = picture
    (other.blue, other.red) = (picture.red, picture.blue)
    harness.source.setCaps(Picture.caps(format: .yv12))
    try push(other, 1, layout: .yv12, to: harness)
    #expect(try harness.statistics["frames-sent"] == before + 1)
  }

  @Test func keyFrameOnRequest() throws {
    let harness = try harness()
    try harness.pipeline.play()
    let picture = Picture(320, 240, 1)
    try push(picture, 150, to: harness)
    let before = try harness.headUnit.waitForFrames(harness.statistics["frames-sent"]).count
    let sink = try harness.pipeline.sink
    try #require(gst_element_send_event(sink.pointer, gst_video_event_new_upstream_force_key_unit(.max, 1, 0)) != 0)
    try push(picture, 150, to: harness)
    let video = try harness.headUnit.waitForFrames(harness.statistics["frames-sent"])
    #expect(video.map(isKeyFrame).count { $0 } == 2 && isKeyFrame(video[before]))
    #expect(picture.psnr(against: try #require(try decoded(harness).last)) > 30)
  }

  @Test func resumedStreamBeginsWithTheUnchangedPicture() throws {
    let harness = try harness("background-notice=false")
    try harness.pipeline.play()
    let picture = Picture(320, 240, 1)
    try push(picture, 150, to: harness)
    let before = try harness.headUnit.waitForFrames(harness.statistics["frames-sent"]).count
    try harness.setAppState(.background)
    try harness.wait(forStreamState: "suspended")
    try harness.setAppState(.foreground)
    try harness.wait(forStreamState: "streaming")
    try push(picture, 100, to: harness)
    let video = try harness.headUnit.waitForFrames(before + 1)
    #expect(video[before].startsStream)
    harness.headUnit.server.perform(.endVideo)
    try harness.wait(forStreamState: "stopped")
    let count = harness.headUnit.record.video.count
    harness.push(picture.bytes)
    #expect(try harness.headUnit.waitForFrames(count + 1)[count].startsStream)
  }

  /// SDL Core opens its decoder anew after a second without data. Pictures that come keep it open, even without
  /// keep-alives.
  @Test func decoderStaysOpenWithoutKeepAlives() throws {
    let harness = try harness()
    try harness.pipeline.play()
    let picture = Picture(320, 240, 1)
    let standstills = Standstills()
    let began = MonotonicClock.now
    while MonotonicClock.now - began < .seconds(2.2) { try push(picture, 1, .same, to: harness) }
    let record = harness.headUnit.record
    let gaps = record.gaps
    #expect(gaps.allSatisfy { $0 < .seconds(1) + standstills.total }, "\(gaps)")
    #expect(try harness.statistics["frames-unchanged"] > 0)
    #expect(record.arrivals.last ?? .zero > began + .seconds(1))
    // A machine that stands still may close the decoder.
    guard standstills.count(longerThan: .milliseconds(200)) == 0 else { return }
    #expect(record.video.map(isKeyFrame).count { $0 } == 1)
    let last = record.video.suffix(3).map(\.count)
    #expect(last.allSatisfy { $0 < 100 }, "\(last)")
  }
}
