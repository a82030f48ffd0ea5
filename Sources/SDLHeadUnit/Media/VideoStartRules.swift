import SDLMessages
import SDLWire

/// The formats that a StartService(video) may request.
enum VideoFormatRules {
  private static let knownProtocols: Set = ["RAW", "RTP", "RTSP", "RTMP", "WEBM"]
  private static let knownCodecs: Set = ["H264", "H265", "Theora", "VP8", "VP9"]

  /// The keys to refuse: values that are not in the specification or not in `supported`. Without a list every value of
  /// the specification is accepted.
  static func rejection(of request: VideoServiceParameters, supported: [VideoStreamingFormat]?) -> [String] {
    let isProtocolKnown = request.videoProtocol.map(knownProtocols.contains) ?? true
    let isCodecKnown = request.videoCodec.map(knownCodecs.contains) ?? true
    guard isProtocolKnown, isCodecKnown, let supported else {
      return (isProtocolKnown ? [] : ["videoProtocol"]) + (isCodecKnown ? [] : ["videoCodec"])
    }
    let fitting = supported.filter { matches(request.videoProtocol, $0.videoProtocol) }
    if fitting.isEmpty { return ["videoProtocol"] }
    return fitting.contains { matches(request.videoCodec, $0.codec) } ? [] : ["videoCodec"]
  }

  private static func matches(_ wanted: String?, _ offered: String) -> Bool {
    wanted == nil || wanted == offered
  }

  /// The format of the acknowledged stream. Absent keys mean H.264 as a byte stream, whatever was requested (SDL-0058).
  static func effective(_ answer: VideoServiceParameters) -> VideoStreamingFormat {
    VideoStreamingFormat(
      videoProtocol: answer.videoProtocol ?? VideoStreamingFormat.rawH264.videoProtocol,
      codec: answer.videoCodec ?? VideoStreamingFormat.rawH264.codec)
  }
}

/// The sizes that a StartService(video) may request.
struct VideoSizeRules {
  let screen: VideoSize
  /// Nil where the head unit has no capability.
  let capabilities: [VideoStreamingCapability?]

  /// An app that names no size streams the whole display area, in the head unit's scale.
  private var standard: VideoSize {
    guard let root = capabilities.compactMap(\.self).first, let resolution = root.preferredResolution else {
      return screen
    }
    return VideoSize(
      Self.evenRange(resolution.width, scale: root.scale).lowerBound,
      Self.evenRange(resolution.height, scale: root.scale).lowerBound)
  }

  /// The keys to refuse; empty when a capability covers the size.
  func rejection(of request: VideoServiceParameters) -> [String] {
    guard request.width != nil || request.height != nil else { return [] }
    let entries = capabilities.compactMap(\.self).flatMap { [$0] + ($0.additionalCapabilities ?? []) }
    var offers = entries.compactMap { entry in entry.preferredResolution.map { ($0, entry.scale) } }
    if offers.isEmpty { offers = [(screen, nil)] }
    let isCovered = offers.contains { resolution, scale in
      Self.covers(request.width, resolution.width, scale) && Self.covers(request.height, resolution.height, scale)
    }
    if isCovered { return [] }
    return (request.height == nil ? [] : ["height"]) + (request.width == nil ? [] : ["width"])
  }

  /// The entries of `capability` that pictures of `size` can belong to.
  func entries(of capability: VideoStreamingCapability, covering size: VideoSize) -> [VideoStreamingCapability] {
    ([capability] + (capability.additionalCapabilities ?? [])).filter { entry in
      guard let resolution = entry.preferredResolution else { return false }
      return Self.evenRange(resolution.width, scale: entry.scale).contains(size.width)
        && Self.evenRange(resolution.height, scale: entry.scale).contains(size.height)
    }
  }

  /// The display that pictures of `size` fill: the first that they can belong to, or the screen.
  func display(of size: VideoSize) -> VideoSize {
    for capability in capabilities.compactMap(\.self) {
      if let display = entries(of: capability, covering: size).first?.preferredResolution { return display }
    }
    return screen
  }

  private static func covers(_ wanted: Int32?, _ offered: Int, _ scale: Double?) -> Bool {
    wanted.map { evenRange(offered, scale: scale).contains(Int($0)) } ?? true
  }

  /// The side divided by the scale, with the even numbers around it: apps round, truncate, or make even.
  private static func evenRange(_ side: Int, scale: Double?) -> ClosedRange<Int> {
    // Resolutions are within 1…10000 and scales within 1…10, by the specification; a scale outside counts as the
    // nearest.
    let factor = scale.map { $0 >= 1 ? min($0, 10) : 1 } ?? 1
    let exact = Double(min(max(side, 1), 10_000)) / factor
    return Int((exact / 2).rounded(.down)) * 2...Int((exact / 2).rounded(.up)) * 2
  }

  /// The size of the acknowledged stream. 0×0, which was observed on head units, and a single side stand for the
  /// request.
  func effective(_ answer: VideoServiceParameters, _ request: VideoServiceParameters) -> VideoSize {
    Self.size(answer) ?? Self.size(request) ?? standard
  }

  private static func size(_ parameters: VideoServiceParameters) -> VideoSize? {
    guard let width = parameters.width, let height = parameters.height, width > 0, height > 0 else { return nil }
    return VideoSize(Int(width), Int(height))
  }
}
