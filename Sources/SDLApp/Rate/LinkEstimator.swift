/// Estimates from samples of a link: the delay of its path, how long bytes wait in its queues, and its rate.
///
/// The rate is measured only while bytes wait, as otherwise it would be that of the encoder (the delivery rate of BBR,
/// draft-ietf-ccwg-bbr, without application-limited samples). Queues are found by the age of the oldest unacknowledged
/// byte rather than by round-trip times: it is known at any moment, includes bytes that wait in this machine, and needs
/// no TCP_INFO.
struct LinkEstimator: Equatable, Sendable {
  /// A receiver may delay the acknowledgement of one segment (RFC 1122, section 4.2.3.2).
  static let segmentByteCount: UInt64 = 1500
  /// Bytes that wait for longer than this make a queue.
  private static let queueThreshold = 0.005
  /// Without an acknowledgement for this long, in seconds, the link is interrupted, which says nothing about its rate.
  private static let stallTime = 0.5

  /// The longest time between samples; after a longer one, bytes that were outstanding before it are ignored.
  private static let longestPause = Duration.seconds(10)

  private(set) var last: LinkSample?
  private var history = SendHistory()
  private var path = WindowedMinimum(window: 5)
  private var meter = CapacityMeter()
  /// What the link was sending at the last sample, if it was busy then.
  private var busyMark: SendHistory.Mark?
  /// Seconds that the link was busy since bytes were acknowledged last.
  private var busyTime = 0.0
  private var acknowledgedByteCount: UInt64 = 0
  private var progressTime = Duration.zero
  private(set) var handedTime = Duration.zero
  private var queueTime = DecayingRate(timeConstant: 1.5)

  /// From handing a byte over to its acknowledgement, without queues on the way, in seconds; nil until one was
  /// measured.
  var pathDelay: Double? { path.value }
  /// Seconds that the oldest outstanding byte has waited in queues.
  private(set) var age = 0.0
  /// Seconds since the peer acknowledged something, while it should.
  private(set) var silence = 0.0
  /// The share of the last seconds in which bytes waited; nil when that is not known yet.
  var queueShare: Double? { queueTime.time > 1 ? queueTime.value : nil }
  /// The rate of the link, in bytes per second; nil when it was never full.
  var capacity: Double? { meter.capacity }
  /// Nil when the transport does not report acknowledgements.
  private(set) var outstandingByteCount: UInt64?

  var isStalled: Bool { silence > Self.stallTime }

  /// Seconds that a byte handed over now would wait in queues, for the bytes before it.
  var queueingDelay: Double {
    guard let outstandingByteCount, let pathDelay, outstandingByteCount > Self.segmentByteCount else { return 0 }
    guard let capacity, capacity > 0 else { return age }
    return max(age, Double(outstandingByteCount) / capacity - pathDelay)
  }

  /// Forgets the measured rate: the link carries more.
  mutating func forgetCapacity() {
    meter.reset()
  }

  /// Takes the next sample.
  ///
  /// - Returns: Seconds since the last sample; nil when the sample continues none, as after a new connection or a jump
  ///   of the clock.
  mutating func add(_ sample: LinkSample) -> Double? {
    guard let last, sample.time >= last.time, sample.time - last.time < Self.longestPause,
      sample.handedByteCount >= last.handedByteCount
    else {
      start(sample)
      return nil
    }
    self.last = sample
    let elapsed = (sample.time - last.time).seconds
    if sample.handedByteCount > last.handedByteCount {
      history.append(
        last.handedByteCount..<sample.handedByteCount, time: last.time, showsPathDelay: isPathEmpty(last))
      handedTime = sample.time
    }
    if let acknowledged = sample.acknowledgedByteCount { count(acknowledged, sample, elapsed: elapsed) }
    return elapsed
  }

  /// Only what is known of the path and of the link's rate stays.
  private mutating func start(_ sample: LinkSample) {
    let (path, meter) = (path, meter)
    self = LinkEstimator()
    (self.path, self.meter) = (path, meter)
    self.meter.interrupt()
    last = sample
    acknowledgedByteCount = min(sample.acknowledgedByteCount ?? 0, sample.handedByteCount)
    outstandingByteCount = sample.unacknowledgedByteCount
    progressTime = sample.time
    handedTime = sample.time
    // An older connection's bytes have no mark: they count from now on.
    if outstandingByteCount ?? 0 > 0 {
      history.append(acknowledgedByteCount..<sample.handedByteCount, time: sample.time, showsPathDelay: false)
    }
  }

  /// Whether bytes handed over after `sample` show the delay of the path. With a peer that acknowledges late some bytes
  /// are always outstanding; they have to be few then.
  private func isPathEmpty(_ sample: LinkSample) -> Bool {
    guard let outstanding = sample.unacknowledgedByteCount, outstanding > 0 else { return true }
    return outstanding <= Self.segmentByteCount && (sample.time.seconds - path.time) > path.window
  }

  private mutating func count(_ acknowledged: UInt64, _ sample: LinkSample, elapsed: Double) {
    // The count of a socket pair includes the kernel's own overhead, and so may go back.
    let progress = acknowledged > acknowledgedByteCount ? acknowledged - acknowledgedByteCount : 0
    acknowledgedByteCount = max(acknowledged, acknowledgedByteCount)
    let outstanding = sample.unacknowledgedByteCount ?? 0
    outstandingByteCount = outstanding
    if let delay = history.acknowledge(acknowledgedByteCount, now: sample.time)?.seconds {
      path.add(min(delay, sample.roundTrip.map { max($0.smoothed.seconds, 0) } ?? delay), at: sample.time.seconds)
    }
    if progress > 0 || outstanding == 0 { progressTime = sample.time }
    let wasStalled = isStalled
    silence = max((sample.time - progressTime).seconds - (pathDelay ?? 0), 0)
    age = waitingTime(outstanding: outstanding, now: sample.time)
    queueTime.add(age > Self.queueThreshold ? elapsed : 0, over: elapsed)
    measure(progress, now: sample.time, elapsed: elapsed, isInterrupted: isStalled || wasStalled)
  }

  private func waitingTime(outstanding: UInt64, now: Duration) -> Double {
    guard outstanding > 0, let oldest = history.oldest?.time, let pathDelay else { return 0 }
    let delayed = outstanding > Self.segmentByteCount ? 0 : 0.2
    return max((now - oldest).seconds - pathDelay - delayed, 0)
  }

  /// Measures the rate from one moment at which the link was busy to the next, if it was so in between.
  private mutating func measure(_ progress: UInt64, now: Duration, elapsed: Double, isInterrupted: Bool) {
    let former = busyMark
    busyMark = markBeingSent(at: now)
    guard let former, let mark = busyMark, let pathDelay, !isInterrupted else {
      busyTime = 0
      if isInterrupted { meter.interrupt() }
      return
    }
    // Other bytes were waiting after those before them.
    let followed =
      mark.start == former.start || (now - mark.time).seconds - elapsed + Self.queueThreshold >= pathDelay
    guard followed else {
      busyTime = 0
      return
    }
    busyTime += elapsed
    guard progress > 0 else { return }
    meter.add(progress, over: busyTime)
    busyTime = 0
  }

  /// The bytes that the bottleneck is sending; nil if it may be idle.
  private func markBeingSent(at time: Duration) -> SendHistory.Mark? {
    guard let oldest = history.oldest, let pathDelay else { return nil }
    let isPartlyAcknowledged = acknowledgedByteCount > oldest.start
    let isOverdue = (time - oldest.time).seconds > pathDelay + Self.queueThreshold
    return isPartlyAcknowledged || isOverdue ? oldest : nil
  }
}

/// The rate of a link, measured while it is full.
private struct CapacityMeter: Equatable, Sendable {
  /// The rate of the last few hundred milliseconds.
  private var recent = DecayingRate(timeConstant: 0.2)
  /// The rate of the last seconds, which a few packets do not change.
  private var steady = DecayingRate(timeConstant: 1.5)
  /// Bytes per second; nil when the link was not full for long enough.
  private(set) var capacity: Double?

  /// Adds bytes that were acknowledged while the link was full all the time.
  mutating func add(_ byteCount: UInt64, over seconds: Double) {
    recent.add(Double(byteCount), over: seconds)
    steady.add(Double(byteCount), over: seconds)
    guard recent.time >= 0.15, let newest = recent.value, newest > 0 else { return }
    guard steady.time >= 0.3, let average = steady.value else {
      capacity = newest
      return
    }
    // The link has changed: forget earlier measurements.
    if newest < 0.7 * average || newest > 1.4 * average { steady.restart(from: recent) }
    capacity = steady.value
  }

  /// The link was interrupted: its recent rate says nothing.
  mutating func interrupt() {
    recent.reset()
  }

  mutating func reset() {
    self = CapacityMeter()
  }
}
