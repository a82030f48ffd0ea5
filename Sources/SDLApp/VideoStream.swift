import SDLWire

/// The lifecycle of the video service: compares what is wished with what is and acts on the difference.
///
/// It is driven by levels, not edges: whatever came in between, the next ``reconcile(desired:reason:now:)`` finds the
/// way to the wished state. Every wait has a time-out.
struct VideoStream: Equatable, Sendable {
  /// Times that the lifecycle keeps.
  struct Timing: Equatable, Sendable {
    /// For the answer to StartService: SDL Core gives its HMI 11 s, and giving up earlier would never let a slow one
    /// through.
    var start: Duration = .seconds(12)
    /// A stream that lasts as long is no failed attempt.
    var steady: Duration = .seconds(5)
    /// For the answer to EndService; after it the service counts as ended.
    var end: Duration = .seconds(1)
    /// Before the first new attempt; doubles with each failure.
    var firstRetry: Duration = .seconds(2)
    /// The longest pause between attempts.
    var longestRetry: Duration = .seconds(30)
  }

  enum State: Equatable, Sendable {
    case closed
    case starting(VideoWish, deadline: Duration)
    case open(request: VideoWish, accepted: VideoSize)
    case ending(deadline: Duration)
  }

  enum Output: Equatable, Sendable {
    case sendStartService(VideoWish)
    case sendEndService
    case started(accepted: VideoSize, mtu: Int64?)
    case stopped(VideoStopReason)
    /// `retryAfter` is nil when the same request would only be refused again.
    case startFailed(VideoStartFailure, request: VideoWish, retryAfter: Duration?)
  }

  var timing = Timing()
  private(set) var state = State.closed
  /// Before this no new attempt is made.
  private var retryAt: Duration?
  private var failureCount = 0
  /// When the stream that is open, or was last, began.
  private var openedAt: Duration = .zero
  /// What the head unit has just refused by its parameters; not asked for again before something changes.
  private var refusedWish: VideoWish?

  /// When ``advance(now:)`` has work to do.
  var nextDeadline: Duration? {
    switch state {
    case .starting(_, let deadline), .ending(let deadline): deadline
    case .closed: retryAt
    case .open: nil
    }
  }

  /// Brings the service closer to `desired`; nil means closed, for the given reason.
  mutating func reconcile(desired: VideoWish?, reason: VideoStopReason, now: Duration) -> [Output] {
    if desired == nil {
      retryAt = nil
      failureCount = 0
      refusedWish = nil
    }
    switch state {
    case .closed:
      guard let desired, desired != refusedWish, retryAt.map({ $0 <= now }) ?? true else { return [] }
      retryAt = nil
      refusedWish = nil
      state = .starting(desired, deadline: now + timing.start)
      return [.sendStartService(desired)]
    case .open(let request, let accepted):
      guard let desired else { return end(reason, now: now) }
      guard desired != request, desired != VideoWish(size: accepted, transport: request.transport) else { return [] }
      return end(.resized, now: now)
    case .starting, .ending:
      return []
    }
  }

  private mutating func end(_ reason: VideoStopReason, now: Duration) -> [Output] {
    settle(now: now)
    state = .ending(deadline: now + timing.end)
    return [.stopped(reason), .sendEndService]
  }

  /// StartServiceACK. `desired` is what is wished now, which may have changed since the request.
  mutating func acknowledged(_ parameters: VideoServiceParameters, desired: VideoWish?, now: Duration) -> [Output] {
    switch state {
    case .starting(let request, _):
      guard desired == request else {
        // The wish went away while the answer was on its way: no byte may be sent on this service.
        state = .ending(deadline: now + timing.end)
        return [.sendEndService]
      }
      let accepted = Self.acceptedSize(parameters, requested: request.size)
      state = .open(request: request, accepted: accepted)
      openedAt = now
      return [.started(accepted: accepted, mtu: parameters.mtu)]
    case .closed:
      // An answer after our time-out: the head unit now believes in a service that nobody uses.
      state = .ending(deadline: now + timing.end)
      return [.sendEndService]
    case .open, .ending:
      return []
    }
  }

  /// The RPC specification's range for a side of a picture.
  private static let possibleSides: ClosedRange<Int32> = 1...10_000

  /// Some head units acknowledge 0×0 or leave a side out: then the requested size holds. Odd sides are made even, because
  /// the encoder has no others.
  private static func acceptedSize(_ parameters: VideoServiceParameters, requested: VideoSize) -> VideoSize {
    guard let width = parameters.width, let height = parameters.height,
      possibleSides.contains(width), possibleSides.contains(height)
    else { return requested }
    return VideoSize(Int(width) & ~1, Int(height) & ~1)
  }

  /// StartServiceNAK.
  mutating func refused(_ rejection: ServiceRejection, now: Duration) -> [Output] {
    guard case .starting(let request, _) = state else { return [] }
    state = .closed
    let failure = VideoStartFailure.refused(
      rejectedParameters: rejection.rejectedParameters, reason: rejection.reason)
    guard rejection.rejectedParameters.isEmpty else {
      refusedWish = request
      return [.startFailed(failure, request: request, retryAfter: nil)]
    }
    return [.startFailed(failure, request: request, retryAfter: scheduleRetry(now: now))]
  }

  /// EndServiceACK or EndServiceNAK: both mean that the service is gone.
  mutating func endConfirmed() {
    if case .ending = state { state = .closed }
  }

  /// EndService from the head unit, which the session has acknowledged. It may come twice.
  mutating func endedByHeadUnit(now: Duration) -> [Output] {
    switch state {
    case .closed: return []
    case .ending:
      state = .closed
      return []
    case .starting(let request, _):
      state = .closed
      let failure = VideoStartFailure.refused(rejectedParameters: [], reason: "the head unit ended the service")
      return [.startFailed(failure, request: request, retryAfter: scheduleRetry(now: now))]
    case .open(let request, _):
      state = .closed
      let isShort = now - openedAt < timing.steady
      let isRepeated = failureCount > 0
      settle(now: now)
      let pause = scheduleRetry(now: now)
      // Once may be the driver, who leaves just then; again and again is a head unit whose screen refuses the stream.
      guard isShort, isRepeated else { return [.stopped(.headUnit)] }
      return [.stopped(.headUnit), .startFailed(.endedAtOnce, request: request, retryAfter: pause)]
    }
  }

  /// Handles a deadline that has passed.
  mutating func advance(now: Duration) -> [Output] {
    switch state {
    case .starting(let request, let deadline) where deadline <= now:
      // The head unit may yet act on the request, so it is told to end the service before anything else.
      state = .ending(deadline: now + timing.end)
      return [.startFailed(.unanswered, request: request, retryAfter: scheduleRetry(now: now)), .sendEndService]
    case .ending(let deadline) where deadline <= now:
      state = .closed
      return []
    default:
      return []
    }
  }

  /// A stream that has lasted makes former failures count no more.
  private mutating func settle(now: Duration) {
    if now - openedAt >= timing.steady { failureCount = 0 }
  }

  private mutating func scheduleRetry(now: Duration) -> Duration {
    let pause = min(timing.firstRetry * (1 << min(failureCount, 10)), timing.longestRetry)
    failureCount += 1
    retryAt = now + pause
    return pause
  }
}
