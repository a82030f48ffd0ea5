import GStreamerKit
import SDLHeadUnit
import SDLLink
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Sources with a higher frame rate than the head unit prefers, as received by the head unit.
@Suite struct FrameRateTests {
  /// Indices of the test pictures that were decoded at the head unit, in order, as their first lines tell.
  private func shown(_ harness: SinkHarness, of candidates: Range<Int>) throws -> [Int] {
    let lines = candidates.map { Picture(320, 2, $0).luma.prefix(320) }
    return try decode(harness.headUnit.record.video, width: 320, height: 240).map { decoded in
      let errors = lines.map { line in zip(line, decoded).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) } }
      return candidates.lowerBound + (errors.indices.min { errors[$0] < errors[$1] } ?? -1)
    }
  }

  /// Exactly every nth picture, however fast the source runs.
  @Test(arguments: [(30, 15, 2), (60, 15, 4), (60, 30, 2), (30, 10, 3), (15, 15, 1), (15, 30, 1)])
  func everyNth(_ input: Int, _ limit: Int, _ step: Int) throws {
    let harness = try SinkHarness(
      .small(frameRate: limit, maximumBitrate: nil), isLive: false, caps: Picture.caps(frameRate: input),
      frameRate: input, properties: "sync=false bitrate=4000 keep-alive-interval=0")
    try harness.start()
    let first = harness.index
    harness.pushPictures(8 * step)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let pushed = first..<harness.index
    #expect(try shown(harness, of: pushed) == Array(stride(from: first, to: pushed.upperBound, by: step)))
    let statistics = try harness.statistics
    #expect(statistics["frames-sent"] == 8 && statistics["frames-dropped-frame-rate"] == 8 * (step - 1))
    #expect(statistics["frames-repeated"] == 0 && statistics.areFramesConserved)
    #expect(harness.headUnit.record.violations == [])
    let isQuiet = harness.pipeline.drain().allSatisfy { message in
      if case .qualityOfService = message.kind { false } else { true }
    }
    #expect(isQuiet)
  }

  /// A camera in real time, for longer than the head unit's window.
  @Test func camera() throws {
    let (input, limit) = (60, 15)
    let headUnit = try TestHeadUnit(.small(frameRate: limit))
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true num-buffers=\(input * 6) \
      ! video/x-raw,format=I420,width=320,height=240,framerate=\(input)/1 ! sdlvideosink name=sink keep-alive-interval=0 \
      uri=\(headUnit.uri)
      """)
    try pipeline.play()
    try pipeline.waitForEnd()
    let record = headUnit.record
    let statistics = try pipeline.sink.statistics
    // Some pictures come before the stream is open, and those of a busy machine may come too late; then the sink
    // repeats one.
    let repeated = Int(statistics["frames-repeated"])
    #expect(record.violationsBesidesBursts == [] && record.video.count <= 6 * limit + 1 + repeated, "\(statistics)")
    #expect(record.video.count >= 4 * limit)
    #expect(statistics["frames-dropped-frame-rate"] >= (input / limit - 1) * 4 * limit)
    let starts = record.events.count { if case .videoStarted = $0 { true } else { false } }
    #expect(starts == 1)
  }

  /// Of a burst the first picture is sent at once, and the last is seen, soon after the head unit can show it, with
  /// or without repeats and also when the pipeline is paused.
  @Test(arguments: [(5000, false), (0, false), (0, true)])
  func lastOfABurstIsShown(keepAlive: Int, isPaused: Bool) throws {
    let harness = try SinkHarness(
      .small(frameRate: 15), isLive: !isPaused, caps: Picture.caps(frameRate: 60), frameRate: 60,
      properties: "sync=false bitrate=4000 keep-alive-interval=\(keepAlive)")
    try harness.start()
    let first = harness.index
    let standstills = Standstills()
    harness.pushPictures(7)
    let began = MonotonicClock.now
    if isPaused {
      #expect(eventually { (try? harness.statistics["frames-in"]) == 8 })
      harness.pipeline.setState(GST_STATE_PAUSED)
    }
    try harness.headUnit.waitForFrames(3)
    let time = MonotonicClock.now - began
    #expect(eventually { (try? shown(harness, of: first..<first + 7))?.last == first + 6 })
    // A machine that stood still has torn the burst apart.
    let statistics = try harness.statistics
    // Or its link took the first picture so late that another waited for it.
    guard standstills.count(longerThan: .milliseconds(60)) == 0, statistics["frames-dropped-latency"] == 0 else {
      return
    }
    // Two intervals of the head unit at most, and half a second for a file; the rest is for a busy machine.
    #expect(time < .milliseconds(3000), "\(statistics)")
    #expect(try shown(harness, of: first..<first + 7).prefix(3) == [first, first + 4, first + 6], "\(statistics)")
    #expect(statistics["frames-sent"] == 2 && statistics["frames-dropped-frame-rate"] == 5, "\(statistics)")
    #expect(eventually { (try? harness.statistics["frames-repeated"]) ?? 0 >= 1 })
    guard keepAlive == 0 else { return }
    // It is repeated once.
    harness.watch(for: .milliseconds(300))
    #expect(harness.headUnit.record.video.count == 3)
    #expect(try harness.statistics.areFramesConserved && harness.headUnit.record.violations == [])
  }

  /// A burst that ends with a picture that was sent needs nothing more.
  @Test func burstThatEndsInTime() throws {
    let harness = try SinkHarness(
      .small(frameRate: 15), caps: Picture.caps(frameRate: 60), frameRate: 60,
      properties: "sync=false keep-alive-interval=0")
    try harness.start()
    let candidates = harness.index..<harness.index + 5
    harness.pushPictures(5)
    #expect(eventually { (try? shown(harness, of: candidates))?.last == candidates.last })
    harness.watch(for: .milliseconds(300))
    // A busy machine tears the burst apart, and another picture is shown as well; but none twice.
    let all = try shown(harness, of: candidates)
    #expect(Set(all).count == all.count, "\(all)")
  }

  /// Repeats do not exceed a preferred frame rate of less than two pictures per second.
  @Test func repeatsKeepToTheFrameRate() throws {
    let harness = try SinkHarness(.small(frameRate: 1), properties: "sync=false keep-alive-interval=100")
    try harness.start()
    let began = MonotonicClock.now
    try harness.deliver(1)
    try harness.headUnit.waitForFrames(3)
    #expect(MonotonicClock.now - began > .seconds(2))
  }

  /// H.264 passes unchanged; one warning names both rates, known from the caps or measured.
  @Test(arguments: [true, false]) func fastEncodedInput(isInCaps: Bool) throws {
    let units = try encodedUnits(40, frameRate: 30)
    let harness = try SinkHarness(
      .small(frameRate: 10), isLive: false,
      caps: EncodedUnit.caps() + (isInCaps ? ",framerate=30/1" : ""), properties: "sync=false keep-alive-interval=0"
    )
    try harness.pipeline.play()
    for unit in units { harness.push(unit.bytes, flags: unit.flags) }
    harness.source.end()
    try harness.pipeline.waitForEnd()
    #expect(harness.headUnit.record.video == units.map(\.bytes))
    let warnings = harness.pipeline.drain().compactMap(\.warning).map(\.text)
    #expect(
      warnings.count == 1 && warnings.first?.contains("30 frames per second, but the limit is 10") == true,
      "\(warnings)")
  }

  /// Caps keep the rate of the film.
  @Test func fastPlaybackOfEncodedInput() throws {
    let headUnit = try TestHeadUnit(.small(frameRate: 30))
    let pipeline = try Pipeline(
      """
      videotestsrc num-buffers=60 ! video/x-raw,width=320,height=240,framerate=30/1 ! x264enc tune=zerolatency \
      ! sdlvideosink name=sink sync=false uri=\(headUnit.uri)
      """)
    try pipeline.reach(GST_STATE_PAUSED)
    #expect(
      gst_element_seek(
        pipeline.element.pointer, 2, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, 0)
        != 0)
    try pipeline.play()
    try pipeline.waitForEnd()
    let warnings = pipeline.drain().compactMap(\.warning).map(\.text)
    #expect(
      warnings.count == 1 && warnings.first?.contains("60 frames per second, but the limit is 30") == true,
      "\(warnings)")
  }

  @Test func slowEncodedInputHasNoWarning() throws {
    let units = try encodedUnits(40, frameRate: 30)
    for frameRate in [30, nil, 0] {
      let harness = try SinkHarness(
        .small(frameRate: frameRate), isLive: false, caps: EncodedUnit.caps(), properties: "sync=false")
      try harness.pipeline.play()
      for unit in units { harness.push(unit.bytes, flags: unit.flags) }
      harness.source.end()
      try harness.pipeline.waitForEnd()
      #expect(harness.pipeline.drain().allSatisfy { $0.warning == nil })
    }
  }
}
