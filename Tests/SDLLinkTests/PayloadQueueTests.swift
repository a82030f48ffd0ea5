import Testing

@testable import SDLAppLink

@Suite struct PayloadQueueTests {
  private func entry(_ byteCount: Int) -> PayloadQueue.Entry {
    PayloadQueue.Entry(payload: TestPayload([1]), byteCount: byteCount, queuedAt: .zero)
  }

  @Test func isBoundedInFrames() {
    var queue = PayloadQueue(capacity: 2, maximumByteCount: 1000)
    for _ in 0..<2 {
      #expect(queue.hasRoom(for: 1))
      queue.append(entry(1))
    }
    #expect(queue.isFull && !queue.hasRoom(for: 0))
  }

  @Test func isBoundedInBytesButTakesOneOfAnySize() {
    var queue = PayloadQueue(capacity: 3, maximumByteCount: 1000)
    #expect(queue.hasRoom(for: .max))
    queue.append(entry(5000))
    #expect(!queue.hasRoom(for: 1) && !queue.isFull)
    _ = queue.removeFirst()
    queue.append(entry(600))
    #expect(queue.hasRoom(for: 400) && !queue.hasRoom(for: 401))
  }

  @Test func hasRoomForAtLeastOne() {
    let queue = PayloadQueue(capacity: 0, maximumByteCount: 0)
    #expect(queue.hasRoom(for: 1) && !queue.isFull)
  }

  @Test func keepsOrderAroundTheRing() {
    var queue = PayloadQueue(capacity: 3, maximumByteCount: 1000)
    var submitted: [Int] = []
    var taken: [Int] = []
    for round in 0..<20 {
      for _ in 0..<(round % 3 + 1) where queue.hasRoom(for: round + 1) {
        queue.append(entry(round + 1))
        submitted.append(round + 1)
      }
      for _ in 0..<(round % 2 + 1) {
        let first = queue.first
        guard let removed = queue.removeFirst() else { continue }
        #expect(first?.payload === removed.payload)
        taken.append(removed.byteCount)
      }
      #expect(queue.count == submitted.count - taken.count)
      #expect(queue.byteCount == submitted.reduce(0, +) - taken.reduce(0, +))
    }
    #expect(taken.count > 20 && taken == Array(submitted.prefix(taken.count)))
  }
}
