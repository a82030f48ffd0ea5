/// Which pictures the head unit shows, and how.
extension VideoNegotiation {
  var choice: VideoChoice? {
    switch displays {
    case .unknown: nil
    case .chosen(let choice), .overridden(_, let choice): choice
    }
  }

  /// The display whose size the head unit has named in its acknowledgement instead of the requested one.
  var headUnitOverride: VideoDisplay? { if case .overridden(let display, _) = displays { display } else { nil } }

  /// What upstream may know of the head unit, beyond caps: everything that it can show, or its override; nil while it has
  /// not said.
  public var knownDisplays: [VideoDisplay]? { headUnitOverride.map { [$0] } ?? choice?.displays }

  /// What may be streamed, the first choice first; nil while the head unit has not said. What it has refused is left out.
  /// Empty when it takes any size, and when nothing is left.
  public var acceptedDisplays: [VideoDisplay]? {
    if let headUnitOverride { return [headUnitOverride] }
    return choice.map { choice in (choice.acceptedDisplays + choice.fallbackDisplays).filter(isOffered) }
  }

  /// What ranges reject, which comes last in the caps: ranges that have changed may already ask for it.
  public var rejectedDisplays: [VideoDisplay] { headUnitOverride == nil ? choice?.rejections.map(\.display) ?? [] : [] }

  /// The head unit has displays, and the app supports none of them.
  public var supportsNone: Bool { headUnitOverride == nil && choice?.supportsNone == true }

  /// Whether pictures of `size` can be sent to this head unit; nil while it has not said.
  func accepts(_ size: VideoSize) -> Bool? {
    if let headUnitOverride { return headUnitOverride.streamSize == size }
    guard let choice else { return nil }
    if choice.displays.isEmpty { return ladder.allows(size) }
    return choice.acceptedDisplays.contains { $0.streamSize == size && isOffered($0) }
      || choice.fallbackDisplays.contains { $0.streamSize == size && isOffered($0) }
  }

  /// Whether a display may still be asked for. Those of an earlier list come up only when the head unit has refused what it
  /// announces now.
  private func isOffered(_ display: VideoDisplay) -> Bool {
    guard let size = display.streamSize, ladder.allows(size) else { return false }
    return !display.isFallback || areAnnouncedSizesRefused
  }

  private var areAnnouncedSizesRefused: Bool {
    guard let choice, !choice.supportsNone else { return false }
    guard ladder.asksWithParameters else { return true }
    return !choice.acceptedDisplays.contains { $0.streamSize.map(ladder.allows) ?? false }
  }

  /// The display that shows pictures of the input's size. Its rates, formats and haptics are those that hold.
  private var streamedDisplay: VideoDisplay? {
    guard let size = input?.size else { return nil }
    if let headUnitOverride { return headUnitOverride.streamSize == size ? headUnitOverride : nil }
    return choice?.display(streaming: size)
  }

  /// Frames per second that the head unit would like for pictures of the input's size.
  public var preferredFrameRate: Int? {
    if let streamedDisplay { return streamedDisplay.frameRate }
    return choice?.displays.isEmpty == true ? capability?.preferredFPS : nil
  }

  /// The head unit's limit in kbit/s for pictures of the input's size.
  private var maximumBitrate: Int? {
    if let streamedDisplay { return streamedDisplay.maximumBitrate }
    return choice?.displays.isEmpty == true ? capability?.maxBitrate : nil
  }

  /// What the encoder aims at, for pictures of the input's size.
  public var encoderTargets: EncoderTargets { encoderTargets(for: input?.size ?? VideoSize(0, 0)) }

  /// What an encoder for pictures of `size` aims at.
  public func encoderTargets(for size: VideoSize) -> EncoderTargets {
    let largest = choice?.displays.map(\.size).max { $0.width * $0.height < $1.width * $1.height }
    let limits = EncoderLimits(
      maximumBitrate: maximumBitrate, preferredFrameRate: preferredFrameRate, largestPicture: largest,
      transportBitrate: (grant?.transportClass.maximumVideoBitrate).map { $0 / 1000 })
    return EncoderTargets(preferences: settings.encoder, limits: limits, size: size)
  }

  /// The sizes that would be accepted, for messages to people.
  var acceptedSizes: String {
    var sizes: [VideoSize] = []
    for size in (acceptedDisplays ?? []).compactMap(\.streamSize) where sizes.last != size { sizes.append(size) }
    return sizes.map(\.description).joined(separator: ", ")
  }

  /// Why pictures of `size` are not accepted although the head unit shows them; nil if that is not the reason.
  func rejectionReason(of size: VideoSize?) -> String? {
    choice?.rejections.first { $0.display.streamSize == size }?.description
  }

  /// The head unit has acknowledged another size than it was asked for.
  mutating func override(with size: VideoSize) {
    guard let choice else { return }
    let display = streamedDisplay ?? choice.acceptedDisplays.first ?? VideoDisplay(size: size)
    displays = .overridden(display.streaming(size), choice)
    upstream = .toBeAsked
  }
}

extension VideoNegotiation {
  /// Frames per second that user or head unit want of H.264 input, which can't be thinned out; nil if neither says.
  var frameRateLimit: Fraction? {
    let announced = preferredFrameRate
    guard settings.encoder.frameRate != nil || announced != nil else { return nil }
    return EncoderTargets.frameRate(preferred: settings.encoder.frameRate, announced: announced)
  }
}
