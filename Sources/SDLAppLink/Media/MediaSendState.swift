import SDLApp
import SDLLink

/// The grant of one service, the payloads queued under it and the one being written: a single value, so that one lock
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

  /// The remains of a grant that has ended.
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
  /// Encrypts the payloads; nil for a service in clear.
  private var channel: (any SecureChannel)?
  /// While on, there is no room; queued payloads are still written. The end of the grant may still be called off.
  var isDraining = false
  /// While on, no payload is accepted and no thread waits; queued ones are still written.
  var isFlushing = false
  private var counters = MediaChannelStatistics()
  private var queue: PayloadQueue
  private let writer = MediaWriter()
  private var messageIDs: MessageIDs

  /// `capacity` is in payloads, at least 1.
  init(messageIDs: MessageIDs, capacity: Int, maximumByteCount: Int) {
    self.messageIDs = messageIDs
    queue = PayloadQueue(capacity: capacity, maximumByteCount: maximumByteCount)
  }

  /// The transport that carries the service, or that will carry it.
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
    guard let grant else { return .closed }
    guard grant.epoch == grantEpoch else { return .stale }
    guard !isFlushing else { return .flushing }
    guard !isDraining else { return .ending }
    guard queue.hasRoom(for: byteCount) else { return .full }
    queue.append(PayloadQueue.Entry(payload: payload, byteCount: byteCount, queuedAt: now))
    return .queued
  }

  /// Replaces the grant. With another epoch, no queued payload begins a frame any more: all are removed.
  ///
  /// - Parameters:
  ///   - channel: encrypts its payloads.
  ///   - finishesFrame: Whether the caller writes the end of the frame that has been begun. If that is the payload's
  ///     last frame, the payload counts as sent.
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
  /// - Parameter now: Read when the payload is sent.
  /// - Returns: The result of the system call, nil without one; and the payload, if it has left the queue.
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

/// Payloads that wait to be written, oldest first. Bounded in payloads, because each is latency, and in bytes.
///
/// A ring that is allocated once.
struct PayloadQueue {
  struct Entry {
    let payload: any MediaPayload
    let byteCount: Int
    let queuedAt: Duration
  }

  private var entries: [Entry?]
  private var firstIndex = 0
  private let maximumByteCount: Int
  /// Frames that wait.
  private(set) var count = 0
  private(set) var byteCount = 0

  /// `capacity` is in frames, at least 1.
  init(capacity: Int, maximumByteCount: Int) {
    entries = Array(repeating: nil, count: max(capacity, 1))
    self.maximumByteCount = maximumByteCount
  }

  /// Whether another frame of any size would have to wait.
  var isFull: Bool { count == entries.count }

  var first: Entry? { entries[firstIndex] }

  /// A payload above the byte limit is accepted alone: otherwise it would wait forever.
  func hasRoom(for size: Int) -> Bool {
    count == 0 || (!isFull && size <= maximumByteCount - byteCount)
  }

  /// Ask ``hasRoom(for:)`` first.
  mutating func append(_ entry: Entry) {
    entries[(firstIndex + count) % entries.count] = entry
    count += 1
    byteCount += entry.byteCount
  }

  mutating func removeFirst() -> Entry? {
    guard let entry = entries[firstIndex] else { return nil }
    entries[firstIndex] = nil
    firstIndex = (firstIndex + 1) % entries.count
    count -= 1
    byteCount -= entry.byteCount
    return entry
  }
}
