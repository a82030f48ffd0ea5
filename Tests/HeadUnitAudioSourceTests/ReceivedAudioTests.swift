import SDLMessages
import Testing

@testable import Plugin

/// Sound between the server's thread and the streaming thread.
@Suite struct ReceivedAudioTests {
  private var audio = ReceivedAudio(ReceivedAudio.Counters())

  init() {
    audio.isPlaying = true
  }

  private mutating func append(_ bytes: [UInt8], from app: UInt8 = 1) -> Bool {
    audio.append(bytes, from: app, now: .seconds(3))
  }

  private mutating func take() -> [ReceivedAudio.Message] {
    var messages: [ReceivedAudio.Message] = []
    while let message = audio.take() { messages.append(message) }
    return messages
  }

  private var isBalanced: Bool {
    let counters = audio.counters
    return counters.samplesIn == counters.samplesOut + counters.droppedFull + counters.droppedPaused
      + counters.droppedDiscarded + UInt64(audio.queuedCount)
  }

  /// Of those that still speak it is the one that began last.
  @Test mutating func theOneThatSpeaks() {
    for app: UInt8 in [1, 2, 1, 3] { audio.begin(by: app) }
    #expect(audio.app == 3)
    audio.end(by: 3)
    #expect(audio.app == 1)
    audio.end(by: 1)
    // It is not there twice.
    #expect(audio.app == 2)
    audio.end(by: 2)
    #expect(audio.app == 2)
  }

  /// It is not the beginning of an utterance for the one that is heard, and the half of a sample stays.
  @Test mutating func theEndOfAnotherOne() {
    audio.begin(by: 1)
    audio.begin(by: 2)
    var isPushed = [append([1, 2, 3], from: 2)]
    audio.end(by: 1)
    isPushed += [append([4], from: 2), append([5, 6], from: 1)]
    #expect(isPushed == [true, true, false] && audio.app == 2)
    let messages = take()
    #expect(messages.map(\.bytes) == [[1, 2], [3, 4]] && messages.map(\.isStart) == [true, false])
    #expect(messages.map(\.arrival) == [.seconds(3), .seconds(3)])
  }

  /// Half of a sample is none, and is not joined with the next utterance.
  @Test mutating func halfASample() {
    audio.begin(by: 1)
    var isPushed = [append([1])]
    #expect(audio.counters.samplesIn == 0 && audio.counters.bytesIn == 1 && audio.first == nil)
    isPushed.append(append([2, 3]))
    audio.begin(by: 1)
    isPushed.append(append([4, 5]))
    #expect(isPushed == [false, true, true])
    #expect(take().map(\.bytes) == [[1, 2], [4, 5]] && audio.counters.samplesIn == 2 && audio.counters.bytesIn == 5)
  }

  /// What comes in a pause is dropped, and what comes after it begins anew.
  @Test mutating func pause() {
    audio.begin(by: 1)
    var isPushed = [append([1, 2])]
    audio.isPlaying = false
    isPushed.append(append([3, 4, 5, 6]))
    #expect(audio.counters.droppedPaused == 2 && audio.queuedCount == 1 && isBalanced)
    audio.isPlaying = true
    isPushed += [append([7, 8]), append([9, 10])]
    #expect(isPushed == [true, false, true, true])
    #expect(take().map(\.isStart) == [true, true, false] && isBalanced)
  }

  /// The message behind the ones that were dropped does not follow those before.
  @Test mutating func whatIsTooMuch() {
    audio.begin(by: 1)
    // Whatever its size, the only one is taken.
    var isPushed = [append([UInt8](repeating: 1, count: ReceivedAudio.maximumByteCount + 2))]
    isPushed += [append([1, 2]), append([3, 4])]
    #expect(isPushed == [true, false, false] && audio.counters.droppedFull == 2 && isBalanced)
    _ = take()
    isPushed = [append([5, 6]), append([7, 8])]
    #expect(isPushed == [true, true] && take().map(\.isDiscontinuous) == [true, false] && isBalanced)
    // As much as there may be, with what two messages take.
    let half = [UInt8](repeating: 1, count: ReceivedAudio.maximumByteCount / 2 - 64)
    isPushed = [append(half), append(half + [1, 2]), append([1, 2])]
    #expect(isPushed == [true, true, false] && isBalanced)
    let taken = audio.take()?.bytes.count
    isPushed = [append([1, 2])]
    #expect(taken == half.count && isPushed == [true] && audio.counters.droppedFull == 3)
  }

  @Test mutating func nothingIsLeft() {
    audio.begin(by: 1)
    _ = append([1, 2])
    _ = audio.take()
    _ = append([3, 4, 5, 6, 7])
    audio.discard()
    #expect(audio.app == nil && audio.first == nil && audio.queuedCount == 0)
    #expect(audio.counters.droppedDiscarded == 2 && audio.counters.samplesOut == 1 && isBalanced)
    var isPushed = [append([1, 2])]
    audio.begin(by: 2)
    isPushed.append(append([8, 9], from: 2))
    #expect(isPushed == [false, true])
    let messages = take()
    #expect(messages.map(\.bytes) == [[8, 9]] && messages.map(\.isStart) == [true])
    // Nobody speaks but this one.
    audio.end(by: 2)
    #expect(audio.app == 2)
  }

  /// A minute of short messages, of which as many are taken as come: they are all there, in their order.
  @Test mutating func manyMessages() {
    audio.begin(by: 1)
    var taken: [UInt8] = []
    for index in 0..<3000 {
      _ = append([UInt8(index % 250), 1])
      if index > 5 { taken.append(audio.take()?.bytes.first ?? 255) }
    }
    taken += take().compactMap(\.bytes.first)
    #expect(taken == (0..<3000).map { UInt8($0 % 250) } && isBalanced && audio.queuedCount == 0)
  }
}

/// When the streaming thread looks again.
@Suite struct ReceivedAudioScheduleStepTests {
  private var schedule: ReceivedAudioSchedule = {
    var schedule = ReceivedAudioSchedule(
      ReceivedAudio(ReceivedAudio.Counters()), ReceivedAudioTimeline(PCMFormat(), tolerance: 60_000_000),
      filling: .samples)
    schedule.audio.isPlaying = true
    schedule.audio.begin(by: 1)
    return schedule
  }()

  private mutating func step(at milliseconds: Int, isAtEnd: Bool = false) -> ReceivedAudioSchedule.Step {
    schedule.step(
      now: .seconds(100) + .milliseconds(milliseconds), runningTime: UInt64(milliseconds) * 1_000_000, isAtEnd: isAtEnd)
  }

  /// In milliseconds; nil for anything but a wait.
  private func wait(_ step: ReceivedAudioSchedule.Step) -> UInt64? {
    if case .wait(let nanoseconds) = step { nanoseconds / 1_000_000 } else { nil }
  }

  /// Until sound would be too late for a piece of 20 ms; looking earlier would only cost time.
  @Test mutating func nothingIsDueBeforeTheTolerance() {
    let waits = [step(at: 500), step(at: 500), step(at: 530), step(at: 579)].map(wait)
    #expect(waits == [80, 80, 50, 1])
    guard case .silence(let place, let isDiscontinuous) = step(at: 580) else {
      Issue.record("no silence")
      return
    }
    #expect(place.time == 500_000_000 && place.duration == 20_000_000 && isDiscontinuous)
    #expect(schedule.audio.counters.silence == 320)
    let next = step(at: 580)
    #expect(wait(next) == 20)
  }

  /// What has come is still pushed before the end.
  @Test mutating func theEndComesAfterTheSound() {
    _ = schedule.audio.append([1, 2], from: 1, now: .seconds(100))
    guard case .sound(let bytes, let place, let isDiscontinuous) = step(at: 0, isAtEnd: true) else {
      Issue.record("no sound")
      return
    }
    #expect(bytes == [1, 2] && place.time == 0 && isDiscontinuous)
    guard case .end = step(at: 0, isAtEnd: true) else {
      Issue.record("no end")
      return
    }
  }

  /// It waits for the pipeline, without regard to the time.
  @Test mutating func aPausedPipeline() {
    schedule.audio.isPlaying = false
    guard case .pause = step(at: 5000) else {
      Issue.record("no pause")
      return
    }
    #expect(schedule.audio.counters.silence == 0)
  }

  /// Sound behind sound that was dropped says so.
  @Test mutating func aDiscontinuityOfTheApp() {
    _ = schedule.audio.append([UInt8](repeating: 1, count: 10 << 20), from: 1, now: .seconds(100))
    _ = schedule.audio.append([1, 2], from: 1, now: .seconds(100))
    _ = step(at: 0)
    for bytes: [UInt8] in [[3, 4], [5, 6]] { _ = schedule.audio.append(bytes, from: 1, now: .seconds(100)) }
    let flags = [step(at: 0), step(at: 0)].map { step in
      if case .sound(_, _, let isDiscontinuous) = step { isDiscontinuous } else { false }
    }
    #expect(flags == [true, false])
  }

  /// Silence that belonged in front of sound is of no use where running time has begun anew.
  @Test mutating func silenceThatIsOwed() {
    _ = step(at: 0)
    _ = schedule.audio.append([1, 2], from: 1, now: .seconds(105))
    guard case .silence(let first, _) = step(at: 5000), case .silence(let second, _) = step(at: 5000) else {
      Issue.record("no silence")
      return
    }
    #expect(first.sampleCount == 16_000 && second.sampleCount == 16_000)
    // As after a flushing seek in another branch of the pipeline.
    guard case .sound(_, let place, let isDiscontinuous) = schedule.step(now: .seconds(105), runningTime: 0) else {
      Issue.record("no sound")
      return
    }
    #expect(place.time == 0 && isDiscontinuous)
  }

  /// The head unit's format comes later than the properties, which count for it as well.
  @Test func timesOfAnotherFormat() {
    var schedule = ReceivedAudioSchedule(
      ReceivedAudio(ReceivedAudio.Counters()),
      ReceivedAudioTimeline(PCMFormat(), tolerance: 60_000_000, playoutDelay: 100_000_000), filling: .gapEvents)
    schedule.audio.isPlaying = true
    schedule.audio.begin(by: 1)
    schedule.setFormat(PCMFormat(samplingRate: .hertz8000))
    _ = schedule.audio.append([1, 2], from: 1, now: .seconds(100))
    guard case .gap(start: 0, end: 100_000_000) = schedule.step(now: .seconds(100), runningTime: 0),
      case .sound(_, let place, _) = schedule.step(now: .seconds(100), runningTime: 0),
      case .wait(let nanoseconds) = schedule.step(now: .seconds(100), runningTime: 0)
    else {
      Issue.record("other steps")
      return
    }
    #expect(place.time == 100_000_000 && place.duration == 125_000)
    #expect(nanoseconds == 100_125_000 + 60_000_000 + 20_000_000)
  }
}
