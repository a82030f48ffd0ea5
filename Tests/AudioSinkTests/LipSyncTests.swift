import GStreamerKit
import SDLLink
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// When sound is heard in a car that plays what comes, when it comes, beside a picture that is shown when it comes.
@Suite struct LipSyncTests {
  /// A sample of ``testSound(_:seed:)``, and when it is heard.
  private struct Heard {
    /// Its running time.
    var time: Duration
    var at: Duration
  }

  private static let format = PCMFormat()
  /// As many samples of the sound differ.
  private static let period = 20_000

  /// The last sample of each message that has come since `start`, if it is none of silence.
  private static func heard(_ record: TestHeadUnit.Record, since start: Duration) -> [Heard] {
    var end = Duration.zero
    var former = 0
    var heard: [Heard] = []
    for arrival in record.audioArrivals {
      end = max(end, arrival.time) + format.duration(ofSampleCount: (arrival.byteCount - former) / 2)
      former = arrival.byteCount
      let value = Int(record.audio[former - 2]) | Int(record.audio[former - 1]) << 8
      guard arrival.time >= start, let index = (0..<period).first(where: { $0 * 37 % period + 1 == value }) else {
        continue
      }
      heard.append(Heard(time: format.duration(ofSampleCount: index + 1), at: end))
    }
    return heard
  }

  /// Plays, and returns how much later than the picture of its moment each sample was heard.
  private static func offsets(
    _ harness: SoundHarness, pause: Duration = .zero
  ) throws -> (before: [Duration], after: [Duration]) {
    let pipeline = harness.pipeline
    func offsets(since start: Duration) -> [Duration] {
      let base = Duration.nanoseconds(Int64(gst_element_get_base_time(pipeline.element.pointer)))
      let latency = Duration.nanoseconds(
        Int64(gst_base_sink_get_latency(UnsafeMutablePointer(OpaquePointer((try? pipeline.sink)?.pointer)))))
      return heard(harness.headUnit.record, since: start).map { $0.at - base - latency - $0.time }
    }
    harness.push(testSound(period - 320))
    try pipeline.reach(GST_STATE_PLAYING)
    try harness.headUnit.waitForSound(16_000)
    var before: [Duration] = []
    var start = Duration.zero
    if pause > .zero {
      try pipeline.reach(GST_STATE_PAUSED)
      before = offsets(since: .zero)
      let end = MonotonicClock.now + pause
      #expect(eventually { MonotonicClock.now > end })
      start = MonotonicClock.now
      try pipeline.reach(GST_STATE_PLAYING)
    }
    _ = try harness.finish()
    return (before, offsets(since: start))
  }

  /// Whether nine of ten samples were heard when they should be. On a busy machine the head unit's thread takes the
  /// bytes late, and never early, by as much as this allows; `SamplePlayoutTests` shows how exact the sink is.
  private static func areHeard(
    _ offsets: [Duration], at expected: Duration = .zero, _ standstills: Standstills
  ) -> Bool {
    let early = Duration.milliseconds(100) + standstills.total
    let late = Duration.milliseconds(180) + standstills.total
    let exact = offsets.count { $0 - expected > .zero - early && $0 - expected < late }
    return offsets.count > 10 && exact * 10 >= offsets.count * 9
  }

  /// Properties, and how much later than its picture sound comes, in milliseconds.
  @Test(arguments: [
    ("", 0), ("lead-time=0", 0), ("lead-time=800", 0), ("render-delay=250000000", -250),
    ("render-delay=500000000 lead-time=50", -500), ("ts-offset=300000000", 300),
  ])
  func besideThePicture(properties: String, expected: Int) throws {
    let standstills = Standstills()
    let harness = try SoundHarness(properties: properties)
    let offsets = try Self.offsets(harness).after
    // Of 61 messages; a busy machine leaves out what it brings late.
    #expect(offsets.count > 30 && Self.areHeard(offsets, at: .milliseconds(expected), standstills), "\(offsets)")
    #expect(harness.headUnit.record.violations == [])
  }

  /// The car goes on playing what it has when the picture stops; after the pause both are together again.
  @Test(arguments: [Duration.milliseconds(150), .milliseconds(700)])
  func afterAPause(pause: Duration) throws {
    let standstills = Standstills()
    let harness = try SoundHarness(properties: "")
    let offsets = try Self.offsets(harness, pause: pause)
    for part in [offsets.before, offsets.after] { #expect(Self.areHeard(part, standstills), "\(part)") }
  }

  /// What is too short to be sent by itself leaves with what comes before it, and not when the stream is over.
  @Test func aShortBufferAtTheEnd() throws {
    let harness = try SoundHarness(properties: "")
    harness.push(testSound(1600))
    harness.source.push(testSound(80, seed: 1), at: .milliseconds(100), duration: .seconds(2))
    harness.source.end()
    try harness.pipeline.playFromStart()
    // Not for a number of bytes: a busy machine leaves out what it brings late.
    try harness.pipeline.waitForEnd()
    let end = MonotonicClock.now
    let arrivals = harness.headUnit.record.audioArrivals.suffix(2).map(\.time)
    #expect(arrivals.count == 2 && arrivals[1] - arrivals[0] < .seconds(1), "\(arrivals)")
    #expect(arrivals.count == 2 && end - arrivals[1] > .seconds(1), "the end was not waited for: \(arrivals), \(end)")
  }

  /// A live source's first sound is dropped until there is a service: then silence takes the place of the lead.
  @Test func aLiveSource() throws {
    let standstills = Standstills()
    let harness = try SoundHarness(isLive: true, properties: "")
    let pipeline = harness.pipeline
    try pipeline.play()
    let clock = try nonNull(gst_element_get_clock(pipeline.element.pointer))
    defer { gst_object_unref(clock) }
    let piece = 320
    let sound = testSound(Self.period + piece)
    var count = 0
    // 20 ms at a time, as a microphone brings it. On a slow machine the service starts late, and late sound is dropped.
    while harness.headUnit.record.audioArrivals.count < 60, count < 500 {
      let time = Duration.milliseconds(20 * count)
      #expect(
        eventually {
          let base = gst_element_get_base_time(pipeline.element.pointer)
          let captured = (time + .milliseconds(20)).nanoseconds
          return base > 0 && Int(gst_clock_get_time(clock)) - Int(base) > captured
        })
      let start = count * piece % Self.period * 2
      harness.source.push(Array(sound[start..<(start + 2 * piece)]), at: time)
      count += 1
    }
    let base = Duration.nanoseconds(Int64(gst_element_get_base_time(pipeline.element.pointer)))
    let latency = Duration.nanoseconds(
      Int64(gst_base_sink_get_latency(UnsafeMutablePointer(OpaquePointer(try pipeline.sink.pointer)))))
    _ = try harness.finish()
    let period = Self.format.duration(ofSampleCount: Self.period)
    let offsets = Self.heard(harness.headUnit.record, since: .zero).map { heard in
      // The sound repeats itself: the nearest repetition is meant.
      let offset = heard.at - base - latency - heard.time
      return offset - period * Int((offset / period).rounded())
    }
    #expect(Self.areHeard(offsets, standstills), "\(offsets)")
  }
}
