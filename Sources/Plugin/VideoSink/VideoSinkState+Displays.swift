import SDLApp

/// Which pictures the head unit shows, and how.
extension VideoSinkState {
  /// What upstream may know of the head unit, beyond caps: everything that it can show, or what it has insisted on; nil
  /// while it has not said.
  var knownDisplays: [VideoDisplay]? { insistedDisplay.map { [$0] } ?? choice?.displays }

  /// What may be streamed, the first choice first; nil while the head unit has not said. What it has refused is
  /// left out. Empty when it takes any size, and when nothing is left.
  var acceptedDisplays: [VideoDisplay]? {
    if let insistedDisplay { return [insistedDisplay] }
    return choice?.survivors.filter { $0.streamSize.map(ladder.allows) ?? false }
  }

  /// The head unit has displays, and the app supports none of them.
  var isHopeless: Bool { insistedDisplay == nil && choice?.isHopeless == true }

  /// Whether pictures of `size` can be sent to this head unit; nil while it has not said.
  func accepts(_ size: VideoSize) -> Bool? {
    if let insistedDisplay { return insistedDisplay.streamSize == size }
    return choice.map { $0.accepts(size) && ladder.allows(size) }
  }

  /// The display that shows pictures of the input's size. Its rates, formats and haptics are those that hold.
  var streamedDisplay: VideoDisplay? {
    guard let inputSize else { return nil }
    if let insistedDisplay { return insistedDisplay.streamSize == inputSize ? insistedDisplay : nil }
    return choice?.display(streaming: inputSize)
  }

  /// Frames per second that the head unit would like for pictures of the input's size.
  var preferredFrameRate: Int? {
    if let streamedDisplay { return streamedDisplay.frameRate }
    return choice?.displays.isEmpty == true ? headUnit?.videoCapability?.preferredFPS : nil
  }

  /// The head unit's limit in kbit/s for pictures of the input's size.
  var maximumBitrate: Int? {
    if let streamedDisplay { return streamedDisplay.maximumBitrate }
    return choice?.displays.isEmpty == true ? headUnit?.videoCapability?.maxBitrate : nil
  }

  /// What the head unit says of rates, for pictures of the input's size.
  var encoderLimits: EncoderLimits {
    let largest = choice?.displays.map(\.size).max { $0.width * $0.height < $1.width * $1.height }
    return EncoderLimits(
      maximumBitrate: maximumBitrate, preferredFrameRate: preferredFrameRate, largestPicture: largest)
  }

  /// The sizes that would be accepted, for messages to people.
  var acceptedSizes: String {
    var sizes: [VideoSize] = []
    for size in (acceptedDisplays ?? []).compactMap(\.streamSize) where sizes.last != size { sizes.append(size) }
    return sizes.map(\.description).joined(separator: ", ")
  }

  /// Why pictures of `size` are not accepted although the head unit shows them; nil if that is not the reason.
  func objection(to size: VideoSize?) -> String? {
    choice?.rejections.first { $0.display.streamSize == size }?.description
  }

  /// The head unit has acknowledged another size than it was asked for.
  mutating func insist(on size: VideoSize) {
    let display = streamedDisplay ?? choice?.survivors.first ?? VideoDisplay(size: size)
    insistedDisplay = display.streaming(size)
    shouldRenegotiate = true
  }
}
