import Testing

import struct TestSupport.SeededGenerator

@testable import Plugin
@testable import PluginTestSupport

@Suite struct StreamTimeTests {
  private func unit(at arrival: Int, timestamp: Int? = nil, isStart: Bool = false) -> QueuedAccessUnit {
    var unit = QueuedAccessUnit(
      bytes: [], arrival: .milliseconds(arrival), timestamp: timestamp.map { UInt32(truncatingIfNeeded: $0) },
      summary: .init(scanning: UnsafeRawBufferPointer(start: nil, count: 0)))
    unit.isStart = isStart
    return unit
  }

  /// Milliseconds of running time, when the clocks began together and each is pushed 7 ms after it came.
  private func times(_ units: [QueuedAccessUnit]) -> [Int] {
    var time = StreamTime()
    var now = Duration.zero
    return units.map { unit in
      now = max(now, unit.arrival + .milliseconds(7))
      let time = time.decodingTime(
        of: unit, now: now, runningTime: UInt64(now.nanoseconds), frameDuration: 33_333_333)
      return Int(time / 1_000_000)
    }
  }

  @Test func arrival() {
    #expect(times([unit(at: 100), unit(at: 133), unit(at: 190)]) == [100, 133, 190])
  }

  @Test func neverBack() {
    #expect(times([unit(at: 100), unit(at: 90), unit(at: 160)]) == [100, 116, 160])
  }

  /// Pictures that came at once: half a frame apart while that is not too late, and 1 ms after that.
  @Test func noSampleWithoutADuration() {
    #expect(times([100, 100, 100, 100, 100, 100, 200].map { unit(at: $0) }) == [100, 116, 133, 140, 141, 142, 200])
    // Also of a stream that has one picture in four seconds.
    var time = StreamTime()
    let slow = [100, 90, 100, 100].map {
      time.decodingTime(
        of: unit(at: $0), now: .milliseconds(200), runningTime: 150_000_000, frameDuration: 4_000_000_000)
    }
    #expect(slow == [50_000_000, 80_000_000, 90_000_000, 91_000_000])
  }

  /// As after a flushing seek in another branch of the pipeline.
  @Test func runningTimeThatBeginsAnew() {
    var time = StreamTime()
    let times = [(100, 60_000), (133, 60_033), (166, 5), (199, 38), (199, 38)].map { arrival, runningTime in
      time.decodingTime(
        of: unit(at: arrival), now: .milliseconds(arrival), runningTime: runningTime * 1_000_000,
        frameDuration: 20_000_000) / 1_000_000
    }
    #expect(times == [60_000, 60_033, 5, 38, 48])
  }

  @Test func beforeThePipelinePlayed() {
    var time = StreamTime()
    #expect(time.decodingTime(of: unit(at: 100), now: .milliseconds(5000), runningTime: 3, frameDuration: 1) == 0)
  }

  /// 3000 are 33.3 ms.
  @Test func jitterOverRTP() {
    let wrap = Int(UInt32.max) - 4000
    let units = [(100, 0), (150, 3000), (167, 6000), (200, 9000), (260, 12_000)].enumerated().map { index, pair in
      unit(at: pair.0, timestamp: wrap + pair.1, isStart: index == 0)
    }
    #expect(times(units) == [100, 133, 166, 200, 233])
  }

  @Test func earlierThanBefore() {
    let units = [(130, 0), (140, 3000), (180, 6000)].enumerated().map { index, pair in
      unit(at: pair.0, timestamp: pair.1, isStart: index == 0)
    }
    #expect(times(units) == [130, 146, 173])
  }

  @Test func lagAndRestart() {
    let units = [(100, 0), (1000, 3000), (1033, 6000), (1066, 0), (1100, 3000)].enumerated().map { index, pair in
      unit(at: pair.0, timestamp: pair.1, isStart: index == 0)
    }
    // After the timestamps have gone back, all is late for a while, and then measured anew.
    #expect(times(units) == [100, 1000, 1033, 1066, 1099])
  }

  /// Its timestamps say nothing about those before, even where they seem to go on.
  @Test func anotherStreamIsMeasuredAnew() {
    let units = [(100, 0, true), (133, 3000, false), (200, 7200, true), (233, 10_200, false)].map {
      unit(at: $0.0, timestamp: $0.1, isStart: $0.2)
    }
    #expect(times(units) == [100, 133, 200, 233])
  }

  /// Each step is the longest that a timestamp can make, so that half a million of them leave 64 bits of nanoseconds.
  @Test(arguments: [Int32.max, .min])
  func hugeSteps(step: Int32) {
    var time = RTPTime()
    var timestamp: UInt32 = 0
    for index in 0..<500_000 {
      let arrival = Duration.milliseconds(33 * index)
      #expect(time.time(of: timestamp, arrival: arrival) == arrival)
      timestamp &+= UInt32(bitPattern: step)
    }
  }

  /// Timestamps that alternate between far ahead and in time never lead out of the present.
  @Test func anyTimestamps() {
    var random = SeededGenerator(seed: 7)
    var time = RTPTime()
    for index in 0..<100_000 {
      let arrival = Duration.milliseconds(index)
      let due = time.time(of: UInt32.random(in: 0...(.max), using: &random), arrival: arrival)
      #expect(due <= arrival && arrival - due <= .milliseconds(40))
    }
  }

  @Test func timesEndAtTheLast() {
    var time = StreamTime()
    for _ in 0..<2 {
      #expect(time.decodingTime(of: unit(at: 0), now: .zero, runningTime: .max, frameDuration: .max) == .max)
    }
  }
}
