import SDLMessages
import SDLWire

/// The media services of a session. Routes inputs to them.
struct SessionMedia: Sendable {
  /// For operations on one service.
  var video = ServedVideo()
  var audio = ServedAudio()

  func isOpen(_ service: ServiceType) -> Bool {
    service == .audio ? audio.service.isOpen : video.service.isOpen
  }

  /// Whether a service is open that continues when a start of `refused` is refused: the other one, or the video that
  /// runs already.
  func isStreaming(besides refused: ServiceType) -> Bool {
    audio.service.isOpen || refused == .audio && video.service.isOpen
  }

  // MARK: The start

  /// - Parameter isTransportAllowed: by the transport lists of the session's acknowledgement.
  mutating func start(
    _ frame: Frame, on transport: TransportRole, isTransportAllowed: Bool, _ app: RegisteredApp?,
    _ capability: OfferedCapability, _ security: inout ServedSecurity, _ context: inout ServedContext
  ) {
    if frame.header.service == .audio {
      audio.start(
        isEncrypted: frame.header.isEncrypted, on: transport, isTransportAllowed: isTransportAllowed, app, &security,
        &context)
    } else {
      video.start(
        frame, on: transport, isTransportAllowed: isTransportAllowed, app, capability, &security, &context)
    }
  }

  // MARK: The stream

  /// The status of the app, which may allow or forbid its services.
  mutating func permit(_ app: RegisteredApp, _ context: inout ServedContext) {
    // SDL Core ends audio first.
    audio.service.permit(app, &context)
    video.service.permit(app, &context)
  }

  /// Data of a service.
  /// - Returns: nil if the data is ignored.
  mutating func permission(of service: ServiceType, _ context: inout ServedContext) -> MediaPermission? {
    service == .audio ? audio.service.permission(&context) : video.service.permission(&context)
  }

  mutating func take(_ message: Message, _ permission: MediaPermission, _ context: inout ServedContext) {
    if message.header.service == .audio {
      audio.take(message.payload, permission, &context)
    } else {
      video.take(message.payload, permission, &context)
    }
  }

  /// The handshake for which the start of `service` has waited is over.
  /// - Parameter failure: why it has failed.
  mutating func handshakeEnded(
    of service: ServiceType, _ failure: ServedHandshakeFailure?, _ app: RegisteredApp?, _ capability: OfferedCapability,
    _ context: inout ServedContext
  ) {
    guard service == .audio else { return video.handshakeEnded(failure, app, capability, &context) }
    audio.handshakeEnded(failure, &context)
  }

  /// Reports frames on another connection than their service's.
  /// - Returns: whether to ignore the frame.
  mutating func isMisplaced(_ header: FrameHeader, on transport: TransportRole, _ context: inout ServedContext) -> Bool
  {
    header.service == .audio
      ? audio.service.isMisplaced(header, on: transport, &context)
      : video.service.isMisplaced(header, on: transport, &context)
  }

  /// Nothing was read for this time.
  mutating func noteTimeWithoutReading(_ time: Duration, now: Duration) {
    audio.service.noteTimeWithoutReading(time, now: now)
    video.service.noteTimeWithoutReading(time, now: now)
  }

  mutating func fire(
    _ purpose: TimerTable.Purpose, _ app: RegisteredApp?, _ capability: OfferedCapability,
    _ context: inout ServedContext
  ) {
    switch purpose {
    case .videoStart: video.answerDue(app, capability, &context)
    case .videoData: video.dataStopped(&context)
    case .stopGrace: video.service.graceOver()
    case .audioStopGrace: audio.service.graceOver()
    case .endServiceACK: video.service.acknowledgementDue(&context)
    case .audioEndServiceACK: audio.service.acknowledgementDue(&context)
    default: break
    }
  }

  // MARK: The end

  /// EndService from the app.
  mutating func answerEnd(of service: ServiceType, on transport: TransportRole, _ context: inout ServedContext) {
    if service == .audio {
      audio.service.answerEnd(on: transport, context.behaviour.serviceEnd, &context)
    } else {
      video.answerEnd(on: transport, &context)
    }
  }

  /// EndServiceACK. A second one, of an EndService that was sent twice, changes nothing.
  mutating func endAcknowledged(of service: ServiceType, _ context: inout ServedContext) {
    if service == .audio { audio.service.endAcknowledged(&context) }
    if service == .video { video.service.endAcknowledged(&context) }
  }

  /// The head unit's own EndService; nothing if the service is not open.
  mutating func end(
    _ service: ServiceType, _ reason: HeadUnitSession.StopReason, _ context: inout ServedContext
  ) {
    if service == .audio { audio.service.end(reason, &context) }
    if service == .video { video.service.end(reason, &context) }
  }

  /// EndService of those that are encrypted.
  mutating func endEncrypted(_ context: inout ServedContext) {
    for service in [ServiceType.audio, .video] where context.encryption.protects(service) {
      end(service, .endedByHeadUnit, &context)
    }
  }

  /// EndService of both.
  mutating func end(_ reason: HeadUnitSession.StopReason, _ context: inout ServedContext) {
    end(.audio, reason, &context)
    end(.video, reason, &context)
  }

  /// EndService of both. SDL Core sends each twice when the app unregisters.
  mutating func endTwice(_ reason: HeadUnitSession.StopReason, _ context: inout ServedContext) {
    let open = [ServiceType.audio, .video].filter(isOpen)
    end(reason, &context)
    if open.contains(.audio) { audio.service.repeatEnd(&context) }
    if open.contains(.video) { video.service.repeatEnd(&context) }
  }

  /// A refused start has cost the app its level, as a further one of video does while that is open. One of sound does
  /// not while anything is open (``isStreaming(besides:)``).
  mutating func forbid(_ service: ServiceType, _ context: inout ServedContext) {
    if service == .video { video.service.forbid(&context) }
  }

  /// Removes both services, without EndService.
  mutating func close(_ reason: HeadUnitSession.StopReason, _ context: inout ServedContext) {
    audio.service.close(reason, &context)
    video.service.close(reason, &context)
  }

  /// The transport is gone, and with it all services.
  mutating func reset() {
    audio.service.reset()
    video.service.reset()
  }

  /// The secondary transport is gone, with its services.
  mutating func secondaryLost(_ context: inout ServedContext) {
    audio.service.secondaryLost(&context)
    video.service.secondaryLost(&context)
  }
}
