import TestSupport
import Testing

@testable import LinkSimulation
@testable import SDLApp

/// Other flows on the link, links below the minimum, and peers that acknowledge late.
@Suite struct RateControllerSharingTests {
  struct Pair: Sendable {
    var link: Double
    var first: Int
    var second: Int
  }

  @Test(
    arguments: [
      Pair(link: 1e6, first: 800_000, second: 200_000), Pair(link: 2e6, first: 600_000, second: 600_000),
      Pair(link: 4e6, first: 3_200_000, second: 600_000), Pair(link: 8e6, first: 7_000_000, second: 600_000),
    ], testSeeds(1...1))
  func twoSendersShareEqually(_ pair: Pair, seed: UInt64) {
    let link = SimulatedLink { _ in pair.link }
    let senders = zip([pair.first, pair.second], [seed, seed &+ 100]).map { start, seed in
      SimulatedSender(.test(maximum: 8_000_000, start: start), seed: seed)
    }
    senders.forEach(link.add)
    link.run(for: 150)
    let shares = senders.map { $0.throughput(90...150) / pair.link }
    #expect(shares.reduce(0, +) >= 0.85)
    #expect(shares.allSatisfy { $0 >= 0.4 * shares.reduce(0, +) }, "\(shares)")
    #expect(senders.allSatisfy { $0.delays(90...150).percentile(0.95) <= 200 })
  }

  @Test(arguments: testSeeds(1...3)) func flowThatDoesNotReact(seed: UInt64) {
    let link = SimulatedLink { _ in 1e6 }
    link.competingRate = 0.4e6
    let sender = SimulatedSender(.test(start: 600_000), seed: seed)
    link.add(sender)
    link.run(for: 40)
    #expect(sender.throughput(5...40) >= 0.8 * 0.6e6)
    #expect(sender.delays(5...40).percentile(0.95) <= 200)
  }

  /// Fewer pictures, evenly, instead of worse ones.
  @Test(arguments: testSeeds(1...3)) func linkBelowTheMinimum(seed: UInt64) {
    let link = SimulatedLink { _ in 60e3 }
    let sender = SimulatedSender(.test(start: 600_000), seed: seed)
    link.add(sender)
    link.run(for: 60)
    let targets = sender.controller.targets
    #expect(targets.bitrate == 150_000)
    #expect((5...20).contains(targets.frameRate))
    #expect(abs(Double(targets.sentBitrate) - 150_000 * targets.frameRate / 30) < 2)
    #expect(targets.reason == .belowMinimum)
    #expect(sender.throughput(20...60) >= 0.8 * 60e3)
    #expect(sender.longestFreeze(20...60) <= 500)
    #expect((8...16).contains(sender.picturesPerSecond(20...60)))
  }

  /// From the start, a delay is the path's own.
  @Test func constantDelayOfAcknowledgements() {
    let link = SimulatedLink { _ in 8e6 }
    link.acknowledgementDelay = { _ in 300 }
    let sender = SimulatedSender(.test(), seed: 1)
    sender.window = 512 << 10
    link.add(sender)
    link.run(for: 30)
    #expect(sender.throughput(5...30) >= 0.85 * 4e6)
    #expect(sender.picturesPerSecond(5...30) >= 25)
  }

  /// Later, a greater delay looks like a slow link until it is the path's own; the stream never ends.
  @Test func acknowledgementsThatAreDelayedOnPurpose() {
    let link = SimulatedLink { _ in 8e6 }
    link.acknowledgementDelay = { $0 > 5000 ? 500 : 0 }
    let sender = SimulatedSender(.test(), seed: 1)
    link.add(sender)
    link.run(for: 60)
    #expect(sender.longestFreeze(5...60) <= 1100)
    #expect((sender.targets(45...60).min() ?? 0) >= 300_000)
  }

  /// The peer acknowledges all at once, every 400 ms.
  @Test func acknowledgementsInLumps() {
    let link = SimulatedLink { _ in 8e6 }
    link.acknowledgementDelay = { 400 - $0 % 400 }
    let sender = SimulatedSender(.test(), seed: 1)
    link.add(sender)
    link.run(for: 40)
    #expect(sender.longestFreeze(5...40) <= 500)
    #expect(sender.picturesPerSecond(5...40) >= 8)
    #expect(sender.throughput(5...40) >= 300_000)
  }

  /// No acknowledgement ever comes, though the peer gets everything: one picture per second goes on.
  @Test func noAcknowledgements() {
    let link = SimulatedLink { _ in 8e6 }
    link.acknowledgementDelay = { _ in 1 << 30 }
    let sender = SimulatedSender(.test(start: 150_000), seed: 1)
    sender.window = 64 << 20
    sender.sendBuffer = 64 << 20
    link.add(sender)
    link.run(for: 30)
    #expect(sender.picturesPerSecond(5...30) >= 0.9)
  }

  /// Only the kernel's refusal shows that the link is full.
  @Test(arguments: testSeeds(1...3)) func nothingIsKnownAboutAcknowledgements(seed: UInt64) {
    let link = SimulatedLink { $0 < 10 ? 8e6 : 0.6e6 }
    let sender = SimulatedSender(.test(), seed: seed)
    sender.hasTCPInfo = false
    sender.knowsUnacknowledged = false
    link.add(sender)
    link.run(for: 40)
    #expect((sender.targets(0...10).min() ?? 0) == 4e6)
    #expect(sender.targets(20...40).allSatisfy { (0.3e6...1.6e6).contains($0) })
    #expect(sender.picturesPerSecond(20...40) >= 15)
    #expect(sender.throughput(20...40) >= 0.9 * 0.6e6)
  }

  /// A still picture needs little; that says nothing about the link.
  @Test func bitrateDoesNotRiseUnused() {
    let link = SimulatedLink { _ in 8e6 }
    let sender = SimulatedSender(.test(start: 600_000), seed: 1)
    sender.usage = 0.4
    link.add(sender)
    link.run(for: 10)
    // The first key frame is more than its share.
    #expect(sender.controller.targets.bitrate <= 700_000)
    sender.usage = 1
    link.run(for: 5)
    #expect(sender.controller.targets.bitrate == 4_000_000)
    #expect(sender.controller.targets.reason == .ceiling)
  }
}
