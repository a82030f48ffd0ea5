/// The bounded queue between those who bring video and whoever writes it.
///
/// Bounded in frames, because each is latency, and in bytes. It accepts payloads only for the present grant and
/// discards what is left of an older one. Nothing is allocated per frame.
final class VideoQueue: Sendable {
  fileprivate struct Entry: Sendable {
    var payload: any VideoPayload
    var epoch: UInt32
    var byteCount: Int
    var queuedAt: Duration
  }

  fileprivate struct State: Sendable {
    /// A ring; `count` entries from `first` on are taken.
    var entries: [Entry?]
    var first = 0
    var count = 0
    var byteCount = 0
    let maximumByteCount: Int

    var epoch: UInt32?
    var isDraining = false
    var isFlushing = false
    var isClosed = false
    /// The first entry is being written; only the writer may remove it.
    var isFirstTaken = false
    /// Some thread is bound to look at the queue again before it turns to anything else.
    var isClaimed = false

    var counters = Counters()
  }

  /// What has happened so far.
  struct Counters: Sendable {
    var sentMessages: UInt64 = 0
    var sentByteCount: UInt64 = 0
    var discardedMessages: UInt64 = 0
    /// From ``VideoQueue/submit(_:grantEpoch:blocking:)`` to the kernel's acceptance, of the last message.
    var lastDwellTime: Duration = .zero
    var longestDwellTime: Duration = .zero
    var queuedFrames = 0
    var queuedByteCount = 0
  }

  /// A payload that has left the queue.
  struct Finished: Sendable {
    fileprivate let payload: any VideoPayload
    fileprivate let wasSent: Bool

    /// Exactly once, and with no lock held.
    func release() {
      payload.release(wasSent: wasSent)
    }
  }

  private let monitor: Monitor<State>

  /// `capacity` is in frames, at least 1.
  init(capacity: Int, maximumByteCount: Int = 8 << 20) {
    monitor = Monitor(
      State(entries: Array(repeating: nil, count: max(capacity, 1)), maximumByteCount: maximumByteCount))
  }

  /// A snapshot.
  var counters: Counters {
    monitor.withLock { state in
      var counters = state.counters
      counters.queuedFrames = state.count
      counters.queuedByteCount = state.byteCount
      return counters
    }
  }
}

// MARK: The streaming thread's side

extension VideoQueue {
  /// Offers a payload for the grant of `grantEpoch`; see ``SubmitResult``. Waits for room if `blocking`.
  func submit(_ payload: any VideoPayload, grantEpoch: UInt32, blocking: Bool) -> SubmitResult {
    let size = payload.byteCount
    return monitor.wait(until: nil) { state -> SubmitResult? in
      guard !state.isClosed, !state.isDraining, let epoch = state.epoch else { return .closed }
      if epoch != grantEpoch { return .stale }
      if state.isFlushing { return .flushing }
      guard state.hasRoom(for: size) else { return blocking ? nil : .full }
      state.append(Entry(payload: payload, epoch: grantEpoch, byteCount: size, queuedAt: MonotonicClock.now))
      return .queued
    } ?? .closed
  }

  /// Whether the caller has to see to it that what is queued gets written. Says so to one thread, until ``takeFirst()``
  /// finds nothing.
  func claim() -> Bool {
    monitor.withLock { state in
      guard !state.isClaimed, state.count > 0 else { return false }
      state.isClaimed = true
      return true
    }
  }

  /// Whether another frame would have to wait.
  var isFull: Bool { monitor.withLock { $0.count == $0.entries.count } }

  /// While on, nobody waits in ``submit(_:grantEpoch:blocking:)`` or ``waitUntilDrained(until:)``. What is queued stays.
  func setFlushing(_ isFlushing: Bool) {
    monitor.withLock { $0.isFlushing = isFlushing }
    monitor.broadcast()
  }

  /// Whether everything that is queued now came into the kernel before `deadline`.
  func waitUntilDrained(until deadline: Duration) -> Bool {
    let discardedBefore = monitor.withLock { $0.counters.discardedMessages }
    return monitor.wait(until: deadline) { state -> Bool? in
      if state.counters.discardedMessages != discardedBefore { return false }
      if state.count == 0 { return true }
      return state.isFlushing || state.isClosed ? false : nil
    } ?? false
  }
}

// MARK: The side of the connection thread, and of whoever writes

extension VideoQueue {
  /// From now on payloads for `epoch` are accepted; nil for none. Others that are queued are discarded, except the one
  /// being written.
  func setGrant(epoch: UInt32?) {
    discard { state in
      guard state.epoch != epoch else { return [] }
      state.epoch = epoch
      return state.removeAll(keepingTaken: true)
    }
  }

  /// Accepts nothing while on; what is queued may still be written.
  func setDraining(_ isDraining: Bool) {
    monitor.withLock { $0.isDraining = isDraining }
    monitor.broadcast()
  }

  /// A connection begins; payloads are accepted once there is a grant.
  func open() {
    monitor.withLock { state in
      state.isClosed = false
      state.epoch = nil
      state.isDraining = false
    }
  }

  /// The connection is over: discards everything, also what was being written.
  func close() {
    discard { state in
      state.isClosed = true
      return state.removeAll(keepingTaken: false)
    }
  }

  /// The payload to write next, which stays queued until ``complete(wasSent:)``; nil if there is none.
  func takeFirst() -> (payload: any VideoPayload, epoch: UInt32)? {
    monitor.withLock { state in
      guard let entry = state.entries[state.first] else {
        state.isClaimed = false
        return nil
      }
      state.isFirstTaken = true
      return (entry.payload, entry.epoch)
    }
  }

  /// The payload of ``takeFirst()`` is written, or given up. The caller has to release it when it holds no lock; nil if
  /// that has been done by ``close()``.
  func complete(wasSent: Bool) -> Finished? {
    let payload = monitor.withLock { state -> (any VideoPayload)? in
      guard state.isFirstTaken, let entry = state.removeFirst() else { return nil }
      state.isFirstTaken = false
      if wasSent {
        state.counters.sentMessages += 1
        state.counters.sentByteCount += UInt64(entry.byteCount)
        let dwellTime = MonotonicClock.now - entry.queuedAt
        state.counters.lastDwellTime = dwellTime
        state.counters.longestDwellTime = max(state.counters.longestDwellTime, dwellTime)
      } else {
        state.counters.discardedMessages += 1
      }
      return entry.payload
    }
    monitor.broadcast()
    return payload.map { Finished(payload: $0, wasSent: wasSent) }
  }

  /// Whether there is nothing to write.
  var isEmpty: Bool { monitor.withLock { $0.count == 0 } }

  private func discard(_ removal: (inout State) -> [any VideoPayload]) {
    let payloads = monitor.withLock { state in
      let payloads = removal(&state)
      state.counters.discardedMessages += UInt64(payloads.count)
      return payloads
    }
    monitor.broadcast()
    for payload in payloads { payload.release(wasSent: false) }
  }
}

// MARK: The ring

extension VideoQueue.State {
  /// A payload above the byte limit gets in alone, lest it wait for ever.
  func hasRoom(for size: Int) -> Bool {
    count == 0 || (count < entries.count && byteCount + size <= maximumByteCount)
  }

  mutating func append(_ entry: VideoQueue.Entry) {
    entries[(first + count) % entries.count] = entry
    count += 1
    byteCount += entry.byteCount
  }

  mutating func removeFirst() -> VideoQueue.Entry? {
    guard let entry = entries[first] else { return nil }
    entries[first] = nil
    first = (first + 1) % entries.count
    count -= 1
    byteCount -= entry.byteCount
    return entry
  }

  mutating func removeAll(keepingTaken: Bool) -> [any VideoPayload] {
    let taken = keepingTaken && isFirstTaken ? removeFirst() : nil
    if !keepingTaken { isFirstTaken = false }
    var removed: [any VideoPayload] = []
    while let entry = removeFirst() { removed.append(entry.payload) }
    if let taken { append(taken) }
    return removed
  }
}
