import GStreamerKit
import SDLApp
import SDLLink

/// The head unit takes other sizes than before.
///
/// The connection thread asks upstream at once for what it can do, and the new service is started in the size that is to
/// come: when the first frame of it arrives, it can be sent.
extension VideoSink {
  /// Acts on a change of what is to be streamed.
  func follow(_ outcome: VideoSinkState.ChoiceOutcome, _ cause: ChoiceCause) {
    switch outcome {
    case .known: break
    case .followed:
      // Caps that are being taken are the answer of upstream.
      if case .caps = cause { break }
      follow()
    case .kept(let kept, let offered):
      log(GST_LEVEL_INFO, "the head unit resizes to \(offered), but the stream stays \(kept)")
      postResizeIgnored(kept, offered)
    case .forbidden(let size, let offered):
      failed(
        .stream(
          GST_STREAM_ERROR_FORMAT,
          "The head unit resizes the picture from \(size) to \(offered), which resize-policy=error forbids."))
    }
  }

  /// Goes after the present choice.
  private func follow() {
    // Upstream first, because a stream that it can't change need not be interrupted, if the head unit still takes it.
    if state.withLock({ $0.shouldAskUpstream && !$0.isHopeless }) { requestRenegotiation() }
    state.broadcast()
    updateWish()
    letUpstreamChange()
  }

  /// The service that was kept after a resize is over: what the head unit has told since counts from now on.
  func takeLaterChoice() {
    let lostFrames = counters.withLock { $0.framesLost }
    let hasTaken = state.withLock { state in
      guard let choice = state.laterChoice.take() else { return false }
      state.replaceChoice(choice, asksUpstream: false, now: MonotonicClock.now, lostFrames: lostFrames)
      return true
    }
    guard hasTaken else { return }
    follow()
    tellObjection()
  }

  /// A pipeline that was asked to pause has to play again, if upstream must change before anything can start.
  func letUpstreamChange() {
    let isNews = state.withLock { state in
      guard state.hasRequestedPause, !state.isSuspended, state.hmiStatus != nil, state.grant == nil, !state.isStopping,
        !state.isEnded, state.wish == nil, state.shouldAskUpstream
      else { return false }
      state.hasRequestedPause = false
      state.news.append(.requestPlaying)
      return true
    }
    if isNews { tellNews() }
  }

  /// A frame is in the queue; the first one of a service may complete a resize. For whose turn it is.
  func noteQueued(_ grant: VideoGrant) {
    guard input.queuedEpoch != grant.epoch else { return }
    input.queuedEpoch = grant.epoch
    let lostFrames = counters.withLock { $0.framesLost }
    let now = MonotonicClock.now
    let isNews = state.withLock { state in
      guard let resize = state.resize.sentFirst(of: grant.size, now: now, lostFrames: lostFrames) else { return false }
      counters.withLock { $0.resizes += 1 }
      // Told of behind the start, which the connection thread may yet have to tell of.
      if state.announcement == .started {
        state.news.append(.resized(resize))
      } else {
        state.untoldResizes.append(resize)
      }
      return true
    }
    if isNews { tellNews() }
  }
}

extension VideoSinkState {
  /// What is made of a new choice.
  enum ChoiceOutcome: Equatable {
    /// It is that of before.
    case known
    case followed
    /// The stream stays as it is.
    case kept(VideoSize, offered: VideoSize)
    case forbidden(VideoSize, offered: VideoSize)
  }

  /// - Parameter lostFrames: all so far that were not sent.
  mutating func take(
    _ new: VideoChoice, _ policy: ResizePolicy, isOfHeadUnit: Bool, now: Duration, lostFrames: UInt64
  ) -> ChoiceOutcome {
    if mustBeginLadder(new) { beginLadder(new) }
    let known = laterChoice ?? choice
    guard known != new else { return .known }
    let isKeeping = policy == .keep
    guard known?.hasSameSizes(as: new) != true else {
      if laterChoice != nil {
        keep(insistedDisplay ?? choice?.survivors.first, until: new)
      } else {
        replaceChoice(new, asksUpstream: false, now: now, lostFrames: lostFrames)
      }
      return .followed
    }
    if let size = resize.size, let offered = (new.survivors.first ?? new.displays.first)?.streamSize,
      new.isHopeless
        || VideoResize.affects(
          size, former: (acceptedDisplays ?? []).compactMap(\.streamSize), present: new.sizes, isRaw: isInputRaw)
    {
      if policy == .error, isOfHeadUnit { return .forbidden(size, offered: offered) }
      if isKeeping, let grant, grant.size == size,
        let kept = acceptedDisplays?.first(where: { $0.streamSize == size })
      {
        keep(kept, until: new)
        return known?.sizes.first == offered ? .known : .kept(size, offered: offered)
      }
    }
    laterChoice = nil
    let staysInSize = isKeeping && resize.size != nil && resize.size == inputSize
    replaceChoice(new, asksUpstream: !staysInSize, now: now, lostFrames: lostFrames)
    return .followed
  }

  /// Goes on with `kept`, at the rates of `later`, which takes its place when the service ends.
  private mutating func keep(_ kept: VideoDisplay?, until later: VideoChoice) {
    laterChoice = later
    guard var kept else { return }
    kept.frameRate = later.survivors.first?.frameRate ?? kept.frameRate
    kept.maximumBitrate = later.survivors.first?.maximumBitrate ?? kept.maximumBitrate
    choice = VideoChoice([kept])
    if insistedDisplay != nil { insistedDisplay = kept }
  }

  /// - Parameter asksUpstream: whether upstream should change to the first choice if its present size is accepted.
  mutating func replaceChoice(_ new: VideoChoice, asksUpstream: Bool, now: Duration, lostFrames: UInt64) {
    let areSizesNew = choice?.hasSameSizes(as: new) != true
    choice = new
    guard areSizesNew else {
      // A head unit that has insisted on a size does so until it speaks of sizes again.
      if let insisted = insistedDisplay, let size = insisted.streamSize {
        insistedDisplay = (new.survivors.first { $0.isSame(as: insisted) } ?? new.survivors.first)?.streaming(size)
      }
      return
    }
    beginLadder(new)
    insistedDisplay = nil
    expectedSize = nil
    framesBeforeWish = 0
    shouldRenegotiate = asksUpstream
    if shouldAskUpstream {
      resize.begin(now: now, lostFrames: lostFrames)
    } else if inputSize == resize.size {
      resize.callOff()
    }
  }

  /// How the first choice may be carried, in order of preference.
  private func transports(for choice: VideoChoice) -> [VideoTransport] {
    let formats = choice.survivors.first.map(\.formats) ?? headUnit?.videoCapability?.supportedFormats
    return VideoTransport.choices(offered: formats, wished: wishedTransports)
  }

  /// Whether what was refused so far may be asked for again; not while a stream runs that would be ended by that.
  private func mustBeginLadder(_ choice: VideoChoice) -> Bool {
    let transports = transports(for: choice)
    guard transports != ladderTransports, !isLadderOutdated else { return isLadderOutdated }
    return grant.map { !transports.contains($0.transport) } ?? true
  }

  /// Forgets what the head unit has refused.
  private mutating func beginLadder(_ choice: VideoChoice) {
    ladderTransports = transports(for: choice)
    ladder = VideoStartLadder(sizes: choice.sizes, transports: ladderTransports)
    isLadderOutdated = false
  }

  /// Upstream sends something, but not what the head unit would like.
  var shouldAskUpstream: Bool {
    guard let inputSize else { return false }
    return accepts(inputSize) == false || needsRenegotiation
  }

  /// The service of an app that is not in the foreground is kept whatever the head unit resizes; it has to begin anew
  /// only when the app is back.
  var heldSize: VideoSize? { appState.isInForeground ? nil : grant?.size }
}
