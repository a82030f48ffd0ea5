import Glibc
import TestSupport
import Testing

@testable import SDLApp

/// Random orders of everything that can happen. Each step is checked; in the end, a willing head unit gets its stream.
@Suite struct VideoNegotiationPropertyTests {
  private static let sizes = [
    VideoSize(800, 380), VideoSize(480, 320), VideoSize(320, 240), VideoSize(64, 48),
  ]

  /// `SDL_TEST_SEED`, or always the same ones; the name of a failed case tells its seed.
  private static let seeds: [UInt64] =
    getenv("SDL_TEST_SEED").flatMap { UInt64(String(cString: $0)) }.map { [$0] } ?? Array(1...300)

  /// The world around the negotiation, and what must hold of it.
  private final class World {
    let driver: NegotiationDriver
    private(set) var random: SeededGenerator
    private(set) var steps: [String] = []
    private var hasPlayed = false
    private var isEnded = false
    private(set) var isFlushing = false

    init(seed: UInt64) {
      random = SeededGenerator(seed: seed)
      let policies = (
        SuspendPolicy.allCases.randomElement(using: &random),
        ResizePolicy.allCases.dropLast().randomElement(using: &random)
      )
      driver = NegotiationDriver {
        $0.suspendPolicy = policies.0 ?? .auto
        $0.resizePolicy = policies.1 ?? .renegotiate
      }
    }

    private func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    private func someSizes() -> [VideoSize] {
      Array(VideoNegotiationPropertyTests.sizes.shuffled(using: &random).prefix(number(0..<4)))
    }

    func step() {
      let kind = number(0..<24)
      steps.append("\(kind)")
      switch kind {
      case 0, 1:
        driver.announce(
          someSizes(), fallbacks: someSizes(), over: [[.raw], [.rtp, .raw], [.rtp]][number(0..<3)])
      case 2:
        let limit = [0, 400, 700, 1000][number(0..<4)]
        driver.rejection = { $0.size.width > limit ? "too wide" : nil }
        driver.choose(.ranges)
      case 3, 4: driver.input(VideoNegotiationPropertyTests.sizes[number(0..<4)], isRaw: number(0..<3) > 0)
      case 5: driver.input(nil, isRaw: false)
      case 6: driver.upstreamSizes = number(0..<2) == 0 ? nil : someSizes()
      case 7: driver.show([.none, .background, .limited, .full][number(0..<4)], isStreamable: number(0..<4) > 0)
      case 8: driver.show()
      case 9: driver.setAppState(AppState.allCases[number(0..<4)])
      case 10: driver.setAppState(.foreground)
      case 11: play()
      case 12: driver.change { $0.paused() }
      case 13:
        driver.change { $0.streamEnded() }
        isEnded = true
      case 14: begin()
      case 15: setFlushing(number(0..<2) == 0)
      case 16: if driver.running != nil { driver.stop(number(0..<2) == 0 ? .headUnit : .restarted) }
      case 17: driver.loseConnection()
      case 18:
        driver.refusals = (0..<number(0..<3)).map { _ in [nil, ["width"], ["videoProtocol"], []][number(0..<4)] }
      case 19: driver.overridingSize = number(0..<3) == 0 ? VideoNegotiationPropertyTests.sizes[number(0..<4)] : nil
      case 20: driver.renegotiate()
      case 21: driver.wait(.milliseconds(number(1..<300)))
      default: driver.runSession()
      }
      for _ in 0..<number(0..<3) { sendFrame() }
      check()
    }

    func play() {
      driver.change { $0.played() }
      hasPlayed = true
    }

    func begin() {
      driver.change { $0.streamBegan() }
      isEnded = false
    }

    func setFlushing(_ isOn: Bool) {
      isFlushing = isOn
      driver.change { $0.setFlushing(isOn) }
    }

    private func sendFrame() {
      let isUsable = driver.running != nil && driver.appState.isInForeground && !driver.isSuspended
      let outcome = driver.frame([.live, .synchronized, .unsynchronized][number(0..<3)])
      // Frames come in PLAYING alone.
      hasPlayed = true
      #expect(outcome != "undecided", "\(steps)")
      #expect(outcome != "sent" || (isUsable && !isFlushing), "\(steps)")
    }

    private func check() {
      let negotiation = driver.negotiation
      if let request = driver.request {
        #expect(hasPlayed && !isEnded && negotiation.inputSize != nil, "\(steps)")
        #expect(!driver.announcedProtocols.isEmpty, "\(steps)")
        #expect(request.isBare || driver.announcedProtocols.contains(request.streamingProtocol), "\(steps)")
        #expect(!request.isBare || driver.hasRefused, "\(steps)")
      }
      if let permission = negotiation.permission {
        #expect(
          permission.grant == negotiation.grantWithTime?.grant && permission.grant.size == negotiation.inputSize,
          "\(steps)")
        #expect(!negotiation.isInputRefused && !negotiation.supportsNone, "\(steps)")
        #expect(driver.appState.isInForeground && !driver.isSuspended, "\(steps)")
      }
      // Without an input nothing follows.
      var copy = negotiation
      let outputs = copy.takeOutputs(at: driver.now)
      #expect(outputs.allSatisfy { if case .setTimer = $0 { true } else { false } }, "\(steps)")
    }
  }

  /// Each notification where it makes sense: nothing starts twice, and nothing is suspended, stopped or resized that
  /// has not begun.
  private func expectOrder(_ log: [String], _ world: World) {
    var state = "stopped"
    var isPaused = false
    var request = "nothing"
    for line in log {
      let word = line.split(separator: " ").first.map(String.init) ?? ""
      switch word {
      case "started", "suspended":
        #expect(state != word, "\(log) after \(world.steps)")
        state = word
      case "stopped":
        #expect(state != "stopped", "\(log) after \(world.steps)")
        state = word
      case "resized": #expect(state == "started", "\(log) after \(world.steps)")
      case "pause", "play":
        #expect(isPaused == (word == "play"), "\(log) after \(world.steps)")
        isPaused = word == "pause"
      case "request":
        let next = String(line.dropFirst("request ".count))
        #expect(next != request, "\(log) after \(world.steps)")
        request = next
      default: break
      }
    }
  }

  @Test(arguments: seeds) func everythingAtOnce(seed: UInt64) {
    let world = World(seed: seed)
    let driver = world.driver
    for _ in 0..<150 where driver.error == nil { world.step() }
    guard driver.error == nil else {
      expectOrder(driver.take(), world)
      return
    }
    world.setFlushing(false)
    driver.refusals = []
    driver.overridingSize = nil
    driver.rejection = { _ in nil }
    driver.upstreamSizes = nil
    driver.loseConnection()
    driver.announce(Self.sizes)
    driver.show()
    driver.setAppState(.foreground)
    driver.input(Self.sizes[2])
    world.begin()
    world.play()
    var outcome = ""
    for _ in 0..<10 where outcome != "sent" {
      driver.wait(.milliseconds(100))
      driver.runSession()
      outcome = driver.frame()
      driver.renegotiate()
    }
    #expect(outcome == "sent", "seed \(seed): \(world.steps)")
    expectOrder(driver.take(), world)
  }
}
