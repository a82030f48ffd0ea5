import Glibc
import SDLHeadUnit
import SDLLink
import TestSupport
import Testing

@testable import SDLHeadUnitLink

/// A slow road, in virtual time.
@Suite struct ShapedLinkTests {
  private static let start = Duration.seconds(1000)

  /// A road with an app that always has more to send, and a head unit that takes what has arrived, both as often as
  /// the road asks for it.
  private struct Road {
    var link = ShapedLink()
    var now = ShapedLinkTests.start
    /// How late each call is.
    var lateness = Duration.zero
    private(set) var sent: [UInt8] = []
    /// With the times of their arrival.
    private(set) var arrived: [(time: Duration, bytes: [UInt8])] = []
    private(set) var largestCount = 0
    private(set) var waits: [Duration] = []

    init(_ words: String) throws {
      try change(words)
    }

    mutating func change(_ words: String) throws {
      let shape = try LinkShape.parse(words.split(separator: " ").map(String.init))
      link.change(to: shape, since: now, now: now)
    }

    /// Puts bytes onto the road, as many as it takes.
    mutating func send(atMost most: Int = .max) {
      let count = min(link.allowance(at: now), most)
      guard count > 0 else { return }
      let bytes = noise(count, seed: UInt64(sent.count))
      sent += bytes
      let since = bytes.withUnsafeBytes { link.receive($0, isCrowded: most == .max, now: now) }
      if let since { waits.append(now - since) }
      largestCount = max(largestCount, link.up.count)
    }

    mutating func take() {
      var buffer = [UInt8](repeating: 0, count: 64 << 10)
      while case .bytes(let count) = buffer.withUnsafeMutableBytes({ link.takeReceived(into: $0, now: now) }) {
        arrived.append((now, Array(buffer[..<count])))
      }
    }

    mutating func run(for time: Duration, sends: Bool = true) {
      let end = now + time
      while now < end {
        link.advance(to: now)
        take()
        if sends { send() }
        now = min((link.nextDeadline(at: now, takesInput: true) ?? end) + lateness, end)
      }
      link.advance(to: now)
      take()
    }

    var bytes: [UInt8] { arrived.flatMap(\.bytes) }

    /// Whether what has arrived is what was sent first.
    var isInOrder: Bool {
      let bytes = bytes
      return sent.count >= bytes.count && (bytes.isEmpty || memcmp(sent, bytes, bytes.count) == 0)
    }

    func count(from start: Duration, to end: Duration) -> Int {
      arrived.reduce(0) { $0 + (start <= $1.time && $1.time < end ? $1.bytes.count : 0) }
    }
  }

  /// Whatever the delay, and though each wake-up is late, as by poll(2).
  @Test(arguments: ["", " delay=80ms", " delay=300ms jitter=50ms"], [0, 1, 7])
  func rateIsKept(rest: String, lateness: Int) throws {
    for (rate, bitsPerSecond) in [("200kbit", 200_000), ("600kbit", 600_000), ("8mbit", 8_000_000)] {
      var road = try Road("up=\(rate)\(rest)")
      road.lateness = .milliseconds(lateness)
      road.run(for: .seconds(11))
      let begin = Self.start + .seconds(1)
      let expected = bitsPerSecond / 8 * 10
      #expect(abs(road.count(from: begin, to: begin + .seconds(10)) - expected) <= expected / 100, "\(rate)")
      #expect(road.isInOrder)
    }
  }

  /// A pause is not made up for.
  @Test func rateAfterAPause() throws {
    var road = try Road("up=800kbit")
    road.run(for: .seconds(2))
    road.run(for: .seconds(3), sends: false)
    let begin = road.now
    road.run(for: .seconds(2))
    #expect(abs(road.count(from: begin, to: begin + .seconds(2)) - 200_000) <= 2000)
  }

  @Test func rateOfTheOtherDirection() throws {
    var link = ShapedLink()
    let now = Self.start
    link.change(to: try LinkShape.parse(["down=80kbit", "delay=50ms"]), since: now, now: now)
    link.send(noise(20_000), now: now)
    #expect(link.takeSent(now: now + .milliseconds(50)).isEmpty)
    // 10 000 bytes a second.
    #expect(abs(link.takeSent(now: now + .milliseconds(1050)).count - 10_000) <= 300)
    #expect(!link.down.isEmpty)
    #expect(abs(link.takeSent(now: now + .milliseconds(2050)).count - 10_000) <= 300)
    #expect(link.down.isEmpty && link.nextDeadline(at: now, takesInput: true) == nil)
  }

  @Test func delayIsExact() throws {
    var road = try Road("delay=80ms")
    road.send(atMost: 100)
    #expect(road.link.nextDeadline(at: road.now, takesInput: true) == Self.start + .milliseconds(80))
    road.now += .milliseconds(80) - .nanoseconds(1)
    road.take()
    #expect(road.bytes.isEmpty && !road.link.isDue(at: road.now))
    road.now += .nanoseconds(1)
    #expect(road.link.isDue(at: road.now))
    // Bytes of the app wait while the head unit reads nothing.
    #expect(!road.link.isDue(at: road.now, takesInput: false))
    #expect(road.link.nextDeadline(at: road.now, takesInput: false) == nil)
    road.take()
    #expect(road.bytes == road.sent && road.link.isEmpty)

    road.link.send([1, 2, 3], now: road.now)
    #expect(road.link.takeSent(now: road.now + .milliseconds(79)).isEmpty)
    #expect(road.link.takeSent(now: road.now + .milliseconds(80)) == [1, 2, 3])
  }

  @Test func orderIsKeptWithJitter() throws {
    var road = try Road("delay=20ms jitter=200ms")
    var sendTimes: [(time: Duration, end: Int)] = []
    for _ in 0..<2000 {
      road.send(atMost: 10)
      sendTimes.append((road.now, road.sent.count))
      road.now += .milliseconds(1)
      road.take()
    }
    road.run(for: .seconds(1), sends: false)
    #expect(road.bytes == road.sent)
    var count = 0
    var delays: [Duration] = []
    for (time, bytes) in road.arrived {
      count += bytes.count
      delays.append(time - (sendTimes.first { $0.end >= count }?.time ?? .zero))
    }
    #expect(delays.allSatisfy { (Duration.milliseconds(20) ... .milliseconds(221)).contains($0) })
    #expect(Set(delays).count > 10)
  }

  @Test func nothingPassesInAStall() throws {
    let stalls = LinkShape.Stalls(duration: .milliseconds(300), interval: .seconds(5))
    var road = try Road("up=80kbit delay=40ms loss-stall=300ms/5s")
    road.run(for: .seconds(200))
    var schedule = StallSchedule(stalls, since: Self.start)
    var starts: [Duration] = []
    while schedule.stall.upperBound <= road.now {
      let stall = schedule.stall
      starts.append(stall.lowerBound)
      #expect(road.count(from: stall.lowerBound, to: stall.upperBound) == 0)
      #expect(road.count(from: stall.upperBound, to: stall.upperBound + .milliseconds(100)) > 0)
      schedule.advance(to: stall.upperBound)
    }
    #expect((30...52).contains(starts.count))
    let pauses = zip(starts, starts.dropFirst()).map { $1 - $0 }
    #expect(pauses.allSatisfy { (Duration.milliseconds(2500) ... .milliseconds(7500)).contains($0) })
    #expect((pauses.max() ?? .zero) - (pauses.min() ?? .zero) > .seconds(3))
    #expect(road.isInOrder)
    // The same every time.
    var again = try Road("up=80kbit delay=40ms loss-stall=300ms/5s")
    again.run(for: .seconds(60))
    #expect(!again.bytes.isEmpty && road.bytes.starts(with: again.bytes))
    #expect(road.arrived.map(\.time).starts(with: again.arrived.map(\.time)))
  }

  /// What is not taken stays on the road, and the road takes no more than fits.
  @Test(arguments: [("up=800kbit delay=100ms", 100_000 * 2 / 10 + 2000), ("delay=2s", 4 << 20)])
  func roadIsBounded(words: String, limit: Int) throws {
    var road = try Road(words)
    for _ in 0..<2000 {
      road.send()
      road.now += .milliseconds(10)
    }
    #expect(road.largestCount <= limit && road.largestCount > limit / 2)
    #expect(road.link.allowance(at: road.now) == 0)
    road.take()
    #expect(road.link.allowance(at: road.now) > 0)
  }

  @Test func offLetsEverythingThroughAtOnce() throws {
    var road = try Road("up=80kbit down=80kbit delay=2s loss-stall=1s/3s")
    road.run(for: .milliseconds(500))
    road.link.send(noise(50_000), now: road.now)
    road.link.end(.endOfStream, now: road.now)
    #expect(road.bytes.isEmpty && !road.sent.isEmpty)
    try road.change("off")
    road.take()
    #expect(road.bytes == road.sent)
    #expect(road.link.takeSent(now: road.now) == noise(50_000))
    var buffer: [UInt8] = [0]
    #expect(buffer.withUnsafeMutableBytes { road.link.takeReceived(into: $0, now: road.now) } == .endOfStream)
    #expect(road.link.isOpen && !road.link.isStalled(at: road.now + .seconds(3)))
  }

  /// Another road replaces the former whole.
  @Test func anotherRoad() throws {
    var road = try Road("up=80kbit delay=2s")
    road.send(atMost: 100)
    try road.change("delay=10ms")
    road.take()
    #expect(road.bytes.count == 100)
    road.send(atMost: 5000)
    #expect(road.sent.count == 5100)
    road.now += .milliseconds(10)
    road.take()
    #expect(road.bytes == road.sent)
  }

  @Test func theEndComesLast() throws {
    var road = try Road("up=80kbit delay=100ms")
    road.send(atMost: 200)
    road.link.end(.endOfStream, now: road.now)
    road.link.end(.failed(errno: 104), now: road.now)
    // Nothing can come after it.
    #expect(road.link.allowance(at: road.now + .seconds(1)) == 0)
    var buffer = [UInt8](repeating: 0, count: 150)
    func next() -> Socket.Transfer { buffer.withUnsafeMutableBytes { road.link.takeReceived(into: $0, now: road.now) } }
    // 200 bytes take 20 ms to enter the road.
    road.now += .milliseconds(119)
    #expect(next() == .wouldBlock)
    road.now += .milliseconds(1)
    #expect(road.link.nextDeadline(at: road.now, takesInput: true) == road.now)
    #expect(next() == .bytes(150))
    #expect(next() == .bytes(50))
    #expect(next() == .endOfStream)
  }

  /// An app whose bytes wait for the road is not late; one that sends less than the road takes may be.
  @Test func waits() throws {
    var road = try Road("up=400kbit delay=40ms")
    road.run(for: .seconds(3))
    let total = road.waits.reduce(.zero, +)
    #expect(total > .milliseconds(2800) && total <= .seconds(3))
    road = try Road("up=400kbit delay=40ms")
    for _ in 0..<100 {
      road.send(atMost: 200)
      road.now += .milliseconds(30)
      road.take()
    }
    #expect(road.waits.isEmpty)
  }

  /// Bytes that have waited do not excuse an app that has sent less than the road takes since.
  @Test func waitsThatAreOver() throws {
    var road = try Road("up=400kbit")
    road.send()
    for _ in 0..<15 {
      road.now += .milliseconds(10)
      road.send(atMost: 400)
      road.take()
    }
    road.now += .milliseconds(10)
    road.send()
    #expect(road.sent.count == 500 + 15 * 400 + 500 && road.waits.isEmpty)
  }

  /// How many bytes of the app enter the road at once: those of 10 ms, within bounds.
  @Test(arguments: [
    ("up=10kbit", 256), ("up=204kbit", 256), ("up=400kbit", 500), ("up=8mbit", 10_000), ("up=52mbit", 65_000),
    ("up=1000mbit", 65_536), ("delay=10ms", 65_536),
  ])
  func pieces(words: String, byteCount: Int) throws {
    #expect(try Road(words).link.allowance(at: Self.start) == byteCount)
  }

  /// Those of 250 ms wait in front of it, within bounds.
  @Test(arguments: [
    (10_000, 8192), (262_144, 8192), (264_000, 8250), (8_000_000, 250_000), (8_388_608, 262_144),
    (1_000_000_000, 262_144),
  ])
  func waitingInTheKernel(rate: Int, byteCount: Int32) {
    #expect(ShapedLink.kernelByteCount(of: rate) == byteCount)
  }

  /// A reader that is late makes up for 50 ms, and for nothing where it has had nothing to read for longer.
  @Test func lateReader() throws {
    var link = try Road("up=400kbit").link
    _ = noise(500).withUnsafeBytes { link.receive($0, isCrowded: true, now: Self.start) }
    let times = [9, 10, 30, 60, 61]
    #expect(times.map { link.allowance(at: Self.start + .milliseconds($0)) } == [0, 500, 1500, 3000, 500])
  }

  /// Bytes that have waited for 100 ms count, once.
  @Test func everyNoticeableWait() throws {
    var road = try Road("up=400kbit")
    road.run(for: .seconds(1))
    #expect(road.waits == Array(repeating: .milliseconds(100), count: 9))
  }

  /// Of a former road, what is still on the way comes at once, and nothing else is left.
  @Test func partOfAFormerRoad() throws {
    var road = try Road("up=80kbit delay=100ms")
    road.run(for: .milliseconds(200))
    #expect(!road.bytes.isEmpty && road.bytes.count < road.sent.count)
    _ = noise(5000).withUnsafeBytes { road.link.receive($0, isCrowded: false, now: road.now) }
    try road.change("up=8mbit")
    #expect(road.link.allowance(at: road.now) == 10_000)
    road.take()
    #expect(road.bytes.count == road.sent.count + 5000 && road.link.isEmpty)
    try road.change("delay=10ms")
    #expect(road.link.allowance(at: road.now) == 65_536)
  }

  /// A connection that comes late keeps to the schedule of all.
  @Test func stallsOfALateConnection() throws {
    let shape = try LinkShape.parse(["loss-stall=300ms/5s"])
    var link = ShapedLink()
    let now = Self.start + .seconds(1000)
    link.change(to: shape, since: Self.start, now: now)
    let next = try #require(link.nextDeadline(at: now, takesInput: true))
    #expect(next > now && next < now + .seconds(7.5))
  }

  /// Pieces are bounded, however small they are.
  @Test func tinyPieces() throws {
    var direction = ShapedDirection(seed: 1)
    direction.change(rate: nil, try #require(try LinkShape.parse(["delay=1s"])), now: Self.start)
    func append(_ number: Int) {
      [UInt8(1)].withUnsafeBytes { direction.append($0, now: Self.start + .nanoseconds(number)) }
    }
    for number in 1..<16_384 { append(number) }
    let end = Self.start + .milliseconds(1)
    #expect(direction.allowance(at: end, lateness: false) == 65_536)
    append(16_384)
    #expect(direction.allowance(at: end, lateness: false) == 0)
  }
}
