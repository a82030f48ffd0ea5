import SDLApp

/// The right to send on one service, the payloads queued under it and the one being written: a single value, so that one lock
/// keeps them consistent. That lock is the ``ConnectionWriter``'s.
///
/// Every payload in here belongs to the present grant.
struct MediaSendState {
  /// A payload that has left the queue.
  struct Finished {
    let payload: any MediaPayload
    let wasSent: Bool

    /// Exactly once, and with no lock held.
    func release() {
      payload.release(wasSent: wasSent)
    }
  }

  /// What is left of a grant that has gone.
  struct Remainder {
    fileprivate(set) var payloads: [Finished] = []
    /// The end of the frame that had been begun; a copy, so that no payload has to stay for it.
    fileprivate(set) var unfinishedFrame: [UInt8] = []

    /// Exactly once, and with no lock held.
    func release() {
      for payload in payloads { payload.release() }
    }
  }

  /// Nil while nothing may be sent.
  private(set) var grant: MediaGrant?
  /// What encrypts what is sent; nil for a service in clear.
  private var channel: (any SecureChannel)?
  /// While on, nothing more is accepted; what is queued is still written.
  var isDraining = false
  /// While on, nothing more is accepted and nobody waits; what is queued is still written.
  var isFlushing = false
  /// Whether pictures wait, not yet encoded, until the peer has acknowledged what was sent before.
  var isHeldBack = false
  /// When the last payload was queued; zero before the first.
  private(set) var lastQueueTime = Duration.zero
  private var counters = MediaChannelStatistics()
  private var queue: PayloadQueue
  private let writer = MediaWriter()
  private var messageIDs: MediaMessageIDs

  /// `capacity` is in payloads, at least 1.
  init(messageIDs: MediaMessageIDs, capacity: Int, maximumByteCount: Int) {
    self.messageIDs = messageIDs
    queue = PayloadQueue(capacity: capacity, maximumByteCount: maximumByteCount)
  }

  /// The transport that carries the service, or that would.
  var role: TransportRole { grant?.role ?? .primary }

  var isEmpty: Bool { queue.count == 0 }
  var isFull: Bool { queue.isFull }

  /// Whether the bytes so far end in the middle of a frame: nothing else may go out before its end.
  var isInsideFrame: Bool { writer.isInsideFrame }

  var statistics: MediaChannelStatistics {
    var statistics = counters
    statistics.queuedFrames = queue.count
    statistics.queuedByteCount = queue.byteCount
    return statistics
  }

  /// Queues a payload, if its grant is the present one and there is room.
  mutating func accept(_ payload: any MediaPayload, byteCount: Int, grantEpoch: UInt32, now: Duration) -> SubmitResult {
    guard !isDraining, let grant else { return .closed }
    guard grant.epoch == grantEpoch else { return .stale }
    guard !isFlushing else { return .flushing }
    guard queue.hasRoom(for: byteCount) else { return .full }
    queue.append(PayloadQueue.Entry(payload: payload, byteCount: byteCount, queuedAt: now))
    lastQueueTime = now
    return .queued
  }

  /// Replaces the grant. With another epoch, nothing that was queued begins a frame any more: all payloads leave.
  ///
  /// - Parameters:
  ///   - channel: encrypts what is sent under it.
  ///   - finishesFrame: Whether the caller writes the end of the frame that has been begun. A payload whose last frame that
  ///     is counts as sent.
  mutating func setGrant(
    _ grant: MediaGrant?, channel: (any SecureChannel)? = nil, finishesFrame: Bool, now: Duration
  ) -> Remainder {
    let isSame = grant?.epoch == self.grant?.epoch
    self.grant = grant
    self.channel = channel
    guard !isSame else { return Remainder() }
    let (rest, isEndOfPayload) = writer.abandon()
    var remainder = Remainder(unfinishedFrame: finishesFrame ? rest : [])
    if finishesFrame, isEndOfPayload, let entry = queue.removeFirst() {
      remainder.payloads.append(noteSent(entry, now: now))
    }
    while let entry = queue.removeFirst() {
      remainder.payloads.append(Finished(payload: entry.payload, wasSent: false))
      counters.discardedMessages += 1
    }
    return remainder
  }

  /// Writes as much of the first payload as one system call takes, and no frame after the one begun if
  /// `finishesFrameOnly`. The queue must not be empty.
  ///
  /// - Parameter now: Asked for when the payload is sent.
  /// - Returns: What the system call did, nil without one; and the payload, if it has left the queue.
  mutating func write(
    to socket: Socket, finishesFrameOnly: Bool, now: TimeSource
  ) -> (transfer: Socket.Transfer?, finished: Finished?) {
    guard let grant, let entry = queue.first else { return (nil, nil) }
    if !writer.hasMessage, !begin(entry.payload, grant) {
      counters.discardedMessages += 1
      return (nil, queue.removeFirst().map { Finished(payload: $0.payload, wasSent: false) })
    }
    let transfer = writer.write(to: socket, finishesFrameOnly: finishesFrameOnly)
    guard !writer.hasMessage, let sent = queue.removeFirst() else { return (transfer, nil) }
    return (transfer, noteSent(sent, now: now.now))
  }

  /// False for a payload that can't be sent: never in clear under a grant for an encrypted service.
  private mutating func begin(_ payload: any MediaPayload, _ grant: MediaGrant) -> Bool {
    guard grant.isEncrypted == (channel != nil) else { return false }
    return writer.begin(payload, grant: grant, messageID: messageIDs.next(), channel: channel)
  }

  private mutating func noteSent(_ entry: PayloadQueue.Entry, now: Duration) -> Finished {
    let dwellTime = now - entry.queuedAt
    counters.sentMessages += 1
    counters.sentByteCount += UInt64(clamping: entry.byteCount)
    counters.lastDwellTime = dwellTime
    counters.longestDwellTime = max(counters.longestDwellTime, dwellTime)
    return Finished(payload: entry.payload, wasSent: true)
  }
}
