import Testing

@testable import SDLApp

/// What is known of a link after a new connection, or a jump of the clock.
@Suite struct LinkEstimatorTests {
  private func sample(_ milliseconds: Int, handed: UInt64, waiting: UInt64) -> LinkSample {
    LinkSample(time: .milliseconds(milliseconds), handedByteCount: handed, unacknowledgedByteCount: waiting)
  }

  /// A link with a path of 10 ms, on which nothing has moved for the last two seconds.
  private func stalled() -> LinkEstimator {
    var link = LinkEstimator()
    _ = link.add(sample(0, handed: 0, waiting: 0))
    _ = link.add(sample(10, handed: 5000, waiting: 0))
    for step in 2...200 { _ = link.add(sample(10 * step, handed: 105_000, waiting: 100_000)) }
    return link
  }

  private func isNear(_ value: Double?, _ expected: Double) -> Bool { abs((value ?? .nan) - expected) < 1e-6 }

  /// Only the delay of the path stays.
  @Test(
    arguments: [(2010, 3000, 3000), (1990, 105_000, 100_000), (12_000, 105_000, 100_000)] as [(Int, UInt64, UInt64)])
  func beginsAnew(time: Int, handed: UInt64, waiting: UInt64) {
    var link = stalled()
    #expect(link.isStalled && link.age > 1.9 && link.queueShare ?? 0 > 0.9)
    #expect(link.add(sample(time, handed: handed, waiting: waiting)) == nil)
    #expect(!link.isStalled && link.age == 0 && link.queueShare == nil && link.queueingDelay == 0)
    #expect(link.outstandingByteCount == waiting && link.handedTime == .milliseconds(time))
    // What waits counts from then on.
    #expect(isNear(link.add(sample(time + 100, handed: handed, waiting: waiting)), 0.1))
    #expect(isNear(link.age, 0.09) && isNear(link.silence, 0.09))
    _ = link.add(sample(time + 200, handed: handed, waiting: waiting - 1000))
    #expect(isNear(link.age, 0.19) && link.silence == 0 && isNear(link.pathDelay, 0.01))
  }

  /// Up to ten seconds without a sample are no jump.
  @Test func longestPause() {
    var link = stalled()
    #expect(isNear(link.add(sample(11_999, handed: 105_000, waiting: 100_000)), 9.999) && link.age > 11)
  }

  /// The rate that was measured stays until the link shows another, for which nothing counts that was measured before.
  @Test func rateOfTheLink() throws {
    var link = LinkEstimator()
    _ = link.add(sample(0, handed: 0, waiting: 0))
    _ = link.add(sample(10, handed: 1000, waiting: 0))
    // 100 bytes in each millisecond, of a queue that does not end.
    for step in 2...100 {
      let acknowledged = UInt64(1000 * step)
      _ = link.add(sample(10 * step, handed: acknowledged + 50_000, waiting: 50_000))
    }
    let capacity = try #require(link.capacity)
    #expect(abs(capacity - 100_000) < 5000)
    _ = link.add(sample(1010, handed: 0, waiting: 0))
    // Half the rate, for less time than a measurement takes.
    for step in 1...10 {
      _ = link.add(sample(1010 + 10 * step, handed: UInt64(50_000 + 500 * step), waiting: 50_000))
      #expect(link.capacity == capacity)
    }
    link.forgetCapacity()
    #expect(link.capacity == nil)
  }
}
