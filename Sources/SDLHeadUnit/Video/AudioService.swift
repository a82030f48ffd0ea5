import SDLMessages
import SDLWire

/// The audio service: the answers to its starts, and its data. It is never encrypted: a start with the E bit is
/// answered without it.
struct AudioService: Sendable {
  var service = MediaService<AudioStreamChecker>()

  /// - Parameter isTransportAllowed: by the lists of the session's acknowledgement.
  mutating func start(
    isEncrypted: Bool, on transport: TransportRole, isTransportAllowed: Bool, _ app: RegisteredApp?,
    _ context: inout SessionContext
  ) {
    guard let app else { return service.noteEarlyStart(&context) }
    context.report(.audioStartRequested)
    service.isStartLost = false
    guard service.accepts(on: transport, isTransportAllowed: isTransportAllowed, app, &context) else { return }
    if isEncrypted { context.report(.audioInClear) }
    switch context.behaviour.audioStart {
    case .silence: service.isStartLost = true
    case .reject: service.refuse(reason: nil, &context)
    case .acknowledge: acknowledge(&context)
    case .acknowledgeAndEnd:
      acknowledge(&context)
      service.end(.endedByHeadUnit, &context)
    }
  }

  private mutating func acknowledge(_ context: inout SessionContext) {
    let format = context.configuration.pcmFormat ?? PCMFormat()
    service.begin()
    service.checker.begin(format)
    let answer = AudioServiceAcknowledgement(mtu: Int64(context.configuration.frameLimits.payload))
    let transport = service.transport
    context.send(
      .startServiceACK, service: .audio, on: transport, payload: answer.bytes(version: context.headerVersion))
    context.report(.audioStarted(format, on: transport))
  }

  mutating func take(_ message: [UInt8], _ permission: MediaPermission, _ context: inout SessionContext) {
    let violations = service.checker.accept(byteCount: message.count, now: context.now)
    for violation in violations { context.report(.audio(violation)) }
    if service.shows(permission, &context) { context.report(.audioData(message)) }
  }
}

/// Counters of the sound of an app.
public struct AudioStreamStatistics: Equatable, Sendable {
  public var messages: UInt64 = 0
  public var bytes: UInt64 = 0
  /// Whole samples.
  public var samples: UInt64 = 0
  /// The most sound that was there and can't have been played yet.
  public var longestLead: Duration = .zero

  /// Nothing has come.
  public init() {}
}

/// Checks that sound comes in whole samples, and not much faster than it is played.
struct AudioStreamChecker: MediaChecker {
  static let service = ServiceType.audio
  /// What may be sent ahead of its time.
  static let toleratedLead = Duration.seconds(1)

  private(set) var statistics = AudioStreamStatistics()
  private var format = PCMFormat()
  /// When all sound will have been played, if it is played as it comes; nil before any.
  private var playedAt: Duration?
  private var isLeadReported = false
  private var backlog: Backlog?

  /// What piled up while nothing was read.
  private struct Backlog {
    /// Since when it may have been sent.
    var start: Duration
    /// From then on it must have arrived.
    var end: Duration
  }

  /// A service begins.
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
  /// - Returns: what is wrong with it.
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

  /// The sound that is left to be played, if there is too much for the first time.
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
