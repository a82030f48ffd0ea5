import SDLMessages
import SDLWire

/// Which pictures can be streamed, and how: the displays that the head unit lists, upstream's ranges, the head unit's
/// refusals, and the sizes that it has named instead.
struct VideoSelection: Sendable {
  /// The head unit's capability as it was sent, for head units that list no sizes.
  private var capability: VideoStreamingCapability?
  private var questions = RangesQuestions()
  private var choice: VideoChoice?
  /// The display whose size the head unit has acknowledged instead of the requested one, until it announces sizes
  /// again.
  private var overridingDisplay: VideoDisplay?
  /// The choice after a resize that takes effect only when the service ends.
  private var laterChoice: VideoChoice?

  /// The possible requests, since the head unit last announced sizes.
  private(set) var ladder = VideoStartLadder(sizes: [], protocols: [])
  /// The protocols with which the ladder began; nil when its refusals do not count any more.
  private var ladderProtocols: [VideoStreamingProtocol]?
  /// The last report to the application of displays that are left out because they are too large.
  private var reportedLeftOut: VideoProblem?
  /// The last report to the application of why no display is supported.
  private var reportedRejection: String?
}

/// The present selection.
extension VideoSelection {
  /// The head unit of the present connection has sent its capability.
  var isCurrent: Bool { questions.isCurrent }

  /// The head unit's displays as far as upstream may know them: all of them, or the override; nil while the head unit
  /// has not announced any.
  var knownDisplays: [VideoDisplay]? { overridingDisplay.map { [$0] } ?? choice?.displays }

  /// The displays that may be streamed to, the first choice first; nil while the head unit has not announced any.
  /// Refused ones are left out. Empty when it takes any size, and when none is left.
  var acceptedDisplays: [VideoDisplay]? {
    if let overridingDisplay { return [overridingDisplay] }
    return choice.map { choice in (choice.acceptedDisplays + choice.fallbackDisplays).filter(isOffered) }
  }

  /// The displays that ranges reject. They come last in the caps, because changed ranges may already want them.
  var rejectedDisplays: [VideoDisplay] { overridingDisplay == nil ? choice?.rejections.map(\.display) ?? [] : [] }

  /// The head unit has displays, and the app supports none of them.
  var supportsNone: Bool { overridingDisplay == nil && choice?.supportsNone == true }

  /// The size of the first choice that is left.
  var preferredSize: VideoSize? {
    if let overridingDisplay { return overridingDisplay.streamSize }
    guard let choice else { return nil }
    return (choice.acceptedDisplays.first(where: isOffered) ?? choice.fallbackDisplays.first(where: isOffered))?
      .streamSize
  }

  /// The size that the head unit has acknowledged instead of the requested one.
  var overridingSize: VideoSize? { overridingDisplay?.streamSize }

  /// Whether pictures of `size` can be sent to this head unit; nil while it has not announced its displays.
  func accepts(_ size: VideoSize) -> Bool? {
    if let overridingDisplay { return overridingDisplay.streamSize == size }
    guard let choice else { return nil }
    if choice.displays.isEmpty { return ladder.allows(size) }
    return choice.acceptedDisplays.contains { $0.streamSize == size && isOffered($0) }
      || choice.fallbackDisplays.contains { $0.streamSize == size && isOffered($0) }
  }

  /// Whether a display may still be requested. Displays of an earlier list count only when the head unit has refused
  /// those that it announces now.
  private func isOffered(_ display: VideoDisplay) -> Bool {
    guard let size = display.streamSize, ladder.allows(size) else { return false }
    return !display.isFallback || areAnnouncedSizesRefused
  }

  private var areAnnouncedSizesRefused: Bool {
    guard let choice, !choice.supportsNone else { return false }
    guard ladder.asksWithParameters else { return true }
    return !choice.acceptedDisplays.contains { $0.streamSize.map(ladder.allows) ?? false }
  }

  /// The display that shows pictures of `size`, with the present rates, formats and haptics.
  private func display(streaming size: VideoSize?) -> VideoDisplay? {
    guard let size else { return nil }
    if let overridingDisplay { return overridingDisplay.streamSize == size ? overridingDisplay : nil }
    return choice?.display(streaming: size)
  }

  /// Frames per second that the head unit would like for pictures of `size`.
  func preferredFrameRate(for size: VideoSize?) -> Int? {
    if let display = display(streaming: size) { return display.frameRate }
    return choice?.displays.isEmpty == true ? capability?.preferredFPS : nil
  }

  /// The frame rate that user or head unit prefer for pictures of `size`; nil if neither has a preference.
  func frameRateLimit(_ preferences: EncoderPreferences, _ size: VideoSize?) -> Fraction? {
    let announced = preferredFrameRate(for: size)
    guard preferences.frameRate != nil || announced != nil else { return nil }
    return EncoderTargets.frameRate(preferred: preferences.frameRate, announced: announced)
  }

  /// The limits of an encoder whose input has `size`.
  func encoderLimits(for size: VideoSize?, _ transport: TransportClass?) -> EncoderLimits {
    let limit = choice?.displays.isEmpty == true ? capability?.maxBitrate : nil
    return EncoderLimits(
      maximumBitrate: display(streaming: size).map(\.maximumBitrate) ?? limit,
      preferredFrameRate: preferredFrameRate(for: size),
      largestPicture: choice?.displays.map(\.size).max { $0.width * $0.height < $1.width * $1.height },
      transportBitrate: transport?.maximumVideoBitrate.map { $0 / 1000 })
  }

  /// The sizes that would be accepted, for messages to users.
  var acceptedSizes: String {
    var sizes: [VideoSize] = []
    for size in (acceptedDisplays ?? []).compactMap(\.streamSize) where sizes.last != size { sizes.append(size) }
    return sizes.map(\.description).joined(separator: ", ")
  }

  /// Why pictures of `size` are not accepted although the head unit shows them; nil if that is not the reason.
  func rejectionReason(of size: VideoSize?) -> String? {
    choice?.rejections.first { $0.display.streamSize == size }?.description
  }
}

/// Inputs of the head unit.
extension VideoSelection {
  /// - Parameters:
  ///   - allowed: the streaming protocols that the user allows; nil for all.
  ///   - largest: the picture with the most pixels that the user allows.
  /// - Returns: the displays that can be streamed to, and those that are too large, unless that was the last report.
  /// - Throws: when both sides have no format or size in common.
  mutating func receive(
    _ capability: VideoStreamingCapability?, screen: VideoSize?, allowed: [VideoStreamingProtocol]?, largest: VideoSize
  ) throws(VideoProblem) -> (displays: [VideoDisplay], leftOut: VideoProblem?) {
    func isUsable(_ formats: [VideoStreamingFormat]?) -> Bool {
      !VideoStreamingProtocol.choices(offered: formats, wished: allowed).isEmpty
    }
    let displays = VideoDisplay.displays(of: capability, screen: screen)
    let usable = displays.filter { isUsable($0.formats) }
    guard displays.isEmpty ? isUsable(capability?.supportedFormats) : !usable.isEmpty else {
      throw .noCommonFormat(offered: capability?.supportedFormats ?? [], allowed: allowed)
    }
    let fitting = usable.filter { $0.streamSize.map(largest.hasRoom) ?? true }
    // Those of an earlier list were reported with it.
    let announced = usable.filter { !$0.isFallback }
    let tooLarge = announced.compactMap(\.streamSize).filter { !largest.hasRoom(for: $0) }
    guard tooLarge.isEmpty || tooLarge.count < announced.count else {
      throw .tooLarge(tooLarge, largest: largest, others: false)
    }
    self.capability = capability
    let leftOut: VideoProblem? = tooLarge.isEmpty ? nil : .tooLarge(tooLarge, largest: largest, others: true)
    defer { reportedLeftOut = leftOut }
    return (fitting, leftOut == reportedLeftOut ? nil : leftOut)
  }

  /// The head unit has acknowledged `size`.
  ///
  /// - Throws: when that is larger than `largest`.
  func check(_ size: VideoSize, _ largest: VideoSize) throws(VideoProblem) {
    guard largest.hasRoom(for: size) else { throw .tooLarge([size], largest: largest, others: false) }
  }

  /// The head unit has acknowledged `size` instead of the requested size, while the input has another.
  ///
  /// - Returns: whether it had announced its displays before.
  mutating func acknowledge(_ size: VideoSize, inputSize: VideoSize?) -> Bool {
    guard let choice else { return false }
    let display = display(streaming: inputSize) ?? choice.acceptedDisplays.first ?? VideoDisplay(size: size)
    overridingDisplay = display.streaming(size)
    return true
  }

  /// The head unit has refused `request`; `fixedSize` is that of an input that can't change.
  mutating func refuse(_ request: VideoStartRequest, _ failure: VideoStartFailure, fixedSize: VideoSize?) {
    ladder.refused(request, failure)
    if failure.concernsSize { overridingDisplay = nil }
    if let fixedSize, !ladder.allows(fixedSize) { ladder.fixInput() }
  }

  /// Upstream can't change from `size`: if the head unit has refused it, it is asked for its own choice. False when the
  /// size was not refused, but never offered.
  mutating func keepRefused(_ size: VideoSize?) -> Bool {
    guard let size, overridingDisplay == nil, !ladder.allows(size) else { return false }
    ladder.fixInput()
    return true
  }

  /// The displays of the next head unit are not known before it has announced them.
  mutating func connectionLost() {
    overridingDisplay = nil
    laterChoice = nil
    ladderProtocols = nil
    questions.connectionLost()
  }
}

/// Answers of upstream's ranges.
extension VideoSelection {
  mutating func question(_ cause: VideoNegotiation.ChoiceCause) -> VideoNegotiation.RangesQuestion? {
    questions.ask(cause)
  }

  /// - Returns: nil if another thread has asked later and has finished earlier.
  mutating func answered(_ question: VideoNegotiation.RangesQuestion) -> RangesQuestions.Subject? {
    questions.answered(question)
  }

  /// The question to upstream about the sizes that it can send.
  var upstreamQuestion: VideoNegotiation.UpstreamQuestion {
    .init(displays: acceptedDisplays ?? [], choiceNumber: questions.answeredNumber)
  }

  /// The last choice, even if it takes effect later.
  var newestChoice: VideoChoice? { laterChoice ?? choice }

  enum Outcome: Equatable {
    case unchanged
    /// The sizes are the same.
    case updated
    /// The stream stays as it is.
    case kept(VideoSize, offered: VideoSize)
    case forbidden(VideoSize, offered: VideoSize)
    /// Call ``replace(_:allowed:)`` next.
    case replaces
  }

  /// - Parameters:
  ///   - streamSize: of the pictures that were sent last; nil before the first.
  ///   - grantedSize: of the service; nil without one.
  mutating func take(
    _ new: VideoChoice, _ policy: ResizePolicy, streamSize: VideoSize?, grantedSize: VideoSize?, isRaw: Bool,
    _ subject: RangesQuestions.Subject
  ) -> Outcome {
    let known = newestChoice
    guard known != new else { return .unchanged }
    if known?.hasSameSizes(as: new) == true {
      if laterChoice != nil {
        keep(overridingDisplay ?? choice?.acceptedDisplays.first, until: new)
      } else {
        replaceSameSizes(new)
      }
      return .updated
    }
    let former = acceptedDisplays ?? []
    guard let size = streamSize, let offered = (new.acceptedDisplays.first ?? new.displays.first)?.streamSize,
      new.supportsNone
        || VideoResize.affects(size, former: former.compactMap(\.streamSize), present: new.sizes, isRaw: isRaw)
    else { return .replaces }
    if policy == .error, subject == .newDisplays { return .forbidden(size, offered: offered) }
    guard policy == .keep, grantedSize == size, let kept = former.first(where: { $0.streamSize == size }) else {
      return .replaces
    }
    keep(kept, until: new)
    return known?.sizes.first == offered ? .unchanged : .kept(size, offered: offered)
  }

  /// Continues with `kept`, at the rates of `later`, which replaces it when the service ends.
  private mutating func keep(_ kept: VideoDisplay?, until later: VideoChoice) {
    laterChoice = later
    guard var kept else { return }
    // It is the only choice now, whatever list it came from.
    kept.isFallback = false
    // The head unit's limits also count if the app's ranges accept none of its displays any more.
    let limits = later.acceptedDisplays.first ?? later.displays.first
    kept.frameRate = limits?.frameRate ?? kept.frameRate
    kept.maximumBitrate = limits?.maximumBitrate ?? kept.maximumBitrate
    choice = VideoChoice([kept])
    if overridingDisplay != nil { overridingDisplay = kept }
  }

  /// - Parameter allowed: the streaming protocols that the user allows.
  /// - Returns: whether the sizes have changed.
  mutating func replace(_ new: VideoChoice, allowed: [VideoStreamingProtocol]?) -> Bool {
    laterChoice = nil
    guard choice?.hasSameSizes(as: new) != true else {
      replaceSameSizes(new)
      return false
    }
    // Another scale is no new list of sizes.
    let hasNewList = Set(choice?.displays.map(\.size) ?? []) != Set(new.displays.map(\.size))
    let former = ladder
    choice = new
    overridingDisplay = nil
    beginLadder(new, allowed: allowed)
    if !hasNewList { ladder.keepRefusals(of: former) }
    return true
  }

  private mutating func replaceSameSizes(_ new: VideoChoice) {
    choice = new
    // An override holds until the head unit announces sizes again.
    guard let display = overridingDisplay, let size = display.streamSize else { return }
    let same = new.acceptedDisplays.first { $0.isSame(as: display) } ?? new.acceptedDisplays.first
    overridingDisplay = same?.streaming(size)
  }

  /// The service that was kept after a resize is over: what the head unit has said since counts from now on.
  mutating func takeLaterChoice() -> VideoChoice? { laterChoice.take() }

  /// Why no display is supported, once.
  mutating func takeRejection() -> String? {
    let reason = choice?.rejectionReason
    defer { reportedRejection = reason }
    return reason == reportedRejection ? nil : reason
  }
}

/// Refused requests that may be made again.
extension VideoSelection {
  /// Refused requests may be made again, if `choice` has other protocols; but not while that would end a running
  /// stream.
  mutating func renewLadder(
    for choice: VideoChoice, allowed: [VideoStreamingProtocol]?, running: VideoStreamingProtocol?
  ) {
    let protocols = protocols(for: choice, allowed: allowed)
    let endsStream = running.map { !protocols.contains($0) } ?? true
    if ladderProtocols == nil || protocols != ladderProtocols && endsStream { beginLadder(choice, allowed: allowed) }
  }

  /// A stream that has run proves that refusals were not final: the next one begins with the first choice, which may
  /// have changed while it ran.
  ///
  /// - Returns: whether anything had been refused.
  mutating func forgetRefusals(allowed: [VideoStreamingProtocol]?) -> Bool {
    guard let choice else { return false }
    let hadRefusals = ladder.hasRefusals
    if hadRefusals || protocols(for: choice, allowed: allowed) != ladderProtocols {
      beginLadder(choice, allowed: allowed)
    }
    return hadRefusals
  }

  private mutating func beginLadder(_ choice: VideoChoice, allowed: [VideoStreamingProtocol]?) {
    let protocols = protocols(for: choice, allowed: allowed)
    ladderProtocols = protocols
    ladder = VideoStartLadder(sizes: choice.sizes + choice.fallbackSizes, protocols: protocols)
  }

  /// The protocols for the first choice, in order of preference.
  private func protocols(for choice: VideoChoice, allowed: [VideoStreamingProtocol]?) -> [VideoStreamingProtocol] {
    let formats = choice.acceptedDisplays.first.map(\.formats) ?? capability?.supportedFormats
    return VideoStreamingProtocol.choices(offered: formats, wished: allowed)
  }
}
