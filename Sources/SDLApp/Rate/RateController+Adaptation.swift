// How the bitrate follows the link. The numbers were found on a simulated link, and are what its tests hold.

extension RateController {
  /// Bytes that wait for so many seconds, all the time, mean that the link is full. More than a picture's own bytes need
  /// on a link that is not, less than what may wait before a picture is encoded.
  private static let standingDelay = 0.025
  /// Seconds for which they have to, as a key frame alone makes a queue.
  private static let standingTime = 0.3
  /// Until the effect of a step shows, beside `standingTime`.
  private static let stepPause = Duration.milliseconds(300)
  /// From this mean delay on, in seconds, the bitrate does not rise.
  private static let longestDelayToRise = 0.04

  /// The share of the link that is used after a fall to its rate: the rest is for key frames and other senders.
  private static let linkShare = 0.9
  /// A bitrate that is more than so many times too high falls to the link's rate at once. Others fall in steps, since
  /// beside another sender the measured rate depends on who has just sent a key frame.
  private static let grossExcess = 1.5

  /// A bitrate that is more than so many times too high for so long falls to the link's rate as well.
  private static let lastingExcess = 1.35
  private static let unusableTime = Duration.seconds(2)
  /// When bytes wait for more than this share of the time, the link is full.
  private static let fullQueue = 0.6
  /// When bytes wait for less than this share of the time, a rate of the link no longer holds to which the bitrate is near.
  /// Key frames alone make more than nothing.
  private static let rareQueue = 0.06
  /// Seconds after the kernel's refusal from which nothing is known against a higher bitrate.
  private static let blockingLifetime = 2.5
  /// Seconds of short round trips after which it does not, either.
  private static let shortRoundTripTime = 0.5

  /// The share of the bitrate by which it rises per second while nothing is known against it.
  private static let fastRise = 1.0
  /// The same for an encoder upstream, however little is known against it.
  private static let steepestUpstreamRise = 0.1
  /// Bits per second by which a bitrate of ``reference`` or less rises slowly, per second.
  private static let slowRise = 25_000.0
  /// The share of the bitrate by which it rises slowly at most, per second.
  private static let steepestSlowRise = 0.2
  /// The share by which a bitrate of ``reference`` falls in one step.
  private static let step = 0.05
  private static let stepRange = 0.03...0.15
  /// Bits per second. Rises and steps grow with the root of the bitrate from here on, so that shares become equal in a
  /// minute on fast links as well.
  private static let reference = 600_000.0

  mutating func adapt(_ sample: LinkSample, elapsed: Double) {
    if link.outstandingByteCount == nil || link.pathDelay == nil {
      adaptToBlocking(sample, elapsed: elapsed)
    } else if !link.isStalled {
      adaptToQueue(sample, elapsed: elapsed)
    }
  }

  private mutating func adaptToQueue(_ sample: LinkSample, elapsed: Double) {
    let delay = link.queueingDelay
    meanDelay.add(delay * elapsed, over: elapsed)
    if delay < Self.standingDelay { relaxedTime = sample.time }
    let standing = relaxedTime.map { (sample.time - $0).seconds } ?? 0
    if let capacity = capacityForVideo.map({ $0 * 8 }),
      isUnusable(capacity, now: sample.time)
        || standing > Self.standingTime / 2 && greatlyExceeds(capacity, now: sample.time)
    {
      excessTime = sample.time
      // By halves, because the first measurements are of a moment.
      return fall(to: max(Self.linkShare * capacity, rate / 2), now: sample.time)
    }
    if standing > Self.standingTime {
      let share = Self.step * (rate / Self.reference).squareRoot()
      return fall(
        to: rate * (1 - min(max(share, Self.stepRange.lowerBound), Self.stepRange.upperBound)), now: sample.time)
    }
    // Before the delay counts, as with the former capacity a picture of its own seems to wait for long.
    if carriesMore(sample) {
      link.forgetCapacity()
      return
    }
    guard delay <= Self.longestDelayToRise else { return }
    let calm = max(1 - (meanDelay.value ?? 0) / Self.longestDelayToRise, 0)
    rise(elapsed: elapsed * calm, isFast: capacityForVideo.map { rate < 0.8 * $0 * 8 } ?? true)
  }

  /// Whether the bitrate is so much above what the link carries that the encoder can't use it.
  private func greatlyExceeds(_ capacity: Double, now: Duration) -> Bool {
    if let excessTime, now - excessTime < .seconds(1) { return rate > 1.1 * capacity }
    return rate > Self.grossExcess * capacity && (used.value ?? 0) * 8 < 0.65 * rate
  }

  /// Whether pictures have been left out for long because the link is full. When they all have one size, each that is sent may
  /// find the link empty again, so that no bytes stand in it.
  private mutating func isUnusable(_ capacity: Double, now: Duration) -> Bool {
    let isTooHigh =
      rate > Self.lastingExcess * capacity && (used.value ?? 0) * 8 < 0.75 * rate
      && (link.queueShare ?? 0) > Self.fullQueue
    unusableSince = isTooHigh ? unusableSince ?? now : nil
    return unusableSince.map { now - $0 >= Self.unusableTime } ?? false
  }

  private mutating func fall(to rate: Double, now: Duration) {
    self.rate = bounded(rate)
    reason = .link
    shortRoundTripsSince = nil
    unusableSince = nil
    relaxedTime = now + Self.stepPause
  }

  /// Whether the link shows that it is faster than when it was full.
  private mutating func carriesMore(_ sample: LinkSample) -> Bool {
    guard let capacity = capacityForVideo else { return false }
    if let roundTrip = sample.roundTrip {
      // Round trips include the time that the bottleneck needs for a picture's own bytes.
      let ownTime = rate / 8 / wantedPictureRate / capacity
      let isUsed = (used.value ?? 0) >= 0.95 * capacity
      let isShort =
        isUsed && ownTime > 0.008 && (roundTrip.smoothed - roundTrip.minimum).seconds < 0.15 * ownTime
      shortRoundTripsSince = isShort ? shortRoundTripsSince ?? sample.time : nil
    }
    let short = shortRoundTripsSince.map { (sample.time - $0).seconds } ?? 0
    let isQueueRare = link.queueShare.map { $0 < Self.rareQueue } ?? false
    guard short > Self.shortRoundTripTime || isQueueRare && rate > 0.95 * capacity * 8 else { return false }
    shortRoundTripsSince = nil
    return true
  }

  /// The kernel alone says whether the link is full.
  private mutating func adaptToBlocking(_ sample: LinkSample, elapsed: Double) {
    let sinceBlocked = blockedTime.map { (sample.time - $0).seconds } ?? .infinity
    guard sample.isBlocked else { return rise(elapsed: elapsed, isFast: sinceBlocked > Self.blockingLifetime) }
    guard sinceBlocked > Self.standingTime else { return }
    blockedTime = sample.time
    rate = bounded(rate * 0.8)
    reason = .link
  }

  private mutating func rise(elapsed: Double, isFast: Bool) {
    // An encoder that does not use what it has shows nothing about the link.
    guard let used = used.value, used * 8 >= 0.6 * rate, rate < highest else { return }
    let slowRise = min(
      Self.slowRise * max(rate / Self.reference, 1).squareRoot(), Self.steepestSlowRise * rate)
    let rise = isFast ? Self.fastRise * rate : slowRise
    rate = bounded(rate + elapsed * (limits.isEncoderUpstream ? min(rise, Self.steepestUpstreamRise * rate) : rise))
    reason = .probing
  }
}
