import SDLApp
import X264Encoder

/// The user's settings for live pictures on a slow link.
struct LinkSettings: Equatable, Sendable {
  /// Whether the bitrate follows the link.
  var isAdaptive = true
  /// kbit/s below which the frame rate goes down and not the quality.
  var minimumBitrate: UInt32 = 200
  /// Milliseconds; 0 is no bound. An answer to a touch within this time still feels direct, and the short interruptions
  /// of Wi-Fi (retransmissions, power saving, scans) are mostly shorter.
  var maximumLatency: UInt32 = 150

  var latencyBound: Duration { .milliseconds(Int64(maximumLatency)) }
}

/// Follows the link of one stream from a live source: whether it is ready for a picture, and at which rates that is
/// encoded.
///
/// It gives samples of the link to ``RateController``, and passes its targets on when they have changed noticeably, so
/// that x264 is not reconfigured for each picture.
struct LinkAdaptation {
  /// The requirements of application, head unit and input.
  struct Wanted: Equatable {
    var targets: EncoderTargets
    /// Of the pictures that are sent.
    var frameRate: Fraction
    var settings: LinkSettings
    /// Upstream encodes; leaving out a frame loses all up to the next key frame.
    var isEncoderUpstream = false

    fileprivate var limits: RateController.Limits {
      let ceiling = settings.isAdaptive ? targets.ceiling : targets.bitrate
      return RateController.Limits(
        minimumBitrate: Int(settings.minimumBitrate) * 1000, maximumBitrate: ceiling * 1000,
        frameRate: frameRate.value, maximumLatency: settings.latencyBound,
        isEncoderUpstream: isEncoderUpstream)
    }
  }

  /// A frame rate that is lower by less than this counts as the wanted one.
  private static let noticeableShare = 0.02
  /// Smaller changes are not reported, unless the reason changes.
  private static let reportedShare = 0.05
  private static let reportInterval = Duration.milliseconds(300)

  private var controller: RateController?
  private var wanted: Wanted?
  /// `VideoGrant.epoch` of the service.
  private var epoch: UInt32 = 0
  /// The encoder's rates; nil for the targets.
  private(set) var rates: EncoderRates?
  /// The most pictures per second, if the link carries fewer than wanted.
  private(set) var frameRateLimit: Fraction?
  private(set) var report: LinkReport?
  private var reported: LinkReport?
  private var reportTime: Duration?

  init() {}

  private init(report: LinkReport, reported: LinkReport?, reportTime: Duration?) {
    self.report = report
    self.reported = reported
    self.reportTime = reportTime
  }

  /// Takes a sample just before a picture would be encoded, and just after it.
  ///
  /// - Parameters:
  ///   - sample: the present one.
  ///   - wanted: may change at any time.
  ///   - epoch: of the grant: measurements of an earlier service may belong to another connection.
  mutating func update(_ sample: LinkSample, _ wanted: Wanted, epoch: UInt32) {
    // Taken out, because a second reference would have its history copied.
    var controller =
      self.controller.take() ?? RateController(limits: wanted.limits, start: wanted.targets.start * 1000)
    if epoch != self.epoch || wanted.targets.start != self.wanted?.targets.start {
      controller = RateController(limits: wanted.limits, start: wanted.targets.start * 1000)
    } else if wanted != self.wanted {
      controller.limits = wanted.limits
    }
    self.epoch = epoch
    self.wanted = wanted
    let targets = controller.update(sample)
    self.controller = controller
    if wanted.settings.isAdaptive {
      apply(targets, wanted)
    } else {
      rates = nil
      frameRateLimit = nil
    }
    report = LinkReport(
      bitrate: wanted.settings.isAdaptive ? max(targets.bitrate / 1000, 1) : wanted.targets.bitrate,
      frameRate: wanted.settings.isAdaptive ? targets.frameRate : wanted.frameRate.value,
      reason: wanted.settings.isAdaptive ? targets.reason : nil,
      capacity: (controller.measuredCapacity ?? 0) / 1000, delay: controller.queueingDelay)
  }

  /// Without samples, as for a source that waits for the link, the targets stay as they are.
  mutating func follow(_ targets: EncoderTargets, frameRate: Fraction) {
    let report = LinkReport(bitrate: targets.bitrate, frameRate: frameRate.value)
    guard controller != nil || report != self.report else { return }
    self = LinkAdaptation(report: report, reported: reported, reportTime: reportTime)
  }

  private mutating func apply(_ targets: RateTargets, _ wanted: Wanted) {
    let isFull = targets.frameRate >= wanted.frameRate.value * (1 - Self.noticeableShare)
    let limit = isFull ? nil : Fraction(Int(targets.frameRate * 1000), 1000)
    let rates = EncoderRates(
      bitrate: max(targets.sentBitrate / 1000, 1), frameRate: FrameRate(limit ?? wanted.frameRate),
      bufferSize: targets.maximumPictureBits.map { max($0 / 1000, 1) })
    if let former = self.rates, !isWorthwhile(rates, after: former, isCeiling: targets.reason == .ceiling) { return }
    self.rates = rates
    frameRateLimit = limit
  }

  /// Whether to set an encoder's rates again. The ceiling is always set exactly.
  private func isWorthwhile(_ rates: EncoderRates, after former: EncoderRates, isCeiling: Bool) -> Bool {
    isCeiling && former.bitrate != rates.bitrate || differs(former.bitrate, rates.bitrate)
      || differs(former.frameRate.value, rates.frameRate.value)
      || (former.bufferSize == nil) != (rates.bufferSize == nil)
      || differs(former.bufferSize ?? 0, rates.bufferSize ?? 0, by: 0.1)
  }

  var readiness: LinkReadiness { controller?.readiness ?? .ready }

  /// Whether a picture that comes encoded would be too late; see
  /// ``RateController/isLate(isKeyFrameNeeded:sinceSent:)``.
  func isLate(isKeyFrameNeeded: Bool, sinceSent: Duration) -> Bool {
    controller?.isLate(isKeyFrameNeeded: isKeyFrameNeeded, sinceSent: sinceSent) ?? false
  }

  /// The report for the application, and the last one; nil while nothing has changed noticeably.
  mutating func takeReport(now: Duration) -> (present: LinkReport, former: LinkReport?)? {
    guard let report, report != reported else { return nil }
    if let reported {
      let isNew =
        report.reason != reported.reason || differs(reported.bitrate, report.bitrate, by: Self.reportedShare)
        || report.reason == .ceiling && report.bitrate != reported.bitrate
        || differs(reported.frameRate, report.frameRate, by: Self.reportedShare)
      guard isNew, reportTime.map({ now - $0 >= Self.reportInterval }) ?? true else { return nil }
    }
    defer { reported = report }
    reportTime = now
    return (report, reported)
  }
}

/// Changes by less than 2 % are not worth a call of x264.
private func differs(_ former: Int, _ present: Int, by share: Double = 0.02) -> Bool {
  differs(Double(former), Double(present), by: share)
}

private func differs(_ former: Double, _ present: Double, by share: Double = 0.02) -> Bool {
  abs(present - former) > former * share
}

/// The targets and their reason: the message `sdl-bitrate`, and fields of `sdl-stats`.
struct LinkReport: Equatable {
  /// kbit/s at the wanted frame rate.
  var bitrate: Int
  /// Pictures per second.
  var frameRate: Double
  /// Nil while the bitrate does not follow the link.
  var reason: RateTargets.Reason?
  /// The link's rate, in kbit/s; 0 while it is not known.
  var capacity = 0
  /// How long bytes sent now would wait for earlier ones.
  var delay = Duration.zero
}

extension RateTargets.Reason {
  /// The value in messages and statistics.
  var name: String {
    switch self {
    case .ceiling: "ceiling"
    case .probing: "probing"
    case .link: "link"
    case .belowMinimum: "below-minimum"
    case .stalled: "stalled"
    }
  }
}
