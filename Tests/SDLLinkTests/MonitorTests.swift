import Testing

@testable import SDLLink

@Suite struct MonitorTests {
  /// Two states with one lock: no thread sees one of them changed and the other not yet, and each has waiting threads
  /// of its own.
  @Test func statesThatShareALock() throws {
    let lock = MonitorLock()
    let (first, second) = (Monitor(0, lock: lock), Monitor(0, lock: lock))
    let count = 10_000
    let writer = WorkerThread(name: "writer")
    try writer.start {
      for _ in 0..<count {
        first.withLock(and: second) { first, second in
          first += 1
          second += 1
        }
        first.broadcast()
      }
      second.broadcast()
    }
    let end = MonotonicClock.now + testTimeout
    while second.withLock({ $0 }) < count, MonotonicClock.now < end {
      let states = second.withLock(and: first) { ($0, $1) }
      #expect(states.0 == states.1)
    }
    #expect(first.wait(until: end) { $0 == count ? $0 : nil } == count)
    #expect(second.wait(until: end) { $0 == count ? $0 : nil } == count)
    writer.join()
  }
}
