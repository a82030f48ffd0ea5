import SDLMessages
import SDLWire

/// The output of an ``AppSession``: numbers and fragments its messages, and collects its actions in order. Also
/// assembles the head unit's messages.
struct SessionMessenger: Sendable {
  /// The smallest frame payload that is used, in bytes: with less, most bytes would be headers.
  private static let minimumPayload: Int64 = 256
  /// The largest frame payload that is used, in bytes.
  private static let maximumPayload: Int64 = 4 << 20

  private let primaryTransport: TransportClass
  private(set) var version: UInt8 = 1
  private(set) var sessionID: UInt8 = 0
  /// The epoch of the last ``VideoGrant`` or ``AudioGrant``.
  private(set) var epoch: UInt32
  var requests = PendingRequests()
  /// Whether frames may be sent on the secondary transport; otherwise frames for it are dropped.
  var isSecondaryOpen = false
  private var mtu: Int64?
  private var messageIDs = MessageIDs.session
  private var assembler = MessageAssembler(maximumMessageSize: 4 << 20)
  private var actions: [AppSession.Action] = []

  init(primaryTransport: TransportClass, lastEpoch: UInt32) {
    self.primaryTransport = primaryTransport
    epoch = lastEpoch
  }

  /// The session has begun.
  ///
  /// - Parameter mtu: that of the RPC service in bytes; nil if the head unit announces none.
  mutating func begin(version: UInt8, sessionID: UInt8, mtu: Int64?) {
    self.version = version
    self.sessionID = sessionID
    self.mtu = mtu
  }

  mutating func nextEpoch() -> UInt32 {
    epoch &+= 1
    return epoch
  }

  /// The actions since the last call.
  mutating func takeActions() -> [AppSession.Action] {
    defer { actions = [] }
    return actions
  }

  mutating func append(_ action: AppSession.Action) {
    actions.append(action)
  }

  mutating func report(_ event: AppSession.Event) {
    actions.append(.report(event))
  }

  /// Reports something unexpected without consequences, for the log.
  mutating func diagnose(_ text: String) {
    actions.append(.report(.diagnostic(text)))
  }

  mutating func send(
    _ control: ControlFrame, _ service: ServiceType, on role: TransportRole = .primary, messageID: UInt32 = 0,
    isEncrypted: Bool = false, payload: [UInt8] = []
  ) {
    var frame = Frame.control(
      control, service: service, version: version, sessionID: sessionID, messageID: messageID, payload: payload)
    frame.header.isEncrypted = isEncrypted
    switch role {
    case .primary: actions.append(.send(frame.bytes))
    case .secondary where isSecondaryOpen: actions.append(.sendOnSecondary(frame.bytes))
    case .secondary: break
    }
  }

  mutating func sendHeartbeat() {
    send(.heartbeat, .control, messageID: messageIDs.next())
  }

  /// Sends a query of the TLS handshake.
  mutating func send(_ query: SecurityQuery) {
    send(query.bytes, of: .control)
  }

  /// Sends a request, whose answer ``requests`` waits for until `deadline`.
  mutating func request(
    _ function: FunctionID, _ parameters: JSONObject, bulk: [UInt8] = [], isEncrypted: Bool, deadline: Duration
  ) {
    let id = requests.add(function, isEncrypted: isEncrypted, deadline: deadline)
    send(
      RPCMessage(type: .request, function: function, correlationID: id, parameters: parameters, bulk: bulk),
      isEncrypted: isEncrypted)
  }

  mutating func notify(_ function: FunctionID, _ parameters: JSONObject, isEncrypted: Bool) {
    send(
      RPCMessage(type: .notification, function: function, correlationID: 0, parameters: parameters),
      isEncrypted: isEncrypted)
  }

  /// Sends an RPC for whose answer ``requests`` does not wait.
  mutating func send(_ message: RPCMessage, isEncrypted: Bool) {
    guard isEncrypted else { return send(message.payload, of: message.service) }
    actions.append(
      .sendProtected(
        ProtectedMessage(
          service: message.service, version: version, sessionID: sessionID, messageID: messageIDs.next(),
          payload: message.payload, maximumPayload: maximumPayload())))
  }

  private mutating func send(_ payload: [UInt8], of service: ServiceType) {
    let fragmentation = Fragmentation(
      service: service, version: version, sessionID: sessionID, messageID: messageIDs.next(),
      payloadSize: payload.count, maximumPayload: maximumPayload())
    actions.append(.send(fragmentation.frames(of: payload)))
  }

  /// The message that `frame` completes, if it does; nil for a frame that is dropped, too.
  mutating func message(completedBy frame: Frame, now: Duration) -> Message? {
    do {
      return try assembler.accept(frame, now: now)
    } catch {
      diagnose("dropped a frame of \(frame.header.service): \(error)")
      return nil
    }
  }

  /// The RPC in a message; nil for one that can't be read.
  mutating func rpc(in message: Message) -> RPCMessage? {
    do {
      return try RPCMessage(payload: message.payload)
    } catch {
      diagnose("ignored an unreadable RPC: \(error)")
      return nil
    }
  }

  /// The largest payload of a frame, in bytes, for a service that announced `mtu`. Some head units mean the payload and
  /// others the whole frame, so 12 bytes less suits both. Before protocol 5 nothing is announced, and the limit of SDL
  /// Core holds. The transport may have a lower limit of its own.
  func maximumPayload(mtu: Int64? = nil, on role: TransportRole = .primary) -> Int {
    let announced = mtu ?? self.mtu ?? Int64(FrameLimits.corePayload)
    let payload = min(max(announced, Self.minimumPayload), Self.maximumPayload) - Int64(FrameHeader.maximumByteCount)
    return min(Int(payload), transportClass(of: role).maximumFramePayload ?? .max)
  }

  func transportClass(of role: TransportRole) -> TransportClass {
    // TransportEventUpdate describes no other one.
    role == .primary ? primaryTransport : .tcpWiFi
  }
}
