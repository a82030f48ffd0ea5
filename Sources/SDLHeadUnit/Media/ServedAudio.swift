import SDLMessages
import SDLWire

/// The audio service: the answers to its starts, and its data.
struct ServedAudio: Sendable {
  var service = MediaService<AudioStreamChecker>()
  /// A start that waits for a TLS handshake.
  private(set) var waitsForHandshake = false

  /// - Parameter isTransportAllowed: by the transport lists of the session's acknowledgement.
  mutating func start(
    isEncrypted: Bool, on transport: TransportRole, isTransportAllowed: Bool, _ app: RegisteredApp?,
    _ security: inout ServedSecurity, _ context: inout ServedContext
  ) {
    guard let app, !app.isBeingRegistered(at: context.now) else {
      return service.noteEarlyStart(on: transport, &context)
    }
    context.report(.audioStartRequested)
    service.isStartLost = false
    if transport == .primary, isTransportAllowed, service.transport == .secondary {
      if waitsForHandshake { withdrawStart(reason: service.preemptedReason, &context) }
      security.cancel(.audio, &context)
      service.giveWayToPrimary(&context)
    }
    let isAccepted = service.accepts(
      on: transport, isTransportAllowed: isTransportAllowed, app, isStarting: waitsForHandshake,
      unless: security.reasonToRefuseMedia(isEncrypted: isEncrypted, context), &context)
    guard isAccepted else { return }
    switch security.prepare(.audio, on: transport, isEncrypted: isEncrypted, app, &context) {
    case .clear:
      if isEncrypted { context.report(.audioInClear) }
      answer(isEncrypted: false, &context)
    case .encrypted: answer(isEncrypted: true, &context)
    case .handshake: waitsForHandshake = true
    case .refused(let reason): service.refuse(reason: reason, &context)
    }
  }

  /// The handshake for which the start has waited is over.
  /// - Parameter failure: why it has failed.
  mutating func handshakeEnded(_ failure: HandshakeFailure?, _ context: inout ServedContext) {
    guard waitsForHandshake else { return }
    waitsForHandshake = false
    if let failure, context.configuration.security == .require {
      return service.refuse(reason: failure.text, costsLevel: failure.isOwnFault, &context)
    }
    let isEncrypted = failure == nil && context.behaviour.handshake != .clear
    if !isEncrypted { context.report(.audioInClear) }
    answer(isEncrypted: isEncrypted, &context)
  }

  private mutating func answer(isEncrypted: Bool, _ context: inout ServedContext) {
    switch context.behaviour.audioStart {
    case .silence: service.isStartLost = true
    case .reject: service.refuse(reason: nil, &context)
    case .acknowledge: acknowledge(isEncrypted: isEncrypted, &context)
    case .acknowledgeAndEnd:
      acknowledge(isEncrypted: isEncrypted, &context)
      service.end(.endedByHeadUnit, &context)
    }
  }

  private mutating func acknowledge(isEncrypted: Bool, _ context: inout ServedContext) {
    let format = context.configuration.pcmFormat ?? PCMFormat()
    let answer = AudioServiceAcknowledgement(mtu: Int64(context.configuration.frameLimits.payload))
    let payload = answer.bytes(version: context.headerVersion)
    let encrypted = isEncrypted ? context.encryption.encrypted(payload) : nil
    if isEncrypted, encrypted == nil, context.configuration.security == .require {
      return service.refuse(reason: "The acknowledgement can't be encrypted", &context)
    }
    service.begin()
    service.checker.begin(format)
    context.encryption.begin(.audio, isEncrypted: encrypted != nil)
    let transport = service.transport
    context.send(
      .startServiceACK, service: .audio, on: transport, isEncrypted: encrypted != nil, payload: encrypted ?? payload)
    context.report(.audioStarted(format, on: transport))
  }

  /// The status of the app, which may allow or forbid the sound.
  mutating func permit(_ app: RegisteredApp, _ context: inout ServedContext) {
    // The level stays as the driver chose it.
    if !app.allows(.audio), waitsForHandshake { withdrawStart(reason: service.disallowedReason, &context) }
    service.permit(app, &context)
  }

  /// Refuses a start that waits, without the loss of the HMI level.
  private mutating func withdrawStart(reason: String, _ context: inout ServedContext) {
    waitsForHandshake = false
    service.refuse(reason: reason, costsLevel: false, &context)
  }

  /// Data of the service.
  /// - Returns: nil if the data is ignored.
  func permission(_ context: inout ServedContext) -> MediaPermission? {
    service.permission(isStarting: waitsForHandshake, &context)
  }

  mutating func take(_ message: [UInt8], _ permission: MediaPermission, _ context: inout ServedContext) {
    let violations = service.checker.accept(byteCount: message.count, now: context.now)
    for violation in violations { context.report(.audio(violation)) }
    if service.shows(permission, &context) { context.report(.audioData(message)) }
  }

  /// EndService from the app.
  mutating func answerEnd(on transport: TransportRole, _ context: inout ServedContext) {
    let answer = context.behaviour.serviceEnd
    if service.answerEnd(on: transport, answer, isStarting: waitsForHandshake, &context) { waitsForHandshake = false }
  }

  /// Removes the service, without EndService.
  mutating func close(_ reason: HeadUnitSession.StreamStopReason, _ context: inout ServedContext) {
    waitsForHandshake = false
    service.close(reason, &context)
  }

  mutating func secondaryLost(_ context: inout ServedContext) {
    if service.transport == .secondary { waitsForHandshake = false }
    service.secondaryLost(&context)
  }
}

/// Counters of the sound of an app.
package struct AudioStreamStatistics: Equatable, Sendable {
  package var messages: UInt64 = 0
  package var bytes: UInt64 = 0
  /// Whole samples.
  package var samples: UInt64 = 0
  /// The most received sound that can't have been played yet.
  package var longestLead: Duration = .zero

  package init() {}
}

/// Checks that sound comes in whole samples, and not much faster than it is played.
struct AudioStreamChecker: MediaChecker {
  static let service = ServiceType.audio
  /// How far sound may be sent ahead of its time.
  static let toleratedLead = Duration.seconds(1)

  private(set) var statistics = AudioStreamStatistics()
  private var format = PCMFormat()
  /// When all sound will have been played, if it is played as it comes; nil before any.
  private var playedAt: Duration?
  private var isLeadReported = false
  private var backlog: Backlog?

  /// The backlog from a time in which nothing was read.
  private struct Backlog {
    /// Since when it may have been sent.
    var start: Duration
    /// From then on it must have arrived.
    var end: Duration
  }

  mutating func begin(_ format: PCMFormat) {
    self.format = format
    playedAt = nil
    isLeadReported = false
  }

  mutating func expectBacklog(of time: Duration, now: Duration) {
    let began = now - time
    if let former = backlog, former.end > began {
      backlog?.end = max(former.end, now) + time
    } else {
      backlog = Backlog(start: began, end: now + time)
    }
  }

  func stop(_ reason: HeadUnitSession.StreamStopReason) -> HeadUnitSession.Event {
    .audioStopped(reason: reason, statistics)
  }

  /// Counts a message.
  /// - Returns: its faults.
  mutating func accept(byteCount: Int, now: Duration) -> [AudioStreamViolation] {
    let samples = format.sampleCount(ofByteCount: byteCount)
    statistics.messages &+= 1
    statistics.bytes &+= UInt64(clamping: byteCount)
    statistics.samples &+= UInt64(clamping: samples)
    var violations: [AudioStreamViolation] = []
    if byteCount != format.byteCount(ofSampleCount: samples) {
      violations.append(.partialSample(byteCount: byteCount, sampleByteCount: format.sampleSize.byteCount))
    }
    if let lead = lead(with: samples, now: now) { violations.append(.fasterThanRealTime(by: lead)) }
    return violations
  }

  /// The sound that is still to be played, if that is too much for the first time.
  private mutating func lead(with samples: Int, now: Duration) -> Duration? {
    if let end = backlog?.end, end <= now { backlog = nil }
    let sentAt = backlog?.start ?? now
    if playedAt.map({ $0 <= sentAt }) ?? true { isLeadReported = false }
    let start = max(playedAt ?? sentAt, sentAt)
    playedAt = start + format.duration(ofSampleCount: samples)
    let lead = max(start + format.duration(ofSampleCount: samples) - now, .zero)
    statistics.longestLead = max(statistics.longestLead, lead)
    guard lead > Self.toleratedLead, !isLeadReported else { return nil }
    isLeadReported = true
    return lead
  }
}
