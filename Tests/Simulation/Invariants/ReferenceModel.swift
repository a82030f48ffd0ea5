import SDLApp

/// What an app has to do by when: a model of it that is small and slow, with the times of the pages for users alone, so
/// that a wrong constant of the app shows.
///
/// It sees what the application wants and what the session reports. All its times are the app's own; whatever network
/// and head unit do, none is exceeded.
struct ReferenceModel {
  /// As documented in `docs/sdlvideosink.md`, `docs/reaching-a-car.md` and `docs/architecture.md`.
  enum Documented {
    /// `connect-timeout`: to connect, and again for the first answer.
    static let connection = Duration.seconds(10)
    /// To an RPC.
    static let answer = Duration.seconds(12)
    /// `start-timeout`, and the same after an attempt without an answer.
    static let start = Duration.seconds(5)
    static let startAfterUnanswered = Duration.seconds(12)
    /// For the answer to a start that needs a TLS handshake.
    static let handshake = Duration.seconds(30)
    /// To the end of a service, and to that of one that goes on over another transport.
    static let end = Duration.seconds(1)
    static let endOfMove = Duration.seconds(5)
    /// Pauses between attempts double from the first to `max-retry-interval`.
    static let firstPause = Duration.seconds(2)
    static let longestPause = Duration.seconds(30)
    /// From a named refusal to the next request, and the same for head units without a capability.
    static let settling = Duration.milliseconds(250)
    /// How long a start waits for a second connection.
    static let secondConnection = Duration.seconds(1)
    /// How long media may take to leave before a service ends.
    static let drain = Duration.milliseconds(500)
    /// Pauses between connections double as well, with some random variation, and begin anew after a while.
    static let firstReconnection = Duration.milliseconds(500)
    static let longestReconnection = Duration.seconds(10)
    static let steady = Duration.seconds(10)
    /// A stream that the head unit ends before was none.
    static let stable = Duration.seconds(30)
    /// After so few refusals in a row, a head unit counts as one that keeps refusing: if each costs the level.
    static let fewestRefusals = 3
  }

  /// What differs between scenarios.
  struct Conditions {
    var encrypts = false
    /// The head unit offers a second connection.
    var hasSecondary = false
  }

  var video: ServiceModel
  var audio: ServiceModel
  private var connectingSince: Duration?
  private var connectedAt: Duration?
  private var sessionStartedAt: Duration?
  private var registeredAt: Duration?
  private var failureCount = 0

  init(_ conditions: Conditions) {
    video = ServiceModel("video", conditions)
    audio = ServiceModel("sound", conditions)
  }

  // MARK: The connection

  mutating func connects(now: Duration) { (connectingSince, connectedAt, sessionStartedAt) = (now, nil, nil) }

  mutating func connected(now: Duration) { (connectingSince, connectedAt) = (nil, now) }

  mutating func sessionStarted(now: Duration) { sessionStartedAt = now }

  mutating func registered(now: Duration) { registeredAt = now }

  /// The attempt has ended, and the next one follows after a pause.
  ///
  /// - Returns: what is wrong with that.
  mutating func lost(retryAfter pause: Duration, now: Duration) -> String? {
    if let registeredAt, now - registeredAt >= Documented.steady { failureCount = 0 }
    defer {
      failureCount += 1
      (connectingSince, connectedAt, sessionStartedAt, registeredAt) = (nil, nil, nil, nil)
      video.reset()
      audio.reset()
    }
    let expected = min(Documented.firstReconnection * (1 << min(failureCount, 5)), Documented.longestReconnection)
    guard pause >= expected * 0.8, pause <= min(expected * 1.25, Documented.longestReconnection) else {
      return "a pause of \(pause.text) before connection \(failureCount + 1)"
    }
    return nil
  }

  /// Services that it was to carry begin anew on the other connection.
  mutating func secondaryLost(now: Duration) {
    video.beginAnew(now: now)
    audio.beginAnew(now: now)
  }

  /// It is not made again.
  mutating func ended() { (connectingSince, connectedAt, sessionStartedAt) = (nil, nil, nil) }

  // MARK: What must hold

  /// The machine of the app does nothing for a while, and its times go on later.
  mutating func standStill(for time: Duration) {
    connectingSince = connectingSince.map { $0 + time }
    connectedAt = connectedAt.map { $0 + time }
    sessionStartedAt = sessionStartedAt.map { $0 + time }
    video.standStill(for: time)
    audio.standStill(for: time)
  }

  /// What should have happened before.
  func fault(now: Duration) -> String? {
    let slack = ServiceModel.slack
    if let connectingSince, now > connectingSince + Documented.connection + slack { return "it still connects" }
    if let connectedAt, registeredAt == nil {
      let until = sessionStartedAt.map { $0 + Documented.answer } ?? connectedAt + Documented.connection
      if now > until + slack { return "it is not registered, and goes on waiting" }
    }
    return video.fault(now: now) ?? audio.fault(now: now)
  }
}

/// The model of one service.
struct ServiceModel {
  private typealias Documented = ReferenceModel.Documented

  /// Of a turn.
  static let slack = Duration.milliseconds(100)

  private let name: String
  private let conditions: ReferenceModel.Conditions
  private var state = StreamState.stopped
  private var since = Duration.zero
  /// Driver and application want it, and it has a transport.
  private var isWanted = false
  private var wantedSince = Duration.zero
  /// The level of the app allows it.
  private var isAllowed = false
  /// No start is due before this; nil if none is, whatever happens.
  private var retryAt: Duration? = .zero
  private var lastFailure: Duration?
  private var wasUnanswered = false
  /// Of the present start.
  private var startLimit = Documented.start
  private var failureCount = 0
  /// Since it last ran.
  private var refusalCount = 0
  private var startedAt = Duration.zero
  /// How often in a row the head unit has ended it too early, and until when it may not be asked again.
  private var earlyEndCount = 0
  private var notBefore = Duration.zero
  private var earlyStart: String?
  /// The machine has not stood still since the service started, so an end is reported when it happens.
  private var isPunctual = true

  fileprivate init(_ name: String, _ conditions: ReferenceModel.Conditions) {
    self.name = name
    self.conditions = conditions
  }

  fileprivate mutating func reset() {
    self = ServiceModel(name, conditions)
  }

  fileprivate mutating func standStill(for time: Duration) {
    since += time
    wantedSince += time
    retryAt = retryAt.map { $0 + time }
    // An end may be reported here long after the session has learned of it.
    (isPunctual, notBefore) = (false, .zero)
  }

  /// What the session reports, and what is wanted.
  mutating func update(_ state: StreamState, isWanted: Bool, isAllowed: Bool, now: Duration) {
    if state != self.state {
      switch state {
      case .streaming:
        (retryAt, wasUnanswered, lastFailure, refusalCount) = (now, false, nil, 0)
        if self.state == .starting { (startedAt, isPunctual) = (now, true) }
      case .starting:
        startLimit = limitOfStart
        if now + Self.slack * 2 < notBefore { earlyStart = "\(name) is asked for \((notBefore - now).text) too early" }
      // Of a start that nobody wants any more, no failure is reported.
      case .stopped, .stopping:
        if self.state == .starting {
          failed(now: now)
          wasUnanswered = wasUnanswered || now - since >= startLimit
        }
      case .suspended: break
      }
      (self.state, since) = (state, now)
    }
    if isWanted != self.isWanted { (self.isWanted, wantedSince) = (isWanted, now) }
    if !isAllowed { (earlyEndCount, notBefore) = (0, .zero) }
    if isAllowed != self.isAllowed {
      // A driver who leaves and comes back ends all pauses; not one that a refusal has cost the level.
      if !isAllowed, lastFailure.map({ now - $0 > .seconds(3) }) ?? true {
        (retryAt, failureCount, wasUnanswered) = (now, 0, false)
      }
      self.isAllowed = isAllowed
    }
  }

  /// The application asks for something else.
  mutating func requestChanged(now: Duration) {
    // It may be something that was refused before.
    if retryAt == nil { retryAt = now + Documented.longestPause }
  }

  /// The head unit has ended it, although the level allows it: that counts as a failed start.
  mutating func endedByHeadUnit(now: Duration) {
    failed(now: now)
    guard isPunctual else { return }
    earlyEndCount = now - startedAt < Documented.stable ? earlyEndCount + 1 : 0
    notBefore = now + min(Documented.firstPause * (1 << min(max(earlyEndCount, 1) - 1, 10)), Documented.longestPause)
  }

  fileprivate mutating func beginAnew(now: Duration) {
    if state == .starting { since = now }
  }

  private mutating func failed(now: Duration) {
    guard lastFailure != now else { return }
    retryAt = now + min(Documented.firstPause * (1 << min(failureCount, 10)), Documented.longestPause)
    failureCount += 1
    lastFailure = now
  }

  private var limitOfStart: Duration {
    if conditions.encrypts { return Documented.handshake }
    return wasUnanswered ? Documented.startAfterUnanswered : Documented.start
  }

  /// Nothing of it has changed for long enough that the head unit knows.
  func isSettled(now: Duration) -> Bool { now - since > Agreement.settling }

  /// A start has failed.
  ///
  /// - Parameter pause: before the same is tried again; nil for never.
  /// - Returns: what is wrong with that.
  mutating func failed<Request>(
    _ failure: StreamStartFailure<Request>, retryAfter pause: Duration?, now: Duration
  ) -> String? {
    failed(now: now)
    switch failure {
    case .refused: refusalCount += 1
    case .keptRefusing(let count, _):
      defer { refusalCount = 0 }
      guard (Documented.fewestRefusals...max(Documented.fewestRefusals, refusalCount + 1)).contains(count) else {
        return "\(name) counts \(count) refusals in a row, of \(refusalCount + 1)"
      }
    case .unusableAnswer, .unanswered, .handshakeUnfinished, .endedEarly: break
    }
    // The next start may follow at once, before anyone looks.
    (state, since) = (.stopped, now)
    wasUnanswered = failure == .unanswered
    retryAt = pause.map { now + $0 }
    guard let pause else { return nil }
    let pauses = (0..<5).map { min(Documented.firstPause * (1 << $0), Documented.longestPause) }
    return pauses.prefix(failureCount).contains(pause)
      ? nil : "a pause of \(pause.text) after \(failureCount) failed starts of \(name)"
  }

  fileprivate func fault(now: Duration) -> String? {
    if let earlyStart { return earlyStart }
    let time = now - since
    switch state {
    case .starting:
      return time > startLimit + Self.slack ? "\(name) has been starting for \(time.text)" : nil
    case .stopping:
      let limit = conditions.hasSecondary ? Documented.endOfMove : Documented.end
      return time > limit + Self.slack ? "\(name) has been ending for \(time.text)" : nil
    case .stopped:
      guard isWanted, let retryAt else { return nil }
      let wait = Documented.settling * 2 + Self.slack + (conditions.hasSecondary ? Documented.secondConnection : .zero)
      let due = max(wantedSince, since, retryAt) + wait
      return now > due ? "\(name) is wanted, and has not been asked for since \((now - due + wait).text)" : nil
    case .streaming, .suspended:
      // One waits for the driver or the application, the other has them.
      guard isWanted == (state == .suspended) else { return nil }
      let due = max(wantedSince, since) + Documented.drain + Self.slack
      return now > due ? "\(name) is \(state), and \(isWanted ? "" : "not ")wanted" : nil
    }
  }
}
