import SDLMessages
import SDLWire

/// The entrance of a session: refuses frames by their headers, assembles messages, and knows when the head unit itself
/// does not read.
struct FrameGate: Sendable {
  /// In bytes.
  private static let maximumMessageSize = 16 << 20
  /// Before the registration, messages (registrations, TLS handshakes) are small, and come from any peer.
  private static let maximumMessageSizeBeforeRegistration = 1 << 20

  private var assembler = Self.makeAssembler()
  private var malformedFrames = CoreLimits.malformedFrames
  private var frames = [TransportRole.primary: CoreLimits.frames, .secondary: CoreLimits.frames]
  /// Frames that don't belong to the session.
  private var foreignFrames = CoreLimits.frames
  /// Nil while the head unit reads what the app sends.
  private var notReadingSince: Duration?
  /// The sum of all earlier times without reading.
  private var timeWithoutReading = Duration.zero

  /// Fewer partial messages than the default, because each may hold megabytes.
  private static func makeAssembler() -> MessageAssembler {
    MessageAssembler(maximumMessageSize: maximumMessageSizeBeforeRegistration, maximumPartialMessages: 4)
  }

  /// The memory that incomplete messages take, in bytes.
  var incompleteByteCount: Int { assembler.partialByteCount }

  /// Forgets incomplete messages. The counts for the limits stay: otherwise an app could exceed them again and again.
  mutating func reset() {
    assembler = Self.makeAssembler()
  }

  /// A header that SDL Core refuses and the decoder accepts.
  func malformation(of header: FrameHeader, _ configuration: HeadUnitConfiguration) -> Violation? {
    guard header.version <= configuration.maximumHeaderVersion else {
      return .malformedBytes(.version(header.version))
    }
    let limit = configuration.frameLimits.maximumPayload(version: header.version, service: header.service)
    guard header.dataSize <= limit else { return .malformedBytes(.oversized(header.dataSize, limit: limit)) }
    if header.frameType != .control, header.version > 1, header.messageID == 0 {
      return .messageIDZero(header.service)
    }
    return nil
  }

  /// Counts a malformed frame.
  /// - Returns: whether the limit is exceeded.
  mutating func hasTooManyMalformed(_ context: inout ServedContext) -> Bool {
    guard malformedFrames.exceeds(at: context.now) else { return false }
    context.report(.tooManyMalformedFrames(limit: malformedFrames.limit, within: malformedFrames.window))
    return true
  }

  /// Counts a frame of a transport, if it is not the data of audio or video.
  /// - Returns: whether the limit is exceeded.
  mutating func hasTooMany(
    with header: FrameHeader, on transport: TransportRole, _ context: inout ServedContext
  ) -> Bool {
    let isMediaData = header.frameType != .control && (header.service == .video || header.service == .audio)
    guard !isMediaData, frames[transport]?.exceeds(at: context.now) == true else { return false }
    context.report(.tooManyFrames(limit: CoreLimits.frames.limit, within: CoreLimits.frames.window))
    return true
  }

  /// Reports frames on the secondary transport that belong on the primary one: all but heartbeats and media, which have
  /// the transport of their service.
  /// - Returns: whether to ignore the frame.
  func isMisplaced(
    _ header: FrameHeader, on transport: TransportRole, _ media: inout SessionMedia, _ context: inout ServedContext
  ) -> Bool {
    if header.service == .audio || header.service == .video {
      return media.isMisplaced(header, on: transport, &context)
    }
    guard transport == .secondary else { return false }
    switch header.controlFrame {
    case .heartbeat, .heartbeatACK, .registerSecondaryTransport: return false
    default: context.report(.wrongTransport(header.service, expected: .primary))
    }
    return true
  }

  func refuseWithoutSession(_ frame: Frame, _ context: inout ServedContext) {
    let header = frame.header
    context.report(.noSession(header.service))
    switch header.controlFrame {
    case .registerSecondaryTransport:
      // Another transport of a session over the same port, which SDL Core refuses.
      context.refuseSecondaryTransport(.unknownSession, version: header.version, sessionID: header.sessionID)
    case .endService:
      context.send(.endServiceNAK, service: header.service, version: header.version, sessionID: header.sessionID)
    default: refuseRequest(frame, &context)
    }
  }

  /// Counts a frame of another session, which may come from another app.
  /// - Returns: false once there are too many to answer.
  mutating func answersOtherSession(_ context: inout ServedContext) -> Bool {
    guard foreignFrames.exceeds(at: context.now) else { return true }
    context.report(.tooManyFrames(limit: foreignFrames.limit, within: foreignFrames.window))
    return false
  }

  /// A frame of another session. SDL Core answers only requests.
  func refuseOfOtherSession(_ frame: Frame, on transport: TransportRole, _ context: inout ServedContext) {
    context.report(.sessionID(expected: context.sessionID, got: frame.header.sessionID))
    // The answer goes to the primary transport, where only its own requests are expected.
    if transport == .primary { refuseRequest(frame, &context) }
  }

  /// A request in a session that was never started.
  private func refuseRequest(_ frame: Frame, _ context: inout ServedContext) {
    let header = frame.header
    guard header.frameType == .single, header.version > 1, header.service == .rpc || header.service == .hybrid,
      let request = try? RPCMessage(payload: frame.payload, as: .sdlCore), request.type == .request
    else { return }
    let isRegistration = request.function == .registerAppInterface
    let result = RPCResult(
      success: false, resultCode: isRegistration ? .genericError : .applicationNotRegistered,
      info: "Session \(header.sessionID) has not been started")
    let response = RPCMessage(
      type: .response, function: request.function, correlationID: request.correlationID, parameters: result.json)
    context.send(response, inForeignSessionOf: header)
  }

  mutating func assemble(_ frame: Frame, isRegistered: Bool, _ context: inout ServedContext) -> Message? {
    defer { armTimer(&context) }
    assembler.maximumMessageSize =
      isRegistered ? Self.maximumMessageSize : Self.maximumMessageSizeBeforeRegistration
    do {
      // With a clock that stands still while nothing is read: the rest of a message may have come then.
      return try assembler.accept(frame, now: context.now - timeWithoutReading)
    } catch .incomplete(let message, let announced) {
      let service = frame.header.service
      context.report(.brokenMessage(service, .sizeMismatch(announced: announced, got: message.payload.count)))
      if service == .rpc || service == .hybrid {
        refuseIncomplete(message, announced: announced, isRegistered: isRegistered, &context)
      }
      return nil
    } catch {
      context.report(.brokenMessage(frame.header.service, error))
      return nil
    }
  }

  /// As SDL Core does, for which the missing bytes are data of the request.
  private func refuseIncomplete(
    _ message: Message, announced: Int, isRegistered: Bool, _ context: inout ServedContext
  ) {
    guard let header = try? RPCHeader(payload: message.payload), header.type == .request else { return }
    let request = RPCMessage(
      type: .request, function: FunctionID(rawValue: header.functionID), correlationID: header.correlationID)
    let isRegistration = request.function == .registerAppInterface
    context.refuse(
      request, isRegistered || isRegistration ? .invalidData : .applicationNotRegistered,
      "The message has \(message.payload.count) bytes, where \(announced) were announced")
    if isRegistration { context.demand(.endSession) }
  }

  /// Gives up the incomplete message that has waited longest for its next frame.
  mutating func dropOldest(_ context: inout ServedContext) {
    if let service = assembler.dropOldest() { context.report(.brokenMessage(service, .noRoom)) }
    armTimer(&context)
  }

  mutating func dropExpired(_ context: inout ServedContext) {
    assembler.dropExpired(now: context.now - timeWithoutReading)
    armTimer(&context)
  }

  private func armTimer(_ context: inout ServedContext) {
    if let deadline = assembler.nextDeadline {
      context.timers.arm(.incompleteMessage, at: deadline + timeWithoutReading)
    } else {
      context.timers.cancel(.incompleteMessage)
    }
  }

  /// The head unit stops reading the app's bytes.
  mutating func stopReading(_ context: inout ServedContext) {
    guard notReadingSince == nil else { return }
    notReadingSince = context.now
    context.timers.holdAppDeadlines()
  }

  /// - Returns: how long nothing was read; nil if the head unit has read.
  mutating func resumeReading(_ context: inout ServedContext) -> Duration? {
    guard let since = notReadingSince.take() else { return nil }
    let time = max(context.now - since, .zero)
    context.timers.releaseAppDeadlines(postponedBy: time)
    timeWithoutReading += time
    return time
  }
}
