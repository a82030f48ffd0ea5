import SDLApp
import SDLHeadUnit
import SDLMessages
import TestSupport

@testable import SDLAppLink
@testable import SDLHeadUnitLink
@testable import SDLLink

/// One simulation: a car, its apps, a network, and what must hold of them at each step.
final class World {
  /// As many turns at one moment mean that a loop spins.
  private static let mostTurns = 1000
  /// After as many turns the rest of the script is left out: hours of reconnecting in small pieces take minutes, in which others find more.
  private static let mostTurnsOfScript = 150_000
  /// After so long without a fault, no connection is lost because of one: two heartbeats, and as long again.
  private static let longestConsequence = Duration.seconds(120)

  let scenario: Scenario
  private(set) var finding: Simulation.Finding?
  private(set) var tally = Tally()
  private let network: SimulatedNetwork
  private var car: SimulatedCar?
  private var apps: [SimulatedApp] = []
  private var watches: [String: WireWatch] = [:]
  private var webSockets = WebSocketWatch()
  private var headUnit: HeadUnitWatch
  /// When something has last happened that may cost a connection; the first ones are made now.
  private var lastFault: Duration
  private var step = 0
  /// The head unit's machine always works, and its heartbeats are those of SDL Core.
  private var watchesSilence: Bool
  /// When the head unit has last read anything of an app, by its address.
  private var heardFrom: [String: Duration] = [:]
  /// Those of ``Agreement``.
  private var events: Set<String> = []
  private var turnCount = 0
  private var began: Duration
  /// Until when the network, or a machine, may have been late.
  private var disturbedUntil = Duration.zero
  /// With each line of what happens.
  var trace: ((String) -> Void)?
  private var flow = MediaFlow()
  private let provesLiveness: Bool

  init(_ scenario: Scenario, provesLiveness: Bool = true) {
    self.scenario = scenario
    self.provesLiveness = provesLiveness
    headUnit = HeadUnitWatch(scenario)
    watchesSilence = !["heartbeat", "car stall", "stand car"].contains(where: scenario.mentions)
    network = SimulatedNetwork(seed: scenario.seed)
    network.conditions = scenario.conditions
    began = network.now
    lastFault = network.now
    network.tap = { [weak self] bytes, end, isSent in self?.tap(bytes, end, isSent: isSent) }
  }

  /// Simulated time.
  var elapsed: Duration { network.now - began }

  private func write(_ line: String) {
    guard let trace, provesLiveness || !flow.take(line) else { return }
    for line in flow.end() { trace("\(elapsed.text)     \(line)") }
    trace("\(elapsed.text) \(line)")
  }

  private func find(_ rule: Simulation.Rule, _ text: String) {
    if finding == nil {
      write("FOUND \(rule.rawValue): \(text)")
      finding = Simulation.Finding(rule: rule, text: text, step: step)
    }
  }

  private func take(_ note: Simulation.Note, of name: String) {
    switch note {
    case .finding(let rule, let text): find(rule, text)
    case .event(let text):
      if text.hasPrefix("lost"), let fault = unexplainedLoss(text) { find(.pace, fault) }
      write("  \(text)")
      tally.count(event: text)
    case .told(let text): write("  \(name) \(text)")
    case .state(let state): tally.reached(state)
    }
  }

  /// No connection is lost unless something has happened to it, or to one of the machines.
  private func unexplainedLoss(_ text: String) -> String? {
    let lasting = ["heartbeat", "register", "start-session", "refuse-connections", "start-tls", "language"]
    let isExplained =
      scenario.apps.contains(where: \.encrypts) || lasting.contains(where: scenario.mentions)
      || network.now - lastFault < Self.longestConsequence || isDisturbed
    return isExplained ? nil : "\(text) although nothing has happened for \((network.now - lastFault).text)"
  }

  // MARK: The course

  func run() {
    let encrypts = scenario.carEncrypts
    guard let car = try? SimulatedCar(scenario.configuration, encrypts: encrypts, network: network) else { return }
    self.car = car
    for command in scenario.commands where car.perform(command) {
      noteEvent(command.split(separator: " ").map(String.init))
    }
    for (index, plan) in scenario.apps.enumerated() { apps.append(makeApp(plan, index)) }
    for (index, step) in scenario.steps.enumerated() where finding == nil && turnCount < Self.mostTurnsOfScript {
      self.step = index
      run(for: .milliseconds(step.after), atMostTurns: Self.mostTurnsOfScript)
      if .milliseconds(step.after) > Agreement.settling { checkAgreement() }
      write("> \(step.action)")
      perform(step.action)
      settle()
    }
    step = scenario.steps.count
    if finding == nil, provesLiveness { calmDown(car) }
    if finding == nil { end(car) }
    tally.simulated += elapsed
    tally.sessions += 1
    tally.steps += step
  }

  private func makeApp(_ plan: SimulatedApp.Plan, _ index: Int) -> SimulatedApp {
    let app = SimulatedApp(
      plan, name: "app\(index)", seed: scenario.seed &+ UInt64(index), host: Self.host(index),
      offersSecondary: scenario.offersSecondary || scenario.mentions("secondary-transport"),
      unanswered: scenario.unanswered, network: network,
      trace: trace.map { _ in { [unowned self] in write($0) } },
      note: { [unowned self] in take($0, of: "app\(index)") })
    app.disturbedUntil = { [unowned self] in isDisturbed ? network.now : disturbedUntil }
    app.video?.setCaps(scenario.firstSize, isRaw: plan.video?.isRaw ?? true)
    app.video?.play()
    app.sound?.play()
    return app
  }

  private static func host(_ index: Int) -> String { "192.0.2.\(2 + index)" }

  /// - Parameter mostTurns: of all so far; ends earlier if there are more.
  private func run(for time: Duration, atMostTurns mostTurns: Int = .max) {
    let target = network.now + time
    settle()
    while finding == nil, let next = nextEvent, next <= target {
      guard turnCount < mostTurns else { return }
      pass(to: next)
    }
    pass(to: target)
  }

  /// Time passes, in which nothing happens.
  private func pass(to time: Duration) {
    network.advance(to: time)
    for app in apps { app.check() }
    if let fault = headUnit.fault(now: network.now) ?? silentApp() { find(.headUnit, fault) }
    if let fault = missingAnswer() { find(.answers, fault) }
    settle()
  }

  private var nextEvent: Duration? {
    apps.reduce(network.nextArrival.earlier(car?.nextDeadline)) { $0.earlier($1.nextDeadline) }
  }

  /// Lets everybody do what there is to do at this moment.
  private func settle() {
    guard let car else { return }
    var turns = 0
    var moved = network.movedByteCount
    var isActive = true
    while isActive, finding == nil {
      isActive = false
      var ready = ""
      for app in apps where app.isReady() {
        if turns == Self.mostTurns { ready += "\(app.readiness) " }
        app.takeTurn()
        isActive = true
        check(app)
      }
      if car.isReady() {
        if turns == Self.mostTurns { ready += car.readiness }
        car.takeTurn()
        isActive = true
      }
      for event in car.takeEvents() { take(event) }
      network.advance(to: network.now)
      // What moves bytes goes on, however small the pieces.
      turns = network.movedByteCount == moved ? turns + 1 : 0
      turnCount += 1
      moved = network.movedByteCount
      if turns > Self.mostTurns { find(.spin, "\(turns) turns at one moment: \(ready)") }
    }
  }

  // MARK: Steps

  /// Carries out an action; what makes no sense at the moment has no effect.
  private func perform(_ action: String) {
    let words = action.split(separator: " ").map(String.init)
    let numbers = words.compactMap { Int($0) }
    tally.count(fault: words.prefix(words[0] == "app" || words[0] == "stand" ? 3 : 2).filter { Int($0) == nil })
    if words[0] != "app", !DriverCommands.harmless.contains(words[1]) { lastFault = network.now }
    switch words[0] {
    case "car":
      if words.contains("stall") {
        disturb(for: .seconds(60))
        headUnit.standsStill()
      }
      noteEvent(Array(words.dropFirst()))
      if action.contains("vehicle speed") {
        for app in apps where headUnit.status(of: app.name).map({ $0.level != HMILevel.none }) ?? false {
          app.speedChanged()
        }
      }
      if words[1] == "secondary-transport" { watches.keys.forEach { watches[$0]?.secondaryChanged() } }
      if ["resize", "update"].contains(words[1]) { headUnit.resized = network.now }
      if ["player", "data-timeout"].contains(words[1]) { headUnit.countsSilence = false }
      // What is answered once would wait for the next app.
      if words.contains("once"), !apps.contains(where: { $0.status.headUnit != nil }) { return }
      if car?.perform(words.dropFirst().joined(separator: " ")) == false { find(.decisions, "no command: \(action)") }
    case "net": performNetwork(words, numbers)
    case "stand":
      let until = network.now + .milliseconds(numbers.last ?? 0)
      disturb(for: Duration.milliseconds(numbers.last ?? 0) + .seconds(30))
      if words[1] == "car" {
        car?.standStill(until: until)
        headUnit.standsStill()
      } else {
        app(numbers)?.standStill(until: until)
      }
    case "app": performApp(words, numbers)
    default: find(.decisions, "no action: \(action)")
    }
  }

  private func noteEvent(_ command: [String]) {
    guard DriverCommands.events.contains(command[0]) else { return }
    if command[1] == "on" { events.insert(command[0]) } else { events.remove(command[0]) }
  }

  private func app(_ numbers: [Int]) -> SimulatedApp? {
    numbers.first.flatMap { apps.indices.contains($0) ? apps[$0] : nil }
  }

  private func disturb(for time: Duration) { disturbedUntil = max(disturbedUntil, network.now + time) }

  private func performNetwork(_ words: [String], _ numbers: [Int]) {
    disturb(for: .seconds(60))
    let path = words.count > 2 ? SimulatedNetwork.Path(rawValue: words[2]) ?? .primary : .primary
    let time = Duration.milliseconds(numbers.first ?? 0)
    switch words[1] {
    case "stall": network.stall(path, for: time)
    case "cut": network.cut(path, gap: time)
    case "silence": network.silence(path, for: time)
    case "half-close": network.halfClose(path, fromCar: words.last == "car")
    case "conditions" where numbers.count == 4:
      network.conditions = .init(
        delay: numbers[0], rate: numbers[1] == 0 ? nil : numbers[1], piece: numbers[2], capacity: numbers[3])
    default: find(.decisions, "no action: \(words)")
    }
  }

  private func performApp(_ words: [String], _ numbers: [Int]) {
    guard let app = app(numbers), words.count > 2 else { return }
    if words[2] == "start" { restart(app) } else { app.perform(words, numbers) }
  }

  /// The application makes the app anew, if it has ended.
  private func restart(_ app: SimulatedApp, change: (inout SimulatedApp.Plan) -> Void = { _ in }) {
    guard app.hasEnded, let index = apps.firstIndex(where: { $0 === app }) else { return }
    var plan = app.plan
    change(&plan)
    apps[index] = makeApp(plan, index)
  }

  // MARK: After the faults

  /// Faults end, and driver, app and head unit want the picture: it has to come.
  private func calmDown(_ car: SimulatedCar) {
    write("calm")
    lastFault = network.now
    watchesSilence = false
    // What is on its way stays late.
    if network.conditions.isSlow { disturb(for: .seconds(60)) }
    network.conditions = SimulatedNetwork.Conditions()
    headUnit.countsSilence = false
    events = []
    for command in DriverCommands.calm where !car.perform(command) { find(.decisions, "no command: \(command)") }
    _ = car.perform("secondary-transport \(scenario.offersSecondary ? "on" : "off")")
    watches.keys.forEach { watches[$0]?.secondaryChanged() }
    // Which transports may carry what is agreed on at the beginning of a session; what was answered once, or was not
    // true, holds until its end.
    let actions = scenario.steps.map(\.action)
    if scenario.offersSecondary
      || actions.contains(where: { action in ["transport", "update"].contains(where: action.contains) })
      // Refused eight times, sound is not asked for again; an unanswered handshake is awaited until the session's end.
      || (actions + scenario.commands).contains(where: { command in
        ["once", "start-audio nak", "start-tls silence"].contains(where: command.contains)
      })
    {
      network.cut(.primary, gap: .zero)
    }
    // What has stalled, or was answered by nobody, runs out; the driver has nothing to do with it yet.
    run(for: .seconds(40))
    for app in apps.dropFirst() { app.stop() }
    guard finding == nil, let app = register() else { return }
    let name = app.name
    app.video?.setFlushing(false)
    app.video?.plan.sizes = nil
    app.video?.widestDisplay = .max
    app.video?.beginStream()
    app.video?.choose(.ranges)
    app.video?.setCaps(app.video?.negotiation.acceptedDisplays?.first?.streamSize ?? scenario.firstSize, isRaw: true)
    app.video?.setAppState(.foreground)
    app.video?.play()
    app.sound?.setSilent(false)
    app.sound?.play()
    app.wake()
    guard let id = headUnit.session(of: name) else { return find(.liveness, "registered without a session") }
    // In half of the scenarios the driver closes the app first, which makes up for much.
    if scenario.seed.isMultiple(of: 2) {
      car.server?.control(.app(id)) {
        $0.setHMIStatus(HMIStatus(level: .some(.none), videoStreamingState: .notStreamable), now: $1)
      }
      car.wake()
      run(for: .seconds(3))
    }
    _ = car.perform("activate \(id)")
    let (pictures, sounds) = (headUnit.pictures[name] ?? 0, headUnit.sounds[name] ?? 0)
    let bound = scenario.livenessBound(app.plan)
    let deadline = network.now + bound
    func isThere() -> Bool {
      // A refusal that is still in store may be final, as that of the only codec is.
      let isRefused = scenario.mentions("refuse ") && app.video?.problem != nil
      return (app.video == nil || isRefused || headUnit.pictures[name] ?? 0 > pictures)
        && (app.sound == nil || headUnit.sounds[name] ?? 0 > sounds)
    }
    while finding == nil, !isThere(), network.now < deadline, apps.contains(where: { $0 === app }) {
      run(for: .seconds(1))
    }
    guard finding == nil, !isThere() else {
      run(for: .seconds(5))
      return checkAgreement()
    }
    let state =
      "video \(app.status.video.state), sound \(app.status.audio.state), HMI \(app.status.hmi?.level?.rawValue ?? "-")"
    find(.liveness, "no picture or sound \(bound) after the faults: \(state), \(app.failure.map { "\($0)" } ?? "")")
  }

  /// The first app, once it is registered; one that has ended is made anew.
  private func register() -> SimulatedApp? {
    let deadline = network.now + .seconds(100)
    while finding == nil, network.now < deadline {
      let app = apps[0]
      if app.hasEnded || app.endDeadline != nil || app.video?.problem != nil || app.sound?.hasFailed == true {
        app.hasEnded ? restart(app) { Self.heal(&$0) } : app.stop()
      } else if app.status.headUnit != nil {
        return app
      }
      run(for: .seconds(1))
    }
    find(
      .liveness, "not registered \(Duration.seconds(100).text) after the faults: \(String(describing: apps[0].failure))"
    )
    return nil
  }

  private static func heal(_ plan: inout SimulatedApp.Plan) {
    plan.video?.sizes = nil
    plan.video?.isRaw = true
    plan.requiresEncryption = false
  }

  /// Everybody stops: everything has to end in its time.
  private func end(_ car: SimulatedCar) {
    for app in apps where !app.hasEnded && app.endDeadline == nil { app.stop() }
    run(for: .seconds(30))
    guard finding == nil else { return }
    for app in apps where !app.hasEnded { find(.end, "\(app.name) has not ended after 30 s") }
    for app in apps {
      check(app)
      write(app.summary)
      if let fault = app.untoldFault { find(.notifications, fault) }
    }
    apps = []
    car.stop()
    self.car = nil
  }

  /// After all objects are gone.
  var openSocketCount: Int { network.openSocketCount }

  // MARK: What must hold

  private func check(_ app: SimulatedApp) {
    if let deadline = app.endDeadline, !app.hasEnded, network.now > deadline, disturbedUntil < network.now {
      find(.end, "\(app.name) has not ended in time")
    }
    let statistics = app.connection.statistics
    let media: [(String, SimulatedVideo.Counters?, MediaChannelStatistics)] = [
      ("video", app.video?.counters, app.connection.video.statistics),
      ("sound", app.sound?.counters, statistics.audio),
    ]
    for case (let name, let counters?, let channel) in media {
      if !counters.isBalanced { find(.statistics, "\(app.name): \(name) does not add up: \(counters)") }
      if UInt64(counters.sent) != channel.sentMessages || counters.queued != channel.queuedFrames
        || UInt64(counters.discarded) != channel.discardedMessages
      {
        find(.statistics, "\(app.name): \(name) \(counters) is not what the channel has: \(channel)")
      }
      if channel.queuedFrames == 0, channel.queuedByteCount != 0 {
        find(.statistics, "\(app.name): nothing of \(name) is queued, but \(channel.queuedByteCount) bytes are")
      }
      let capacity = name == "video" ? app.plan.queueCapacity : 50
      if channel.queuedFrames > capacity { find(.memory, "\(channel.queuedFrames) of \(name) queued") }
    }
  }

  /// SDL Core ends the session of an app that sends heartbeats and has been silent for 14 s.
  private func silentApp() -> String? {
    guard watchesSilence else { return nil }
    return apps.first { app in
      guard app.status.roundTrip != nil, headUnit.status(of: app.name) != nil, let time = heardFrom[app.host] else {
        return false
      }
      return network.now - time > .milliseconds(14_500)
    }.map { "\($0.name) is silent, and keeps its session" }
  }

  /// What the head unit owes the apps that it has registered.
  private func missingAnswer() -> String? {
    guard !scenario.mentions("silen") else { return nil }
    let quietSince = isDisturbed ? network.now : disturbedUntil
    for app in apps where app.status.headUnit != nil && app.endDeadline == nil {
      if let fault = watches[app.host]?.fault(now: network.now, quietSince: quietSince) { return fault }
    }
    return nil
  }

  /// Nothing has happened for a while.
  private func checkAgreement() {
    guard !isDisturbed else { return }
    let agreement = Agreement(
      policy: scenario.configuration.policy, headUnit: headUnit, events: events,
      isRestricted: ["not-streamable", "not-audible"].contains(where: scenario.mentions),
      answersEnds: !scenario.mentions("end-service"))
    for app in apps {
      // It can't read what follows a handshake that has ended for the head unit alone, nor ask for anything before one.
      if scenario.mentions("start-tls"), scenario.requiresEncryption || headUnit.encryptsRPCs(of: app.name) { continue }
      let isSettled = headUnit.lastChange(of: app.name).map { network.now - $0 > Agreement.settling } ?? false
      guard isSettled, let registeredAt = app.registeredAt, network.now - registeredAt > Agreement.settling else {
        continue
      }
      let isUndisturbed = disturbedUntil < registeredAt
      if let fault = agreement.fault(app, isUndisturbed: isUndisturbed) { find(.agreement, fault) }
      if let fault = app.untoldFault { find(.notifications, fault) }
    }
  }

  private func tap(_ bytes: [UInt8], _ end: NetworkEnd, isSent: Bool) {
    let (bytes, fault) = webSockets.take(bytes, of: end, isSent: isSent, now: network.now, isDisturbed: isDisturbed)
    if let fault { find(.wire, "\(end.host), WebSocket: \(fault)") }
    guard !bytes.isEmpty else { return }
    guard end.host != SimulatedNetwork.carHost else {
      if !isSent, let host = end.peer?.host { heardFrom[host] = network.now }
      return
    }
    let app = apps.first { $0.host == end.host }
    app?.count(bytes.count, on: end.path, isSent: isSent)
    let findings = watches[end.host, default: WireWatch()].take(bytes, of: end, isSent: isSent, now: network.now) {
      app?.read($0)
    }
    for (rule, text) in findings { find(rule, "\(end.host): \(text)") }
  }

  /// What the head unit reports.
  private func take(_ event: HeadUnitServerEvent) {
    guard case .session(let id, let event) = event else { return }
    if trace != nil {
      flow.take(event, of: id)
      if let text = event.text { write("    \(id) \(text)") }
    }
    if let (rule, text) = headUnit.take(event, of: id, now: network.now, isDisturbed: isDisturbed) { find(rule, text) }
    switch event {
    case .videoTimestamp, .audioData: break
    case .appUnregistered(.transportLost) where isLeaving(id): find(.end, "session \(id) was left without a word")
    case .videoData: tally.pictures += 1
    default: tally.count(event: event.kind)
    }
  }

  /// Whether the app was told to end, and nothing keeps it from saying so.
  private func isLeaving(_ id: UInt8) -> Bool {
    guard !isDisturbed, network.now - lastFault > Self.longestConsequence / 4 else { return false }
    return apps.contains { $0.endDeadline != nil && headUnit.session(of: $0.name) == id }
  }

  private var isDisturbed: Bool { disturbedUntil >= network.now || network.conditions.isSlow }
}
