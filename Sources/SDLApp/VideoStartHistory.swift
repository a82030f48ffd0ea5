/// What the attempts to start video so far have come to, and how long the next one therefore has to wait.
///
/// An app can neither shorten a pause nor skip it: not by leaving the foreground and coming back, not by taking its
/// request back and making it again. Only a driver who leaves the app and comes back ends all pauses, because SDL Core
/// refuses starts of an app that the driver does not see.
struct VideoStartHistory: Equatable, Sendable {
  /// The limits on attempts.
  struct Limits: Equatable, Sendable {
    /// The pause after the first failed attempt; it doubles with each further one.
    var firstPause: Duration = .seconds(2)
    /// The longest pause between attempts.
    var longestPause: Duration = .seconds(30)
    /// After as many refusals in a row that name no parameter, the request itself counts as refused.
    var maximumRefusals = 8
    /// A stream that has lasted this long was no failed attempt.
    var stableTime: Duration = .seconds(5)
  }

  /// The most refused requests that are remembered: more than a head unit's sizes and transports make. When there are as
  /// many, every further request counts as one of them.
  static let maximumRefusedRequests = 512

  var limits = Limits()
  /// No attempt is made before this.
  private var retryAt: Duration = .zero
  /// No request of `refusedRequests` is made again before this.
  private var repeatAt: Duration = .zero
  /// Failed attempts in a row, which set the next pause.
  private(set) var failureCount = 0
  /// StartServiceNAKs in a row that named no parameter.
  private var refusalCount = 0
  /// What the head unit refused for good since a stream last ran.
  private var refusedRequests: Set<VideoStartRequest> = []
  /// A refused request that the app has not changed since: it is not made again by itself.
  private var currentRefusal: VideoStartRequest?
  /// The last attempt was not answered.
  private(set) var wasUnanswered = false

  /// When `request` may be made, which is in the past for at once; nil for not until the app asks for something else.
  func earliestStart(of request: VideoStartRequest) -> Duration? {
    guard request != currentRefusal else { return nil }
    return isRefused(request) ? max(retryAt, repeatAt) : retryAt
  }

  private func isRefused(_ request: VideoStartRequest) -> Bool {
    refusedRequests.contains(request) || refusedRequests.count >= Self.maximumRefusedRequests
  }

  /// The app asks for `request`, or for nothing if that is nil.
  mutating func requestChanged(to request: VideoStartRequest?) {
    if request != currentRefusal { currentRefusal = nil }
  }

  /// The driver has left the app: nothing that came before counts.
  mutating func driverLeft() {
    self = VideoStartHistory(limits: limits)
  }

  /// StartServiceACK.
  mutating func accepted() {
    wasUnanswered = false
    refusalCount = 0
  }

  /// A stream has ended after `duration`. Since there was one, other requests may succeed now than before; and one that
  /// has lasted makes former failures count no more.
  mutating func streamEnded(after duration: Duration) {
    refusedRequests = []
    currentRefusal = nil
    repeatAt = .zero
    if duration >= limits.stableTime { failureCount = 0 }
  }

  /// The head unit would only refuse `request` again. The app may ask for something else at once.
  mutating func refusedForGood(_ request: VideoStartRequest, now: Duration) {
    wasUnanswered = false
    if isRefused(request) { countFailure() }
    if refusedRequests.count < Self.maximumRefusedRequests { refusedRequests.insert(request) }
    currentRefusal = request
    repeatAt = now + pause
  }

  /// A StartServiceNAK to `request` that names no parameter.
  /// - Returns: The pause before the next attempt; nil when there were so many that the request counts as refused for
  ///   good.
  mutating func refused(_ request: VideoStartRequest, now: Duration) -> Duration? {
    wasUnanswered = false
    refusalCount += 1
    guard refusalCount >= limits.maximumRefusals else { return failed(now: now) }
    refusedForGood(request, now: now)
    refusalCount = 0
    failureCount = 0
    return nil
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
