import SDLHeadUnit
import SDLMessages

extension HeadUnitConfiguration {
  /// A head unit with a screen of few pixels, which opens the app at once.
  static func small(
    _ width: Int = 320, _ height: Int = 240, frameRate: Int? = 30, maximumBitrate: Int? = 10_000,
    additional: [(Int, Int)] = [], activation: Duration? = .zero
  ) -> HeadUnitConfiguration {
    var capability = VideoStreamingCapability()
    capability.preferredResolution = VideoSize(width, height)
    capability.supportedFormats = [.rawH264]
    capability.preferredFPS = frameRate
    capability.maxBitrate = maximumBitrate
    capability.additionalCapabilities = additional.map { size in
      var entry = VideoStreamingCapability()
      entry.preferredResolution = VideoSize(size.0, size.1)
      return entry
    }
    return HeadUnitConfiguration(
      screen: VideoSize(width, height), videoCapability: capability, activation: activation)
  }

  /// A small head unit that takes only RTP.
  static func rtp(_ width: Int = 320, _ height: Int = 240, frameRate: Int? = 30) -> HeadUnitConfiguration {
    .small(width, height, frameRate: frameRate, maximumBitrate: nil).with {
      $0.videoCapability?.supportedFormats = [.rtpH264]
    }
  }

  /// With one thing changed.
  func with(_ change: (inout HeadUnitConfiguration) -> Void) -> HeadUnitConfiguration {
    var changed = self
    change(&changed)
    return changed
  }
}

extension VideoStreamingCapability {
  /// With one thing changed.
  func with(_ change: (inout VideoStreamingCapability) -> Void) -> VideoStreamingCapability {
    var changed = self
    change(&changed)
    return changed
  }
}
