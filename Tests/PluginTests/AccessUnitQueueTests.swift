import SDLLink
import Testing

@testable import Plugin

@Suite struct AccessUnitQueueTests {
  private static let parameterSets: [UInt8] = [0, 0, 0, 1, 0x67, 0x42, 0xC0, 0x1F, 0, 0, 0, 1, 0x68, 0xCE, 0x0F]
  private static let keyFrame = parameterSets + bareKeyFrame
  private static let bareKeyFrame: [UInt8] = [0, 0, 1, 0x65, 0x88, 0x84]
  private static let picture: [UInt8] = [0, 0, 0, 1, 0x41, 0x9A, 0x20]

  /// With a timestamp each of these is an access unit, which is how RTP comes.
  private func append(_ queue: inout AccessUnitQueue, _ bytes: [UInt8], at time: Int = 0) {
    queue.append(bytes, timestamp: 0, now: .milliseconds(time))
  }

  private func take(_ queue: inout AccessUnitQueue) -> [QueuedAccessUnit] {
    var units: [QueuedAccessUnit] = []
    while let unit = queue.take() { units.append(unit) }
    return units
  }

  private func isBalanced(_ queue: AccessUnitQueue) -> Bool {
    let counters = queue.counters
    return counters.framesIn == counters.framesOut + counters.droppedFull + counters.droppedWaiting
      + counters.droppedDiscarded + UInt64(queue.count)
  }

  @Test func streamsBeginWithParameterSets() {
    var queue = AccessUnitQueue()
    for bytes in [Self.picture, Self.bareKeyFrame, Self.picture, Self.keyFrame, Self.picture] { append(&queue, bytes) }
    let units = take(&queue)
    #expect(units.map(\.bytes) == [Self.keyFrame, Self.picture])
    #expect(units.map(\.isStart) == [true, false] && units.map(\.isDiscontinuous) == [true, false])
    #expect(queue.counters.droppedWaiting == 3 && isBalanced(queue))
  }

  @Test func afterAGapAKeyFrameIsEnough() {
    var queue = AccessUnitQueue()
    append(&queue, Self.keyFrame)
    queue.noteGap(now: .zero)
    for bytes in [Self.picture, Self.bareKeyFrame, Self.picture] { append(&queue, bytes) }
    let units = take(&queue)
    #expect(units.map(\.bytes) == [Self.keyFrame, Self.bareKeyFrame, Self.picture])
    #expect(units.map(\.isDiscontinuous) == [true, true, false] && units.map(\.isStart) == [true, false, false])
  }

  @Test func whatIsTooMuchGoesUpToAKeyFrame() {
    var queue = AccessUnitQueue()
    // Nothing else can be pushed first: it has the only parameter sets.
    append(&queue, Self.keyFrame)
    #expect(queue.take() != nil)
    for index in 0..<200 { append(&queue, index % 40 == 20 ? Self.bareKeyFrame : Self.picture) }
    #expect(queue.count <= AccessUnitQueue.maximumCount && isBalanced(queue))
    let units = take(&queue)
    #expect(units.first?.bytes == Self.bareKeyFrame && units.first?.isDiscontinuous == true)
    #expect(units.dropFirst().allSatisfy { !$0.isDiscontinuous })
    #expect(queue.counters.droppedFull > 100 && isBalanced(queue))
  }

  @Test func theStartStaysOne() {
    var queue = AccessUnitQueue()
    append(&queue, Self.keyFrame)
    for index in 0..<200 { append(&queue, index % 40 == 20 ? Self.bareKeyFrame : Self.picture) }
    // No decoder could do anything with what is left.
    #expect(queue.count == 0 && isBalanced(queue))
    append(&queue, Self.keyFrame)
    #expect(take(&queue).map(\.isStart) == [true])
  }

  @Test func bytesAreBounded() {
    var queue = AccessUnitQueue()
    let large = Self.keyFrame + [UInt8](repeating: 0x55, count: 3 << 20)
    for _ in 0..<20 {
      append(&queue, large)
      #expect(queue.count <= 3)
    }
    #expect(isBalanced(queue) && queue.counters.droppedFull > 0)
    // One that is larger than all is taken, if it is alone.
    append(&queue, Self.keyFrame + [UInt8](repeating: 0x55, count: 9 << 20))
    #expect(queue.count == 1)
  }

  @Test func whatIsLeftOfAStreamIsPushed() {
    var queue = AccessUnitQueue()
    queue.append(Self.keyFrame, timestamp: nil, now: .milliseconds(5))
    #expect(queue.count == 0 && queue.flushDeadline == .milliseconds(205))
    queue.beginStream(now: .milliseconds(10))
    #expect(queue.count == 1 && queue.flushDeadline == nil)
    append(&queue, Self.keyFrame)
    #expect(take(&queue).map(\.isStart) == [true, true])
    append(&queue, Self.picture)
    queue.discard()
    #expect(queue.count == 0 && queue.counters.droppedDiscarded == 1 && isBalanced(queue))
  }
}

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
    return units.map { unit in
      let now = unit.arrival + .milliseconds(7)
      return Int(time.presentationTime(of: unit, now: now, runningTime: UInt64(now.nanoseconds)) / 1_000_000)
    }
  }

  @Test func arrival() {
    #expect(times([unit(at: 100), unit(at: 133), unit(at: 190)]) == [100, 133, 190])
  }

  @Test func neverBack() {
    #expect(times([unit(at: 100), unit(at: 90), unit(at: 120)]) == [100, 100, 120])
  }

  /// h264parse takes the time away from what has the time of the one before, and mp4mux then gives up.
  @Test func noTimeTwice() {
    var time = StreamTime()
    let times = [100, 90, 100, 100].map {
      time.presentationTime(of: unit(at: $0), now: .milliseconds(200), runningTime: 150_000_000)
    }
    #expect(times == [50_000_000, 50_000_001, 50_000_002, 50_000_003])
  }

  @Test func beforeThePipelinePlayed() {
    var time = StreamTime()
    #expect(time.presentationTime(of: unit(at: 100), now: .milliseconds(5000), runningTime: 3) == 0)
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
    #expect(times(units) == [130, 140, 173])
  }

  @Test func lagAndRestart() {
    let units = [(100, 0), (1000, 3000), (1033, 6000), (1066, 0), (1100, 3000)].enumerated().map { index, pair in
      unit(at: pair.0, timestamp: pair.1, isStart: index == 0)
    }
    // After the timestamps have gone back, all is late for a while, and then measured anew.
    #expect(times(units) == [100, 1000, 1033, 1066, 1099])
  }
}
