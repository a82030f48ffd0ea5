import TestSupport
import Testing

@testable import LinkSimulation
@testable import SDLApp

/// Pictures that an encoder upstream makes at the bitrate that it is told, over a link of 600 kbit/s: one that is
/// dropped costs those up to the next key frame.
@Suite struct RateControllerUpstreamTests {
  /// An encoder and a link.
  struct Case: CustomTestStringConvertible, Sendable {
    var seed: UInt64
    var framesPerSecond = 30.0
    /// Milliseconds between key frames.
    var keyFrameInterval = 2000
    var keyFrameSize = 4.0
    var answersRequests = true
    /// One way, in milliseconds.
    var propagation = 3
    /// What the encoder begins with.
    var start = 600_000
    var testDescription: String {
      "seed \(seed), \(Int(framesPerSecond)) pictures/s, key frames of \(keyFrameSize) each \(keyFrameInterval) ms"
        + "\(answersRequests ? "" : ", none on request"), \(propagation) ms, from \(start / 1000) kbit/s"
    }
  }

  static let cases = testSeeds(1...3).flatMap { seed in
    [
      Case(seed: seed), Case(seed: seed, framesPerSecond: 15), Case(seed: seed, keyFrameSize: 8),
      Case(seed: seed, keyFrameInterval: 8000), Case(seed: seed, answersRequests: false),
      Case(seed: seed, propagation: 30), Case(seed: seed, start: 300_000), Case(seed: seed, start: 1_500_000),
    ]
  }

  /// What an encoder begins with by default is more than the link carries: a group is lost, and the picture goes on.
  @Test(arguments: [1_152_000, 2_500_000], testSeeds(1...3)) func narrowFromTheStart(start: Int, seed: UInt64) {
    let link = SimulatedLink { _ in 0.6e6 }
    let limits = RateController.Limits(
      minimumBitrate: 200_000, maximumBitrate: 4_000_000, frameRate: 30, maximumLatency: .milliseconds(150),
      isEncoderUpstream: true)
    let sender = SimulatedSender(RateController(limits: limits, start: start), seed: seed)
    sender.isEncoderUpstream = true
    sender.window = 8 << 10
    link.add(sender)
    link.run(for: 6)
    let first = sender.pictures.first?.shown ?? .max
    #expect(first <= 600 && sender.longestFreeze(0.6...5) <= 600, "\(first), \(sender.longestFreeze(0.6...5))")
  }

  @Test(arguments: cases) func narrowLink(_ test: Case) {
    let link = SimulatedLink { _ in 0.6e6 }
    link.propagation = test.propagation
    let limits = RateController.Limits(
      minimumBitrate: 200_000, maximumBitrate: 2_000_000, frameRate: test.framesPerSecond,
      maximumLatency: .milliseconds(150), isEncoderUpstream: true)
    let sender = SimulatedSender(RateController(limits: limits, start: test.start), seed: test.seed)
    sender.isEncoderUpstream = true
    sender.answersRequests = test.answersRequests
    sender.keyFrameInterval = test.keyFrameInterval
    sender.keyFrameSize = test.keyFrameSize
    sender.window = 8 << 10
    link.add(sender)
    link.run(for: 60)
    // A bitrate that is known to be too high from the beginning has to fall first.
    let steady = 15.0...59.0
    let targets = sender.targets(steady)
    let delays = sender.delays(steady)
    let lost = sender.drops.count { steady.contains(Double($0) / 1000) }
    let share = Double(lost) / Double(max(lost + delays.count, 1))
    let text =
      "\(test): lost \(share), p50 \(delays.percentile(0.5)), p95 \(delays.percentile(0.95)), targets"
      + " \((targets.min() ?? 0) / 1000) to \((targets.max() ?? 0) / 1000)"
    #expect(share <= 0.05, "\(text)")
    #expect(delays.percentile(0.95) <= 500, "\(text)")
    // Between key frames that are far apart the link seems to carry more.
    let highest = test.keyFrameInterval > 2000 ? 700_000.0 : 615_000
    #expect((targets.min() ?? 0) >= 450_000 && (targets.max() ?? .infinity) <= highest, "\(text)")
    #expect(sender.throughput(steady) >= 420_000, "\(text) \(sender.throughput(steady))")
    // Whatever is told the encoder in one second is at most a tenth more.
    for second in stride(from: 15.0, to: 59, by: 1) {
      let rates = sender.targets(second...second + 1)
      #expect((rates.last ?? 0) <= 1.11 * (rates.first ?? 0), "\(text) at \(second)")
    }
  }
}
