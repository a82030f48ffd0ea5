import SDLWire

/// The lifecycle of the video service: compares what is wished with what is and acts on the difference.
///
/// It is driven by levels, not edges: whatever came in between, the next ``reconcile(_:now:)`` finds the way to the
/// demanded state. Every wait has a time-out.
struct VideoStream: Equatable, Sendable {
  /// Times that the lifecycle keeps.
  struct Timing: Equatable, Sendable {
    /// For the answer to StartService.
    var start: Duration = .seconds(5)
    /// The same after a start that stayed unanswered: SDL Core gives its HMI 11 s, and giving up earlier again and again
    /// would never let a slow one through.
    var patientStart: Duration = .seconds(12)
    /// A stream that lasts as long is no failed attempt.
    var steady: Duration = .seconds(5)
    /// For the answer to EndService; after it the service counts as ended.
    var end: Duration = .seconds(1)
    /// Before the first new attempt; doubles with each failure.
    var firstRetry: Duration = .seconds(2)
    /// So many refusals in a row, of which none says what is wrong, mean the request and not the moment.
    var mostRefusals = 8
    /// The longest pause between attempts.
    var longestRetry: Duration = .seconds(30)
  }

  enum State: Equatable, Sendable {
    case closed
    case starting(VideoStartRequest, deadline: Duration)
    case open(request: VideoStartRequest, accepted: VideoSize, isHeld: Bool)
    case ending(deadline: Duration)
  }

  enum Output: Equatable, Sendable {
    case sendStartService(VideoStartRequest)
    case sendEndService
    case started(accepted: VideoSize, VideoTransport, mtu: Int64?)
    /// The service is kept, but nothing more may be sent.
    case suspended
    case resumed
    case stopped(VideoStopReason)
    /// `retryAfter` is nil when the same request would only be refused again.
    case startFailed(VideoStartFailure, request: VideoStartRequest, retryAfter: Duration?)
  }

  var timing = Timing()
  /// After a pause the service is ended and started again, as the guides for apps have it, instead of being used on.
  var restartsAfterPause = false
  /// Between the first demand for a stream and the request.
  var startDelay = Duration.zero
  private(set) var state = State.closed
  /// Before this the demand is too new.
  private var startAt: Duration?
  /// Before this no new attempt is made.
  private var retryAt: Duration?
  private var failureCount = 0
  /// StartServiceNAKs in a row that named nothing.
  private var refusalCount = 0
  /// When the stream that is open, or was last, began.
  private var openedAt: Duration = .zero
  /// What the head unit has just refused by its parameters; not asked for again before something changes.
  private var refusedRequest: VideoStartRequest?
  private var wasUnanswered = false

  /// For the app.
  var summary: VideoStreamState {
    switch state {
    case .closed: .stopped
    case .starting: .starting
    case .open(_, _, let isHeld): isHeld ? .suspended : .streaming
    case .ending: .stopping
    }
  }

  /// When ``advance(now:)`` has work to do.
  var nextDeadline: Duration? {
    switch state {
    case .starting(_, let deadline), .ending(let deadline): deadline
    case .closed: [retryAt, startAt].compactMap(\.self).max()
    case .open: nil
    }
  }

  /// Brings the service closer to what is demanded.
  mutating func reconcile(_ demand: VideoDemand, now: Duration) -> [Output] {
    if case .closed = demand {
      retryAt = nil
      failureCount = 0
      refusalCount = 0
      refusedRequest = nil
      wasUnanswered = false
    }
    switch state {
    case .closed: return open(demand, now: now)
    case .open(let request, let accepted, let isHeld):
      switch demand {
      case .closed(let reason): return end(reason, now: now)
      case .hold:
        state = .open(request: request, accepted: accepted, isHeld: true)
        return isHeld ? [] : [.suspended]
      case .stream(let wish):
        // The app may follow what the head unit has accepted: that is no change.
        var followed = request
        followed.size = accepted
        guard wish == request || wish == followed else { return end(.resized, now: now) }
        guard isHeld else { return [] }
        if restartsAfterPause { return end(.restarted, now: now) }
        state = .open(request: request, accepted: accepted, isHeld: false)
        return [.resumed]
      }
    case .starting, .ending:
      return []
    }
  }

  private mutating func open(_ demand: VideoDemand, now: Duration) -> [Output] {
    guard case .stream(let wish) = demand else {
      retryAt = nil
      startAt = nil
      return []
    }
    guard wish != refusedRequest else {
      startAt = nil
      return []
    }
    startAt = startAt ?? now + startDelay
    guard nextDeadline.map({ $0 <= now }) ?? true else { return [] }
    startAt = nil
    retryAt = nil
    refusedRequest = nil
    state = .starting(wish, deadline: now + (wasUnanswered ? timing.patientStart : timing.start))
    return [.sendStartService(wish)]
  }

  private mutating func end(_ reason: VideoStopReason, now: Duration) -> [Output] {
    settle(now: now)
    state = .ending(deadline: now + timing.end)
    return [.stopped(reason), .sendEndService]
  }

  /// StartServiceACK. `demand` is that of now, which may have changed since the request.
  mutating func acknowledged(_ parameters: VideoServiceParameters, _ demand: VideoDemand, now: Duration) -> [Output] {
    switch state {
    case .starting(let request, _):
      wasUnanswered = false
      refusalCount = 0
      guard demand == .stream(request) || demand == .hold else {
        // The wish went away while the answer was on its way: no byte may be sent on this service.
        state = .ending(deadline: now + timing.end)
        return [.sendEndService]
      }
      guard let transport = parameters.acceptedTransport else {
        refusedRequest = request
        state = .ending(deadline: now + timing.end)
        return [
          .startFailed(parameters.unusableAnswer, request: request, retryAfter: nil), .sendEndService,
        ]
      }
      let accepted = parameters.acceptedSize ?? request.size
      state = .open(request: request, accepted: accepted, isHeld: false)
      openedAt = now
      return [.started(accepted: accepted, transport, mtu: parameters.mtu)]
    case .closed:
      // An answer after our time-out: the head unit now believes in a service that nobody uses.
      state = .ending(deadline: now + timing.end)
      return [.sendEndService]
    case .open, .ending:
      return []
    }
  }

  /// StartServiceNAK. `demand` is that of now: the refusal of what is not wished any more is no failure.
  mutating func refused(_ rejection: ServiceRejection, _ demand: VideoDemand, now: Duration) -> [Output] {
    guard case .starting(let request, _) = state else { return [] }
    state = .closed
    wasUnanswered = false
    if case .stream(let wish) = demand, wish != request { return [] }
    let failure = VideoStartFailure.refused(
      rejectedParameters: rejection.rejectedParameters, reason: rejection.reason)
    // Without parameters the driver's leaving can't be told from a refusal for good.
    if request.isBare, demand != .stream(request) { return [] }
    guard !failure.isFinal(for: request) else {
      refusedRequest = request
      return [.startFailed(failure, request: request, retryAfter: nil)]
    }
    refusalCount += 1
    guard refusalCount < timing.mostRefusals else {
      let count = refusalCount
      refusalCount = 0
      failureCount = 0
      refusedRequest = request
      return [
        .startFailed(.keptRefusing(count: count, reason: rejection.reason), request: request, retryAfter: nil)
      ]
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
    case .open(let request, _, _):
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
      wasUnanswered = true
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

extension VideoServiceParameters {
  /// The RPC specification's range for a side of a picture.
  private static let possibleSides: ClosedRange<Int32> = 1...10_000

  /// The size that an acknowledgement tells. Some head units acknowledge 0×0 or leave a side out: then the requested size
  /// holds. Odd sides are made even, because the encoder has no others.
  var acceptedSize: VideoSize? {
    guard let width, let height, Self.possibleSides.contains(width), Self.possibleSides.contains(height) else {
      return nil
    }
    return VideoSize(Int(width) & ~1, Int(height) & ~1)
  }

  /// How video is carried from now on, as an acknowledgement tells. What it leaves out is H.264 over RAW (SDL-0058). Nil
  /// when it names what can't be sent.
  fileprivate var acceptedTransport: VideoTransport? {
    let defaults = VideoStreamingFormat.rawH264
    return VideoTransport(
      VideoStreamingFormat(videoProtocol: videoProtocol ?? defaults.videoProtocol, codec: videoCodec ?? defaults.codec))
  }

  /// An acknowledgement of that refuses what was asked for, by naming something else.
  fileprivate var unusableAnswer: VideoStartFailure {
    let isCodecUsable = videoCodec.map { VideoCodec(rawValue: $0) != nil } ?? true
    let isProtocolUsable = videoProtocol.map { VideoTransport(rawValue: $0) != nil } ?? true
    return .unusableAnswer(
      rejectedParameters: (isCodecUsable ? [] : ["videoCodec"]) + (isProtocolUsable ? [] : ["videoProtocol"]),
      format: "\(videoCodec ?? "H264") over \(videoProtocol ?? "RAW")")
  }
}
