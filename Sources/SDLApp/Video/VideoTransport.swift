/// A `videoProtocol` of the video service that can be sent.
public enum VideoTransport: String, CaseIterable, Sendable {
  /// Annex B byte stream.
  case raw = "RAW"
  /// RTP packets (RFC 6184) with lengths in front (RFC 4571).
  case rtp = "RTP"
}

/// A `videoCodec` of the video service that can be sent.
public enum VideoCodec: String, Sendable {
  case h264 = "H264"
}

extension VideoTransport {
  /// The transports to request, in this order; empty when both sides have none in common.
  /// - Parameters:
  ///   - offered: what the head unit lists, in its order of preference. A capability that lists nothing inherits the list
  ///     of the root capability; without any list head units take H.264 as a byte stream (SDL-0058).
  ///   - allowed: what the user allows, in the user's order, which takes precedence over the head unit's; nil for the
  ///     head unit's order.
  public static func choices(offered: [VideoStreamingFormat]?, wished allowed: [VideoTransport]? = nil)
    -> [VideoTransport]
  {
    guard let offered, !offered.isEmpty else { return unique(allowed ?? [.raw]) }
    let common = unique(offered.compactMap(VideoTransport.init))
    return allowed.map { unique($0.filter(common.contains)) } ?? common
  }

  /// The transport of a format that can be sent; nil for any other.
  init?(_ format: VideoStreamingFormat) {
    guard format.codec == VideoCodec.h264.rawValue else { return nil }
    self.init(rawValue: format.videoProtocol)
  }

  private static func unique(_ transports: [VideoTransport]) -> [VideoTransport] {
    transports.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}
