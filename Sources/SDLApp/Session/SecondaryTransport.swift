/// The secondary transport of one session: when to connect to it, whether it may be used, and when to try again
/// (protocol specification, "Secondary transports"; SDL-0141, SDL-0214).
///
/// Sans-I/O, and driven by levels: inputs note events, and ``reconcile(isWanted:now:)`` acts on the difference between
/// the announced address and the present connection. Each attempt has a number, so that late reports of an earlier one
/// are ignored.
struct SecondaryTransport: Equatable, Sendable {
  enum Output: Equatable {
    /// Connect, and report the result with this number.
    case open(TransportAddress, attempt: UInt32)
    /// Send RegisterSecondaryTransport.
    case register
    /// Close the connection, or give up the attempt.
    case close
    /// Its services are gone; no EndService can be sent.
    case lost
    /// A warning for the user, once in a session.
    case problem(String)
    /// For the log.
    case diagnostic(String)
  }

  enum State: Equatable {
    case closed
    case connecting(deadline: Duration)
    case registering(deadline: Duration)
    case registered(since: Duration)
  }

  /// For the connection, and again for the answer to RegisterSecondaryTransport (sdl_ios).
  static let timeout = Duration.seconds(10)
  /// How long services that may start on the primary transport wait at most for the first secondary one, because a move
  /// right after the start would interrupt the picture.
  static let firstWait = Duration.seconds(1)
  /// No more than ``maximumBurst`` attempts begin within this time, even if the head unit keeps changing its address.
  static let burstTime = Duration.seconds(10)
  static let maximumBurst = 4
  /// Between the app's own end of a connection and the start of its services elsewhere. One connection may overtake the
  /// other, and head units refuse to start a service that still runs for them.
  static let settlingTime = Duration.milliseconds(200)
  /// The most refused updates that are logged in a session.
  private static let maximumDiagnostics: UInt32 = 8

  /// Whether the app uses one at all.
  let isEnabled: Bool
  let acceptsLoopback: Bool
  private(set) var state = State.closed
  /// The address of the last attempt.
  private(set) var address: TransportAddress?
  private(set) var counters = SecondaryTransportCounters()
  /// The number of the last attempt.
  private(set) var attempt: UInt32 = 0
  /// Why the last connection has ended, or could not be made.
  private(set) var reason: String?
  /// The head unit offers a transport that the app can use, for some service.
  private var isOffered = false
  /// The address of the last update; nil without one, and once it is withdrawn.
  private(set) var announced: TransportAddress?
  private var retryAt: Duration = .zero
  private var reconnection: Reconnection
  private var attemptTimes: [Duration] = []
  private var hasWarned = false
  private var firstAttempt: Duration?
  private var hasEnded = false
  /// See ``settlingTime``.
  private var settlesAt: Duration = .zero

  init(isEnabled: Bool = true, acceptsLoopback: Bool = true) {
    self.isEnabled = isEnabled
    self.acceptsLoopback = acceptsLoopback
    var timing = Reconnection.Timing()
    timing.first = .seconds(1)
    reconnection = Reconnection(timing: timing)
  }

  /// Whether frames may come and go.
  var isConnected: Bool {
    switch state {
    case .closed, .connecting: false
    case .registering, .registered: true
    }
  }

  var isRegistered: Bool { if case .registered = state { true } else { false } }

  /// Whether one may exist at some time of this session.
  var isPossible: Bool { isEnabled && isOffered }

  var status: SecondaryTransportStatus {
    var status = SecondaryTransportStatus()
    guard isPossible else { return status }
    status.address = address
    status.reason = reason
    status.counters = counters
    switch state {
    case .closed: status.state = .waiting
    case .connecting: status.state = .connecting
    case .registering: status.state = .registering
    case .registered: status.state = .registered
    }
    return status
  }

  /// Until when services that could start on the primary transport should wait for it; nil for not at all.
  func worthWaiting(now: Duration) -> Duration? {
    guard let firstAttempt, !hasEnded, !isRegistered, now < firstAttempt + Self.firstWait else { return nil }
    return firstAttempt + Self.firstWait
  }

  /// Until when nothing should start on the primary transport; nil for no such time.
  func settling(now: Duration) -> Duration? { settlesAt > now ? settlesAt : nil }

  /// When ``reconcile(isWanted:now:)`` has work to do.
  func nextDeadline(isWanted: Bool, now: Duration) -> Duration? {
    let deadline: Duration? =
      switch state {
      case .connecting(let deadline), .registering(let deadline): Optional(deadline).earlier(worthWaiting(now: now))
      case .registered: nil
      case .closed: isWanted && isPossible && announced != nil ? earliestAttempt : nil
      }
    return deadline.earlier(settling(now: now))
  }

  private var earliestAttempt: Duration {
    guard attemptTimes.count >= Self.maximumBurst, let first = attemptTimes.first else { return retryAt }
    return max(retryAt, first + Self.burstTime)
  }
}

/// Inputs: the head unit's messages, and the results of attempts.
extension SecondaryTransport {
  /// StartServiceACK of the session.
  mutating func offered(_ acknowledgement: RPCServiceAcknowledgement, protocolVersion: ProtocolVersion) {
    let kinds = (acknowledgement.secondaryTransports ?? []).compactMap(TransportClass.init(protocolName:))
    let lists = [acknowledgement.audioServiceTransports, acknowledgement.videoServiceTransports]
    let isUsed = lists.contains { TransportRole.preferences($0).contains(.secondary) }
    // The only kind that TransportEventUpdate can describe.
    isOffered = kinds.contains(.tcpWiFi) && isUsed && protocolVersion >= ProtocolVersion(5, 1, 0)
  }

  /// TransportEventUpdate, which may come before the StartServiceACK. One that names no usable address changes nothing:
  /// a connection that works goes on.
  mutating func updated(_ update: TransportEventUpdate, now: Duration) -> [Output] {
    counters.updates.count()
    guard let host = update.address else {
      announced = nil
      return []
    }
    do throws(TransportAddress.Refusal) {
      let address = try TransportAddress(host: host, port: update.port, acceptsLoopback: acceptsLoopback)
      guard address != announced else { return [] }
      announced = address
      // Earlier failures were at another address.
      retryAt = now
      return warnings(now: now)
    } catch {
      counters.refusedUpdates.count()
      guard counters.refusedUpdates <= Self.maximumDiagnostics else { return [] }
      return [.diagnostic("ignored an update of the secondary transport: \(error.reason)")]
    }
  }

  private mutating func warnings(now: Duration) -> [Output] {
    guard isPossible, earliestAttempt > now, !hasWarned else { return [] }
    hasWarned = true
    return [
      .problem(
        "the head unit changes the address of its secondary transport too often; it is followed no more than "
          + "\(Self.maximumBurst) times in \(Self.burstTime.components.seconds) s")
    ]
  }

  mutating func connected(attempt: UInt32, now: Duration) -> [Output] {
    guard attempt == self.attempt, case .connecting = state else { return [] }
    state = .registering(deadline: now + Self.timeout)
    return [.register]
  }

  /// The connection of an attempt could not be made, or is gone.
  mutating func closed(attempt: UInt32, reason: String, now: Duration) -> [Output] {
    guard attempt == self.attempt else { return [] }
    // A refused attempt says nothing about the connection before it, which the app may just have closed.
    let hadServices = isRegistered
    defer { if hadServices { settlesAt = .zero } }
    return failed(reason, now: now)
  }

  /// RegisterSecondaryTransportACK.
  mutating func accepted(now: Duration) {
    guard case .registering = state else { return }
    state = .registered(since: now)
    reason = nil
    counters.registrations.count()
  }

  /// The connection is of no use, or was refused: it is closed, and made again after a pause.
  mutating func failed(_ reason: String, now: Duration) -> [Output] {
    guard state != .closed else { return [] }
    var registeredTime: Duration?
    if case .registered(let since) = state { registeredTime = now - since }
    retryAt = now + reconnection.pause(registeredTime: registeredTime, chance: 0)
    return end(reason, now: now)
  }

  private mutating func end(_ reason: String, now: Duration) -> [Output] {
    let wasRegistered = isRegistered
    if wasRegistered { settlesAt = now + Self.settlingTime }
    state = .closed
    hasEnded = true
    self.reason = reason
    return [.close] + (wasRegistered ? [.lost] : [])
  }

  /// The session is over.
  mutating func finish() -> [Output] {
    announced = nil
    guard state != .closed else { return [] }
    state = .closed
    return [.close]
  }

  /// Acts on the present state. `isWanted` says whether the app would use a secondary transport; an existing one is
  /// kept.
  mutating func reconcile(isWanted: Bool, now: Duration) -> [Output] {
    var outputs: [Output] = []
    switch state {
    case .connecting(let deadline) where deadline <= now:
      outputs += failed("no connection within \(Self.timeout.components.seconds) s", now: now)
    case .registering(let deadline) where deadline <= now:
      outputs += failed("the head unit did not answer RegisterSecondaryTransport", now: now)
    default: break
    }
    if state != .closed, address != announced {
      outputs += end(announced == nil ? "the head unit has withdrawn it" : "the head unit has moved it", now: now)
    }
    guard state == .closed, isWanted, isPossible, let announced, earliestAttempt <= now else { return outputs }
    attempt &+= 1
    counters.attempts.count()
    attemptTimes = (attemptTimes + [now]).suffix(Self.maximumBurst)
    if firstAttempt == nil { firstAttempt = now }
    address = announced
    state = .connecting(deadline: now + Self.timeout)
    outputs.append(.open(announced, attempt: attempt))
    return outputs
  }
}
package enum SecondaryTransportState: String, Hashable, Sendable, CaseIterable {
  /// The head unit offers none that the app can use, or the app wants none.
  case none
  /// There is none now: no address is known, the driver has not opened the app yet, or the last one has ended.
  case waiting
  case connecting
  /// The connection is established, and RegisterSecondaryTransport is not answered.
  case registering
  /// It may carry services.
  case registered
}

package struct SecondaryTransportStatus: Equatable, Sendable {
  package var state = SecondaryTransportState.none
  /// The address of the present connection or attempt, or of the last one.
  package var address: TransportAddress?
  /// Why the last one has ended or could not be made, in a form that can follow a colon; nil while nothing has gone
  /// wrong since one was registered.
  package var reason: String?
  package var counters = SecondaryTransportCounters()

  package init() {}
}

/// Why a requested service does not start although the driver would see or hear it.
package enum TransportWait: String, Hashable, Sendable, CaseIterable {
  /// The head unit accepts it only over a secondary transport, such as Wi-Fi, and there is none now.
  case secondaryTransport = "secondary-transport"
  /// The same, but the app may not use one, or can't use the offered kinds.
  case secondaryTransportUnused = "secondary-transport-unused"
  /// The head unit takes it over no transport of this connection.
  case noTransport = "no-transport"
}

extension TransportWait: CustomStringConvertible {
  /// What the user can do about it, as a sentence without the service's name.
  package var description: String {
    switch self {
    case .secondaryTransport:
      "The head unit accepts it only over a secondary transport, and there is none now: is this machine in the car's Wi-Fi network?"
    case .secondaryTransportUnused:
      "The head unit accepts it only over a secondary transport, which it does not offer over TCP, or which secondary-transport=none rules out."
    case .noTransport:
      "The head unit does not accept it over this kind of connection."
    }
  }
}

/// Counters of the secondary transport over one session. They saturate.
package struct SecondaryTransportCounters: Equatable, Sendable {
  /// TransportEventUpdates of the head unit.
  package internal(set) var updates: UInt32 = 0
  /// Those that name no usable address.
  package internal(set) var refusedUpdates: UInt32 = 0
  package internal(set) var attempts: UInt32 = 0
  /// Connections that were registered.
  package internal(set) var registrations: UInt32 = 0

  package init() {}
}

extension SecondaryTransportStatus {
  /// Whether it is news after `former`: updates alone, which may come without end, are not.
  func differs(from former: SecondaryTransportStatus) -> Bool {
    var present = self
    present.counters = former.counters
    return present != former
  }
}

extension UInt32 {
  /// Counts events that a peer may repeat without end.
  mutating func count() {
    if self < .max { self += 1 }
  }
}
