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
  private let reportsMessages: Bool
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

  init(_ configuration: AppSession.Configuration, lastEpoch: UInt32) {
    primaryTransport = configuration.primaryTransport
    reportsMessages = configuration.reportsMessages
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

  /// Notes a message, if the owner wants that.
  private mutating func note(_ message: @autoclosure () -> ConversationMessage) {
    if reportsMessages { actions.append(.note(message())) }
  }

  /// A frame has come from the head unit, decrypted. RPCs are noted when they are whole.
  mutating func noteReceived(_ frame: Frame, on role: TransportRole) {
    guard let control = frame.header.controlFrame else { return }
    note(ConversationMessage(control, frame, by: .headUnit, on: role))
  }

  mutating func send(
    _ control: ControlFrame, _ service: ServiceType, on role: TransportRole = .primary, messageID: UInt32 = 0,
    isEncrypted: Bool = false, payload: [UInt8] = []
  ) {
    var frame = Frame.control(
      control, service: service, version: version, sessionID: sessionID, messageID: messageID, payload: payload)
    frame.header.isEncrypted = isEncrypted
    guard role == .primary || isSecondaryOpen else { return }
    note(ConversationMessage(control, frame, by: .app, on: role))
    actions.append(role == .primary ? .send(frame.bytes) : .sendOnSecondary(frame.bytes))
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
    note(ConversationMessage(sender: .app, content: .rpc(message), isEncrypted: isEncrypted))
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
      let rpc = try RPCMessage(payload: message.payload)
      note(ConversationMessage(sender: .headUnit, content: .rpc(rpc), isEncrypted: message.header.isEncrypted))
      return rpc
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

/// The ids of the messages of one service that carries media, or of all others: a range of numbers, then from its start
/// again.
///
/// Media is numbered by the thread that writes it. The ranges must not overlap, because receivers (SDL Core among them)
/// identify unfinished messages by session and id only.
package struct MessageIDs: Equatable, Sendable {
  /// 2³⁰…2³¹−1. A head unit that reads ids as signed would see larger ones as negative.
  package static let video = MessageIDs(1 << 30...1 << 31 - 1)
  /// 2²⁹…2³⁰−1.
  package static let audio = MessageIDs(1 << 29...1 << 30 - 1)

  /// 1…2²⁹−1, for everything but media. Head units refuse 0.
  static let session = MessageIDs(1...1 << 29 - 1)

  let range: ClosedRange<UInt32>
  private var following: UInt32

  private init(_ range: ClosedRange<UInt32>) {
    self.range = range
    following = range.lowerBound
  }

  /// The same range, continuing with `following`, clamped to it.
  func starting(at following: UInt32) -> MessageIDs {
    var ids = self
    ids.following = min(max(following, range.lowerBound), range.upperBound)
    return ids
  }

  package mutating func next() -> UInt32 {
    defer { following = following >= range.upperBound ? range.lowerBound : following + 1 }
    return following
  }
}

/// The requests that wait for an answer. Each ends by its answer, by its time-out, or with the session.
struct PendingRequests: Equatable, Sendable {
  private struct Entry: Equatable {
    var function: FunctionID
    var isEncrypted: Bool
    var deadline: Duration
  }

  private var entries: [Int32: Entry] = [:]
  /// Below those of the application (``ApplicationRequest/ids``).
  private var lastID: Int32 = 0

  var nextDeadline: Duration? { entries.values.lazy.map(\.deadline).min() }

  /// Adds a request.
  /// - Parameter isEncrypted: whether it is sent encrypted: then its answer is encrypted as well.
  /// - Returns: Its correlation id.
  mutating func add(_ function: FunctionID, isEncrypted: Bool = false, deadline: Duration) -> Int32 {
    repeat {
      lastID = lastID == ApplicationRequest.ids.lowerBound - 1 ? 1 : lastID + 1
    } while entries[lastID] != nil
    entries[lastID] = Entry(function: function, isEncrypted: isEncrypted, deadline: deadline)
    return lastID
  }

  /// Removes the request that `response` answers. A head unit that could not read the request answers with
  /// GenericResponse instead of the function.
  /// - Returns: The function of the request; nil when there was none, or when it needs an encrypted answer.
  mutating func take(_ response: RPCMessage, isEncrypted: Bool = false) -> FunctionID? {
    guard let entry = entries[response.correlationID], isEncrypted || !entry.isEncrypted,
      response.function == entry.function || response.function == .genericResponse
    else { return nil }
    entries[response.correlationID] = nil
    return entry.function
  }

  /// Removes the requests whose deadline has passed, and returns their functions in the order of the requests.
  mutating func takeExpired(now: Duration) -> [FunctionID] {
    let expired = entries.filter { $0.value.deadline <= now }
    for id in expired.keys { entries[id] = nil }
    return expired.sorted { $0.key < $1.key }.map(\.value.function)
  }

  /// Removes everything, because the session is over.
  mutating func removeAll() {
    entries = [:]
  }
}
