import Foundation
import TestSupport
import Testing

@testable import LinkSimulation
@testable import SDLApp

/// A link of 8 Mbit/s that is narrow (0.6 Mbit/s) for 20 s, as a car's Wi-Fi, and one that is cut. Pictures at 30 per
/// second, which would like 4 Mbit/s.
@Suite struct RateControllerStepTests {
  /// A link, and what is known about it.
  struct Case: CustomTestStringConvertible, Sendable {
    var seed: UInt64
    /// One way, in milliseconds.
    var propagation: Int
    var hasTCPInfo: Bool
    var testDescription: String { "seed \(seed), \(propagation) ms, \(hasTCPInfo ? "" : "no ")TCP_INFO" }
  }

  static let cases = testSeeds(1...2).flatMap { seed in
    [1, 3, 25, 60].flatMap { propagation in
      [true, false].map { Case(seed: seed, propagation: propagation, hasTCPInfo: $0) }
    }
  }

  private static let drop = 10.7
  private static let recovery = 30.0

  @Test(arguments: cases) func narrowLink(_ test: Case) {
    let link = SimulatedLink { $0 < Self.drop || $0 >= Self.recovery ? 8e6 : 0.6e6 }
    link.propagation = test.propagation
    let sender = SimulatedSender(.test(), seed: test.seed)
    sender.hasTCPInfo = test.hasTCPInfo
    sender.window = 128 << 10
    link.add(sender)
    link.run(for: Self.recovery + 10)

    #expect(sender.longestFreeze(Self.drop...Self.drop + 3) <= 600)
    let narrow = (Self.drop + 2)...Self.recovery
    let delays = sender.delays(narrow)
    #expect(delays.percentile(0.5) <= 150)
    #expect(delays.percentile(0.95) <= 350)
    #expect(sender.picturesPerSecond(narrow) >= 25)
    #expect(sender.throughput(narrow) >= 0.8 * 0.6e6)
    let steady = sender.targets((Self.drop + 5.3)...Self.recovery)
    let mean = steady.reduce(0, +) / Double(steady.count)
    #expect((steady.max() ?? .infinity) <= 1.1 * mean)
    #expect((steady.min() ?? 0) >= 0.9 * mean)
    let back = sender.targets(Self.recovery...Self.recovery + 8)
    #expect((back.last ?? 0) >= 0.9 * 4e6)
  }

  /// What a stream begins with is more than the link carries, as that of 800 × 480 pictures and larger ones is by
  /// default.
  @Test(arguments: [1152, 2500], testSeeds(1...5)) func narrowFromTheStart(kilobits: Int, seed: UInt64) {
    let link = SimulatedLink { _ in 0.6e6 }
    let sender = SimulatedSender(.test(maximum: 20_000_000, start: kilobits * 1000), seed: seed)
    link.add(sender)
    link.run(for: 4)
    let first = Double(sender.pictures.first?.shown ?? .max) / 1000
    #expect(first <= 0.6)
    #expect(sender.longestFreeze(first...4) <= 600, "\(kilobits), \(seed)")
  }

  /// Pictures of one size come at the moments at which the link has just become empty: no bytes stand in it, however
  /// many pictures have to be left out.
  @Test(arguments: [1.2e6, 0.9e6], testSeeds(1...3)) func evenPictures(start: Double, seed: UInt64) {
    let link = SimulatedLink { $0 < 3 ? 8e6 : 0.4e6 }
    link.propagation = 1
    let sender = SimulatedSender(
      .test(minimum: 100_000, maximum: Int(start), maximumLatency: .milliseconds(150)), seed: seed)
    sender.keyFrameSize = 1
    sender.noise = 0
    sender.window = 8 << 10
    link.add(sender)
    link.run(for: 33)
    #expect((sender.targets(8...33).max() ?? .infinity) <= 1.25 * 0.4e6)
    #expect(sender.picturesPerSecond(8...33) >= 25)
    #expect(sender.throughput(8...33) >= 0.8 * 0.4e6)
    #expect(sender.delays(8...33).percentile(0.95) <= 200)
  }

  /// Without the readiness, the same controller lets seconds of pictures queue up.
  @Test func readinessIsWhatBoundsTheDelay() {
    let worst = [true, false].map { isGated in
      let link = SimulatedLink { $0 < 10.7 ? 8e6 : 0.6e6 }
      let sender = SimulatedSender(.test(), seed: 1)
      sender.isGated = isGated
      link.add(sender)
      link.run(for: 15)
      return sender.delays(10.8...15).percentile(0.8)
    }
    #expect(worst[0] < 200)
    #expect(worst[1] > 800)
  }

  @Test(arguments: testSeeds(1...4)) func cut(seed: UInt64) {
    let link = SimulatedLink { (10.7..<13.7).contains($0) ? 0 : 8e6 }
    let sender = SimulatedSender(.test(), seed: seed)
    link.add(sender)
    link.run(for: 17)
    let new = sender.pictures.compactMap { $0.captured >= 13_700 ? $0.shown : nil }.min()
    #expect((new ?? .max) <= 13_700 + 500)
    // The cut says nothing about the rate of the link.
    #expect((sender.targets(14.5...17).min() ?? 0) >= 0.7 * 4e6)
    #expect(sender.targets(11.5...13.6).allSatisfy { $0 >= 0.5 * 4e6 })
  }

  @Test(arguments: testSeeds(1...3)) func ramps(seed: UInt64) {
    let link = SimulatedLink { $0 < 10 ? 4e6 : $0 < 30 ? 4e6 - 0.17e6 * ($0 - 10) : 0.6e6 + 0.17e6 * ($0 - 30) }
    let sender = SimulatedSender(.test(), seed: seed)
    link.add(sender)
    link.run(for: 50)
    #expect(sender.delays(10...50).percentile(0.95) <= 200)
    #expect(sender.longestFreeze(10...50) <= 400)
    #expect(sender.throughput(10...30) >= 0.75 * 2.3e6)
    #expect(sender.throughput(30...50) >= 0.5 * 2.3e6)
  }

  @Test(arguments: testSeeds(1...3)) func sawtooth(seed: UInt64) {
    let link = SimulatedLink { 0.6e6 + 0.3e6 * $0.truncatingRemainder(dividingBy: 10) }
    let sender = SimulatedSender(.test(), seed: seed)
    link.add(sender)
    link.run(for: 60)
    #expect(sender.delays(10...60).percentile(0.95) <= 200)
    #expect(sender.longestFreeze(10...60) <= 900)
    #expect(sender.throughput(10...60) >= 0.5 * 2.1e6)
  }
}

/// The seeds `range`, or that of the environment variable SDL_TEST_SEED.
func testSeeds(_ range: ClosedRange<UInt64>) -> [UInt64] {
  ProcessInfo.processInfo.environment["SDL_TEST_SEED"].flatMap { UInt64($0) }.map { [$0] } ?? Array(range)
}

extension RateController {
  /// Pictures at 30 per second, with 0.15 to 4 Mbit/s.
  static func test(
    minimum: Int = 150_000, maximum: Int = 4_000_000, start: Int? = nil, maximumLatency: Duration = .milliseconds(200)
  ) -> RateController {
    RateController(
      limits: Limits(
        minimumBitrate: minimum, maximumBitrate: maximum, frameRate: 30, maximumLatency: maximumLatency),
      start: start ?? maximum)
  }
}
