/// What a StartServiceACK of the video service says.
extension VideoServiceParameters {
  /// The RPC specification's range for a side of a picture, in pixels (`ImageResolution`).
  private static let possibleSides: ClosedRange<Int32> = 1...10_000

  /// The size that an acknowledgement names. Some head units acknowledge 0×0 or leave a side out: then the requested size
  /// holds. Odd sides are made even, because the encoder has no others.
  var acceptedSize: VideoSize? {
    guard let width, let height, Self.possibleSides.contains(width), Self.possibleSides.contains(height) else {
      return nil
    }
    return VideoSize(Int(width) & ~1, Int(height) & ~1)
  }

  /// How video is carried from now on. What an acknowledgement leaves out is H.264 over RAW (SDL-0058). Nil when it names
  /// something that can't be sent.
  var acceptedTransport: VideoTransport? {
    let defaults = VideoStreamingFormat.rawH264
    return VideoTransport(
      VideoStreamingFormat(videoProtocol: videoProtocol ?? defaults.videoProtocol, codec: videoCodec ?? defaults.codec))
  }

  /// The failure when an acknowledgement names a codec or a protocol that can't be sent.
  var unusableAnswer: VideoStartFailure {
    let isCodecUsable = videoCodec.map { VideoCodec(rawValue: $0) != nil } ?? true
    let isProtocolUsable = videoProtocol.map { VideoTransport(rawValue: $0) != nil } ?? true
    return .unusableAnswer(
      rejectedParameters: (isCodecUsable ? [] : ["videoCodec"]) + (isProtocolUsable ? [] : ["videoProtocol"]),
      format: "\(videoCodec ?? "H264") over \(videoProtocol ?? "RAW")")
  }
}
