/// The head unit's screen, which stands in where it announces no size for video.
extension AppSession {
  /// The makes whose head units without a video capability enlarge pictures on a large screen, by the rule that both
  /// SDL libraries apply to a make that contains one of these: the cars are older than the capability's `scale`.
  private static let enlargingMakes = ["Ford", "Lincoln"]
  /// No side of a screen that shows pictures as they are is longer, in pixels.
  private static let longestPlainSide = 800
  private static let legacyScale = 4.0 / 3

  /// As announced in the answer to RegisterAppInterface, in pixels.
  var screenSize: VideoSize? {
    registration?.screenResolution.map { VideoSize($0.width, $0.height) }
  }

  /// What a head unit without a video capability shows.
  var legacyDisplay: VideoDisplay? {
    guard let screenSize else { return nil }
    let make = headUnit?.make ?? ""
    let isEnlarged =
      max(screenSize.width, screenSize.height) > Self.longestPlainSide
      && Self.enlargingMakes.contains { make.contains($0) }
    return VideoDisplay(size: screenSize, scale: isEnlarged ? Self.legacyScale : 1)
  }

  /// The size to stream when the head unit announces none.
  var fallbackSize: VideoSize? {
    guard case .unavailable = capability else { return screenSize }
    // A screen without enlargement is passed on as it is: what can be encoded of it is for the receiver to say.
    return legacyDisplay.flatMap { $0.scale > 1 ? $0.streamSize : $0.size }
  }
}
