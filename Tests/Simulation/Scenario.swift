import SDLApp
import SDLHeadUnit
import SDLMessages
import TestSupport

/// What happens in one simulation: who is there, and a script of faults and of what people do. A value that can be kept
/// as JSON.
struct Scenario: Codable {
  /// Without faults the picture has to be there after so long: the longest pause between two attempts, and then the
  /// start. A driver who leaves and returns ends all pauses. A secondary transport that was of no use is avoided for up
  /// to ten minutes.
  private static let livenessBound = Duration.seconds(45)
  private static let boundAfterReturn = Duration.seconds(10)
  private static let boundWithHandshake = Duration.seconds(75)
  private static let avoidanceBound = Duration.seconds(720)

  /// A step of the script.
  struct Step: Codable {
    /// Milliseconds after the step before.
    var after: Int
    /// ``World/perform(_:)`` has the words.
    var action: String
  }

  /// Of what is drawn while it runs.
  var seed: UInt64
  /// Of the head unit (``HeadUnitPreset``).
  var preset: String
  /// Commands of the head unit before the first app connects.
  var commands: [String] = []
  var carEncrypts = false
  var requiresEncryption = false
  var offersSecondary = false
  var conditions = SimulatedNetwork.Conditions()
  var apps: [SimulatedApp.Plan] = []
  var steps: [Step] = []

  /// The scenario of a seed: a swarm of faults, of which most are left out, so that those that are in come often.
  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    self.seed = seed
    preset = random.pick(HeadUnitPreset.allCases).rawValue
    let isEncrypted = random.chance(0.25)
    carEncrypts = isEncrypted && random.chance(0.8)
    offersSecondary = preset == HeadUnitPreset.bluetoothAndWiFi.rawValue || random.chance(0.3)
    let isSlow = random.chance(0.3)
    // What late bytes would excuse is wrong on the network of the other half.
    let isQuiet = random.chance(0.5)
    if !isQuiet { conditions = Self.conditions(&random) }
    let beginsHandshake = isEncrypted && random.chance(0.3)
    for _ in 0..<(random.chance(0.2) ? 2 : 1) {
      var plan = SimulatedApp.Plan()
      // The head unit takes certificates of one app.
      plan.encrypts = isEncrypted && apps.isEmpty && random.chance(0.9)
      plan.beginsHandshake = beginsHandshake
      plan.requiresEncryption = plan.encrypts && carEncrypts && random.chance(0.3)
      plan.isMedia = random.chance(0.3)
      // Most are as the elements have it by default.
      plan.heartbeat = random.chance(0.6) ? 10 : random.pick([2, 30, nil])
      plan.restartsOnForeground = random.chance(0.2)
      plan.usesSecondary = random.chance(0.9)
      plan.queueCapacity = random.chance(0.6) ? 3 : random.pick([1, 10])
      plan.hasPresentation = random.chance(0.3)
      plan.notifications = RequestVocabulary.notifications.filter { _ in random.chance(0.4) }.map { "\($0)" }
      if random.chance(0.9) { plan.video = Self.video(&random, isSlow: isSlow) }
      if plan.video == nil || random.chance(0.5) { plan.sound = Self.sound(&random, isSlow: isSlow) }
      apps.append(plan)
    }
    requiresEncryption = carEncrypts && apps.allSatisfy(\.encrypts) && random.chance(0.3)
    var families = Family.allCases.filter { _ in random.chance(0.4) }.filter { !isQuiet || !$0.delays }
    if families.isEmpty { families = [.driver] }
    for _ in 0..<Int.random(in: 5...80, using: &random) {
      let action = random.pick(families).action(&random, appCount: apps.count)
      steps.append(Step(after: Self.gap(&random, isSlow: isSlow), action: action))
    }
    if random.chance(0.3) {
      let family = random.pick(Family.allCases.filter { $0 == .driver || $0 == .answers })
      commands = (0..<2).map { _ in family.action(&random, appCount: 1) }.filter { $0.hasPrefix("car ") }
        .map { String($0.dropFirst(4)) }
    }
    // Drawn apart, so that everything else is what it was for this seed.
    var transports = SeededGenerator(seed: ~seed)
    for index in apps.indices where transports.chance(0.25) {
      apps[index].webSocket = transports.pick(WebSocketFraming.allCases)
    }
  }

  /// Within which picture and sound have to be there once the faults have ended.
  func livenessBound(_ plan: SimulatedApp.Plan) -> Duration {
    // After a refusal upstream makes another size, which is seen with its next picture.
    let count = mentions("refuse") ? 4 : 2
    let interval = Duration.milliseconds(max(plan.video?.interval ?? 0, plan.sound?.interval ?? 0) * count)
    if offersSecondary { return Self.avoidanceBound + interval }
    if plan.encrypts { return Self.boundWithHandshake + interval }
    return interval + (seed.isMultiple(of: 2) ? Self.boundAfterReturn : Self.livenessBound)
  }

  var configuration: HeadUnitConfiguration {
    var configuration = (HeadUnitPreset(rawValue: preset) ?? .standard).configuration
    if carEncrypts { configuration.security = .accept }
    configuration.requiresRPCEncryption = requiresEncryption
    configuration.beginsHandshake = !(apps.first?.beginsHandshake ?? false)
    if offersSecondary { configuration.behaviour.secondaryTransport = .served }
    return configuration
  }

  /// Of what upstream makes at first.
  var firstSize: VideoSize? {
    let configuration = configuration
    let resolution = configuration.videoCapability?.preferredResolution ?? configuration.screen
    return VideoSize(resolution.width & ~1, resolution.height & ~1)
  }

  /// The RPCs that the head unit does not answer at some time.
  var unanswered: Set<String> {
    let answers = (steps.map(\.action) + commands).filter { $0.contains("answer ") && $0.hasSuffix(" silence") }
    let names = answers.compactMap { answer in
      answer.split(separator: " ").drop { $0 != "answer" }.dropFirst().first.map(String.init)
    }
    return Set(names.map { $0 == "get-capability" ? "GetSystemCapability" : $0 })
  }

  /// Whether a step or command has these words.
  func mentions(_ words: String) -> Bool { (steps.map(\.action) + commands).contains { $0.contains(words) } }

  private static func gap(_ random: inout SeededGenerator, isSlow: Bool) -> Int {
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<4: 0
    case 4..<9: .random(in: 0...60, using: &random)
    case 9..<15: .random(in: 0...2500, using: &random)
    case 15..<19: .random(in: 0...15_000, using: &random)
    default: .random(in: 0...(isSlow ? 4 * 3_600_000 : 40_000), using: &random)
    }
  }

  static func conditions(_ random: inout SeededGenerator) -> SimulatedNetwork.Conditions {
    var conditions = SimulatedNetwork.Conditions()
    if random.chance(0.5) { conditions.delay = random.pick([0, 2, 20, 120, 700]) }
    if random.chance(0.3) { conditions.rate = random.pick([30_000, 200_000, 2_000_000]) }
    if random.chance(0.3) { conditions.piece = random.pick([20, 100, 1500]) }
    if random.chance(0.3) { conditions.capacity = random.pick([200, 4096, 32 << 10]) }
    return conditions
  }

  private static func video(_ random: inout SeededGenerator, isSlow: Bool) -> SimulatedVideo.Plan {
    var plan = SimulatedVideo.Plan()
    plan.interval = isSlow ? random.pick([5000, 20_000, 60_000]) : random.pick([40, 200, 400, 1500, 1500])
    plan.isLive = random.chance(0.6)
    plan.isRaw = random.chance(0.7)
    plan.sizes = random.chance(0.2) ? ["800x480", "480x320", "800x380", "960x600"] : nil
    plan.suspendPolicy = (random.chance(0.6) ? .auto : random.pick(SuspendPolicy.allCases)).rawValue
    plan.resizePolicy =
      (random.chance(0.6) ? .renegotiate : random.pick(ResizePolicy.allCases.dropLast())).rawValue
    plan.byteCount = random.pick([60, 300, 3000])
    plan.followsLink = random.chance(0.7)
    plan.followsRequests = random.chance(0.7)
    return plan
  }

  private static func sound(_ random: inout SeededGenerator, isSlow: Bool) -> SimulatedSound.Plan {
    var plan = SimulatedSound.Plan()
    plan.interval = isSlow ? 20_000 : random.pick([200, 1000, 2000])
    plan.isLive = random.chance(0.6)
    plan.suspendPolicy = random.pick(SuspendPolicy.allCases).rawValue
    plan.startsOnData = random.chance(0.4)
    return plan
  }
}

extension SeededGenerator {
  /// `choices` must not be empty.
  mutating func pick<T>(_ choices: [T]) -> T { choices[Int.random(in: 0..<choices.count, using: &self)] }

  mutating func pick<T>(_ choices: ArraySlice<T>) -> T { pick(Array(choices)) }

  mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &self) < share }
}

extension SimulatedApp {
  /// What the user has set.
  struct Plan: Codable {
    var video: SimulatedVideo.Plan?
    var sound: SimulatedSound.Plan?
    var isMedia = false
    var encrypts = false
    var requiresEncryption = false
    var beginsHandshake = false
    /// Seconds between heartbeats; nil for none.
    var heartbeat: Int?
    var restartsOnForeground = false
    var usesSecondary = true
    var queueCapacity = 3
    /// The app has an icon, and a name in another language.
    var hasPresentation: Bool?
    /// Nil for TCP.
    var webSocket: WebSocketFraming?
    /// What the application hears of from the beginning.
    var notifications: [String]?
  }
}
