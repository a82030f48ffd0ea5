import Testing

@testable import Plugin
@testable import PluginTestSupport

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

  /// What a file's app sends at once, after a seek or a break, is a group of pictures: 600 of them, and 2 MiB.
  @Test(arguments: [80, 250, 600]) func aBurstIsKept(count: Int) {
    var queue = AccessUnitQueue()
    let picture = Self.picture + [UInt8](repeating: 0x55, count: (2 << 20) / 600)
    append(&queue, Self.keyFrame)
    for index in 1..<count { append(&queue, picture, at: index) }
    #expect(queue.count == count && queue.counters.droppedFull == 0)
    // What follows in its time is kept as well, while downstream catches up.
    for index in 0..<45 {
      append(&queue, picture, at: 1000 + 33 * index)
      for _ in 0..<20 { _ = queue.take() }
    }
    #expect(queue.counters.droppedFull == 0 && isBalanced(queue))
  }

  /// Live video that is not taken would only be shown too late; that of a low rate is no more than that of others.
  @Test(arguments: [(interval: 33, most: 62), (interval: 100, most: 60), (interval: 16, most: 126)])
  func ofLiveVideoTwoSecondsAreKept(interval: Int, most: Int) {
    var queue = AccessUnitQueue()
    for index in 0..<1000 {
      append(&queue, index % 10 == 0 ? Self.keyFrame : Self.picture, at: interval * index)
      #expect(queue.count <= most)
    }
    #expect(queue.counters.droppedFull > 800 && isBalanced(queue))
  }

  @Test func whatIsTooMuchGoesUpToAKeyFrame() {
    var queue = AccessUnitQueue()
    // Nothing else can be pushed first: it has the only parameter sets.
    append(&queue, Self.keyFrame)
    #expect(queue.take() != nil)
    for index in 0..<200 { append(&queue, index % 40 == 20 ? Self.bareKeyFrame : Self.picture, at: 40 * index) }
    #expect(queue.count <= 60 && isBalanced(queue))
    let units = take(&queue)
    #expect(units.first?.bytes == Self.bareKeyFrame && units.first?.isDiscontinuous == true)
    #expect(units.dropFirst().allSatisfy { !$0.isDiscontinuous })
    #expect(queue.counters.droppedFull > 100 && isBalanced(queue))
  }

  @Test func theStartStaysOne() {
    var queue = AccessUnitQueue()
    append(&queue, Self.keyFrame)
    for index in 0..<200 { append(&queue, index % 40 == 20 ? Self.bareKeyFrame : Self.picture, at: 40 * index) }
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

  /// However fast they come.
  @Test func accessUnitsAreBounded() {
    var queue = AccessUnitQueue()
    append(&queue, Self.keyFrame)
    for _ in 1..<1200 { append(&queue, Self.picture) }
    #expect(queue.count == 1200 && queue.counters.droppedFull == 0)
    append(&queue, Self.picture)
    #expect(queue.count == 0 && queue.counters.droppedFull == 1200 && queue.counters.droppedWaiting == 1)
    #expect(isBalanced(queue))
  }

  /// As many bytes as there may be, and one more.
  @Test(arguments: [(0, 2), (1, 1)]) func theMostBytes(excess: Int, count: Int) {
    var queue = AccessUnitQueue()
    let half = Self.keyFrame + [UInt8](repeating: 0x55, count: (4 << 20) - Self.keyFrame.count)
    append(&queue, half)
    append(&queue, half + [UInt8](repeating: 0x55, count: excess))
    #expect(queue.count == count && queue.counters.droppedFull == UInt64(excess))
  }

  /// A gap changes nothing where the start of a stream is waited for.
  @Test func aGapBeforeTheStart() {
    var queue = AccessUnitQueue()
    queue.noteGap(now: .zero)
    for bytes in [Self.bareKeyFrame, Self.keyFrame] { append(&queue, bytes) }
    let units = take(&queue)
    #expect(units.map(\.bytes) == [Self.keyFrame] && units.map(\.isStart) == [true])
    append(&queue, Self.picture)
    queue.discard()
    append(&queue, Self.bareKeyFrame)
    #expect(queue.count == 0 && queue.counters.droppedWaiting == 2 && queue.counters.droppedDiscarded == 1)
  }

  /// A gap ends the picture that waits for its end, and that is still pushed.
  @Test func aGapAfterAPictureThatWaits() {
    var queue = AccessUnitQueue()
    queue.append(Self.keyFrame, timestamp: nil, now: .milliseconds(5))
    #expect(queue.count == 0)
    queue.noteGap(now: .milliseconds(7))
    #expect(queue.count == 1 && queue.flushDeadline == nil)
    let units = take(&queue)
    #expect(units.map(\.bytes) == [Self.keyFrame] && units.map(\.arrival) == [.milliseconds(5)])
  }

  @Test func counters() {
    var queue = AccessUnitQueue()
    for bytes in [Self.keyFrame, Self.picture] { append(&queue, bytes) }
    queue.noteGap(now: .zero)
    for bytes in [Self.picture, Self.bareKeyFrame, Self.picture] { append(&queue, bytes) }
    _ = queue.take()
    var expected = AccessUnitQueue.Counters()
    (expected.framesIn, expected.framesOut, expected.keyFramesOut) = (5, 1, 1)
    (expected.droppedWaiting, expected.discontinuities) = (1, 2)
    expected.bytesIn = UInt64(Self.keyFrame.count + Self.bareKeyFrame.count + 3 * Self.picture.count)
    #expect(queue.counters == expected)
    _ = take(&queue)
    (expected.framesOut, expected.keyFramesOut) = (4, 2)
    #expect(queue.counters == expected)
    // Those of earlier runs go on.
    queue = AccessUnitQueue(expected)
    append(&queue, Self.keyFrame)
    (expected.framesIn, expected.discontinuities) = (6, 3)
    expected.bytesIn += UInt64(Self.keyFrame.count)
    #expect(queue.counters == expected)
  }

  /// What is taken, dropped or discarded makes room: two of these fit, and no third one.
  @Test func bytesThatAreGoneMakeRoom() {
    var queue = AccessUnitQueue()
    let large = Self.keyFrame + [UInt8](repeating: 0x55, count: 3 << 20)
    for _ in 0..<3 {
      for _ in 0..<2 { append(&queue, large) }
      #expect(queue.count == 2 && queue.counters.droppedFull == 0)
      _ = take(&queue)
    }
    for _ in 0..<3 {
      for _ in 0..<2 { append(&queue, large) }
      #expect(queue.count == 2 && queue.counters.droppedFull == 0)
      queue.discard()
    }
    // The third one takes the place of the first two.
    var counts: [Int] = []
    for _ in 0..<6 {
      append(&queue, large)
      counts.append(queue.count)
    }
    #expect(counts == [1, 2, 1, 2, 1, 2] && queue.counters.droppedFull == 4)
  }

  /// Up to the last key frame, which begins the stream if it can.
  @Test func theStartIsTakenOverByALaterKeyFrame() {
    var queue = AccessUnitQueue()
    for index in 0..<60 { append(&queue, index == 0 || index == 40 ? Self.keyFrame : Self.picture, at: 40 * index) }
    #expect(queue.count == 60 && queue.counters.discontinuities == 1)
    append(&queue, Self.picture, at: 2400)
    #expect(queue.count == 21 && queue.counters.droppedFull == 40 && queue.counters.discontinuities == 2)
    let units = take(&queue)
    #expect(units.map(\.isStart) == [true] + [Bool](repeating: false, count: 20))
    #expect(units.map(\.isDiscontinuous) == [true] + [Bool](repeating: false, count: 20))
  }

  @Test func whatIsLeftOfAStreamIsPushed() {
    var queue = AccessUnitQueue()
    queue.append(Self.keyFrame, timestamp: nil, now: .milliseconds(5))
    #expect(queue.count == 0 && queue.flushDeadline == .milliseconds(205))
    queue.beginStream(ofSameApp: false, now: .milliseconds(10))
    #expect(queue.count == 1 && queue.flushDeadline == nil)
    queue.append(Self.keyFrame, timestamp: nil, now: .milliseconds(15))
    #expect(queue.count == 1 && queue.flushDeadline == .milliseconds(215))
    // What is known of the app's messages holds for its next stream.
    queue.beginStream(ofSameApp: true, now: .milliseconds(20))
    queue.append(Self.keyFrame, timestamp: nil, now: .milliseconds(25))
    #expect(queue.count == 3 && queue.flushDeadline == nil)
    queue.beginStream(ofSameApp: false, now: .milliseconds(30))
    append(&queue, Self.keyFrame)
    #expect(take(&queue).map(\.isStart) == [true, true, true, true])
    append(&queue, Self.picture)
    queue.discard()
    #expect(queue.count == 0 && queue.counters.droppedDiscarded == 1 && isBalanced(queue))
  }
}
