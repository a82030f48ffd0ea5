/// A `videoProtocol` of the video service that can be sent.
package enum VideoStreamingProtocol: String, CaseIterable, Sendable {
  /// Annex B byte stream.
  case raw = "RAW"
  /// RTP packets (RFC 6184) with lengths in front (RFC 4571).
  case rtp = "RTP"
}

/// A `videoCodec` of the video service that can be sent.
package enum VideoCodec: String, Sendable {
  case h264 = "H264"
}

extension VideoStreamingProtocol {
  /// The protocols to request, in this order; empty when both sides have none in common.
  /// - Parameters:
  ///   - offered: the head unit's list, in its order of preference. A capability that lists nothing inherits the list
  ///     of the root capability; head units without any list take H.264 as a byte stream (SDL-0058).
  ///   - allowed: the user's list, whose order takes precedence over the head unit's; nil for the head unit's order.
  package static func choices(offered: [VideoStreamingFormat]?, wished allowed: [Self]? = nil) -> [Self] {
    guard let offered, !offered.isEmpty else { return unique(allowed ?? [.raw]) }
    let common = unique(offered.compactMap(Self.init))
    return allowed.map { unique($0.filter(common.contains)) } ?? common
  }

  /// The protocol of a format that can be sent; nil for any other.
  init?(_ format: VideoStreamingFormat) {
    guard format.codec == VideoCodec.h264.rawValue else { return nil }
    self.init(rawValue: format.videoProtocol)
  }

  private static func unique(_ protocols: [Self]) -> [Self] {
    protocols.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}

/// The content of a StartServiceACK of the video service.
extension VideoServiceParameters {
  /// The RPC specification's range for a side of a picture, in pixels (`ImageResolution`).
  private static let possibleSides: ClosedRange<Int32> = 1...10_000

  /// The size that an acknowledgement names. Some head units acknowledge 0×0 or leave a side out: then the requested
  /// size counts. Odd sides are made even, because the encoder has no others.
  var acceptedSize: VideoSize? {
    guard let width, let height, Self.possibleSides.contains(width), Self.possibleSides.contains(height) else {
      return nil
    }
    return VideoSize(Int(width) & ~1, Int(height) & ~1)
  }

  /// The protocol from now on. Missing members mean H.264 over RAW (SDL-0058). Nil when the acknowledgement names
  /// something that can't be sent.
  var acceptedProtocol: VideoStreamingProtocol? {
    let defaults = VideoStreamingFormat.rawH264
    return VideoStreamingProtocol(
      VideoStreamingFormat(videoProtocol: videoProtocol ?? defaults.videoProtocol, codec: videoCodec ?? defaults.codec))
  }

  /// The failure when an acknowledgement names a codec or a protocol that can't be sent.
  var unusableAnswer: VideoStartFailure {
    let isCodecUsable = videoCodec.map { VideoCodec(rawValue: $0) != nil } ?? true
    let isProtocolUsable = videoProtocol.map { VideoStreamingProtocol(rawValue: $0) != nil } ?? true
    return .unusableAnswer(
      rejectedParameters: (isCodecUsable ? [] : ["videoCodec"]) + (isProtocolUsable ? [] : ["videoProtocol"]),
      format: "\(videoCodec ?? "H264") over \(videoProtocol ?? "RAW")")
  }
}
