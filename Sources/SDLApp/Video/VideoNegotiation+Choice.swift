/// The choice of what is streamed: the first of the head unit's displays that the ranges upstream accept.
extension VideoNegotiation {
  /// What upstream has to be asked before the choice is made: which of these displays its ranges and caps accept.
  public struct RangesQuestion: Sendable {
    public let displays: [VideoDisplay]
    fileprivate let number: UInt64
    fileprivate let cause: ChoiceCause

    fileprivate var isOfHeadUnit: Bool { if case .headUnit = cause { true } else { false } }
    fileprivate var isOfCaps: Bool { if case .caps = cause { true } else { false } }
  }

  /// Why the choice is made anew.
  public enum ChoiceCause: Sendable {
    /// The head unit can show this from now on.
    case headUnit([VideoDisplay])
    /// The app's ranges have changed.
    case ranges
    /// New caps come from upstream, which may be another one.
    case caps
  }

  /// What is made of a new choice.
  private enum Outcome {
    case unchanged
    case followed
    /// The stream stays as it is.
    case kept(VideoSize, offered: VideoSize)
    case forbidden(VideoSize, offered: VideoSize)
  }

  /// What the head unit says of itself; before ``beginChoice(_:)`` with its displays.
  ///
  /// - Parameter allowed: what the user allows of the ways to carry H.264; nil for all.
  /// - Returns: the displays that can be streamed to.
  /// - Throws: when there is no format that both sides have.
  public mutating func headUnitSpoke(
    _ capability: VideoStreamingCapability?, screen: VideoSize?
  ) throws(VideoProblem) -> [VideoDisplay] {
    let allowed = settings.transports
    func isUsable(_ formats: [VideoStreamingFormat]?) -> Bool {
      !VideoTransport.choices(offered: formats, wished: allowed).isEmpty
    }
    let displays = VideoDisplay.displays(of: capability, screen: screen)
    let usable = displays.filter { isUsable($0.formats) }
    guard displays.isEmpty ? isUsable(capability?.supportedFormats) : !usable.isEmpty else {
      throw .noCommonFormat(offered: capability?.supportedFormats ?? [], allowed: allowed)
    }
    self.capability = capability
    return usable
  }

  /// The choice has to be made anew; nil when the head unit has not said yet what it shows.
  public mutating func beginChoice(_ cause: ChoiceCause) -> RangesQuestion? {
    if case .headUnit(let displays) = cause { listedDisplays = displays }
    questionCount &+= 1
    guard let listedDisplays else { return nil }
    return RangesQuestion(displays: listedDisplays, number: questionCount, cause: cause)
  }

  /// Upstream has answered.
  ///
  /// - Parameters:
  ///   - supported: the accepted displays that upstream's caps allow pictures for.
  ///   - lostFrames: all frames so far that were not sent.
  /// - Returns: whether upstream has to be asked for other pictures now, with ``upstreamQuestion``.
  /// - Throws: when the resize policy forbids what follows.
  public mutating func choose(
    _ choice: VideoChoice, supported: [VideoDisplay], _ question: RangesQuestion, lostFrames: UInt64, now: Duration
  ) throws(VideoProblem) -> Bool {
    guard phase != .stopping else { return false }
    // What a head unit has said whose connection is lost is not what the next one takes.
    if question.isOfHeadUnit, question.number > questionCountAtLoss { areDisplaysCurrent = true }
    // Another thread may have asked later and be done already.
    guard question.number > choiceNumber else { return false }
    choiceNumber = question.number
    outputs.append(.supportedDisplays(supported))
    let formerSize = (laterChoice ?? self.choice)?.sizes.first
    let outcome = take(choice, isOfHeadUnit: question.isOfHeadUnit, lostFrames: lostFrames, now: now)
    reportRejection()
    switch outcome {
    case .unchanged: return false
    case .followed:
      if question.isOfHeadUnit, beginEncodedResize(formerSize: formerSize, now: now) { return true }
      // Caps that are being taken are upstream's answer.
      return !question.isOfCaps && follow()
    case .kept(let kept, let offered):
      notify(.resizeIgnored(kept: kept, offered: offered, .policy))
      return false
    case .forbidden(let size, let offered): throw .resizeForbidden(from: size, to: offered)
    }
  }

  /// Goes after the present choice; whether upstream has to be asked.
  private mutating func follow() -> Bool {
    guard shouldAskUpstream, !supportsNone else {
      requestPlayingIfNeeded()
      return false
    }
    return true
  }

  private mutating func take(
    _ new: VideoChoice, isOfHeadUnit: Bool, lostFrames: UInt64, now: Duration
  ) -> Outcome {
    if mustBeginLadder(new) { beginLadder(new) }
    let known = laterChoice ?? choice
    guard known != new else { return .unchanged }
    let isKeeping = settings.resizePolicy == .keep
    guard known?.hasSameSizes(as: new) != true else {
      if laterChoice != nil {
        keep(headUnitOverride ?? choice?.acceptedDisplays.first, until: new)
      } else {
        replaceChoice(new, asksUpstream: false, lostFrames: lostFrames, now: now)
      }
      return .followed
    }
    if let size = resize.size, let offered = (new.acceptedDisplays.first ?? new.displays.first)?.streamSize,
      new.supportsNone
        || VideoResize.affects(
          size, former: (acceptedDisplays ?? []).compactMap(\.streamSize), present: new.sizes, isRaw: isInputRaw)
    {
      if settings.resizePolicy == .error, isOfHeadUnit { return .forbidden(size, offered: offered) }
      if isKeeping, let grant, grant.size == size,
        let kept = acceptedDisplays?.first(where: { $0.streamSize == size })
      {
        keep(kept, until: new)
        return known?.sizes.first == offered ? .unchanged : .kept(size, offered: offered)
      }
    }
    laterChoice = nil
    let staysInSize = isKeeping && resize.size != nil && resize.size == input?.size
    replaceChoice(new, asksUpstream: !staysInSize, lostFrames: lostFrames, now: now)
    return .followed
  }

  /// Goes on with `kept`, at the rates of `later`, which takes its place when the service ends.
  private mutating func keep(_ kept: VideoDisplay?, until later: VideoChoice) {
    laterChoice = later
    guard var kept else { return }
    kept.frameRate = later.acceptedDisplays.first?.frameRate ?? kept.frameRate
    kept.maximumBitrate = later.acceptedDisplays.first?.maximumBitrate ?? kept.maximumBitrate
    let choice = VideoChoice([kept])
    displays = headUnitOverride == nil ? .chosen(choice) : .overridden(kept, choice)
  }

  /// - Parameter asksUpstream: whether upstream should change to the first choice if its present size is accepted.
  mutating func replaceChoice(_ new: VideoChoice, asksUpstream: Bool, lostFrames: UInt64, now: Duration) {
    guard choice?.hasSameSizes(as: new) != true else {
      // An override holds until the head unit speaks of sizes again.
      guard let display = headUnitOverride, let size = display.streamSize else { return displays = .chosen(new) }
      let same = new.acceptedDisplays.first { $0.isSame(as: display) } ?? new.acceptedDisplays.first
      displays = same.map { .overridden($0.streaming(size), new) } ?? .chosen(new)
      return
    }
    displays = .chosen(new)
    beginLadder(new)
    upstream = asksUpstream ? .toBeAsked : .settled
    if let size = grant?.size ?? requested?.size, accepts(size) != true || prefersAnotherSize { settle(now: now) }
    if shouldAskUpstream {
      resize.begin(now: now, lostFrames: lostFrames)
    } else if input?.size == resize.size {
      resize.callOff()
    }
  }

  /// Waits a little with the next service: head units that change their layout often send several updates.
  private mutating func settle(now: Duration) {
    settlesAt = settlesAt ?? now + Self.settlingTime
  }

  /// The service that was kept after a resize is over: what the head unit has said since counts from now on. Whether
  /// upstream has to be asked.
  mutating func takeLaterChoice(lostFrames: UInt64, now: Duration) -> Bool {
    guard let choice = laterChoice.take() else { return false }
    replaceChoice(choice, asksUpstream: false, lostFrames: lostFrames, now: now)
    reportRejection()
    return follow()
  }

  /// Tells the application, once, why no display is supported.
  private mutating func reportRejection() {
    let reason = choice?.rejectionReason
    defer { reportedRejection = reason }
    if let reason, reason != reportedRejection { notify(.problem(.noSupportedDisplay(reason))) }
  }

  /// How the first choice may be carried, in order of preference.
  private func transports(for choice: VideoChoice) -> [VideoTransport] {
    let formats = choice.acceptedDisplays.first.map(\.formats) ?? capability?.supportedFormats
    return VideoTransport.choices(offered: formats, wished: settings.transports)
  }

  /// Whether what was refused so far may be asked for again; not while a stream runs that would be ended by that.
  private func mustBeginLadder(_ choice: VideoChoice) -> Bool {
    let transports = transports(for: choice)
    guard transports != ladderTransports, !isLadderOutdated else { return isLadderOutdated }
    return grant.map { !transports.contains($0.transport) } ?? true
  }

  /// Forgets what the head unit has refused.
  mutating func beginLadder(_ choice: VideoChoice) {
    ladderTransports = transports(for: choice)
    ladder = VideoStartLadder(sizes: choice.sizes + choice.fallbackSizes, transports: ladderTransports)
    isLadderOutdated = false
  }
}
