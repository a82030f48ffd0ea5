import TestSupport
import Testing

@testable import LinkSimulation
@testable import SDLApp

/// Single samples: what makes the link ready, limits, clocks that jump, and numbers that can't be.
@Suite struct RateControllerSampleTests {
  private func sample(
    _ milliseconds: Int, handed: UInt64, unacknowledged: UInt64? = 0, unsent: UInt64? = 0, isBlocked: Bool = false
  ) -> LinkSample {
    LinkSample(
      time: .milliseconds(milliseconds), handedByteCount: handed, unacknowledgedByteCount: unacknowledged,
      unsentByteCount: unsent, isBlocked: isBlocked)
  }

  /// A controller that knows a path of 10 ms.
  private func controller(maximumLatency: Duration = .milliseconds(200)) -> RateController {
    var controller = RateController.test(start: 600_000, maximumLatency: maximumLatency)
    _ = controller.update(sample(0, handed: 0))
    _ = controller.update(sample(10, handed: 5000, unacknowledged: 0))
    return controller
  }

  @Test func readyWhileWhatWaitsIsYoung() {
    var controller = controller()
    _ = controller.update(sample(20, handed: 5000))
    _ = controller.update(sample(60, handed: 25_000, unacknowledged: 20_000))
    #expect(controller.readiness == .ready)
    _ = controller.update(sample(90, handed: 25_000, unacknowledged: 20_000))
    // 70 ms, of which the path has 10 and a quarter of the maximum latency is 50.
    #expect(controller.readiness == .wait(.milliseconds(10)))
    _ = controller.update(sample(91, handed: 25_000, unacknowledged: 1000))
    #expect(controller.readiness == .ready)
  }

  @Test func noBoundIsAlwaysReady() {
    var controller = controller(maximumLatency: .zero)
    _ = controller.update(sample(20, handed: 5000))
    _ = controller.update(sample(2000, handed: 500_000, unacknowledged: 400_000, isBlocked: true))
    #expect(controller.readiness == .ready)
    #expect(controller.targets.maximumPictureBits == nil)
  }

  @Test func onePicturePerSecondInAnyCase() {
    var controller = controller()
    _ = controller.update(sample(20, handed: 25_000, unacknowledged: 20_000))
    _ = controller.update(sample(1010, handed: 25_000, unacknowledged: 20_000))
    #expect(controller.readiness == .wait(.milliseconds(20)))
    #expect(controller.targets.reason == .stalled)
    _ = controller.update(sample(1020, handed: 25_000, unacknowledged: 20_000))
    #expect(controller.readiness == .ready)
    // But not what the kernel would keep.
    _ = controller.update(sample(1030, handed: 25_000, unacknowledged: 20_000, unsent: 1))
    #expect(controller.readiness == .wait(.milliseconds(20)))
    _ = controller.update(sample(1040, handed: 25_000, unacknowledged: 20_000, isBlocked: true))
    #expect(controller.readiness == .wait(.milliseconds(20)))
  }

  /// A picture that comes encoded is dropped when it would be much too late; a key frame after 2 s is not.
  @Test func encodedPicturesThatWouldBeLate() {
    var controller = controller()
    _ = controller.update(sample(20, handed: 25_000, unacknowledged: 20_000))
    _ = controller.update(sample(600, handed: 25_000, unacknowledged: 20_000))
    #expect(!controller.isLate(isKeyFrameNeeded: false, sinceSent: .zero))
    _ = controller.update(sample(700, handed: 25_000, unacknowledged: 20_000))
    #expect(controller.isLate(isKeyFrameNeeded: false, sinceSent: .seconds(60)))
    #expect(controller.isLate(isKeyFrameNeeded: true, sinceSent: .milliseconds(1999)))
    #expect(!controller.isLate(isKeyFrameNeeded: true, sinceSent: .seconds(2)))
    #expect(!self.controller(maximumLatency: .zero).isLate(isKeyFrameNeeded: false, sinceSent: .zero))
  }

  @Test func withoutAcknowledgementsTheKernelDecides() {
    var controller = RateController.test()
    _ = controller.update(sample(0, handed: 0, unacknowledged: nil, unsent: nil))
    _ = controller.update(sample(500, handed: 900_000, unacknowledged: nil, unsent: nil))
    #expect(controller.readiness == .ready)
    _ = controller.update(sample(510, handed: 900_000, unacknowledged: nil, unsent: nil, isBlocked: true))
    #expect(controller.readiness == .wait(.milliseconds(20)))
  }

  @Test func limitsMayChange() {
    var controller = RateController.test()
    #expect(controller.targets.bitrate == 4_000_000)
    controller.limits.maximumBitrate = 1_000_000
    #expect(controller.targets.bitrate == 1_000_000)
    #expect(controller.targets.frameRate == 30)
    // The minimum gives way.
    controller.limits.maximumBitrate = 100_000
    #expect(controller.targets.bitrate == 100_000)
    #expect(controller.targets.frameRate == 30)
    controller.limits.maximumBitrate = 0
    #expect(controller.targets.bitrate == 1)
  }

  @Test(arguments: [0, -1, .nan, .infinity, -.infinity, 1e300]) func impossibleFrameRates(frameRate: Double) {
    var controller = RateController(
      limits: .init(minimumBitrate: .min, maximumBitrate: .max, frameRate: frameRate), start: .max)
    for step in 0..<200 {
      let targets = controller.update(sample(10 * step, handed: UInt64(step) * 1000, unacknowledged: 900))
      #expect(targets.bitrate >= 1)
      #expect(targets.frameRate >= 1)
    }
  }

  /// The stream goes on, with the bitrate that there was.
  @Test(arguments: [-1000, -5, 11, 100_000]) func clockJumps(seconds: Int) {
    let link = SimulatedLink { _ in 0.6e6 }
    let sender = SimulatedSender(.test(start: 600_000), seed: 1)
    link.add(sender)
    link.run(for: 20)
    let before = sender.controller.targets.bitrate
    sender.clockOffset = .seconds(seconds)
    link.run(for: 0.1)
    #expect(abs(sender.controller.targets.bitrate - before) < before / 10)
    link.run(for: 10)
    #expect(sender.longestFreeze(19...30) <= 300)
    #expect(sender.delays(21...30).percentile(0.95) <= 200)
    #expect((0.5e6...0.75e6).contains(Double(sender.controller.targets.bitrate)))
  }

  /// Any samples, also such as no kernel gives.
  @Test(arguments: testSeeds(1...20)) func anySamples(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let limits = RateController.Limits(minimumBitrate: 150_000, maximumBitrate: 4_000_000, frameRate: 30)
    var controller = RateController(limits: limits, start: 600_000)
    var time = 0
    func count() -> UInt64 {
      switch Int.random(in: 0..<4, using: &random) {
      case 0: .max
      case 1: .random(in: 0...2000, using: &random)
      case 2: .random(in: 0...1_000_000, using: &random)
      default: 0
      }
    }
    for _ in 0..<500 {
      time += Int.random(in: -3...40, using: &random)
      let sample = LinkSample(
        time: .milliseconds(time), handedByteCount: count(),
        unacknowledgedByteCount: .random(using: &random) ? count() : nil,
        unsentByteCount: .random(using: &random) ? count() : nil, isBlocked: .random(using: &random),
        roundTrip: .random(using: &random)
          ? .init(smoothed: .microseconds(Int64(count() >> 8)), minimum: .microseconds(Int64(count() >> 8))) : nil)
      let targets = controller.update(sample)
      #expect((150_000...4_000_000).contains(targets.bitrate), "seed \(seed)")
      #expect((1...30).contains(targets.frameRate), "seed \(seed)")
      #expect(targets.sentBitrate <= targets.bitrate, "seed \(seed)")
      if case .wait(let wait) = controller.readiness {
        #expect((.milliseconds(2)...Duration.milliseconds(20)).contains(wait), "seed \(seed)")
      }
    }
  }

  /// A picture waits as long as the bytes before it are too old, but never less than 2 ms, nor more than 20.
  @Test(arguments: [(81, 2), (84, 4), (95, 15), (130, 20)]) func waitingTimes(time: Int, wait: Int) {
    var controller = controller()
    _ = controller.update(sample(20, handed: 5000))
    _ = controller.update(sample(60, handed: 25_000, unacknowledged: 20_000))
    _ = controller.update(sample(time, handed: 25_000, unacknowledged: 20_000))
    #expect(controller.readiness == .wait(.milliseconds(wait)))
  }
}
