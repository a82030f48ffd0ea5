import SDLMessages
import TestSupport
import Testing

@testable import SDLApp

/// Where buffers stand in a stream without gaps.
@Suite struct SampleTimelineTests {
  private typealias Placement = SampleTimeline.Placement

  /// After 100 ms of sound: time stamp in milliseconds, and what becomes of the buffer.
  private static let table: [(Int?, Placement)] = [
    (nil, Placement()), (100, Placement()), (139, Placement()), (61, Placement()),
    (140, Placement(silence: 640)), (350, Placement(silence: 4000)), (10_100, Placement(silence: 160_000)),
    (10_101, Placement(isJump: true)), (60, Placement(overlap: 640)), (0, Placement(overlap: 1600)),
  ]

  @Test func placesBuffers() {
    for (time, expected) in Self.table {
      var timeline = SampleTimeline(format: PCMFormat())
      #expect(timeline.place(at: .zero, now: .zero).isJump)
      timeline.advance(by: 1600)
      let placement = timeline.place(at: time.map { .milliseconds($0) }, now: .zero)
      #expect(placement == expected, "\(time.map { "\($0)" } ?? "none")")
    }
  }

  @Test func beginsNowWithoutTimeStamps() {
    var timeline = SampleTimeline(format: PCMFormat())
    _ = timeline.place(at: nil, now: .seconds(3))
    timeline.advance(by: 16_000)
    #expect(timeline.end == .seconds(4))
    timeline.reset()
    #expect(timeline.end == nil)
  }

  /// Time stamps that go back by more than a second begin anew.
  @Test func goesBack() {
    var timeline = SampleTimeline(format: PCMFormat())
    _ = timeline.place(at: .seconds(100), now: .zero)
    #expect(timeline.place(at: .seconds(98), now: .zero) == Placement(isJump: true))
    #expect(timeline.end == .seconds(98))
  }

  /// Eight hours with time stamps that are rounded to nanoseconds, and jitter: no sample is added or lost.
  @Test(arguments: PCMFormat.SamplingRate.allCases)
  func eightHours(_ rate: PCMFormat.SamplingRate) {
    let seed = testSeed()
    var generator = SeededGenerator(seed: seed)
    let format = PCMFormat(samplingRate: rate)
    let size = rate.hertz / 10
    var timeline = SampleTimeline(format: format)
    var count = 0
    while count < rate.hertz * 3600 * 8 {
      let jitter = Duration.microseconds(Int64.random(in: -10_000...10_000, using: &generator))
      let time = max(format.duration(ofSampleCount: count) + jitter, .zero)
      let placement = timeline.place(at: count == 0 ? .zero : time, now: .zero)
      guard placement == Placement(isJump: count == 0) else {
        Issue.record("\(placement) after \(count) samples, seed \(seed)")
        return
      }
      timeline.advance(by: size)
      count += size
    }
    #expect(timeline.end == format.duration(ofSampleCount: count))
  }

  /// Eight hours of a source whose clock is 0.1 % fast: what leaves follows the pipeline's clock to within the
  /// tolerance.
  @Test func clocksThatDriftApart() {
    let format = PCMFormat()
    var timeline = SampleTimeline(format: format)
    var time = Duration.zero
    while time < .seconds(8 * 3600) {
      let placement = timeline.place(at: time, now: .zero)
      timeline.advance(by: placement.silence + 320 - min(placement.overlap, 320))
      let end = timeline.end ?? .zero
      let drift = end - (time + .milliseconds(20))
      guard drift < .milliseconds(41) && drift > .milliseconds(-41) else {
        Issue.record("\(drift) at \(time)")
        return
      }
      time += .microseconds(19_980)
    }
  }

  @Test func nothingOverflows() {
    var timeline = SampleTimeline(format: PCMFormat())
    timeline.advance(by: .max)
    timeline.advance(by: .max)
    timeline.advance(by: -1)
    #expect(timeline.end == nil)
  }
}
