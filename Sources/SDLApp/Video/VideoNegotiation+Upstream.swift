/// What happens when upstream sends a size that the head unit does not take, or prefers another to.
extension VideoNegotiation {
  /// Which of the accepted sizes upstream can send.
  public struct UpstreamQuestion: Equatable, Sendable {
    /// What the head unit takes, the first choice first.
    public let displays: [VideoDisplay]
    fileprivate let number: UInt64
  }

  /// What upstream has to do.
  public enum UpstreamAnswer: Equatable, Sendable {
    /// It is to negotiate anew: a RECONFIGURE event has to be sent.
    case changes
    /// It has nothing else.
    case stays
    /// The choice has changed meanwhile: ask again.
    case outdated
  }

  /// Frames and time that upstream gets to change to a size that the head unit takes.
  private static let mismatchFrames = 5
  private static let mismatchTime = Duration.seconds(2)
  /// The same when upstream has said that it can: what it has made before may wait in long queues.
  private static let promisedTime = Duration.seconds(10)
  /// Frames of the old size that may be under way when upstream has been asked for another.
  private static let outdatedFrames = 3

  /// Upstream sends something, but not what the head unit would like.
  var shouldAskUpstream: Bool {
    guard let input else { return false }
    return accepts(input.size) == false || prefersAnotherSize
  }

  /// Whether upstream should be asked again for caps: it sends raw video in a size that is accepted, but not the head
  /// unit's first choice. H.264 in an accepted size stays as it is, lest its first key frame be lost.
  var prefersAnotherSize: Bool {
    guard case .toBeAsked = upstream, let input, input.isRaw, let preferred = acceptedDisplays?.first?.streamSize else {
      return false
    }
    return input.size != preferred && accepts(input.size) == true
  }

  /// What to ask upstream now.
  public var upstreamQuestion: UpstreamQuestion {
    UpstreamQuestion(displays: acceptedDisplays ?? [], number: choiceNumber)
  }

  /// - Parameters:
  ///   - sizes: what upstream can send of what is accepted, in the order in which it would choose.
  ///   - isFinal: whatever upstream has answered, the pictures come from where there is only one size, such as a file.
  public mutating func upstreamAnswered(
    _ question: UpstreamQuestion, _ sizes: [VideoSize], isFinal: Bool = false
  ) -> UpstreamAnswer {
    guard question == upstreamQuestion else { return .outdated }
    let isAccepted = input.flatMap { accepts($0.size) } == true
    if isAccepted, encodedResize != nil, !isFinal { return .changes }
    let expected = isFinal ? nil : expectedSize(among: sizes, isAccepted: isAccepted)
    // The answer of encoders and parsers may be what they send now, although whoever is before them can change.
    let changes = expected != nil || (!isInputRaw && !isAccepted && !isFinal)
    upstream = changes ? .asked(expected: expected, outdatedFrames: isAccepted ? Self.outdatedFrames : 0) : .settled
    if !changes, isAccepted { upstreamStays() }
    mismatch?.upstreamChanges = changes
    requestPlayingIfNeeded()
    return changes ? .changes : .stays
  }

  /// The size that upstream will choose when it is asked, as far as one can know; nil for none but the present one.
  private func expectedSize(among sizes: [VideoSize], isAccepted: Bool) -> VideoSize? {
    // The answer may also hold sizes that ranges reject.
    for size in sizes where accepts(size) == true {
      if size != input?.size { return size }
      // It prefers what it sends to anything behind.
      if isAccepted { return nil }
    }
    return nil
  }

  /// Upstream sends other pictures from now on.
  ///
  /// - Parameter size: nil for H.264 whose caps do not tell; its parameter sets will.
  public mutating func inputChanged(_ size: VideoSize?, isRaw: Bool, lostFrames: UInt64, now: Duration) {
    mismatch = nil
    if let size, size != input?.size { encodedResize = nil }
    input = size.map { Input(size: $0, isRaw: isRaw) }
    isInputRaw = isRaw
    if case .asked(let expected, _) = upstream { upstream = .asked(expected: expected, outdatedFrames: 0) }
    // A size from before the head unit's last word is not the answer to that.
    guard let size, accepts(size) == true else { return }
    if case .asked = upstream { upstream = .settled }
    if size != resize.size { resize.begin(now: now, lostFrames: lostFrames) }
  }

  public var inputSize: VideoSize? { input?.size }

  /// Whether what upstream sends now is what the head unit does not take: then its caps are offered as the last choice, so
  /// that the pipeline gets an error that says why.
  public var isInputRefused: Bool { input.flatMap { accepts($0.size) } == false }

  /// What becomes of a frame whose size the head unit does not take: upstream gets a while to change, unless it can't
  /// anyway; then it is an error. Encoders and parsers may answer with what they send now, so for them only time tells. Nil:
  /// the frame may be sent after all, because the head unit is asked for what it wants.
  mutating func decideMismatch(now: Duration) -> FrameDecision? {
    let size = input?.size
    let accepted = acceptedSizes
    var mismatch =
      self.mismatch.flatMap { $0.size == size && $0.accepted == accepted ? $0 : nil }
      ?? SizeMismatch(
        size: size, accepted: accepted, rejectionReason: rejectionReason(of: size), isRaw: isInputRaw, since: now)
    self.mismatch = mismatch
    guard let changes = mismatch.upstreamChanges else { return .askUpstream(upstreamQuestion, dropsFrame: false) }
    mismatch.frames += 1
    self.mismatch = mismatch
    let time = isInputRaw && upstream.expectedSize != nil ? Self.promisedTime : Self.mismatchTime
    let isOverdue = mismatch.frames >= Self.mismatchFrames && now - mismatch.since >= time
    guard !changes || isOverdue else { return .drop(.wrongSize) }
    if keepRefusedSize() {
      self.mismatch = nil
      return nil
    }
    return .fail(.sizeMismatch(mismatch))
  }

  /// Upstream can't leave a size that the head unit has refused: the head unit has to say what it wants. False when the size
  /// was not refused, but never offered.
  private mutating func keepRefusedSize() -> Bool {
    guard let size = input?.size, headUnitOverride == nil, !ladder.allows(size) else { return false }
    ladder.fixInput()
    upstream = .settled
    return true
  }

  /// Frames of a size that the head unit does not take, at the end of the stream; nil when there were none.
  public var finalMismatch: VideoProblem? {
    guard let mismatch, mismatch.frames > 0, input.flatMap({ accepts($0.size) }) == false else { return nil }
    return .sizeMismatch(mismatch)
  }
}

/// Frames come in a size that the head unit does not take.
public struct SizeMismatch: Equatable, Sendable {
  var size: VideoSize?
  /// What would be accepted, for people.
  var accepted: String
  /// Why the app does not support the size, if that is what is wrong with it.
  var rejectionReason: String?
  var isRaw: Bool
  var since: Duration
  /// Whether upstream has said that it can change; nil when it was not asked.
  var upstreamChanges: Bool?
  var frames = 0
}
