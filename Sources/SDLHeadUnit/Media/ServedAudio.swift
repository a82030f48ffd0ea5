import SDLMessages
import SDLWire

/// The audio service: the answers to its starts, and its data.
struct ServedAudio: Sendable {
  var service = MediaService<AudioStreamChecker>()

  /// - Parameter isTransportAllowed: by the transport lists of the session's acknowledgement.
  mutating func start(
    isEncrypted: Bool, on transport: TransportRole, isTransportAllowed: Bool, _ app: RegisteredApp?,
    _ security: inout ServedSecurity, _ context: inout ServedContext
  ) {
    guard let app, !app.isBeingRegistered(at: context.now) else {
      return service.noteEarlyStart(on: transport, &context)
    }
    context.report(.audioStartRequested)
    let isReady = service.begin(
      (), isEncrypted: isEncrypted, on: transport, isTransportAllowed: isTransportAllowed, app, &security, &context)
    if isReady { answer(&context) }
  }

  /// The handshake for which the start has waited is over.
  /// - Parameter failure: why it has failed.
  mutating func handshakeEnded(_ failure: ServedHandshakeFailure?, _ context: inout ServedContext) {
    if service.handshakeEnded(failure, &context) { answer(&context) }
  }

  private mutating func answer(_ context: inout ServedContext) {
    guard let start = service.takeStart() else { return }
    if start.asksForEncryption, !start.isEncrypted { context.report(.audioInClear) }
    switch context.behaviour.audioStart {
    case .silence: service.isStartLost = true
    case .reject: service.refuse(reason: nil, &context)
    case .acknowledge: acknowledge(start, &context)
    case .acknowledgeAndEnd:
      acknowledge(start, &context)
      service.end(.endedByHeadUnit, &context)
    }
  }

  private mutating func acknowledge(
    _ start: MediaService<AudioStreamChecker>.Start, _ context: inout ServedContext
  ) {
    let format = context.configuration.pcmFormat ?? PCMFormat()
    let answer = AudioServiceAcknowledgement(mtu: Int64(context.configuration.frameLimits.payload))
    guard service.acknowledge(start, answer.bytes(version: context.headerVersion), &context) else { return }
    service.checker.begin(format)
    context.report(.audioStarted(format, on: service.transport))
  }

  mutating func take(_ message: [UInt8], _ permission: MediaPermission, _ context: inout ServedContext) {
    let violations = service.checker.accept(byteCount: message.count, now: context.now)
    for violation in violations { context.report(.audio(violation)) }
    if service.shows(permission, &context) { context.report(.audioData(message)) }
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
  typealias Request = Void

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
  }

  mutating func expectBacklog(of time: Duration, now: Duration) {
    let began = now - time
    if let former = backlog, former.end > began {
      backlog?.end = max(former.end, now) + time
    } else {
      backlog = Backlog(start: began, end: now + time)
    }
  }

  func stop(_ reason: HeadUnitSession.StopReason) -> HeadUnitSession.Event {
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
