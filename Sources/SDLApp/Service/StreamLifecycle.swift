import SDLWire

/// The lifecycle of a media service: compares the demanded with the present state, and acts on the difference.
///
/// It is driven by levels, not edges: whatever came in between, the next ``reconcile(_:now:)`` finds the way to the
/// demanded state. Every wait has a time-out.
struct StreamLifecycle<Request: ServiceRequest>: Equatable, Sendable {
  enum State: Equatable, Sendable {
    case closed
    case starting(Request, deadline: Duration)
    case open(request: Request, accepted: Request.Acceptance, isHeld: Bool)
    /// The head unit has ended the service, and may be about to send the reason.
    case awaitingReason(EndByHeadUnit)
    case ending(deadline: Duration)
  }

  /// An end whose reason is not known yet: SDL Core may end the service of an app that the driver leaves before it
  /// sends the status.
  struct EndByHeadUnit: Equatable, Sendable {
    /// Reasons that come later do not count.
    var deadline: Duration
    /// The consequence if none comes.
    var consequence: [Output] = []
  }

  enum Output: Equatable, Sendable {
    case sendStartService(Request)
    case sendEndService
    case started(Request.Acceptance)
    /// The service is kept, but nothing more may be sent.
    case held
    case resumed
    /// Nothing more may be sent; the reason follows with ``stopped(_:)``.
    case withdrawn
    case stopped(StreamStopReason)
    /// `retryAfter` is nil when the same request would only be refused again.
    case startFailed(StreamStartFailure<Request>, request: Request, retryAfter: Duration?)
  }

  var timeouts = StreamTimeouts()
  /// After a pause the service is ended and started again, as in the guides for apps, instead of being kept.
  var restartsAfterPause = false
  /// The time between the first demand for a stream and the request.
  var startDelay = Duration.zero
  /// The service is never requested encrypted: a head unit that requires encryption refuses it for good.
  var isNeverProtected = false
  /// The results of earlier attempts.
  var history = StreamStartHistory<Request>()
  private(set) var state = State.closed
  /// Since when a stream has been demanded but not requested; `startDelay` counts from here.
  private var demandedSince: Duration?
  /// When the demanded stream may be requested; nil when none is demanded, or only another demand can help.
  private var startAt: Duration?
  /// The unanswered start was sent so soon after a refusal, of this service or of the other one, that it may be refused
  /// only because of the level to which that has led.
  var followsRefusal = false
  /// When the present stream, or the last one, began.
  private var openedAt: Duration = .zero

  /// The state for the app.
  var summary: StreamState {
    switch state {
    case .closed: .stopped
    case .starting: .starting
    case .open(_, _, let isHeld): isHeld ? .suspended : .streaming
    case .ending, .awaitingReason: .stopping
    }
  }

  /// When ``advance(now:)`` and ``reconcile(_:now:)`` have work to do.
  var nextDeadline: Duration? {
    switch state {
    case .starting(_, let deadline), .ending(let deadline): deadline
    case .awaitingReason(let ending): ending.deadline
    case .closed: startAt
    case .open: nil
    }
  }

  /// Brings the service closer to the demanded state.
  mutating func reconcile(_ demand: StreamDemand<Request>, now: Duration) -> [Output] {
    if demand == .forbidden { return levelLost(now: now) + apply(demand, now: now) }
    history.levelAllowsStream()
    switch demand {
    case .stream(let request): history.requestChanged(to: request)
    case .closed: history.requestChanged(to: nil)
    case .hold, .forbidden: break
    }
    return apply(demand, now: now)
  }

  private mutating func levelLost(now: Duration) -> [Output] {
    var isStarting = false
    if case .starting = state { isStarting = true }
    guard let last = history.levelLost(isStarting: isStarting, now: now) else { return [] }
    let failure = StreamStartFailure<Request>.keptRefusing(count: last.count, reason: last.refusal.reason)
    return [.startFailed(failure, request: last.refusal.request, retryAfter: nil)]
  }

  private mutating func apply(_ demand: StreamDemand<Request>, now: Duration) -> [Output] {
    switch state {
    case .closed: return open(demand, now: now)
    case .open(let request, let accepted, let isHeld):
      switch demand {
      case .forbidden: return end(.hmiStatus, now: now)
      case .closed(let reason): return end(reason, now: now)
      case .hold:
        state = .open(request: request, accepted: accepted, isHeld: true)
        return isHeld ? [] : [.held]
      case .stream(let demanded):
        guard demanded == request || demanded == request.following(accepted) else { return end(.resized, now: now) }
        guard isHeld else { return [] }
        if restartsAfterPause { return end(.restarted, now: now) }
        state = .open(request: request, accepted: accepted, isHeld: false)
        return [.resumed]
      }
    case .awaitingReason:
      switch demand {
      case .stream, .hold: return []
      case .forbidden, .closed: state = .closed
      }
      return [.stopped(demand == .forbidden ? .hmiStatus : .headUnit)]
    case .starting, .ending:
      return []
    }
  }

  private mutating func open(_ demand: StreamDemand<Request>, now: Duration) -> [Output] {
    startAt = nil
    guard case .stream(let request) = demand, let earliest = history.earliestStart(of: request) else {
      demandedSince = nil
      return []
    }
    let since = demandedSince ?? now
    let time = max(since + startDelay, earliest)
    guard time <= now else {
      demandedSince = since
      startAt = time
      return []
    }
    demandedSince = nil
    followsRefusal = history.isShortlyAfterRefusal(now: now)
    let timeout = history.wasUnanswered ? timeouts.startAfterUnanswered : timeouts.start
    state = .starting(request, deadline: now + timeout)
    return [.sendStartService(request)]
  }

  private mutating func end(_ reason: StreamStopReason, now: Duration) -> [Output] {
    history.streamEnded(after: now - openedAt)
    // The next start goes over another transport, where it must not arrive earlier.
    state = .ending(deadline: now + (reason == .moved ? timeouts.endOfMove : timeouts.end))
    return [.stopped(reason), .sendEndService]
  }

  /// StartServiceACK. `demand` is the present one, which may have changed since the request.
  mutating func acknowledged(
    _ answer: Request.Answer, _ demand: StreamDemand<Request>, now: Duration
  ) -> [Output] {
    switch state {
    case .starting(let request, _):
      history.accepted()
      guard demand == .stream(request) || demand == .hold else {
        // The demand changed while the answer was on its way: no byte may be sent on this service.
        state = .ending(deadline: now + timeouts.end)
        return [.sendEndService]
      }
      do throws(StreamStartFailure<Request>) {
        let accepted = try request.acceptance(answer)
        state = .open(request: request, accepted: accepted, isHeld: false)
        openedAt = now
        return [.started(accepted)]
      } catch {
        history.refusedForGood(request, now: now)
        state = .ending(deadline: now + timeouts.end)
        return [.startFailed(error, request: request, retryAfter: nil), .sendEndService]
      }
    case .closed:
      // An answer after our time-out: the head unit now has a service that is not used.
      state = .ending(deadline: now + timeouts.end)
      return [.sendEndService]
    case .open, .ending, .awaitingReason:
      return []
    }
  }

  /// StartServiceNAK. `demand` is the present one, which may have changed since the request.
  mutating func refused(_ rejection: ServiceRejection, _ demand: StreamDemand<Request>, now: Duration) -> [Output] {
    guard case .starting(let request, _) = state else { return [] }
    state = .closed
    // The refusal is not about this request: it was sent in the level to which an earlier refusal led.
    if followsRefusal, demand == .forbidden { return [] }
    let failure = StreamStartFailure<Request>.refused(
      rejectedParameters: rejection.rejectedParameters, reason: rejection.reason)
    // A start without parameters has none that could be named. If the app has taken its request back, the refusal says
    // nothing about it, since the driver may have left.
    if request.isBare, demand != .stream(request) {
      _ = history.failed(now: now)
      return []
    }
    let isFinal = failure.isFinal(for: request) || isNeverProtected && failure.concernsProtection
    let refusal = StreamStartHistory.Refusal(request, reason: rejection.reason, isFinal: isFinal)
    switch history.refused(refusal, now: now) {
    case .retry(let pause): return [.startFailed(failure, request: request, retryAfter: pause)]
    case .refusedForGood where isFinal:
      // The app already requests something else.
      if case .stream(let demanded) = demand, demanded != request { return [] }
      return [.startFailed(failure, request: request, retryAfter: nil)]
    case .refusedForGood(let count):
      let final = StreamStartFailure<Request>.keptRefusing(count: count, reason: rejection.reason)
      return [.startFailed(final, request: request, retryAfter: nil)]
    }
  }

  /// EndServiceACK or EndServiceNAK: both mean that the service is gone.
  mutating func endConfirmed() {
    if case .ending = state { state = .closed }
  }

  /// EndService from the head unit, which the session has acknowledged. It may come twice.
  mutating func endedByHeadUnit(now: Duration) -> [Output] {
    switch state {
    case .closed, .awaitingReason: return []
    case .ending:
      state = .closed
      return []
    case .starting(let request, _):
      state = .closed
      let failure = StreamStartFailure<Request>.refused(
        rejectedParameters: [], reason: "the head unit ended the service")
      return [.startFailed(failure, request: request, retryAfter: history.failed(now: now))]
    case .open(let request, _, _):
      let duration = now - openedAt
      let (pause, isRepeated) = history.endedByHeadUnit(after: duration, now: now)
      var ending = EndByHeadUnit(deadline: now + timeouts.reason)
      if isRepeated {
        ending.consequence = [.startFailed(.endedEarly(after: duration), request: request, retryAfter: pause)]
      }
      state = .awaitingReason(ending)
      return [.withdrawn]
    }
  }

  /// The transport of the service is gone, and the service with it. Nothing can be sent there any more.
  mutating func transportLost(now: Duration) -> [Output] {
    defer { state = .closed }
    switch state {
    case .awaitingReason: return [.stopped(.headUnit)]
    case .open:
      history.streamEnded(after: now - openedAt)
      return [.stopped(.transportLost)]
    case .closed, .starting, .ending: return []
    }
  }

  /// Gives up a start that is not answered.
  mutating func giveUp(now: Duration) -> [Output] {
    guard case .starting(let request, _) = state else { return [] }
    // The head unit may still act on the request, so the service is ended before anything else.
    state = .ending(deadline: now + timeouts.end)
    return [
      .startFailed(.unanswered, request: request, retryAfter: history.unanswered(now: now)), .sendEndService,
    ]
  }

  mutating func advance(now: Duration) -> [Output] {
    switch state {
    case .starting(_, let deadline) where deadline <= now: return giveUp(now: now)
    case .awaitingReason(let ending) where ending.deadline <= now:
      state = .closed
      return [.stopped(.headUnit)] + ending.consequence
    case .ending(let deadline) where deadline <= now:
      state = .closed
      return []
    default:
      return []
    }
  }
}

struct StreamTimeouts: Equatable, Sendable {
  /// For the answer to StartService.
  var start: Duration
  /// The same after an unanswered start: SDL Core gives its HMI 11 s, and with shorter time-outs a slow HMI would never
  /// succeed.
  var startAfterUnanswered: Duration = .seconds(12)
  /// For the answer to EndService; after it the service counts as ended.
  var end: Duration = .seconds(1)
  /// For the reason after an end by the head unit.
  var reason: Duration = .milliseconds(100)
  /// As ``end``, where the stream goes on over another transport.
  var endOfMove: Duration = .seconds(5)

  /// The time-outs of a session; a TLS handshake may be part of a start.
  init(_ configuration: AppSession.Configuration, canEncrypt: Bool) {
    let time = configuration.videoStartTimeout
    self.init(start: canEncrypt ? max(time, configuration.handshakeTimeout) : time)
  }

  /// The usual times, but `start` for the answer to StartService.
  init(start: Duration = .seconds(5)) {
    self.start = start
    startAfterUnanswered = max(start, startAfterUnanswered)
  }
}

/// The state that a service has to reach.
enum StreamDemand<Request: StreamRequest>: Equatable, Sendable {
  case stream(Request)
  /// Keep a service that is there, without sending.
  case hold
  /// The HMI level or the streaming state allows no service.
  case forbidden
  case closed(StreamStopReason)
}

package enum StreamState: Sendable, CaseIterable {
  case stopped
  /// Requested, not answered yet.
  case starting
  case streaming
  /// The service is kept, but the app sends nothing.
  case suspended
  /// Its end was requested, and is not answered yet.
  case stopping
}

/// Why a service has ended, or has to end; the value in messages.
package enum StreamStopReason: String, Sendable {
  /// The HMI level or the streaming state does not allow it any more.
  case hmiStatus = "hmi-status"
  /// The app does not request a stream any more.
  case app = "app"
  /// The app requests another size.
  case resized = "resized"
  /// The app supports none of the sizes that the head unit can show now.
  case outOfRange = "out-of-range"
  /// The head unit ended the service.
  case headUnit = "head-unit"
  /// The app is back in the foreground, and configured to restart the service then.
  case restarted = "restarted"
  /// It continues over another transport of the session.
  case moved = "moved"
  /// The secondary transport that carried it was lost. It continues over the primary one, if the head unit allows that.
  case transportLost = "transport-lost"
  case connectionLost = "connection-lost"
  case sessionEnded = "session-ended"

  /// The driver or the head unit has ended the stream.
  var isFromCar: Bool { self == .hmiStatus || self == .headUnit }
}

/// How a ``StreamLifecycle`` deals with the head unit's answer to a request.
protocol ServiceRequest: StreamRequest {
  /// The content of a StartServiceACK.
  associatedtype Answer
  /// The parameters that the app takes from it.
  associatedtype Acceptance: Equatable, Sendable

  /// The last form of a request with several: once it is refused, nothing is left to try.
  var isBare: Bool { get }
  /// - Throws: The failure when the answer names something that can't be sent.
  func acceptance(_ answer: Answer) throws(StreamStartFailure<Self>) -> Acceptance
  /// The request of an app that follows the acknowledged values, which does not change the stream.
  func following(_ acceptance: Acceptance) -> Self
}
