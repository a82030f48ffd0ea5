import SDLMessages

/// A size of the screen with the scale of the video in it.
public struct SizeWithScale: Equatable, Sendable, CustomStringConvertible {
  public var size: ImageResolution
  /// 1…10; nil if it is not stated.
  public var scale: Double?

  /// A capability with these two members.
  public var capability: VideoStreamingCapability {
    var capability = VideoStreamingCapability()
    capability.preferredResolution = size
    capability.scale = scale
    return capability
  }

  /// "800x480" or "800x480@1.5".
  public var description: String { size.text + (scale.map { "@\($0)" } ?? "") }

  /// Parses a ``description``; nil if it is malformed.
  public init?(text: String) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let size = ImageResolution(text: String(parts[0])) else { return nil }
    self.size = size
    guard parts.count > 1 else { return }
    guard let scale = Double(parts[1]), (1...10).contains(scale) else { return nil }
    self.scale = scale
  }

  /// The size and scale of `capability`; 0×0 if it has no size.
  public init(_ capability: VideoStreamingCapability) {
    size = capability.preferredResolution ?? ImageResolution(0, 0)
    scale = capability.scale
  }
}

extension ImageResolution {
  /// "800x480".
  public var text: String { "\(width)x\(height)" }

  /// "800x480", with sides of 1…10000.
  public init?(text: String) {
    let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
    guard sides.count == 2, let width = sides[0], let height = sides[1], (1...10_000).contains(width),
      (1...10_000).contains(height)
    else { return nil }
    self.init(width, height)
  }
}

extension VideoStreamingFormat {
  /// "RAW/H264".
  public var text: String { "\(videoProtocol)/\(codec)" }

  /// Parses a ``text``; nil if it is malformed.
  public init?(text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
    self.init(videoProtocol: String(parts[0]), codec: String(parts[1]))
  }
}
