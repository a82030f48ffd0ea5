import GStreamerKit
import SDLApp
import SDLLink

/// The head unit takes other sizes than before.
///
/// The connection thread asks upstream at once for what it can do, and the new service is started in the size that is to
/// come: when the first frame of it arrives, it can be sent.
extension VideoSink {
  /// What the head unit takes has changed, or has become known. On the connection thread.
  func take(_ offers: [VideoOffer]) {
    let policy = settings.withLock { $0.resizePolicy }
    let lostFrames = counters.withLock { $0.framesLost }
    let outcome = state.withLock { $0.take(offers, policy, now: MonotonicClock.now, lostFrames: lostFrames) }
    switch outcome {
    case .known: break
    case .followed: follow()
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

  /// Goes after the present offers. On the connection thread.
  func follow() {
    // Upstream first, because a stream that it can't change need not be interrupted, if the head unit still takes it.
    if state.withLock({ $0.shouldAskUpstream }) { requestRenegotiation() }
    state.broadcast()
    updateWish()
    letUpstreamChange()
  }

  /// The service that was kept after a resize is over: what the head unit has told since counts from now on.
  func takeLaterOffers() {
    let lostFrames = counters.withLock { $0.framesLost }
    let hasTaken = state.withLock { state in
      guard let offers = state.laterOffers.take() else { return false }
      state.replaceOffers(offers, asksUpstream: false, now: MonotonicClock.now, lostFrames: lostFrames)
      return true
    }
    if hasTaken { follow() }
  }

  /// A pipeline that was asked to pause has to play again, if upstream must change before anything can start.
  func letUpstreamChange() {
    let isNews = state.withLock { state in
      guard state.hasRequestedPause, !state.isSuspended, state.hmiStatus != nil, state.grant == nil, !state.isStopping,
        !state.isEnded, state.wish == nil, state.inputSize.map(state.accepts) == false
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
  /// What is made of new offers.
  enum OfferOutcome: Equatable {
    /// They are those of before.
    case known
    case followed
    /// The stream stays as it is.
    case kept(VideoSize, offered: VideoSize)
    case forbidden(VideoSize, offered: VideoSize)
  }

  /// - Parameter lostFrames: all so far that were not sent.
  mutating func take(
    _ newOffers: [VideoOffer], _ policy: ResizePolicy, now: Duration, lostFrames: UInt64
  ) -> OfferOutcome {
    let known = laterOffers ?? offers
    guard known != newOffers else { return .known }
    let isKeeping = policy == .keep
    if let size = resize.size, let offered = newOffers.first?.size,
      VideoResize.affects(
        size, former: (acceptedOffers ?? []).map(\.size), present: newOffers.map(\.size), isRaw: isInputRaw)
    {
      if policy == .error { return .forbidden(size, offered: offered) }
      if isKeeping, let grant, grant.size == size, let present = acceptedOffers?.first(where: { $0.size == size }) {
        var kept = present
        kept.frameRate = newOffers.first?.frameRate
        offers = [kept]
        laterOffers = newOffers
        return known?.first?.size == offered ? .known : .kept(size, offered: offered)
      }
    }
    laterOffers = nil
    let staysInSize = isKeeping && resize.size != nil && resize.size == inputSize
    replaceOffers(newOffers, asksUpstream: !staysInSize, now: now, lostFrames: lostFrames)
    return .followed
  }

  /// - Parameter asksUpstream: whether upstream should change to the first choice if its present size is accepted.
  mutating func replaceOffers(_ newOffers: [VideoOffer], asksUpstream: Bool, now: Duration, lostFrames: UInt64) {
    // A head unit that has insisted on a size does so until it speaks of sizes again.
    let areSizesNew = offers?.map(\.size) != newOffers.map(\.size)
    offers = newOffers
    guard areSizesNew else { return }
    insistedSize = nil
    expectedSize = nil
    framesBeforeWish = 0
    shouldRenegotiate = asksUpstream
    if shouldAskUpstream {
      resize.begin(now: now, lostFrames: lostFrames)
    } else {
      resize.callOff()
    }
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
