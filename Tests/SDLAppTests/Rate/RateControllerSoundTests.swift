import Testing

@testable import SDLApp

/// Sound on the connection of the video: the rate controller must not mistake its bytes for the video's.
@Suite struct RateControllerSoundTests {
  /// The bitrate after ten seconds on a link that tells nothing.
  ///
  /// - Parameters:
  ///   - video: the share of the bitrate that the encoder uses.
  ///   - sound: bits per second.
  private func bitrate(video: Double, sound: Double) -> Int {
    var controller = RateController(
      limits: .init(minimumBitrate: 100_000, maximumBitrate: 4_000_000, frameRate: 30, maximumLatency: .seconds(1)),
      start: 600_000)
    var (videoBytes, soundBytes) = (0.0, 0.0)
    for step in 0..<300 {
      videoBytes += video * Double(controller.targets.bitrate) / 8 / 30
      soundBytes += sound / 8 / 30
      _ = controller.update(
        LinkSample(
          time: .seconds(Double(step) / 30), handedByteCount: UInt64(videoBytes + soundBytes),
          soundByteCount: UInt64(soundBytes)))
    }
    return controller.targets.bitrate
  }

  @Test func soundIsNothingThatTheEncoderUses() {
    #expect(bitrate(video: 1, sound: 0) > 2_000_000)
    #expect(bitrate(video: 1, sound: 256_000) > 2_000_000)
    // An encoder that uses a third of its bitrate shows nothing about the link, however much sound there is.
    #expect(bitrate(video: 0.33, sound: 256_000) == 600_000)
  }
}
