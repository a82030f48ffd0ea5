/// The results of the attempts to start a service so far, and how long the next one has to wait because of them.
///
/// An app can neither shorten a pause nor skip it: neither by leaving the foreground and coming back, nor by taking its
/// request back and making it again. Only a driver who leaves the app and returns ends all pauses, because SDL Core
/// refuses starts of an app that the driver does not see.
///
/// SDL Core also sets the app to HMI level NONE with each refusal. Refusals still count after a loss of the level that
/// they have caused; after any other loss, earlier attempts do not count.
struct StreamStartHistory<Request: ServiceRequest>: Equatable, Sendable {
  struct Limits: Equatable, Sendable {
    /// The pause after the first failed attempt; it doubles with each further one.
    var firstPause: Duration = .seconds(2)
    var longestPause: Duration = .seconds(30)
    /// After as many refusals in a row that name no parameter, the request itself counts as refused.
    var maximumRefusals = 8
    /// The same for refusals that have also cost the app its HMI level: after each, the driver has to open the app
    /// again.
    var maximumLevelLosses = 3
    /// A level that is lost this soon after a refusal was lost because of it.
    var consequenceTime: Duration = .seconds(2)
    /// The shortest time from a refusal to the next start, which might be refused only because of the level to which
    /// the first refusal led.
    var settlingTime: Duration = .milliseconds(250)
    /// A stream that has lasted this long was no failed attempt. SDL Core ends a stream that its HMI has not accepted
    /// after several seconds (8 s were observed).
    var stableTime: Duration = .seconds(30)
  }

  enum Consequence: Equatable {
    case retry(after: Duration)
    /// It was final, or there were so many refusals that the request counts as refused for good.
    case refusedForGood(count: Int)
  }

  struct Refusal: Equatable, Sendable {
    var request: Request
    var reason: String?
    /// The same request would only be refused again.
    var isFinal: Bool
    fileprivate var time: Duration = .zero

    init(_ request: Request, reason: String?, isFinal: Bool) {
      self.request = request
      self.reason = reason
      self.isFinal = isFinal
    }
  }

  /// The most refused requests that are remembered: more than a head unit's sizes and protocols make. When there are
  /// as many, every further request counts as one of them.
  static var maximumRefusedRequests: Int { 512 }

  var limits = Limits()
  /// No attempt is made before this.
  private var retryAt: Duration = .zero
  /// No request of `refusedRequests` is made again before this.
  private var repeatAt: Duration = .zero
  /// Failed attempts in a row, which set the next pause.
  private var failureCount = 0
  /// StartServiceNAKs in a row that named no parameter.
  private var refusalCount = 0
  /// How many of them have cost the app its level.
  private var levelLossCount = 0
  /// The last one since the driver opened the app.
  private var lastRefusal: Refusal?
  /// The level does not allow the service.
  private var isHidden = false
  /// Streams in a row that the head unit has ended early.
  private var earlyEndCount = 0
  /// Requests that the head unit refused for good since a stream last ran.
  private var refusedRequests: Set<Request> = []
  /// A refused request that the app has not changed since: it is not repeated automatically.
  private var currentRefusal: Request?
  private(set) var wasUnanswered = false

  /// Whether a start at `now` may be refused only because an earlier refusal has cost the level.
  func isShortlyAfterRefusal(now: Duration) -> Bool {
    lastRefusal.map { now - $0.time < limits.consequenceTime } ?? false
  }

  /// When `request` may be made, a past time for at once; nil for not until the app requests something else.
  func earliestStart(of request: Request) -> Duration? {
    guard request != currentRefusal else { return nil }
    let settledAt = lastRefusal.map { $0.time + limits.settlingTime } ?? .zero
    return max(retryAt, settledAt, isRefused(request) ? repeatAt : .zero)
  }

  private func isRefused(_ request: Request) -> Bool {
    refusedRequests.contains(request) || refusedRequests.count >= Self.maximumRefusedRequests
  }

  /// The app makes `request`, or none if that is nil.
  mutating func requestChanged(to request: Request?) {
    if request != currentRefusal { currentRefusal = nil }
  }

  /// The HMI level does not allow the service; may be called repeatedly. Earlier attempts do not count any more, except
  /// for refusals that may have caused it.
  ///
  /// - Parameter isStarting: whether a start waits for its answer, which may be such a refusal.
  /// - Returns: The last refusal and the number of refusals, if that is too many.
  mutating func levelLost(isStarting: Bool, now: Duration) -> (refusal: Refusal, count: Int)? {
    var next = StreamStartHistory(limits: limits)
    next.isHidden = true
    let isConsequence = isShortlyAfterRefusal(now: now)
    if isHidden || isStarting || isConsequence {
      next.refusalCount = refusalCount
      next.levelLossCount = levelLossCount
    }
    defer { self = next }
    guard isConsequence, let refusal = lastRefusal, !refusal.isFinal else { return nil }
    next.levelLossCount += 1
    guard next.levelLossCount >= limits.maximumLevelLosses else { return nil }
    next.refusalCount = 0
    next.levelLossCount = 0
    return (refusal, refusalCount)
  }

  /// The HMI level allows the service; may be called repeatedly.
  mutating func levelAllowsStream() {
    isHidden = false
  }

  /// StartServiceACK.
  mutating func accepted() {
    wasUnanswered = false
    refusalCount = 0
    levelLossCount = 0
    lastRefusal = nil
  }

  /// A stream has ended after `duration`. Since there was one, other requests may succeed now than before; and after a
  /// long one, earlier failures do not count any more.
  mutating func streamEnded(after duration: Duration) {
    refusedRequests = []
    currentRefusal = nil
    guard duration >= limits.stableTime else { return }
    failureCount = 0
    earlyEndCount = 0
  }

  /// The head unit has ended a stream after `duration`, although the HMI level allows it.
  ///
  /// - Returns: The pause before the next start, and whether that happens again and again. Once may be the driver, who
  ///   leaves just then; several times means that the head unit's HMI does not accept the stream.
  mutating func endedByHeadUnit(after duration: Duration, now: Duration) -> (pause: Duration, isRepeated: Bool) {
    streamEnded(after: duration)
    if duration < limits.stableTime { earlyEndCount = min(earlyEndCount + 1, 1000) }
    return (failed(now: now), earlyEndCount > 1)
  }

  /// The head unit would only refuse `request` again. The app may request something else at once.
  mutating func refusedForGood(_ request: Request, now: Duration) {
    wasUnanswered = false
    if isRefused(request) { countFailure() }
    if refusedRequests.count < Self.maximumRefusedRequests { refusedRequests.insert(request) }
    currentRefusal = request
    repeatAt = now + pause
  }

  /// A StartServiceNAK.
  mutating func refused(_ refusal: Refusal, now: Duration) -> Consequence {
    wasUnanswered = false
    if !isHidden {
      lastRefusal = refusal
      lastRefusal?.time = now
    }
    guard !refusal.isFinal else {
      refusedForGood(refusal.request, now: now)
      return .refusedForGood(count: 1)
    }
    refusalCount += 1
    // The level was lost before the answer came, and most likely because of it.
    if isHidden { levelLossCount += 1 }
    guard refusalCount >= limits.maximumRefusals || levelLossCount >= limits.maximumLevelLosses else {
      return .retry(after: failed(now: now))
    }
    defer {
      refusalCount = 0
      levelLossCount = 0
      failureCount = 0
    }
    refusedForGood(refusal.request, now: now)
    return .refusedForGood(count: refusalCount)
  }

  /// An attempt was not answered in time.
  /// - Returns: The pause before the next one.
  mutating func unanswered(now: Duration) -> Duration {
    wasUnanswered = true
    return failed(now: now)
  }

  /// An attempt has failed in some other way.
  /// - Returns: The pause before the next one.
  mutating func failed(now: Duration) -> Duration {
    let pause = pause
    countFailure()
    retryAt = now + pause
    return pause
  }

  private var pause: Duration { min(limits.firstPause * (1 << min(failureCount, 10)), limits.longestPause) }

  private mutating func countFailure() {
    failureCount = min(failureCount + 1, 1000)
  }
}
