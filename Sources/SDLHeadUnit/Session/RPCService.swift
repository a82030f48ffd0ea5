import SDLMessages
import SDLWire

/// An acknowledged RPC service, the core of a session: its versions, and the ids of its messages.
struct RPCService: Sendable {
  private(set) var headerVersion: UInt8
  /// Before protocol 5 the app picks the version, and its RegisterAppInterface shows it.
  private var isVersionSettled: Bool
  /// As negotiated in the payload; below 5 just the header version.
  private(set) var protocolVersion: ProtocolVersion
  /// SDL Core counts from 0.
  private var nextMessageID: UInt32 = 0

  /// The service that a StartService begins; nil to refuse it.
  init?(negotiatedBy frame: Frame, _ configuration: HeadUnitConfiguration) {
    let maximum = configuration.maximumProtocolVersion
    // SDL Core ignores a payload that it can't read.
    guard maximum.major >= 5, let payload = try? BSONDocument(decoding: frame.payload) else {
      headerVersion = min(configuration.maximumHeaderVersion, 4)
      protocolVersion = ProtocolVersion(Int(headerVersion))
      isVersionSettled = false
      return
    }
    // SDL Core reads no version without a minor part.
    guard let text = payload.string("protocolVersion"), text.contains("."),
      let wanted = ProtocolVersion(text), wanted.major >= 5
    else { return nil }
    headerVersion = 5
    protocolVersion = min(wanted, maximum)
    isVersionSettled = true
  }

  /// Reports another version than that of the session; before that, the app may still pick one.
  func checkVersion(of header: FrameHeader, _ context: inout ServedContext) {
    let isPicking = !isVersionSettled && (2...headerVersion).contains(header.version)
    guard header.version != headerVersion, !isPicking else { return }
    context.report(.headerVersion(expected: headerVersion, got: header.version))
  }

  /// Answers StartService(RPC), which begins a session.
  static func start(
    _ frame: Frame, on transport: TransportRole, _ secondary: inout ServedSecondaryTransport,
    _ context: inout ServedContext
  ) {
    guard transport == .primary else {
      context.report(.wrongTransport(.rpc, expected: .primary))
      return refuse(frame, on: transport, &context)
    }
    switch context.behaviour.rpcStart {
    case .silence: return
    case .reject: return refuse(frame, &context)
    case .acknowledge: break
    }
    guard context.rpcService == nil else {
      context.report(.startWhileActive(.rpc))
      return refuse(frame, &context)
    }
    // A session gets its id from the head unit.
    guard frame.header.sessionID == 0 else {
      context.report(.sessionID(expected: 0, got: frame.header.sessionID))
      return refuse(frame, &context)
    }
    guard let service = RPCService(negotiatedBy: frame, context.configuration) else { return refuse(frame, &context) }
    context.rpcService = service
    var acknowledgement = service.acknowledgement(context.configuration, hashID: context.hashID)
    if service.protocolVersion >= ProtocolVersion(5, 1) { secondary.offer(in: &acknowledgement, context) }
    context.send(.startServiceACK, service: .rpc, payload: acknowledgement.bytes(version: service.headerVersion))
    secondary.sessionStarted(&context)
  }

  /// Refuses StartService(RPC).
  static func refuse(_ frame: Frame, on transport: TransportRole = .primary, _ context: inout ServedContext) {
    let header = frame.header
    // SDL Core copies the version of the request: an old header, so no payload.
    context.send(
      .startServiceNAK, service: .rpc, on: transport, version: header.version, sessionID: header.sessionID,
      messageID: 0, payload: header.version < 5 ? [] : BSONDocument().bytes)
  }

  /// Answers EndService(RPC).
  /// - Returns: whether the session is over.
  static func answerEnd(_ frame: Frame, _ context: inout ServedContext) -> Bool {
    let version = context.headerVersion
    let given = EndServiceRequest(payload: frame.payload, version: version).hashID
    guard version == 1 || given == context.hashID else {
      context.report(.hashID(expected: context.hashID, got: given))
      context.refuse(.endServiceNAK, service: .rpc, ["hashId"], reason: "Wrong hash")
      return false
    }
    switch context.behaviour.serviceEnd {
    case .reject:
      context.refuse(.endServiceNAK, service: .rpc, reason: nil)
      return false
    case .acknowledge: context.send(.endServiceACK, service: .rpc)
    case .silence: break
    }
    return true
  }

  /// The version that the app picks with this frame.
  mutating func settleVersion(_ version: UInt8) {
    guard !isVersionSettled else { return }
    headerVersion = min(version, headerVersion)
    protocolVersion = ProtocolVersion(Int(headerVersion))
    isVersionSettled = true
  }

  /// Without the transports.
  func acknowledgement(_ configuration: HeadUnitConfiguration, hashID: Int32) -> RPCServiceAcknowledgement {
    var acknowledgement = RPCServiceAcknowledgement()
    acknowledgement.protocolVersion = protocolVersion
    acknowledgement.hashID = hashID
    acknowledgement.mtu = Int64(configuration.frameLimits.payload)
    if protocolVersion >= ProtocolVersion(5, 2) { acknowledgement.authToken = configuration.authToken }
    guard protocolVersion >= ProtocolVersion(5, 4) else { return acknowledgement }
    let vehicle = configuration.vehicle
    acknowledgement.make = vehicle.make
    acknowledgement.model = vehicle.model
    acknowledgement.modelYear = vehicle.modelYear
    acknowledgement.trim = vehicle.trim
    acknowledgement.systemSoftwareVersion = vehicle.systemSoftwareVersion
    acknowledgement.systemHardwareVersion = vehicle.systemHardwareVersion
    return acknowledgement
  }

  mutating func takeMessageID() -> UInt32 {
    defer { nextMessageID &+= 1 }
    return nextMessageID
  }

  mutating func resetMessageID() {
    nextMessageID = 0
  }
}
