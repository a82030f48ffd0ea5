import GStreamerKit
import SDLApp

/// What is aimed at, and why: the message `sdl-bitrate`, and fields of `sdl-stats`.
struct LinkReport: Equatable {
  /// kbit/s at the wanted frame rate.
  var bitrate: Int
  /// Pictures per second.
  var frameRate: Double
  /// Nil while the bitrate does not follow the link.
  var reason: RateTargets.Reason?
  /// What the link carries, in kbit/s; 0 while it is not known.
  var capacity = 0
  /// How long what is sent now would wait behind what was sent before.
  var delay = Duration.zero
}

extension RateTargets.Reason {
  /// In messages and statistics.
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

extension VideoSink {
  /// The property `target-bitrate`.
  var targetBitrate: UInt32 {
    if let link = counters.withLock({ $0.link }) { return UInt32(clamping: max(link.bitrate, 1)) }
    let bitrate = settings.withLock { $0.bitrate }
    return bitrate > 0 ? bitrate : UInt32(EncoderTargets.defaultBitrate)
  }

  /// Tells the application. Without locks.
  func announce(_ report: LinkReport, after former: LinkReport?) {
    if report.bitrate != former?.bitrate { notify(.targetBitrate) }
    if former != nil, report.reason != nil { postBitrate(report) }
  }
}
