import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The times of samples, without a pipeline.
@Suite struct SoundTimelineTests {
  private static let millisecond: UInt64 = 1_000_000

  private static func timeline(_ format: PCMFormat = PCMFormat()) -> SoundTimeline {
    var timeline = SoundTimeline(format, tolerance: 60 * millisecond)
    timeline.begin(at: 1_000 * millisecond)
    return timeline
  }

  @Test func samplesFollowEachOther() {
    var timeline = Self.timeline()
    // Later calls change nothing.
    timeline.begin(at: 5)
    let first = timeline.place(320)
    let second = timeline.place(1)
    #expect(first == SoundTimeline.Place(time: 1_000_000_000, duration: 20_000_000, offset: 0, sampleCount: 320))
    #expect(second == SoundTimeline.Place(time: 1_020_000_000, duration: 62_500, offset: 320, sampleCount: 1))
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

  @Test func jitterLeavesNoGap() {
    var timeline = Self.timeline()
    _ = timeline.place(320)
    for (lateness, isMissing) in [(0, false), (30, false), (60, false), (61, true), (500, true)] {
      let arrival = timeline.end + UInt64(lateness) * Self.millisecond
      #expect((timeline.missing(before: arrival, isStart: false) > 0) == isMissing, "\(lateness) ms")
    }
    // Sound ahead of its time.
    #expect(timeline.missing(before: timeline.end - 15 * Self.millisecond, isStart: true) == 0)
    // The first of an utterance begins when it comes.
    #expect(timeline.missing(before: timeline.end + 30 * Self.millisecond, isStart: true) == 480)
  }

  @Test func theMissingLengthIsExact() {
    var timeline = Self.timeline(PCMFormat(samplingRate: .hertz22000))
    _ = timeline.place(441)
    let arrival = timeline.end + 777 * Self.millisecond
    let missing = timeline.missing(before: arrival, isStart: false)
    let silence = timeline.place(missing)
    #expect(missing == 17_094)
    // To the nearest sample.
    let distance = Int(timeline.end) - Int(arrival)
    #expect(abs(distance) <= 1_000_000_000 / 22_000 / 2 + 1 && silence.sampleCount == missing)
  }

  @Test func skipping() {
    var timeline = Self.timeline()
    _ = timeline.place(320)
    timeline.skip(to: 3_000_000_007)
    let place = timeline.place(16)
    #expect(place == SoundTimeline.Place(time: 3_000_000_007, duration: 1_000_000, offset: 320, sampleCount: 16))
    // Never back.
    timeline.skip(to: 5)
    #expect(timeline.end == 3_001_000_007)
  }
}
