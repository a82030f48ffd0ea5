import SDLMessages
import SDLWire

/// Validation of frames, before their content is looked at.
extension HeadUnitSession {
  /// In bytes.
  private static let maximumMessageSize = 16 << 20
  /// What comes then, registrations and TLS handshakes, is small, and comes from anybody.
  private static let maximumMessageSizeBeforeRegistration = 1 << 20

  /// Fewer partial messages than the default, because each may hold megabytes.
  static func makeAssembler() -> MessageAssembler {
    MessageAssembler(maximumMessageSize: maximumMessageSizeBeforeRegistration, maximumPartialMessages: 4)
  }

  /// The memory that incomplete messages of the app take, in bytes.
  public var incompleteByteCount: Int { assembler.partialByteCount }

  /// Gives up the incomplete message that has waited longest for its next frame.
  public mutating func dropIncompleteMessage() -> [Action] {
    if let service = assembler.dropOldest() { report(.brokenMessage(service, .noRoom)) }
    armIncompleteMessageTimer()
    return takeActions()
  }

  mutating func receive(_ frame: Frame, on transport: TransportRole, now: Duration) {
    let header = frame.header
    if let violation = malformation(of: header) {
      noteMalformed(violation, on: transport, now: now)
      return
    }
    let isMediaData = header.frameType != .control && (header.service == .video || header.service == .audio)
    if !isMediaData, frames.exceeds(at: now) {
      report(.tooManyFrames(limit: frames.limit, within: frames.window))
      endForTooManyFrames(now: now)
      return
    }
    if header.controlFrame == .startService, header.service == .rpc {
      startRPCService(frame, on: transport, now: now)
      return
    }
    guard let rpcService else {
      report(.noSession(header.service))
      if header.controlFrame == .registerSecondaryTransport {
        // Another transport of a session over the same port, which SDL Core refuses.
        actions.append(.send(Self.refusal(of: header, .unknownSession, version: header.version)))
      }
      if header.controlFrame == .endService {
        send(.endServiceNAK, service: header.service, version: header.version, sessionID: header.sessionID)
      }
      return
    }
    guard header.sessionID == sessionID else {
      report(.sessionID(expected: sessionID, got: header.sessionID))
      if header.controlFrame == .endService {
        send(
          .endServiceNAK, service: header.service, on: transport, sessionID: header.sessionID,
          payload: ServiceRejection().bytes(version: rpcService.headerVersion))
      }
      refuseRequest(of: frame)
      return
    }
    noteTraffic(now: now)
    let isPickingVersion = !rpcService.isVersionSettled && (2...rpcService.headerVersion).contains(header.version)
    if header.version != rpcService.headerVersion, !isPickingVersion {
      report(.headerVersion(expected: rpcService.headerVersion, got: header.version))
    }
    guard !isMisplaced(header, on: transport) else { return }
    if header.frameType == .control {
      receiveControl(frame, on: transport, now: now)
    } else {
      receiveData(frame, now: now)
    }
  }

  /// SDL Core knows no app in a session that was never started, and says so in that session.
  private mutating func refuseRequest(of frame: Frame) {
    let header = frame.header
    guard header.frameType == .single, header.service == .rpc || header.service == .hybrid,
      let request = try? RPCMessage(payload: frame.payload), request.type == .request
    else { return }
    let result = RPCResult(success: false, resultCode: .applicationNotRegistered)
    let response = RPCMessage(
      type: .response, function: request.function, correlationID: request.correlationID, parameters: result.json)
    send(response, sessionID: header.sessionID)
  }

  /// Headers that SDL Core refuses and the decoder accepts.
  private func malformation(of header: FrameHeader) -> Violation? {
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

  mutating func noteMalformed(_ violation: Violation, on transport: TransportRole, now: Duration) {
    report(violation)
    // Who speaks there need not be the app, whose session must not suffer.
    if transport == .secondary { return closeSecondaryTransport(now: now) }
    guard malformedFrames.exceeds(at: now) else { return }
    report(.tooManyMalformedFrames(limit: malformedFrames.limit, within: malformedFrames.window))
    endRegistration(.malformedFrames, now: now)
    close(.transport)
  }

  private mutating func endForTooManyFrames(now: Duration) {
    if app != nil {
      unregister(.tooManyRequests, now: now)
    } else {
      close()
    }
  }

  private mutating func receiveData(_ frame: Frame, now: Duration) {
    let service = frame.header.service
    guard let frame = decrypted(frame, now: now) else { return }
    switch service {
    case .rpc, .hybrid:
      guard let message = assemble(frame, now: now) else { return }
      receiveRPC(message, now: now)
    case .video, .audio:
      receiveMedia(frame, now: now)
    case .control:
      guard let message = assemble(frame, now: now) else { return }
      receiveSecurityQuery(message.payload, now: now)
    }
  }

  mutating func assemble(_ frame: Frame, now: Duration) -> Message? {
    defer { armIncompleteMessageTimer() }
    assembler.maximumMessageSize = app == nil ? Self.maximumMessageSizeBeforeRegistration : Self.maximumMessageSize
    do {
      return try assembler.accept(frame, now: readingTime(at: now))
    } catch {
      report(.brokenMessage(frame.header.service, error))
      return nil
    }
  }

  mutating func armIncompleteMessageTimer() {
    if let deadline = assembler.nextDeadline {
      timers.arm(.incompleteMessage, at: deadline + timeWithoutReading)
    } else {
      timers.cancel(.incompleteMessage)
    }
  }
}
