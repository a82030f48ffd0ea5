import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// What the streaming thread does at which time, without a pipeline and with a clock that the test advances.
@Suite struct JitterTests {
  /// A schedule, with everything that it makes the streaming thread push.
  private struct Stream {
    var schedule: ReceivedAudioSchedule
    var now = Duration.seconds(100)
    /// The pipeline's base time.
    var base = Duration.seconds(90)
    private(set) var sound: [UInt8] = []
    private(set) var places: [ReceivedAudioTimeline.Place] = []
    private(set) var silentSamples = 0
    private(set) var gaps: [Range<UInt64>] = []
    private(set) var soundTimes: [UInt64] = []
    private(set) var discontinuities = 0

    init(_ filling: SilenceFilling, tolerance: UInt64 = 60_000_000, playoutDelay: UInt64 = 0) {
      schedule = ReceivedAudioSchedule(
        ReceivedAudio(ReceivedAudio.Counters()),
        ReceivedAudioTimeline(PCMFormat(), tolerance: tolerance, playoutDelay: playoutDelay), filling: filling)
      schedule.audio.isPlaying = true
      schedule.audio.begin(by: 1)
      run()
    }

    var runningTime: UInt64 { UInt64((now - base).nanoseconds) }

    /// Does what is due.
    mutating func run() {
      while true {
        switch schedule.step(now: now, runningTime: runningTime) {
        case .sound(let bytes, let place, let isDiscontinuous):
          sound += bytes
          soundTimes.append(place.time)
          note(place, isDiscontinuous)
        case .silence(let place, let isDiscontinuous):
          silentSamples += place.sampleCount
          note(place, isDiscontinuous)
        case .gap(let start, let end): gaps.append(start..<end)
        case .wait, .end, .flushing, .pause: return
        }
      }
    }

    private mutating func note(_ place: ReceivedAudioTimeline.Place, _ isDiscontinuous: Bool) {
      places.append(place)
      if isDiscontinuous { discontinuities += 1 }
    }

    /// The app sends something at a time, and the streaming thread takes it.
    mutating func send(_ bytes: [UInt8], at time: Duration) {
      advance(to: time)
      _ = schedule.audio.append(bytes, from: 1, now: now)
      run()
    }

    /// The time passes in steps as coarse as those of a busy machine.
    mutating func advance(to time: Duration) {
      while now + .milliseconds(15) < time {
        now += .milliseconds(15)
        run()
      }
      now = max(now, time)
    }

    var areContiguous: Bool { zip(places, places.dropFirst()).allSatisfy { $0.time + $0.duration == $1.time } }
  }

  /// Late by anything up to the tolerance, in pieces of 20 ms.
  @Test(arguments: [SilenceFilling.samples, .gapEvents])
  func jitter(filling: SilenceFilling) {
    let seed = testSeed()
    var generator = SeededGenerator(seed: seed)
    var stream = Stream(filling)
    let start = stream.now + .seconds(1)
    let pieces = soundPieces(3000)
    var arrival = start
    for (index, piece) in pieces.enumerated() {
      let lateness = index == 0 ? 0 : Int.random(in: 0...59_000, using: &generator)
      arrival = max(arrival, start + .milliseconds(20 * index) + .microseconds(lateness))
      stream.send(piece, at: arrival)
    }
    #expect(stream.sound == pieces.flatMap(\.self), "seed \(seed)")
    #expect(zip(stream.soundTimes, stream.soundTimes.dropFirst()).allSatisfy { $1 == $0 + 20_000_000 }, "seed \(seed)")
    #expect(stream.soundTimes.first == UInt64((start - stream.base).nanoseconds))
    #expect(stream.schedule.audio.counters.gaps == 0)
    #expect(stream.discontinuities == 1 && stream.places[0].sampleCount > 0)
  }

  /// An app that is 500 ms late once: its sound goes on when it comes, with as many silent samples as were missing.
  @Test(arguments: [SilenceFilling.samples, .gapEvents])
  func lateness(filling: SilenceFilling) {
    var stream = Stream(filling)
    let start = stream.now + .seconds(1)
    let pieces = soundPieces(100)
    for (index, piece) in pieces.enumerated() {
      stream.send(piece, at: start + .milliseconds(20 * index + (index >= 50 ? 500 : 0)))
    }
    #expect(stream.sound == pieces.flatMap(\.self))
    let steps = zip(stream.soundTimes, stream.soundTimes.dropFirst()).map { $1 - $0 }
    #expect(steps.enumerated().allSatisfy { $1 == ($0 == 49 ? 520_000_000 : 20_000_000) })
    switch filling {
    case .samples:
      // The second before the first sound, and what was missing.
      #expect(stream.silentSamples == 16_000 + 8000)
      #expect(stream.areContiguous && stream.discontinuities == 1 && stream.gaps.isEmpty)
      #expect(stream.schedule.audio.counters.silence == 24_000)
    case .gapEvents:
      #expect(stream.silentSamples == 0 && stream.discontinuities == 2)
      #expect(stream.gaps.map { $0.upperBound - $0.lowerBound }.reduce(0, +) == 1_500_000_000)
    }
    #expect(stream.schedule.audio.counters.gaps == 1)
  }

  /// An app whose clock is 100 ppm slower for an hour: a few gaps, each as long as the tolerance.
  @Test func slowClock() {
    var stream = Stream(.samples)
    let start = stream.now
    let piece = soundPieces(1)[0]
    let count = 3600 * 50
    for index in 0..<count { stream.send(piece, at: start + .microseconds(20_002 * index)) }
    #expect(stream.areContiguous && stream.sound.count == count * 640)
    // 360 ms in all.
    #expect((4...7).contains(stream.schedule.audio.counters.gaps), "\(stream.schedule.audio.counters.gaps)")
    #expect((4 * 960...7 * 1100).contains(stream.silentSamples), "\(stream.silentSamples)")
  }

  /// The streaming thread stands still between its look at the clocks and the sound: that begins when it came.
  @Test(arguments: SilenceFilling.allCases) func soundAfterTheLookAtTheClocks(filling: SilenceFilling) {
    var stream = Stream(filling)
    _ = stream.schedule.audio.append([1, 2], from: 1, now: stream.now + .seconds(1))
    stream.run()
    #expect(stream.soundTimes == [stream.runningTime + 1_000_000_000])
  }

  /// A standstill of the machine: all silence that is due comes at once.
  @Test func standstill() {
    var stream = Stream(.samples)
    stream.now += .seconds(10)
    stream.run()
    #expect(stream.silentSamples == 16_000 * 10 - 960)
    #expect(stream.places.count <= 12 && stream.areContiguous)
  }

  /// Ahead of its time by the lead of the app, from the beginning: nothing is shifted.
  @Test func lead() {
    var stream = Stream(.samples)
    let start = stream.now + .seconds(1)
    let pieces = soundPieces(200)
    for (index, piece) in pieces.enumerated() {
      stream.send(piece, at: start + .milliseconds(max(20 * index - 200, 0)))
    }
    #expect(stream.sound == pieces.flatMap(\.self) && stream.areContiguous)
    #expect(stream.soundTimes.last == UInt64((start - stream.base).nanoseconds) + 199 * 20_000_000)
  }

  /// Running time goes on in a pause, and is what it was before when the pipeline plays on: sound ahead of its time is
  /// still followed by what comes then.
  @Test(arguments: SilenceFilling.allCases) func pause(filling: SilenceFilling) {
    var stream = Stream(filling)
    let start = stream.now + .seconds(1)
    let pieces = soundPieces(11)
    for piece in pieces[..<10] { stream.send(piece, at: start) }
    let (places, gaps) = (stream.places, stream.gaps)
    stream.schedule.audio.isPlaying = false
    stream.advance(to: start + .seconds(10))
    #expect(stream.places == places && stream.gaps == gaps)
    stream.base += .seconds(10)
    stream.schedule.audio.isPlaying = true
    stream.send(pieces[10], at: stream.now)
    #expect(stream.sound == pieces.flatMap(\.self) && stream.discontinuities == 1)
    #expect(zip(stream.soundTimes, stream.soundTimes.dropFirst()).allSatisfy { $1 == $0 + 20_000_000 })
  }

  /// As after a flushing seek in another branch of the pipeline: sound goes on at the new time.
  @Test(arguments: SilenceFilling.allCases) func runningTimeThatBeginsAnew(filling: SilenceFilling) {
    var stream = Stream(filling)
    let pieces = soundPieces(20)
    for (index, piece) in pieces.enumerated() {
      if index == 10 { stream.base = stream.now }
      stream.send(piece, at: .seconds(160) + .milliseconds(20 * index))
    }
    #expect(stream.sound == pieces.flatMap(\.self) && stream.discontinuities == 2)
    let times = stream.soundTimes[10...]
    #expect(times[10] <= 20_000_000 && zip(times, times.dropFirst()).allSatisfy { $1 == $0 + 20_000_000 }, "\(times)")
    #expect(stream.schedule.audio.counters.gaps == 0)
    // Silence, too.
    let gaps = stream.gaps.count
    let silence = stream.silentSamples
    stream.advance(to: stream.now + .seconds(1))
    #expect(filling == .samples ? stream.silentSamples > silence : stream.gaps.count > gaps)
  }

  /// A car that keeps sound for 100 ms plays it so much later, and has no gap while sound is no later than that.
  @Test func playoutDelay() {
    var stream = Stream(.samples, tolerance: 0, playoutDelay: 100_000_000)
    let start = stream.now + .seconds(1)
    let pieces = soundPieces(100)
    for (index, piece) in pieces.enumerated() {
      let lateness = index == 40 ? 99 : index == 70 ? 150 : 0
      stream.send(piece, at: start + .milliseconds(20 * index + lateness))
    }
    #expect(stream.sound == pieces.flatMap(\.self) && stream.areContiguous)
    #expect(stream.soundTimes.first == UInt64((start - stream.base).nanoseconds) + 100_000_000)
    let steps = zip(stream.soundTimes, stream.soundTimes.dropFirst()).map { $1 - $0 }
    // It keeps what comes after the gap as long as what came first.
    #expect(steps.enumerated().allSatisfy { $1 == ($0 == 69 ? 170_000_000 : 20_000_000) })
    #expect(stream.schedule.audio.counters.gaps == 1)
  }

  /// A car that plays what comes, when it comes: each piece that is later than all before it leaves a gap.
  @Test func nothingIsKept() {
    var stream = Stream(.samples, tolerance: 0)
    let start = stream.now + .seconds(1)
    let lateness = [0, 3, 1, 5, 5, 0, 8, 2]
    for (index, piece) in soundPieces(8).enumerated() {
      stream.send(piece, at: start + .milliseconds(20 * index + lateness[index]))
    }
    let first = UInt64((start - stream.base).nanoseconds)
    let delays = stream.soundTimes.enumerated().map { Int($1 - first) / 1_000_000 - 20 * $0 }
    #expect(delays == [0, 3, 3, 5, 5, 5, 8, 8] && stream.schedule.audio.counters.gaps == 3 && stream.areContiguous)
  }
}
