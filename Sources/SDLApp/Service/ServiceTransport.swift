import SDLWire

/// What can be done for a requested service.
enum ServicePlacement: Equatable {
  case start(on: TransportRole)
  /// Not before this time, or a change.
  case wait(until: Duration)
  case impossible(TransportWait)
}

/// Which transport of the session carries one service (protocol specification, "Secondary transports").
struct ServiceTransport: Equatable, Sendable {
  /// The transport of the present service, or of the last one.
  private(set) var role = TransportRole.primary
  /// Transports that may carry the service, in the head unit's order of preference.
  private var allowed = TransportRole.preferences(nil)
  private var avoidance = SecondaryAvoidance()
  private var announcement = WaitAnnouncement()

  var reportedWait: TransportWait? { announcement.reported }

  /// Whether a service that runs on the secondary transport could go on over the primary one.
  var canReplaceSecondary: Bool { role == .secondary && allowed.contains(.primary) }

  /// When something may change by itself.
  func nextDeadline(now: Duration) -> Duration? {
    avoidance.nextDeadline(now: now).earlier(announcement.nextDeadline)
  }

  /// The session has begun; `list` is the head unit's for this service.
  mutating func offered(_ list: [Int32]?) {
    allowed = TransportRole.preferences(list)
  }

  /// Whether the head unit lets this transport carry the service.
  func allows(_ role: TransportRole) -> Bool { allowed.contains(role) }

  /// - Parameter binding: the transport to use if it is allowed; nil for the best one.
  func placement(
    beside secondary: SecondaryTransport, binding: TransportRole? = nil, now: Duration
  ) -> ServicePlacement {
    var roles = allowed
    if let role = binding ?? (avoidance.isActive(now: now) ? .primary : nil), allows(role) { roles = [role] }
    for role in roles {
      if role == .primary {
        return secondary.settling(now: now).map { .wait(until: $0) } ?? .start(on: .primary)
      }
      if secondary.isRegistered { return .start(on: .secondary) }
      if let time = secondary.worthWaiting(now: now) { return .wait(until: time) }
    }
    guard roles.contains(.secondary) else { return .impossible(.noTransport) }
    return .impossible(secondary.isPossible ? .secondaryTransport : .secondaryTransportUnused)
  }

  /// `demand` with the present transports: a service moves by its end on one and its start on the other.
  func placed<Request>(
    _ demand: StreamDemand<Request>, _ placement: ServicePlacement, isClosed: Bool
  ) -> StreamDemand<Request> {
    guard case .stream = demand else { return demand }
    switch placement {
    case .start(let best): return isClosed || best == role ? demand : .closed(.moved)
    case .impossible(.noTransport): return .closed(.moved)
    case .wait, .impossible: return isClosed ? .closed(.moved) : demand
    }
  }

  /// The service is requested now.
  mutating func starts(_ placement: ServicePlacement) {
    if case .start(let role) = placement { self.role = role }
  }

  mutating func started() {
    if role == .secondary { avoidance.started() }
  }

  /// A head unit that has not answered on the secondary transport, or has refused for a reason that another request
  /// can't fix, may start the service on the other one.
  ///
  /// - Returns: Why the secondary transport is of no use; nil if it may be.
  mutating func startFailed<Request>(_ failure: StreamStartFailure<Request>, now: Duration) -> String? {
    guard role == .secondary else { return nil }
    switch failure {
    case .unanswered:
      avoidance.unanswered(now: now)
      return "the head unit did not answer the start of a service"
    case .refused(rejectedParameters: [], _):
      avoidance.refused(now: now)
      return nil
    default: return nil
    }
  }

  /// The secondary transport has another address: earlier failures do not count.
  mutating func addressChanged() {
    avoidance = SecondaryAvoidance()
  }

  /// - Parameter wait: the present one; nil for no wait.
  mutating func updateWait(_ wait: TransportWait?, now: Duration) {
    announcement.update(wait, now: now)
  }
}

/// Whether a service that may run on either transport keeps away from the secondary one for a while, because the head
/// unit does not start it there.
///
/// Otherwise the secondary transport, which the head unit prefers, would be tried for ever, and the primary never.
struct SecondaryAvoidance: Equatable, Sendable {
  /// A refusal may be about a service that the head unit still believes to run elsewhere; several in a row are not.
  private static let mostRefusals = 3
  private static let firstPause = Duration.seconds(30)
  private static let longestPause = Duration.seconds(600)

  private var until: Duration?
  private var pause = Self.firstPause
  private var refusals = 0

  /// The head unit has not answered a start. Each time for twice as long as before.
  mutating func unanswered(now: Duration) {
    until = now + pause
    pause = min(pause * 2, Self.longestPause)
    refusals = 0
  }

  /// It has refused a start for a reason that another request can't fix.
  mutating func refused(now: Duration) {
    refusals += 1
    if refusals >= Self.mostRefusals { unanswered(now: now) }
  }

  /// The service has started there.
  mutating func started() {
    refusals = 0
  }

  func isActive(now: Duration) -> Bool { until.map { now < $0 } ?? false }

  /// When the secondary transport may be used again; nil if it may.
  func nextDeadline(now: Duration) -> Duration? { isActive(now: now) ? until : nil }
}

/// Which wait for a transport was reported. A very short wait is not: a transport may be lost a moment before the
/// connection itself is.
struct WaitAnnouncement: Equatable, Sendable {
  /// How long a wait must have lasted to be reported.
  static let settlingTime = Duration.milliseconds(500)

  private(set) var reported: TransportWait?
  private var isPending = false
  private var waitsSince: Duration = .zero

  /// When ``update(_:now:)`` has something to report, if nothing changes before.
  var nextDeadline: Duration? { isPending ? waitsSince + Self.settlingTime : nil }

  /// - Parameter wait: the present one; nil for no wait.
  mutating func update(_ wait: TransportWait?, now: Duration) {
    if wait != nil, reported == nil {
      if !isPending { waitsSince = now }
      isPending = now < waitsSince + Self.settlingTime
      guard !isPending else { return }
    }
    isPending = false
    reported = wait
  }
}
