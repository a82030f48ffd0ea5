import SDLMessages
import SDLWire

/// The offer of a second connection of the session, which may carry video and audio (SDL-0141), and its registration.
struct ServedSecondaryTransport: Sendable {
  /// The address at which the owner accepts second connections of this session.
  private var servedAddress: TransportEventUpdate?
  /// Whether the session's acknowledgement listed one.
  private var isOffered = false
  /// Where the services may run, in the order of preference that the acknowledgement lists.
  private var audioTransports = [TransportRole.primary]
  private var videoTransports = [TransportRole.primary]
  /// Whether RegisterSecondaryTransport was acknowledged, and the connection is still there.
  private(set) var isRegistered = false
  /// Until when one from an unknown address may be registered; nil for not at all.
  private var awaitedUntil: Duration?
  /// Whether the app was at another level than NONE when that was looked at last.
  private var isAppOpen = false

  /// How long a connection is awaited that nothing but its session id ties to the app. The phone may have to join a
  /// Wi-Fi network first.
  static let awaitedTime = Duration.seconds(300)

  /// The address at which the owner accepts second connections; nil for none. It is sent to the app if that is offered.
  mutating func setServedAddress(_ address: TransportEventUpdate?, _ context: inout ServedContext) {
    guard address != servedAddress else { return }
    servedAddress = address
    if context.behaviour.secondaryTransport == .served { offerChanged(&context) }
  }

  /// The address for the app; nil while there is none.
  private func address(_ context: ServedContext) -> TransportEventUpdate? {
    switch context.behaviour.secondaryTransport {
    case .off: nil
    case .elsewhere(let address): address
    case .served: servedAddress
    }
  }

  /// A session starts: the lists of its acknowledgement.
  mutating func offer(in acknowledgement: inout RPCServiceAcknowledgement, _ context: ServedContext) {
    let behaviour = context.behaviour
    // Over plain TCP SDL Core offers no other transport by default, and lists none.
    let isOffered = behaviour.secondaryTransport != .off && context.configuration.offersSecondaryTransport
    func allowed(_ configured: [TransportRole]?) -> [TransportRole] {
      (configured ?? [.primary, .secondary]).filter { $0 == .primary || isOffered }
    }
    self.isOffered = isOffered
    audioTransports = allowed(behaviour.audioTransports)
    videoTransports = allowed(behaviour.videoTransports)
    acknowledgement.secondaryTransports = isOffered ? ["TCP_WIFI"] : []
    acknowledgement.audioServiceTransports = audioTransports.map(\.rawValue)
    acknowledgement.videoServiceTransports = videoTransports.map(\.rawValue)
  }

  /// The session's acknowledgement was sent.
  mutating func sessionStarted(_ context: inout ServedContext) {
    if address(context) != nil { offerChanged(&context) }
  }

  /// The address is sent late if the behaviour says so, its end at once.
  mutating func offerChanged(_ context: inout ServedContext) {
    guard isOffered else { return }
    if address(context) != nil, let delay = context.behaviour.secondaryTransportDelay {
      context.timers.arm(.transportEventUpdate, at: context.now + delay)
    } else {
      context.timers.cancel(.transportEventUpdate)
      sendAddress(&context)
    }
  }

  /// The address of the secondary transport; empty once it is withdrawn.
  mutating func sendAddress(_ context: inout ServedContext) {
    let update = address(context) ?? TransportEventUpdate(address: nil, port: nil)
    context.send(.transportEventUpdate, service: .control, payload: update.bytes)
    if update.address != nil { awaitConnection(context) } else { awaitedUntil = nil }
  }

  /// The app may be about to connect.
  private mutating func awaitConnection(_ context: ServedContext) {
    awaitedUntil = context.now + Self.awaitedTime
  }

  /// SDL's iOS library connects once the app has left NONE for the first time.
  mutating func noteLevel(_ level: HMILevel?, _ context: ServedContext) {
    let wasOpen = isAppOpen
    isAppOpen = level.map { $0 != .none } ?? false
    if isAppOpen, !wasOpen, isOffered, !isRegistered { awaitConnection(context) }
  }

  /// Whether the lists of the acknowledgement allow the service there.
  func allows(_ service: ServiceType, on transport: TransportRole) -> Bool {
    (service == .audio ? audioTransports : videoTransports).contains(transport)
  }

  /// RegisterSecondaryTransport with the id of this session, whose RPC service runs.
  /// - Parameter isPeerKnown: whether the connection comes from the app's address.
  mutating func register(
    _ header: FrameHeader, isPeerKnown: Bool, _ media: inout SessionMedia, _ context: inout ServedContext
  ) -> HeadUnitSession.SecondaryRegistration {
    if let reason = reasonToRefuse(isPeerKnown: isPeerKnown, context) {
      context.report(.secondaryTransportRefused(reason))
      return .refused(HeadUnitSession.refusal(of: header, reason, version: context.headerVersion))
    }
    guard context.behaviour.secondaryRegistration != .silence else { return .unanswered }
    isRegistered = true
    awaitedUntil = nil
    context.send(.registerSecondaryTransportACK, service: .control, on: .secondary, messageID: 2)
    context.report(.secondaryTransportRegistered)
    if context.behaviour.secondaryRegistration == .acknowledgeAndClose { close(&media, &context) }
    return .accepted
  }

  private func reasonToRefuse(
    isPeerKnown: Bool, _ context: ServedContext
  ) -> HeadUnitSession.SecondaryRefusal? {
    if !isPeerKnown, awaitedUntil.map({ context.now > $0 }) ?? true { return .notAwaited }
    if isRegistered { return .registeredAlready }
    guard isOffered, context.behaviour.secondaryTransport == .served else { return .notOffered }
    return context.behaviour.secondaryRegistration == .reject ? .scripted : nil
  }

  /// The second connection is gone, and with it the services that ran there.
  mutating func end(_ media: inout SessionMedia, _ context: inout ServedContext) {
    guard isRegistered else { return }
    isRegistered = false
    // The app may connect again.
    awaitConnection(context)
    media.secondaryLost(&context)
    context.report(.secondaryTransportLost)
  }

  /// The owner has to close the second connection, if there is one, and need not report that it is gone.
  mutating func close(_ media: inout SessionMedia, _ context: inout ServedContext) {
    if isRegistered { context.closeSecondary() }
    end(&media, &context)
  }

  /// The session is over; the next one begins with a new offer.
  mutating func reset() {
    self = ServedSecondaryTransport(servedAddress: servedAddress)
  }

  init(servedAddress: TransportEventUpdate? = nil) {
    self.servedAddress = servedAddress
  }
}

extension HeadUnitSession {
  /// The outcome for a connection on which RegisterSecondaryTransport has come.
  package enum SecondaryRegistration: Equatable, Sendable {
    /// It is the session's second one. The acknowledgement is among the actions.
    case accepted
    /// It is closed after these frames have been written.
    case refused([UInt8])
    /// It gets no answer; the app gives it up.
    case unanswered
  }

  /// How RegisterSecondaryTransport is refused, with the texts of SDL Core 8.2.
  package enum SecondaryRefusal: String, Sendable {
    case noSessionID = "RegisterSecondaryTransport MUST include a non-zero session ID"
    case unknownSession = "RegisterSecondaryTransport session ID not found"
    case registeredAlready = "RegisterSecondaryTransport session ID has already been registered"
    case notOffered = "No secondary transport is offered"
    case scripted = "The secondary transport is refused"
    /// Not from the address of the session's primary transport.
    case otherAddress = "The connection does not come from the address of the app"
    /// The primary transport has no address to compare with, and the connection comes long after an offer, or after
    /// another one.
    case notAwaited = "The connection comes too late after the offer, or is not the first one"
    /// The address has named too many sessions that are not its own.
    case tooManyAttempts = "There were too many wrong attempts from this address"
    /// Gets no answer.
    case notRegistered = "The connection did not begin with RegisterSecondaryTransport"

    /// The text for the peer. A stranger does not learn whether a session exists.
    var answer: String {
      switch self {
      case .otherAddress, .notAwaited, .tooManyAttempts: Self.unknownSession.rawValue
      default: rawValue
      }
    }
  }

  /// The answer to a RegisterSecondaryTransport that belongs to no session; with protocol 5, as from SDL Core.
  package static func refusal(of header: FrameHeader, _ reason: SecondaryRefusal, version: UInt8 = 5) -> [UInt8] {
    Frame.control(
      .registerSecondaryTransportNAK, service: .control, version: version, sessionID: header.sessionID, messageID: 2,
      payload: ServiceRejection(reason: reason.answer).bytes(version: version)
    ).bytes
  }
}
