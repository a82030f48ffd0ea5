import CGStreamerApp
import GStreamerKit
import SDLApp
import SDLHeadUnit
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The last picture is sent again while upstream is silent.
@Suite struct KeepAliveTests {
  /// How upstream is silent.
  enum Silence: CaseIterable {
    case nothing, gapEvents, gapBuffers, paused
  }

  /// After this time without video the head unit reports the stream as interrupted.
  private static let headUnitTimeout = Duration.seconds(1)
  /// A repeat of a picture that the encoder can't make better any more; measured: 22 bytes.
  private static let settledByteCount = 60

  private func hasMissedData(_ record: TestHeadUnit.Record) -> Bool {
    record.events.contains { if case .videoDataStopped = $0 { true } else { false } }
  }

  @Test func stillPicture() throws {
    let standstills = Standstills()
    let harness = try SinkHarness(properties: "sync=false")
    try harness.start()
    try harness.deliver(1)
    try harness.headUnit.waitForFrames(6)
    let record = harness.headUnit.record
    let gaps = record.gaps
    #expect(record.violations == [])
    guard standstills.count(longerThan: .milliseconds(200)) == 0 else { return }
    let repeats = gaps.dropFirst()
    #expect(repeats.allSatisfy { $0 < Self.headUnitTimeout }, "\(gaps)")
    // One that comes late shortens the next gap.
    #expect(repeats.reduce(.zero, +) / repeats.count > .milliseconds(400), "\(gaps)")
    #expect(!hasMissedData(record))
  }

  /// The picture came before the service began, and no other follows it.
  @Test func aPictureThatStandsStillIsSentWhenAServiceBegins() throws {
    let harness = try SinkHarness(properties: "sync=false keep-alive-interval=3600000")
    try harness.pipeline.play()
    harness.pushPicture()
    let video = try harness.headUnit.waitForFrames(1)
    #expect(video.first.map(isKeyFrame) == true)
    #expect(eventually { (try? harness.statistics["frames-repeated"]) == 1 })
    #expect(try harness.statistics["frames-sent"] == 0 && harness.statistics.areFramesConserved)
  }

  @Test func repeatsBecomeSmallAndNoWorse() throws {
    let harness = try SinkHarness(properties: "sync=false keep-alive-interval=30")
    try harness.start()
    try harness.deliver(1)
    let video = try harness.headUnit.waitForFrames(31)
    let sizes = video.map(\.count)
    #expect(sizes.suffix(10).allSatisfy { $0 <= Self.settledByteCount }, "\(sizes)")
    #expect(video.map(isKeyFrame).count { $0 } == 1)
    let pictures = try decode(video, width: 320, height: 240)
    #expect(pictures.count == video.count)
    let original = Picture(320, 240, harness.index - 1)
    let quality = pictures.map { original.psnr(against: $0) }
    let first = try #require(quality.first)
    #expect(quality.allSatisfy { $0 > first - 0.1 }, "\(quality)")
    #expect(eventually { (try? harness.statistics["frames-repeated"]) ?? 0 >= 30 })
    let statistics = try harness.statistics
    #expect(statistics["frames-in"] == 2 && statistics["frames-sent"] == 1 && statistics.areFramesConserved)
  }

  @Test(arguments: Silence.allCases)
  func everySilence(silence: Silence) throws {
    let harness = try SinkHarness(isLive: silence != .paused, properties: "sync=false keep-alive-interval=60")
    try harness.start()
    try harness.deliver(2)
    switch silence {
    case .nothing: break
    case .gapEvents:
      for index in 2..<6 { harness.source.send(gst_event_new_gap(UInt(index) * 33_333_333, 33_333_333)) }
    case .gapBuffers:
      for _ in 0..<4 { harness.push([], flags: GST_BUFFER_FLAG_GAP) }
    case .paused: harness.pipeline.setState(GST_STATE_PAUSED)
    }
    try harness.headUnit.waitForFrames(8)
    #expect(harness.headUnit.record.video.map(isKeyFrame).count { $0 } == 1)
    let pictures = try decode(harness.headUnit.record.video, width: 320, height: 240)
    // The pictures of the frames 1 and 2 were delivered, after the one that takes the caps there.
    #expect(Picture(320, 240, 2).psnr(against: try #require(pictures.last)) > 28)
    if silence == .paused { try harness.pipeline.play() }
    let index = try harness.deliverFirst()
    #expect(index >= 8)
    #expect(try harness.statistics.areFramesConserved && harness.headUnit.record.violations == [])
  }

  @Test func switchedOff() throws {
    let harness = try SinkHarness(properties: "sync=false keep-alive-interval=0")
    try harness.start()
    try harness.deliver(3)
    harness.watch(for: .milliseconds(1050))
    #expect(harness.headUnit.record.video.count == 3)
    try harness.deliver(2)
    // The head unit may have restarted its decoder.
    #expect(harness.headUnit.record.video.map(isKeyFrame) == [true, false, false, true, false])
    #expect(harness.headUnit.record.video[3].startsStream)
    #expect(try harness.statistics["frames-repeated"] == 0)
  }

  @Test func intervalChangesWhilePlaying() throws {
    let harness = try SinkHarness(properties: "sync=false keep-alive-interval=0")
    try harness.start()
    try harness.deliver(2)
    // Past the start of the stream, which has its own time.
    harness.watch(for: .milliseconds(400))
    #expect(harness.headUnit.record.video.count == 2)
    let sink = try harness.pipeline.sink
    sink.set("keep-alive-interval", "20")
    let standstills = Standstills()
    let began = MonotonicClock.now
    try harness.headUnit.waitForFrames(8)
    // By default they would take three seconds.
    #expect(MonotonicClock.now - began < .seconds(2.8) + standstills.total)
    sink.set("keep-alive-interval", "0")
    try harness.settle()
    // One may be in flight.
    var count = 0
    #expect(
      eventually {
        count = harness.headUnit.record.video.count
        return sink.statistics["frames-sent"] + sink.statistics["frames-repeated"] == count
      })
    harness.watch(for: .milliseconds(200))
    #expect(harness.headUnit.record.video.count == count)
    sink.set("keep-alive-interval", "3600000")
    sink.set("keep-alive-interval", "20")
    try harness.headUnit.waitForFrames(count + 3)
  }

  @Test(arguments: [true, false]) func silentUpstreamAfterASuspension(byDriver: Bool) throws {
    let harness = try SinkHarness(properties: "sync=false keep-alive-interval=100")
    try harness.start()
    try harness.deliver(2)
    if byDriver { try harness.show(.background) } else { try harness.setAppState(.background) }
    try harness.wait(forStreamState: byDriver ? "stopped" : "suspended")
    let count = harness.headUnit.record.video.count
    harness.watch(for: .milliseconds(300))
    #expect(harness.headUnit.record.video.count == count)
    if byDriver { try harness.show(.full) } else { try harness.setAppState(.foreground) }
    let video = try harness.headUnit.waitForFrames(count + 3)
    #expect(video[count].startsStream && video.dropFirst(count + 1).allSatisfy { !isKeyFrame($0) })
    let pictures = try decode(Array(video[count...]), width: 320, height: 240)
    #expect(Picture(320, 240, harness.index - 1).psnr(against: try #require(pictures.first)) > 28)
  }

  @Test func encodedInput() throws {
    let units = try encodedUnits(16, keyFrameInterval: 20)
    let harness = try SinkHarness(
      isLive: false, caps: EncodedUnit.caps(), properties: "sync=false keep-alive-interval=60")
    try harness.pipeline.play()
    for unit in units[..<6] { harness.push(unit.bytes, flags: unit.flags) }
    try harness.headUnit.waitForFrames(10)
    for unit in units[6...] { harness.push(unit.bytes, flags: unit.flags) }
    #expect(eventually { (try? harness.statistics.shown) == units.count })
    let repeats = try harness.statistics["frames-repeated"]
    let video = try harness.headUnit.waitForFrames(harness.statistics["frames-sent"] + repeats)
    let originals = try decode(units.map(\.bytes), width: 320, height: 240)
    let pictures = try decode(video, width: 320, height: 240)
    try #require(pictures.count == video.count && originals.count == units.count)
    var shown = 0
    for (unit, picture) in zip(video, pictures) {
      if shown < units.count, shown == 0 || unit == units[shown].bytes { shown += 1 }
      #expect(picture == originals[shown - 1])
    }
    #expect(shown == units.count && repeats >= 4)
    let sizes = video.filter { unit in !units.contains { $0.bytes == unit } }.map(\.count).dropFirst()
    #expect(sizes.allSatisfy { $0 < 40 }, "\(sizes)")
    #expect(try harness.statistics.areFramesConserved && harness.headUnit.record.violations == [])
  }

  @Test func nothingBehindPicturesThatWait() throws {
    let units = try encodedUnits(60, keyFrameInterval: 60).map { $0.enlarged(by: 1_000_000) }
    let harness = try SinkHarness(
      .small(frameRate: nil, maximumBitrate: nil), isLive: false, caps: EncodedUnit.caps(),
      properties: "sync=false keep-alive-interval=20")
    try harness.pipeline.play()
    harness.push(units[0].bytes, flags: units[0].flags)
    try harness.headUnit.waitForFrames(2)
    let app = try harness.headUnit.waitForApp()
    harness.headUnit.server.setReading(false, for: app)
    try harness.settle()
    let sink = try harness.pipeline.sink
    var statistics = sink.statistics
    var looks = 0
    #expect(
      eventually {
        statistics = sink.statistics
        guard statistics["frames-in"] == harness.index else { return false }
        // One at a time: the next one follows when the last one has been sent.
        if statistics["frames-queued"] == 0 {
          looks = 0
          harness.push(units[harness.index].bytes, flags: units[harness.index].flags)
        } else if statistics["queue-frames"] > 0 {
          looks += 1
        }
        // At least 200 ms.
        return looks == 100
      })
    // The one that waits, and perhaps a repeated one before it, for which the kernel had only little room.
    #expect((1...2).contains(statistics["queue-frames"]), "\(statistics)")
    harness.headUnit.server.setReading(true, for: app)
    #expect(eventually { sink.statistics.shown == harness.index })
    // No violations are looked at: a head unit that does not read sees a pause that is its own doing.
    #expect(sink.statistics.areFramesConserved)
  }

  @Test func nothingAfterTheEnd() throws {
    let harness = try SinkHarness(isLive: false, properties: "sync=false keep-alive-interval=20")
    try harness.start()
    try harness.deliver(2)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    try harness.headUnit.wait(for: "end") { $0.stopReasons.isEmpty ? nil : true }
    let count = harness.headUnit.record.video.count
    harness.watch(for: .milliseconds(300))
    #expect(harness.headUnit.record.video.count == count && harness.headUnit.record.violations == [])
  }
}
