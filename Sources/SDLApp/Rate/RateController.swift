/// Finds the bitrate that keeps the delay of live pictures small: just below what the link carries.
///
/// It takes samples of the link (``update(_:)``) and says what the encoder should aim at (``targets``) and whether the
/// link is ready for a picture at all (``readiness``). The readiness bounds the delay at any moment; the bitrate follows,
/// so that few pictures have to wait.
///
/// The bitrate falls in small steps while bytes wait on the way all the time, and at once to 0.9 of the rate that the link
/// showed when it carries much less. It rises slowly near the rate that the link had when it was last full, and doubles in
/// less than a second when nothing is known against it; never while the encoder does not use what it has. A step
/// down takes a larger share of a larger bitrate, so two senders on a link approach equal shares (as with TCP's congestion
/// avoidance, RFC 5681).
///
/// Without TCP_INFO it recovers a little later. Without the number of unacknowledged bytes it goes by whether the kernel
/// takes what it is given and nothing else. A peer that acknowledges late on purpose looks like a slow link until the
/// longer delay counts as the path's own, after 5 to 10 s; pictures go on in the meantime, at least one per second.
public struct RateController: Equatable, Sendable {
  /// What the targets may be.
  public struct Limits: Equatable, Sendable {
    /// Bits per second with the wanted rate of pictures, below which their rate goes down and not their quality.
    public var minimumBitrate: Int
    /// Bits per second; the minimum gives way to it.
    public var maximumBitrate: Int
    /// The pictures per second that are wanted.
    public var frameRate: Double
    /// A picture should not be longer on the way than this; 0 for no bound.
    public var maximumLatency: Duration
    /// Whether pictures come encoded, so that one that is not sent costs all up to the next key frame: a higher bitrate is then
    /// tried in small steps only.
    public var isEncoderUpstream: Bool

    public init(
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
  public var limits: Limits {
    didSet { rate = bounded(rate) }
  }

  /// Bits per second, also below the minimum.
  var rate: Double
  var reason = RateTargets.Reason.probing
  var link = LinkEstimator()
  /// Bytes that the encoder made.
  var used = DecayingRate(timeConstant: 0.5)
  /// Bytes of sound on the same connection: they take their part of the link, but are none that the encoder has used.
  var sound = DecayingRate(timeConstant: 2)
  /// Seconds that bytes have to wait.
  var meanDelay = DecayingRate(timeConstant: 0.5)
  /// When bytes waited least lately, or later when an earlier step has to show its effect first.
  var relaxedTime: Duration?
  /// When the bitrate was last found to be much too high.
  var excessTime: Duration?
  /// Since when the encoder has not been able to use the bitrate.
  var unusableSince: Duration?
  /// Since when round trips have been too short for the rate that the link had when it was full.
  var shortRoundTripsSince: Duration?
  /// When the kernel was last found to take no more.
  var blockedTime: Duration?

  /// - Parameter start: Bits per second to begin with.
  public init(limits: Limits, start: Int) {
    self.limits = limits
    rate = 0
    rate = bounded(Double(start))
  }

  /// Takes a sample of the link, best just before a picture would be encoded and just after it was handed over.
  ///
  /// Samples may come at any rate. After a jump of the clock, and when the number of bytes goes back, as with a new
  /// connection, it measures anew and keeps the bitrate.
  ///
  /// - Returns: ``targets``.
  public mutating func update(_ sample: LinkSample) -> RateTargets {
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

  /// What the encoder should aim at, by the last sample.
  public var targets: RateTargets {
    let bitrate = max(rate, lowest)
    return RateTargets(
      bitrate: Int(saturating: bitrate), frameRate: pictureRate,
      sentBitrate: Int(saturating: max(bitrate * pictureRate / wantedPictureRate, 1)),
      maximumPictureBits: maximumPictureBits, reason: presentReason)
  }

  /// What the link carries, in bits per second; nil when it was never full, or shows by now that it carries more.
  public var measuredCapacity: Int? { link.capacity.map { Int(saturating: $0 * 8) } }

  /// What the link leaves to the picture beside the sound, in bytes per second; nil when it was never full.
  var capacityForVideo: Double? { link.capacity.map { max($0 - (sound.value ?? 0), $0 / 10) } }

  /// How long a byte that is handed over now would wait for others before it.
  public var queueingDelay: Duration { .seconds(min(link.queueingDelay, 3600)) }
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

  var wantedPictureRate: Double { limits.frameRate.isFinite ? max(limits.frameRate, 1) : 1 }

  private var pictureRate: Double { max(wantedPictureRate * min(rate / lowest, 1), 1) }

  var highest: Double { Double(max(limits.maximumBitrate, 1)) }

  private var lowest: Double { min(Double(max(limits.minimumBitrate, 1)), highest) }

  /// At least what a picture per second needs.
  func bounded(_ rate: Double) -> Double {
    min(max(rate.isFinite ? rate : 0, lowest / wantedPictureRate), highest)
  }
}

extension Int {
  /// The nearest whole number that there is; 0 for what is no number.
  fileprivate init(saturating value: Double) {
    self = value.isNaN ? 0 : value >= 9e18 ? .max : value <= -9e18 ? .min : Int(value)
  }
}
