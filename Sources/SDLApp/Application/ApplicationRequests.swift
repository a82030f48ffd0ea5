import SDLMessages

/// The application's own RPCs: its requests, in their order, and the notifications that it wants.
///
/// The caller bounds their number; this type bounds the rate, and the bytes on the way.
struct ApplicationRequests: Sendable {
  /// Between two requests. SDL Core unregisters apps with more than 1000 in 10 s, of which the session needs some
  /// itself, and in HMI level NONE with more than 100.
  private static let interval = Duration.microseconds(12_500)
  private static let intervalInNone = Duration.milliseconds(125)
  /// How far requests may be ahead of that pace.
  private static let reserve = Duration.seconds(1)
  /// The most bytes on the way, except for a single larger request: bytes that a head unit does not read fill the
  /// memory.
  private static let mostBytes = 1 << 20

  private struct Sent {
    let request: ApplicationRequest
    let isEncrypted: Bool
    let byteCount: Int
    let deadline: Duration
  }

  private var waiting: [ApplicationRequest] = []
  private var sent: [Int32: Sent] = [:]
  /// The file whose parts are being sent, of the request with this id; later requests wait.
  private var upload: (id: Int32, rest: FileUpload)?
  private var notifications: Set<FunctionID> = []
  /// Until then the rate is used up.
  private var usedUntil = Duration.zero - reserve
  /// When the pace allows the next request.
  private var notBefore: Duration?

  /// When ``advance(_:)`` or ``reconcile(_:)`` has something to do.
  var nextDeadline: Duration? { sent.values.lazy.map(\.deadline).min().earlier(notBefore) }

  mutating func setNotifications(_ notifications: Set<FunctionID>) {
    self.notifications = notifications
  }

  func wants(_ notification: FunctionID) -> Bool { notifications.contains(notification) }

  mutating func add(_ request: ApplicationRequest, _ context: inout SessionContext) {
    guard context.isRegistered else { return report(request.aborted, &context) }
    waiting.append(request)
  }

  /// Sends the requests that may be sent now.
  mutating func reconcile(_ context: inout SessionContext) {
    notBefore = nil
    while context.isRegistered, upload == nil, let index = nextIndex(context) {
      let next = waiting[index]
      if context.security.rpc.isMissing(for: next.function) {
        // In clear it is never sent.
        waiting.remove(at: index)
        report(next.failure(.encryptionNeeded, "RPCs to this head unit are not encrypted"), &context)
        continue
      }
      let interval = context.isInNone ? Self.intervalInNone : Self.interval
      let begin = max(usedUntil, context.now - Self.reserve)
      guard begin <= context.now else { return notBefore = begin }
      guard sent.isEmpty || sent.values.reduce(next.bytesOnTheWay, { $0 + $1.byteCount }) <= Self.mostBytes else {
        return
      }
      usedUntil = begin + interval
      waiting.remove(at: index)
      if next.function == .putFile { upload = (next.id, FileUpload(next.parameters, next.bulk)) }
      send(next, &context)
    }
  }

  /// The index in ``waiting`` of the request that is next. The order is kept, except that a SystemRequest does not wait
  /// behind those that wait for encrypted RPCs, which may depend on it.
  private func nextIndex(_ context: SessionContext) -> Int? {
    guard let first = waiting.first, context.security.rpc.isPending(for: first.function) else {
      return waiting.indices.first
    }
    return waiting.firstIndex { $0.function == .systemRequest }
  }

  /// Sends a request, or the next part of its file.
  private mutating func send(_ request: ApplicationRequest, _ context: inout SessionContext) {
    var next = request
    if request.function == .putFile, let part = upload?.rest.nextPart() { (next.parameters, next.bulk) = part }
    let isEncrypted = context.security.isRPCEncrypted
    let timeout = request.timeout(usual: context.configuration.requestTimeout)
    // After sending, only the fields for an answer are kept.
    sent[request.id] = Sent(
      request: ApplicationRequest(id: request.id, request.function, [:]), isEncrypted: isEncrypted,
      byteCount: request.bytesOnTheWay, deadline: context.now + timeout)
    context.messenger.send(
      RPCMessage(
        type: .request, function: next.function, correlationID: next.id, parameters: next.parameters, bulk: next.bulk),
      isEncrypted: isEncrypted)
  }

  /// A response of the head unit.
  /// - Returns: whether it answers a request of the application.
  mutating func receive(_ response: RPCMessage, isEncrypted: Bool, _ context: inout SessionContext) -> Bool {
    guard let entry = sent[response.correlationID], isEncrypted || !entry.isEncrypted,
      response.function == entry.request.function || response.function == .genericResponse
    else { return false }
    sent[response.correlationID] = nil
    let result = RPCResult(json: response.parameters)
    if result.resultCode == ResultCode.encryptionNeeded.rawValue { context.security.rpcRefusedInClear() }
    if upload?.id == response.correlationID {
      guard !result.success || upload?.rest.isComplete == true else {
        send(entry.request, &context)
        return true
      }
      upload = nil
    }
    var answer = response
    answer.function = entry.request.function
    report(answer, &context)
    return true
  }

  mutating func advance(_ context: inout SessionContext) {
    for (id, entry) in sent.filter({ $0.value.deadline <= context.now }).sorted(by: { $0.key < $1.key }) {
      sent[id] = nil
      if upload?.id == id { upload = nil }
      report(entry.request.failure(.timedOut, "The head unit has not answered"), &context)
    }
  }

  mutating func end(_ context: inout SessionContext) {
    let requests = sent.values.map(\.request).sorted { $0.id < $1.id } + waiting
    (sent, waiting, upload, notBefore) = ([:], [], nil, nil)
    for request in requests { report(request.aborted, &context) }
  }

  private func report(_ answer: RPCMessage, _ context: inout SessionContext) {
    context.messenger.report(.applicationRPC(answer))
  }
}

/// A file on its way to the head unit (PutFile), part by part: RPCs go before video, which a large RPC would hold up.
struct FileUpload: Equatable, Sendable {
  /// In bytes.
  static let partSize = 64 << 10

  /// The parameters of the first part, except for its size.
  private let parameters: JSONObject
  private let bytes: [UInt8]
  private var offset = 0

  /// A file of at least one byte.
  init(_ parameters: JSONObject, _ bytes: [UInt8]) {
    self.parameters = parameters
    self.bytes = bytes
  }

  /// Whether the last part was taken.
  var isComplete: Bool { offset == bytes.count }

  /// The upload from its beginning.
  var restarted: FileUpload { FileUpload(parameters, bytes) }

  /// The next part; nil after the last.
  mutating func nextPart() -> (parameters: JSONObject, bulk: [UInt8])? {
    guard offset < bytes.count else { return nil }
    let part = bytes[offset..<min(offset + Self.partSize, bytes.count)]
    var parameters = parameters
    // SDL Core takes the length in the first part as that of the file.
    if bytes.count > Self.partSize {
      parameters["offset"] = .integer(offset)
      parameters["length"] = .integer(offset == 0 ? bytes.count : part.count)
    }
    offset = part.endIndex
    return (parameters, Array(part))
  }
}
