import GStreamerKit
import SDLApp
import SDLHeadUnit
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Live H.264 that comes before its service is there.
@Suite struct HeldFramesTests {
  /// Plays until the app is registered; the driver has not opened it.
  private func harness(_ configuration: HeadUnitConfiguration = .small(activation: nil)) throws -> SinkHarness {
    let harness = try SinkHarness(
      configuration, caps: EncodedUnit.caps(), properties: "sync=false keep-alive-interval=0 background-notice=false")
    try harness.pipeline.play()
    try harness.pipeline.waitForElementMessage("sdl-connected")
    return harness
  }

  private func push(_ units: ArraySlice<EncodedUnit>, _ harness: SinkHarness) {
    for unit in units { harness.push(unit.bytes, flags: unit.flags) }
    #expect(eventually { (try? harness.statistics["frames-in"]) == harness.index })
  }

  /// A frame counts as queued until the element is done with it.
  private func expectCounters(_ counters: [String: Int], _ harness: SinkHarness) {
    #expect(
      eventually {
        guard let statistics = try? harness.statistics else { return false }
        return counters.allSatisfy { statistics[$0] == $1 }
      }, "\((try? harness.statistics.fields) ?? [:])")
  }

  @Test(arguments: [false, true]) func theGroupIsShownWithTheService(isRTP: Bool) throws {
    let units = try encodedUnits(12, keyFrameInterval: 100)
    let configuration = isRTP ? HeadUnitConfiguration.rtp() : .small()
    let harness = try harness(configuration.with { $0.activation = nil })
    push(units[..<8], harness)
    #expect(try harness.statistics["frames-queued"] == 8 && harness.statistics.dropped == 0)
    try harness.show(.full)
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    let standstills = Standstills()
    let granted = MonotonicClock.now
    // Upstream is silent.
    let record = try harness.headUnit.wait(for: "group") { $0.video.count >= 8 ? $0 : nil }
    let first = try #require(record.arrivals.first)
    #expect(first - granted < .seconds(2.5) + standstills.total)
    push(units[8...], harness)
    try harness.headUnit.waitForFrames(12)
    #expect(try decode(harness.headUnit.record.video, width: 320, height: 240).count == 12)
    #expect(isRTP || harness.headUnit.record.video == units.map(\.bytes))
    #expect(eventually { (try? harness.statistics["frames-sent"]) == 12 })
    #expect(try harness.statistics.areFramesConserved)
    #expect(harness.headUnit.record.violations == [])
  }

  @Test func onlyTheLastGroupIsKept() throws {
    let units = try encodedUnits(25, keyFrameInterval: 10)
    let harness = try harness()
    push(units[..<25], harness)
    expectCounters(["frames-queued": 5, "frames-dropped-not-streaming": 20], harness)
    try harness.show(.full)
    #expect(try harness.headUnit.waitForFrames(5) == units[20...].map(\.bytes))
    #expect(try harness.statistics.areFramesConserved)
  }

  /// More than is kept, which no head unit should get at once.
  @Test func aLongGroupIsGivenUp() throws {
    let units = try encodedUnits(6, keyFrameInterval: 100)
    let harness = try harness()
    let large = units.map { $0.enlarged(by: 600_000) }
    push(large[..<5], harness)
    expectCounters(["frames-queued": 0, "frames-dropped-not-streaming": 5], harness)
    try harness.show(.full)
    try harness.wait(forStreamState: "suspended")
    push(units[5...], harness)
    expectCounters(["frames-dropped-waiting-for-key-frame": 1], harness)
    #expect(try harness.statistics.areFramesConserved)
    #expect(harness.headUnit.record.video.isEmpty)
  }

  /// More than the connection's queue takes at once goes bit by bit.
  @Test func theGroupIsLargerThanTheQueue() throws {
    let units = try encodedUnits(40, keyFrameInterval: 100).map { $0.enlarged(by: 40_000) }
    let harness = try harness()
    push(units[..<40], harness)
    try harness.show(.full)
    #expect(try harness.headUnit.waitForFrames(40) == units.map(\.bytes))
    #expect(eventually { (try? harness.statistics["frames-sent"]) == 40 })
  }

  enum Ending: CaseIterable {
    case endOfStream, flush, anotherSize, rawPictures, stop
  }

  @Test(arguments: Ending.allCases) func whatIsNeverSentIsCounted(ending: Ending) throws {
    let units = try encodedUnits(4, keyFrameInterval: 100)
    let harness = try harness()
    push(units[..<4], harness)
    #expect(try harness.statistics["frames-queued"] == 4)
    switch ending {
    case .endOfStream:
      harness.source.end()
      try harness.pipeline.waitForEnd()
    case .flush:
      harness.source.send(gst_event_new_flush_start())
      harness.source.send(gst_event_new_flush_stop(1))
    case .anotherSize:
      harness.source.setCaps(EncodedUnit.caps(160, 240))
      harness.push([], flags: GST_BUFFER_FLAG_GAP)
    case .rawPictures:
      harness.source.setCaps(Picture.caps())
      harness.push([], flags: GST_BUFFER_FLAG_GAP)
    case .stop: harness.pipeline.stop()
    }
    #expect(eventually { (try? harness.statistics["frames-queued"]) == 0 })
    #expect(try harness.statistics.areFramesConserved)
    #expect(harness.headUnit.record.video.isEmpty)
  }

  /// A pause or a stop interrupts the sink, and then wants the lock that the base class holds for the end.
  @Test func theEndGivesWayToAnInterruption() throws {
    let units = try encodedUnits(4, keyFrameInterval: 100)
    let harness = try harness()
    push(units[..<4], harness)
    #expect(try harness.statistics["frames-queued"] == 4)
    let sink: UnsafeMutablePointer<GstBaseSink> = try harness.pipeline.sink.pointer.cast()
    let type = UnsafeRawPointer(sink).load(as: UnsafePointer<GstBaseSinkClass>.self)
    #expect(type.pointee.unlock(sink) != 0)
    harness.source.end()
    harness.watch(for: .milliseconds(100))
    harness.pipeline.stop()
    #expect(try harness.statistics["frames-queued"] == 0 && harness.statistics.areFramesConserved)
  }

  /// The end comes right after the service has begun.
  @Test func theGroupGoesBeforeTheEnd() throws {
    let units = try encodedUnits(30, keyFrameInterval: 100).map { $0.enlarged(by: 40_000) }
    let harness = try harness()
    push(units[..<30], harness)
    try harness.show(.full)
    try harness.pipeline.waitForElementMessage("sdl-stream-started")
    harness.source.end()
    try harness.pipeline.waitForEnd()
    #expect(try harness.headUnit.waitForFrames(30).count == 30)
    #expect(harness.headUnit.record.violations == [])
  }

  @Test func encoderWithALookAhead() throws {
    let headUnit = try TestHeadUnit(.small(frameRate: nil))
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true num-buffers=90 ! video/x-raw,width=320,height=240,framerate=30/1 \
      ! x264enc speed-preset=ultrafast ! sdlvideosink name=sink uri=\(headUnit.uri)
      """)
    try pipeline.play()
    try pipeline.waitForElementMessage("sdl-stream-started")
    let standstills = Standstills()
    let granted = MonotonicClock.now
    try pipeline.waitForEnd()
    let statistics = try pipeline.sink.statistics
    #expect(statistics["frames-sent"] == 90 && statistics.dropped == 0, "\(statistics.fields)")
    let first = try #require(headUnit.record.arrivals.first)
    #expect(first - granted < .seconds(2.5) + standstills.total)
  }
}
