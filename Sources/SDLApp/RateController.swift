/// Finds the bitrate that keeps the delay of live pictures small: just below what the link carries.
///
/// It takes a sample of the link with each picture (``update(_:)``) and says what the encoder should aim at, and whether
/// the link is ready for a picture at all (``readiness``). While bytes wait on the way, the link shows
/// its rate, and the bitrate goes to 0.9 of that at once; while none wait and the encoder uses what it may, the bitrate
/// rises. It rises slowly near the rate that the link had when it was last full, and by half per second after the link
/// showed that it carries more. The slow rise is constant and the fall proportional, which makes two senders on a link
/// approach equal shares (as in TCP's congestion avoidance, RFC 5681).
///
/// The loss of TCP_INFO costs speed of recovery. Without the number of unacknowledged bytes it goes by whether the kernel
/// takes what it is given and nothing else. A peer that acknowledges late on purpose looks like a slow link until the
/// longer delay has become the path's own, after 5 to 10 s.
public struct RateController: Equatable, Sendable {
  /// What the targets may be.
  public struct Limits: Equatable, Sendable {
    /// Bits per second with the wanted rate of pictures, below which their rate goes down and not their quality.
    public var minimumBitrate: Int
    /// Bits per second; the minimum gives way to it.
    public var maximumBitrate: Int
    /// The pictures per second that are wanted.
    public var frameRate: Double
    /// A single picture should not be longer on the way than this; 0 for no bound.
    public var maximumLatency: Duration

    public init(
      minimumBitrate: Int, maximumBitrate: Int, frameRate: Double, maximumLatency: Duration = .milliseconds(200)
    ) {
      self.minimumBitrate = minimumBitrate
      self.maximumBitrate = maximumBitrate
      self.frameRate = frameRate
      self.maximumLatency = maximumLatency
    }
  }

  /// May change at any time.
  public var limits: Limits {
    didSet { rate = bounded(rate) }
  }

  private var link = LinkEstimator()
  /// Bits per second.
  private var rate: Double
  private var used = DecayingRate(timeConstant: 0.5)
  private var reason = RateTargets.Reason.probing
  /// Since when bytes have waited for much less time than when the link was full.
  private var fasterSince: Duration?
  private var blockedTime: Duration?
  private var meanDelay = DecayingRate(timeConstant: 0.5)
  private var emptyTime: Duration?
  private var grossTime: Duration?

  /// - Parameter start: Bits per second to begin with.
  public init(limits: Limits, start: Int) {
    self.limits = limits
    rate = 0
    rate = bounded(Double(start))
  }

  /// What the link carries, in bits per second; nil when it was never seen to be full.
  public var measuredCapacity: Int? { link.capacity.map { Int(saturating: $0 * 8) } }

  /// How long a byte that is handed over now would wait for others before it.
  public var queueingDelay: Duration { .seconds(min(link.queueingDelay, 3600)) }

  /// Takes a sample of the link, best just before a picture would be encoded and just after it was handed over.
  ///
  /// Samples may come at any rate. A clock that jumps, and a count of bytes that goes back, as with a new connection, begin
  /// anew with the measurements and keep the bitrate.
  public mutating func update(_ sample: LinkSample) -> RateTargets {
    let formerHanded = link.last?.handedByteCount
    used.timeConstant = max(3 / max(targets.frameRate, 1), 0.5)
    if let elapsed = link.add(sample) {
      used.add(Double(sample.handedByteCount &- (formerHanded ?? 0)), over: elapsed)
      adapt(sample, elapsed: min(elapsed, 0.2))
    } else {
      fasterSince = nil
      blockedTime = nil
      grossTime = nil
      emptyTime = sample.time
    }
    return targets
  }

  /// What the encoder should aim at, by the last sample.
  public var targets: RateTargets {
    let minimum = lowest
    let wanted = limits.frameRate.isFinite ? max(limits.frameRate, 1) : 1
    let share = min(rate / minimum, 1)
    let frameRate = max(wanted * share, 1)
    let bitrate = max(rate, minimum)
    return RateTargets(
      bitrate: Int(saturating: bitrate), frameRate: frameRate,
      sentBitrate: Int(saturating: max(bitrate * frameRate / wanted, 1)), maximumPictureBits: maximumPictureBits,
      reason: link.isStalled ? .stalled : share < 1 ? .belowMinimum : rate >= highest ? .ceiling : reason)
  }

  private var maximumPictureBits: Int? {
    guard limits.maximumLatency > .zero, let capacity = link.capacity else { return nil }
    return Int(saturating: max(max(capacity, rate / 8) * 8 * limits.maximumLatency.seconds, 1))
  }

  /// Whether the link is ready for a picture, by the last sample: when what is on the way leaves it time to come in
  /// time.
  ///
  /// So that a link which looks full for any reason never ends the stream, one picture per second goes while the kernel
  /// sends what it is given.
  public var readiness: LinkReadiness {
    guard limits.maximumLatency > .zero, let last = link.last else { return .ready }
    let isTaken = !last.isBlocked && (last.unsentByteCount ?? 0) == 0
    guard let outstanding = link.outstandingByteCount, link.pathDelay != nil else {
      return isTaken ? .ready : .wait(Self.longestWait)
    }
    if outstanding <= LinkEstimator.segmentByteCount, isTaken { return .ready }
    let excess = link.queueingDelay - limits.maximumLatency.seconds * Self.queueShare
    if excess <= 0 { return .ready }
    if isTaken, (last.time - link.handedTime).seconds >= 1 { return .ready }
    return .wait(min(max(.seconds(min(excess, 1)), .milliseconds(2)), Self.longestWait))
  }
}

// MARK: The law

extension RateController {
  /// What may be on the way before a picture, of the maximum latency: the rest is for the picture itself.
  private static let queueShare = 0.25
  private static let longestWait = Duration.milliseconds(20)

  /// Seconds of waiting bytes with which the link counts as full.
  private static let fullQueue = 0.04
  /// What is left to key frames and other flows.
  private static let share = 0.9
  /// Seconds without waiting bytes after which a rate of the link no longer holds: longer than from key frame to key
  /// frame.
  private static let capacityLifetime = 2.5
  /// Per second, while nothing is known against it.
  private static let fastRise = 0.75
  /// Bits per second, per second; the same for all senders, which is what makes their shares equal.
  private static let slowRise = 25_000.0
  /// The most of the bitrate by which it rises slowly, per second.
  private static let steepestSlowRise = 0.2
  /// A bitrate that is less than so many times too high falls in steps, as the measured rate is that of a moment: beside
  /// another sender it depends on who has just sent a key frame.
  private static let grossExcess = 1.5
  private static let stepDown = 0.94
  private static let standingQueue = 0.025
  private static let standingTime = 0.3

  private mutating func adapt(_ sample: LinkSample, elapsed: Double) {
    if link.outstandingByteCount == nil || link.pathDelay == nil {
      adaptToBlocking(sample, elapsed: elapsed)
    } else if !link.isStalled {
      adaptToQueue(sample, elapsed: elapsed)
    }
  }

  private mutating func adaptToQueue(_ sample: LinkSample, elapsed: Double) {
    let delay = link.queueingDelay
    if delay < Self.standingQueue { emptyTime = sample.time }
    meanDelay.add(delay * elapsed, over: elapsed)
    let standing = emptyTime.map { (sample.time - $0).seconds } ?? 0
    if let capacity = link.capacity, standing > Self.standingTime / 2, isGrosslyExceeded(capacity * 8, sample.time) {
      grossTime = sample.time
      return fall(to: max(Self.share * capacity * 8, rate / 2), now: sample.time)
    }
    if standing > Self.standingTime {
      return fall(to: rate - rate * min(max(0.05 * (rate / 600_000).squareRoot(), 0.03), 0.15), now: sample.time)
    }
    if delay > Self.fullQueue {
      fasterSince = nil
      return
    }
    findWhetherFaster(sample)
    let slowing = max(1 - (meanDelay.value ?? 0) / Self.fullQueue, 0)
    rise(elapsed: elapsed * slowing, isFast: link.capacity.map { rate < 0.8 * $0 * 8 } ?? true)
  }

  /// Whether the bitrate is so much above what the link carries that the encoder can't use it. What a short while shows is
  /// not enough: beside another sender it depends on who has just sent a key frame.
  private func isGrosslyExceeded(_ capacity: Double, _ now: Duration) -> Bool {
    if let grossTime, (now - grossTime).seconds < 1 { return rate > 1.1 * capacity }
    guard let used = used.value else { return false }
    return rate > Self.grossExcess * capacity && used * 8 < 0.65 * rate
  }

  private mutating func fall(to rate: Double, now: Duration) {
    reason = .link
    fasterSince = nil
    self.rate = bounded(rate)
    // The effect has to show before the next step.
    emptyTime = now + .milliseconds(300)
  }

  /// The kernel alone says whether the link is full.
  private mutating func adaptToBlocking(_ sample: LinkSample, elapsed: Double) {
    let sinceBlocked = blockedTime.map { (sample.time - $0).seconds } ?? .infinity
    guard sample.isBlocked else { return rise(elapsed: elapsed, isFast: sinceBlocked > Self.capacityLifetime) }
    guard sinceBlocked > 0.3 else { return }
    blockedTime = sample.time
    rate = bounded(rate * 0.8)
    reason = .link
  }

  private mutating func findWhetherFaster(_ sample: LinkSample) {
    guard let capacity = link.capacity else { return }
    let idle = link.queueTime.map { (sample.time - $0).seconds } ?? .infinity
    // Round trips include how long a picture's own bytes take, so they shrink when the link gets faster.
    if let roundTrip = sample.roundTrip {
      let picture = rate / 8 / max(limits.frameRate, 1) / capacity
      let excess = (roundTrip.smoothed - roundTrip.minimum).seconds
      fasterSince = picture > 0.008 && excess < 0.15 * picture ? fasterSince ?? sample.time : nil
    }
    let faster = fasterSince.map { (sample.time - $0).seconds } ?? 0
    guard idle > Self.capacityLifetime && rate > 0.95 * capacity * 8 || faster > 0.5 else { return }
    link.forgetCapacity()
    fasterSince = nil
  }

  private mutating func rise(elapsed: Double, isFast: Bool) {
    // An encoder that does not use what it has shows nothing about the link.
    guard let used = used.value, used * 8 >= 0.7 * rate, rate < highest else { return }
    rate = bounded(rate + elapsed * (isFast ? Self.fastRise * rate : min(Self.slowRise * max(rate / 600_000, 1).squareRoot(), Self.steepestSlowRise * rate)))
    reason = .probing
  }

  private var highest: Double { Double(max(limits.maximumBitrate, 1)) }
  private var lowest: Double { min(Double(max(limits.minimumBitrate, 1)), highest) }

  /// Not below what a picture per second needs.
  private func bounded(_ rate: Double) -> Double {
    let frameRate = limits.frameRate.isFinite ? max(limits.frameRate, 1) : 1
    return min(max(rate.isFinite ? rate : 0, lowest / frameRate), highest)
  }
}

extension Int {
  /// The nearest whole number that there is; 0 for no number.
  fileprivate init(saturating value: Double) {
    self = value.isNaN ? 0 : value >= 9e18 ? .max : value <= -9e18 ? .min : Int(value)
  }
}
