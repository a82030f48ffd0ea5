/// Finds the bitrate that keeps the delay of live pictures small: just below what the link carries.
///
/// From samples of the link (``update(_:)``) it computes the encoder's ``targets``, and whether the link is ready for a
/// picture at all (``readiness``). The readiness bounds the delay at any moment; the bitrate follows, so that few
/// pictures have to wait.
///
/// The bitrate falls in small steps while bytes wait on the way all the time, and at once to 0.9 of the rate that the
/// link showed when it carries much less. It rises slowly near the rate that the link had when it was last full, and
/// doubles in less than a second when nothing speaks against it; never while the encoder does not use its bitrate. A
/// step down takes a larger share of a larger bitrate, so two senders on a link approach equal shares (as with TCP's
/// congestion avoidance, RFC 5681).
///
/// Without TCP_INFO it recovers a little later. Without the number of unacknowledged bytes the only sign is whether the
/// kernel takes bytes. A peer that acknowledges late on purpose looks like a slow link until the longer delay counts as
/// the path's own, after 5 to 10 s; pictures go on in the meantime, at least one per second.
package struct RateController: Equatable, Sendable {
  package struct Limits: Equatable, Sendable {
    /// Bits per second with the wanted rate of pictures, below which their rate goes down and not their quality.
    package var minimumBitrate: Int
    /// Bits per second; the minimum gives way to it.
    package var maximumBitrate: Int
    /// The pictures per second that are wanted.
    package var frameRate: Double
    /// The longest that a picture should be on the way; 0 for no bound.
    package var maximumLatency: Duration
    /// Whether pictures come encoded, so that dropping one costs all up to the next key frame: a higher bitrate is then
    /// tried in small steps only.
    package var isEncoderUpstream: Bool

    package init(
      minimumBitrate: Int, maximumBitrate: Int, frameRate: Double, maximumLatency: Duration = .milliseconds(200),
      isEncoderUpstream: Bool = false
    ) {
      self.isEncoderUpstream = isEncoderUpstream
      self.minimumBitrate = minimumBitrate
      self.maximumBitrate = maximumBitrate
      self.frameRate = frameRate
      self.maximumLatency = maximumLatency
    }
  }

  /// May change at any time.
  package var limits: Limits {
    didSet { rate = bounded(rate) }
  }

  /// Bits per second, also below the minimum.
  private var rate: Double
  private var reason = RateTargets.Reason.probing
  private var link = LinkEstimator()
  /// Bytes that the encoder made.
  private var used = DecayingRate(timeConstant: 0.5)
  /// Bytes of sound on the same connection: they use the link, but do not come from the encoder.
  private var sound = DecayingRate(timeConstant: 2)
  /// Seconds that bytes have to wait.
  private var meanDelay = DecayingRate(timeConstant: 0.5)
  /// When bytes waited least lately, or later when an earlier step has to show its effect first.
  private var relaxedTime: Duration?
  /// When the bitrate was last found to be much too high.
  private var excessTime: Duration?
  /// Since when the encoder has not been able to use the bitrate.
  private var unusableSince: Duration?
  /// Since when round trips have been too short for the rate that the link had when it was full.
  private var shortRoundTripsSince: Duration?
  /// When the kernel was last found to take no more.
  private var blockedTime: Duration?

  /// - Parameter start: Bits per second to begin with.
  package init(limits: Limits, start: Int) {
    self.limits = limits
    rate = 0
    rate = bounded(Double(start))
  }

  /// Takes a sample of the link, best just before a picture would be encoded and just after it was handed over.
  ///
  /// Samples may come at any rate. After a jump of the clock, and when the number of bytes goes back, as with a new
  /// connection, it measures again and keeps the bitrate.
  ///
  /// - Returns: ``targets``.
  package mutating func update(_ sample: LinkSample) -> RateTargets {
    let former = link.last ?? sample
    if let elapsed = link.add(sample) {
      used.timeConstant = max(3 / pictureRate, 0.5)
      let handed = sample.handedByteCount - former.handedByteCount
      let ofSound = sample.soundByteCount < former.soundByteCount ? 0 : sample.soundByteCount - former.soundByteCount
      used.add(Double(handed - min(ofSound, handed)), over: elapsed)
      sound.add(Double(ofSound), over: elapsed)
      adapt(sample, elapsed: min(elapsed, 0.2))
    } else {
      sound.reset()
      relaxedTime = sample.time
      excessTime = nil
      unusableSince = nil
      shortRoundTripsSince = nil
      blockedTime = nil
    }
    return targets
  }

  /// The encoder's targets, by the last sample.
  package var targets: RateTargets {
    let bitrate = max(rate, lowest)
    return RateTargets(
      bitrate: Int(saturating: bitrate), frameRate: pictureRate,
      sentBitrate: Int(saturating: max(bitrate * pictureRate / wantedPictureRate, 1)),
      maximumPictureBits: maximumPictureBits, reason: presentReason)
  }

  /// The link's rate, in bits per second; nil when it was never full, or carries more by now.
  package var measuredCapacity: Int? { link.capacity.map { Int(saturating: $0 * 8) } }

  /// The link's rate for pictures, without sound, in bytes per second; nil when it was never full.
  private var capacityForVideo: Double? { link.capacity.map { max($0 - (sound.value ?? 0), $0 / 10) } }

  /// How long a byte handed over now would wait for others before it.
  package var queueingDelay: Duration { .seconds(min(link.queueingDelay, 3600)) }
}

extension RateController {
  private var presentReason: RateTargets.Reason {
    if link.isStalled { return .stalled }
    if rate < lowest { return .belowMinimum }
    return rate >= highest ? .ceiling : reason
  }

  private var maximumPictureBits: Int? {
    guard limits.maximumLatency > .zero, let capacity = link.capacity else { return nil }
    return Int(saturating: max(max(capacity * 8, rate) * limits.maximumLatency.seconds, 1))
  }

  private var wantedPictureRate: Double { limits.frameRate.isFinite ? max(limits.frameRate, 1) : 1 }

  private var pictureRate: Double { max(wantedPictureRate * min(rate / lowest, 1), 1) }

  private var highest: Double { Double(max(limits.maximumBitrate, 1)) }

  private var lowest: Double { min(Double(max(limits.minimumBitrate, 1)), highest) }

  /// At least enough for a picture per second.
  private func bounded(_ rate: Double) -> Double {
    min(max(rate.isFinite ? rate : 0, lowest / wantedPictureRate), highest)
  }
}

extension RateController {
  /// The share of the maximum latency that bytes on the way may take before a picture is encoded; the rest is for the
  /// picture itself.
  private static let queueShare = 0.25
  private static let shortestWait = Duration.milliseconds(2)
  private static let longestWait = Duration.milliseconds(20)

  /// Whether the link is ready for a picture, by the last sample: whether the bytes on the way leave it time.
  ///
  /// A link that looks full, for whatever reason, never ends the stream: one picture per second goes, as long as the
  /// kernel sends bytes. Without a maximum latency the link is always ready.
  package var readiness: LinkReadiness {
    guard limits.maximumLatency > .zero, let last = link.last else { return .ready }
    let sendsAll = !last.isBlocked && (last.unsentByteCount ?? 0) == 0
    guard let outstanding = link.outstandingByteCount, link.pathDelay != nil else {
      return sendsAll ? .ready : .wait(Self.longestWait)
    }
    if sendsAll {
      let sinceHanded = last.time - link.handedTime
      if outstanding <= LinkEstimator.segmentByteCount || sinceHanded >= .seconds(1) { return .ready }
    }
    let excess = link.queueingDelay - limits.maximumLatency.seconds * Self.queueShare
    guard excess > 0 else { return .ready }
    let wait = Duration.microseconds(Int64((min(excess, 1) * 1e6).rounded()))
    return .wait(min(max(wait, Self.shortestWait), Self.longestWait))
  }

  /// Even if each acknowledgement comes late, so that the link looks slow, a key frame goes after this time.
  private static let longestBreak = Duration.seconds(2)
  /// The multiple of the maximum latency that bytes on the way may take before a picture that comes encoded is dropped:
  /// a key frame alone may take longer than the latency, and all up to the next one would be lost.
  private static let encodedShare = 3

  /// Whether a picture that comes encoded would be too late, by the last sample.
  ///
  /// - Parameters:
  ///   - isKeyFrameNeeded: whether pictures have been left out, so that only a key frame can be decoded.
  ///   - sinceSent: from the last picture that was sent.
  package func isLate(isKeyFrameNeeded: Bool, sinceSent: Duration) -> Bool {
    guard limits.maximumLatency > .zero, queueingDelay > limits.maximumLatency * Self.encodedShare else { return false }
    return !isKeyFrameNeeded || sinceSent < Self.longestBreak
  }
}

/// How the bitrate follows the link. The numbers were found on a simulated link, which the tests use.
extension RateController {
  /// Bytes that always wait for so many seconds mean that the link is full. It is more than a picture's own bytes need
  /// on a link that is not, and less than may wait before a picture is encoded.
  private static let standingDelay = 0.025
  /// Seconds for which bytes have to wait, as a key frame alone makes a queue.
  private static let standingTime = 0.3
  /// The time until a step shows its effect, beside `standingTime`.
  private static let stepPause = Duration.milliseconds(300)
  /// From this mean delay on, in seconds, the bitrate does not rise.
  private static let longestDelayToRise = 0.04

  /// The share of the link that is used after a fall to its rate: the rest is for key frames and other senders.
  private static let linkShare = 0.9
  /// A bitrate that is more than so many times too high falls to the link's rate at once. Others fall in steps, since
  /// beside another sender the measured rate depends on which one has just sent a key frame.
  private static let grossExcess = 1.5

  /// A bitrate that is more than so many times too high for so long falls to the link's rate as well.
  private static let lastingExcess = 1.35
  private static let unusableTime = Duration.seconds(2)
  /// When bytes wait for more than this share of the time, the link is full.
  private static let fullQueue = 0.6
  /// When bytes wait for less than this share of the time although the bitrate is near the link's measured rate, that
  /// rate is outdated. Not 0, because of key frames.
  private static let rareQueue = 0.06
  /// Seconds after the kernel took no more, from which nothing speaks against a higher bitrate.
  private static let blockingLifetime = 2.5
  /// Seconds of short round trips after which nothing speaks against it, either.
  private static let shortRoundTripTime = 0.5

  /// The share of the bitrate by which it rises per second while nothing speaks against it.
  private static let fastRise = 1.0
  /// The same for an encoder upstream, even if nothing speaks against it.
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

  private mutating func adapt(_ sample: LinkSample, elapsed: Double) {
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

  /// Whether pictures have been left out for long because the link is full. When all have one size, each picture may
  /// find the link empty again, so that no bytes wait in it.
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
    // An encoder that does not use its bitrate shows nothing about the link.
    guard let used = used.value, used * 8 >= 0.6 * rate, rate < highest else { return }
    let slowRise = min(
      Self.slowRise * max(rate / Self.reference, 1).squareRoot(), Self.steepestSlowRise * rate)
    let rise = isFast ? Self.fastRise * rate : slowRise
    rate = bounded(rate + elapsed * (limits.isEncoderUpstream ? min(rise, Self.steepestUpstreamRise * rate) : rise))
    reason = .probing
  }
}

/// The targets of an encoder of live pictures, so that the link does not delay them.
package struct RateTargets: Equatable, Sendable {
  package enum Reason: Equatable, Sendable {
    /// The link carries the encoder's maximum.
    case ceiling
    /// The link may carry more; a higher bitrate is being tried.
    case probing
    /// The link was full.
    case link
    /// The link does not carry the minimum, so there are fewer pictures.
    case belowMinimum
    /// The peer acknowledges nothing.
    case stalled
  }

  /// Bits per second at the wanted rate of pictures, so one picture gets `bitrate` divided by that rate. Always from
  /// the minimum to the ceiling.
  package var bitrate: Int
  /// The most pictures per second: less than wanted where the link does not carry the minimum bitrate.
  package var frameRate: Double
  /// Bits per second with `frameRate` pictures: `bitrate`, or less below the minimum. An encoder is set to this and
  /// `frameRate`.
  package var sentBitrate: Int
  /// The most bits that a single picture should have, so that it alone takes no longer than the maximum latency; nil
  /// for no limit. The size of the encoder's VBV buffer.
  package var maximumPictureBits: Int?
  package var reason: Reason
}

/// Whether a live picture should be encoded now.
package enum LinkReadiness: Equatable, Sendable {
  case ready
  /// Ask again after this time, with a new sample. A later picture replaces this one.
  case wait(Duration)
}

extension Int {
  /// The nearest whole number; 0 for NaN.
  fileprivate init(saturating value: Double) {
    self = value.isNaN ? 0 : value >= 9e18 ? .max : value <= -9e18 ? .min : Int(value)
  }
}
