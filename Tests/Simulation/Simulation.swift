import SDLHeadUnit

/// Runs scenarios, and makes failing ones short.
package enum Simulation {
  /// What must hold.
  enum Rule: String, Codable {
    /// No byte of a service outside its grant.
    case grant
    /// What goes over the wire are frames.
    case wire
    /// What the head unit has is decodable from its first picture on.
    case decodable
    /// Counters add up.
    case statistics
    /// Queues stay within their bounds.
    case memory
    /// The app breaks no rule that the head unit checks.
    case headUnit = "head-unit"
    /// The head unit says nothing that the app can't place.
    case app
    /// Nothing is in clear that is protected.
    case protection
    /// No deadline stays that has passed.
    case spin
    /// Notifications come where they make sense.
    case notifications
    case decisions
    /// Bitrates are within their limits.
    case rates
    /// The head unit answers each request once, and releases each key.
    case answers
    /// Each request of the application is answered once and in time, and it hears what it has asked for.
    case requests
    /// What is waited for comes within the documented times.
    case pace
    /// Fingers and keys that go down go up again.
    case input
    /// Sound and video have their turns.
    case fairness
    /// App and head unit have the same idea of their state.
    case agreement
    /// What happens is what is written down.
    case conversation
    /// Without faults the picture comes, and the sound.
    case liveness
    /// Stop ends in time.
    case end
    /// All sockets are closed in the end.
    case leak
  }

  enum Note {
    case finding(Rule, String)
    case event(String)
    /// What the session, or a stream, tells the application; for the trace.
    case told(String)
    /// Of the app.
    case state(String)
  }

  /// What is wrong, and when.
  struct Finding: Equatable {
    var rule: Rule
    var text: String
    /// Of the script.
    var step: Int
  }

  /// What has come of a scenario.
  struct Outcome {
    var finding: Finding?
    var tally: Tally
  }

  /// - Parameter provesLiveness: whether the picture has to come in the end; otherwise everybody stops after the script.
  static func outcome(
    of scenario: Scenario, provesLiveness: Bool = true, trace: ((String) -> Void)? = nil
  ) -> Outcome {
    let world = World(scenario, provesLiveness: provesLiveness)
    world.trace = trace
    world.run()
    var outcome = Outcome(finding: world.finding, tally: world.tally)
    if outcome.finding == nil, world.openSocketCount > 0 {
      outcome.finding = Finding(rule: .leak, text: "\(world.openSocketCount) sockets", step: scenario.steps.count)
    }
    return outcome
  }

  /// The shortest script with a finding of the same rule: without parts that do not matter, for as long as `budget`
  /// runs last.
  static func shrunk(_ scenario: Scenario, _ rule: Rule, budget: Int = 400) -> Scenario {
    var best = scenario
    var runs = 0
    func fails(_ candidate: Scenario) -> Bool {
      runs += 1
      return outcome(of: candidate).finding?.rule == rule
    }
    var size = max(best.steps.count / 2, 1)
    while size >= 1 {
      var start = 0
      while start < best.steps.count, runs < budget {
        var candidate = best
        let end = min(start + size, candidate.steps.count)
        // What comes after keeps its time.
        let time = candidate.steps[start..<end].reduce(0) { $0 + $1.after }
        candidate.steps.removeSubrange(start..<end)
        if start < candidate.steps.count { candidate.steps[start].after += time }
        if fails(candidate) { best = candidate } else { start = end }
      }
      size /= 2
    }
    for simpler in simplifications where runs < budget {
      var candidate = best
      simpler(&candidate)
      if fails(candidate) { best = candidate }
    }
    for index in best.steps.indices where runs < budget {
      var candidate = best
      candidate.steps[index].after = 0
      if fails(candidate) { best = candidate }
    }
    return best
  }

  private static let simplifications: [@Sendable (inout Scenario) -> Void] = [
    { $0.apps = Array($0.apps.prefix(1)) },
    { $0.conditions = SimulatedNetwork.Conditions() },
    { $0.commands = [] },
    // Video has no other transport with this preset.
    { $0.offersSecondary = $0.preset == HeadUnitPreset.bluetoothAndWiFi.rawValue },
    { $0.apps[0].webSocket = nil },
    { $0.apps[0].sound = nil },
    { $0.apps[0].video = $0.apps[0].video.map { _ in SimulatedVideo.Plan() } },
    { $0.apps[0].heartbeat = nil },
    { $0.apps[0].encrypts = false },
  ]
}

extension Duration {
  /// "12.345 s".
  var text: String {
    let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    let rest = String(milliseconds % 1000)
    return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest) s"
  }
}

extension String {
  /// Its first words.
  func prefixWord(_ count: Int) -> String { split(separator: " ").prefix(count).joined(separator: " ") }
}
