import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The times of samples, without a pipeline.
@Suite struct ReceivedAudioTimelineTests {
  private static let millisecond: UInt64 = 1_000_000

  private static func timeline(_ format: PCMFormat = PCMFormat()) -> ReceivedAudioTimeline {
    var timeline = ReceivedAudioTimeline(format, tolerance: 60 * millisecond)
    timeline.begin(at: 1_000 * millisecond)
    return timeline
  }

  @Test func samplesFollowEachOther() {
    var timeline = Self.timeline()
    // Later calls change nothing.
    timeline.begin(at: 5)
    let first = timeline.place(320)
    let second = timeline.place(1)
    #expect(
      first == ReceivedAudioTimeline.Place(time: 1_000_000_000, duration: 20_000_000, offset: 0, sampleCount: 320))
    #expect(second == ReceivedAudioTimeline.Place(time: 1_020_000_000, duration: 62_500, offset: 320, sampleCount: 1))
    #expect(timeline.end == 1_020_062_500)
  }

  /// What a rate does not divide evenly does not add up.
  @Test(arguments: PCMFormat.SamplingRate.allCases)
  func eightHours(rate: PCMFormat.SamplingRate) {
    let format = PCMFormat(samplingRate: rate)
    var timeline = Self.timeline(format)
    let seconds = 8 * 3600
    var left = seconds * rate.hertz
    var end = timeline.end
    while left > 0 {
      let place = timeline.place(min(left, 7919))
      #expect(place.time == end)
      end = place.time + place.duration
      left -= place.sampleCount
    }
    #expect(end == 1_000_000_000 + UInt64(seconds) * 1_000_000_000)
  }

  /// Tolerance and playout delay in milliseconds.
  @Test(arguments: [(60, 0), (0, 0), (0, 200), (60, 200)])
  func latenessAndGaps(tolerance: UInt64, playoutDelay: UInt64) {
    var timeline = ReceivedAudioTimeline(
      PCMFormat(), tolerance: tolerance * Self.millisecond, playoutDelay: playoutDelay * Self.millisecond)
    timeline.begin(at: 1_000 * Self.millisecond)
    // The first of an utterance is played when it has come, or so much later as the car keeps it.
    var expected: UInt64? = (1_030 + playoutDelay) * Self.millisecond
    #expect(timeline.beginning(of: 1_030 * Self.millisecond, isStart: true) == expected)
    expected = playoutDelay > 0 ? (1_000 + playoutDelay) * Self.millisecond : nil
    #expect(timeline.beginning(of: 1_000 * Self.millisecond, isStart: true) == expected)
    // Sound ahead of its time.
    #expect(timeline.beginning(of: 985 * Self.millisecond - playoutDelay * Self.millisecond, isStart: true) == nil)
    // What follows, with everything up to `end` in the car.
    let end = timeline.end
    for (lateness, isGap) in [(0, false), (tolerance, false), (tolerance + 1, true), (500, true)] {
      let arrival = end + lateness * Self.millisecond
      expected = isGap ? arrival + playoutDelay * Self.millisecond : nil
      #expect(timeline.beginning(of: arrival, isStart: false) == expected, "\(lateness) ms")
    }
  }

  @Test func theMissingLengthIsExact() {
    var timeline = Self.timeline(PCMFormat(samplingRate: .hertz22000))
    _ = timeline.place(441)
    let beginning = timeline.end + 777 * Self.millisecond
    let missing = timeline.missing(before: beginning)
    let silence = timeline.place(missing)
    #expect(missing == 17_094)
    // To the nearest sample.
    let distance = Int(timeline.end) - Int(beginning)
    #expect(abs(distance) <= 1_000_000_000 / 22_000 / 2 + 1 && silence.sampleCount == missing)
    #expect(timeline.missing(before: 0) == 0)
  }

  @Test func skipping() {
    var timeline = Self.timeline()
    _ = timeline.place(320)
    timeline.skip(to: 3_000_000_007)
    let place = timeline.place(16)
    #expect(
      place == ReceivedAudioTimeline.Place(time: 3_000_000_007, duration: 1_000_000, offset: 320, sampleCount: 16))
    // Never back.
    timeline.skip(to: 5)
    #expect(timeline.end == 3_001_000_007)
  }
}
