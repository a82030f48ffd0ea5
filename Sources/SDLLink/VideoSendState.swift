import SDLApp

/// The right to send video, the payloads queued under it and the one being written: a single value, so that one lock
/// keeps them consistent. That lock is the ``ConnectionWriter``'s.
///
/// Every payload in here belongs to the present grant.
struct VideoSendState {
  /// A payload that has left the queue.
  struct Finished {
    let payload: any VideoPayload
    let wasSent: Bool

    /// Exactly once, and with no lock held.
    func release() {
      payload.release(wasSent: wasSent)
    }
  }

  /// What is left of a grant that has gone.
  struct Discarded {
    /// To be released with no lock held.
    var payloads: [any VideoPayload] = []
    /// The end of the frame that had been begun; a copy, so that no payload has to stay for it.
    var unfinishedFrame: [UInt8] = []

    func release() {
      for payload in payloads { payload.release(wasSent: false) }
    }
  }

  /// Nil while no video may be sent.
  private(set) var grant: VideoGrant?
  /// While on, nothing more is accepted; what is queued is still written.
  var isDraining = false
  /// While on, nothing more is accepted and nobody waits; what is queued is still written.
  var isFlushing = false
  private var counters = VideoChannelStatistics()
  private var queue: PayloadQueue
  private let writer = VideoWriter()
  private var messageIDs = VideoMessageIDs()

  init(capacity: Int, maximumByteCount: Int) {
    queue = PayloadQueue(capacity: capacity, maximumByteCount: maximumByteCount)
  }

  var isEmpty: Bool { queue.count == 0 }
  var isFull: Bool { queue.isFull }

  /// Whether the bytes so far end in the middle of a frame: nothing else may go out before its end.
  var isInsideFrame: Bool { writer.isInsideFrame }

  var statistics: VideoChannelStatistics {
    var statistics = counters
    statistics.queuedFrames = queue.count
    statistics.queuedByteCount = queue.byteCount
    return statistics
  }

  /// Queues a payload, if its grant is the present one and there is room.
  mutating func accept(_ payload: any VideoPayload, byteCount: Int, grantEpoch: UInt32, now: Duration) -> SubmitResult {
    guard !isDraining, let grant else { return .closed }
    guard grant.epoch == grantEpoch else { return .stale }
    guard !isFlushing else { return .flushing }
    guard queue.hasRoom(for: byteCount) else { return .full }
    queue.append(PayloadQueue.Entry(payload: payload, byteCount: byteCount, queuedAt: now))
    return .queued
  }

  /// Replaces the grant. With another epoch, nothing that was queued begins a frame any more.
  mutating func setGrant(_ grant: VideoGrant?) -> Discarded {
    let isSame = grant?.epoch == self.grant?.epoch
    self.grant = grant
    return isSame ? Discarded() : discardAll()
  }

  /// Takes everything out, also what is being written.
  mutating func discardAll() -> Discarded {
    var discarded = Discarded(unfinishedFrame: writer.abandon())
    while let entry = queue.removeFirst() {
      discarded.payloads.append(entry.payload)
      counters.discardedMessages += 1
    }
    return discarded
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
    if !writer.hasMessage, !writer.begin(entry.payload, grant: grant, messageID: messageIDs.next()) {
      counters.discardedMessages += 1
      return (nil, queue.removeFirst().map { Finished(payload: $0.payload, wasSent: false) })
    }
    let transfer = writer.write(to: socket, finishesFrameOnly: finishesFrameOnly)
    guard !writer.hasMessage else { return (transfer, nil) }
    let dwellTime = now.now - entry.queuedAt
    counters.sentMessages += 1
    counters.sentByteCount += UInt64(clamping: entry.byteCount)
    counters.lastDwellTime = dwellTime
    counters.longestDwellTime = max(counters.longestDwellTime, dwellTime)
    return (transfer, queue.removeFirst().map { Finished(payload: $0.payload, wasSent: true) })
  }
}
