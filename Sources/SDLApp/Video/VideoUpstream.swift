/// The size that upstream sends, and the questions and answers about other sizes.
struct VideoUpstream: Sendable {
  private enum Change {
    case settled
    /// The choice has changed, and upstream has not been asked yet.
    case toBeAsked
    /// It was asked to change from a size, nil once it has sent another or was flushed. The service may start in the expected size
    /// before its first frame; so many frames of the old size may come before they count as the answer.
    case asked(from: VideoSize?, expected: VideoSize?, outdatedFrames: Int)
  }

  /// What happens to a frame whose size the head unit does not take.
  enum MismatchDecision {
    /// Upstream has to be asked for another.
    case ask
    /// Upstream may still change.
    case drop
    case giveUp(SizeMismatch)
  }

  /// How many frames and how much time upstream has to change to a size that the head unit takes.
  private static let mismatchFrames = 5
  private static let mismatchTime = Duration.seconds(2)
  /// The same when upstream has answered that it can: earlier frames may wait in long queues.
  private static let promisedTime = Duration.seconds(10)
  /// Frames of the old size that may be under way when upstream has been asked for another.
  private static let outdatedFrames = 3
  /// How long an encoder may take to change.
  static let encodedResizeTime = Duration.seconds(2)

  /// The size of its pictures; nil before the first, and for H.264 whose parameter sets are yet to come.
  private(set) var size: VideoSize?
  /// Also while only the frames will tell the size.
  private(set) var isRaw = false
  private var change = Change.settled
  private var mismatch: SizeMismatch?
  /// Encoded input continues while its upstream is asked for the preferred size, which it has until the deadline to
  /// send. Encoders do not announce other sizes, and stopping the stream until they change would cost a group of
  /// pictures if they can't.
  private var encodedResize: (offered: VideoSize, deadline: Duration)?

  /// Whether the head unit takes upstream's size; nil while either is unknown.
  func isAccepted(_ selection: VideoSelection) -> Bool? { size.flatMap(selection.accepts) }

  /// Upstream sends a size, but not the head unit's first choice.
  func shouldBeAsked(_ selection: VideoSelection) -> Bool {
    size != nil && (isAccepted(selection) == false || prefersAnotherSize(selection))
  }

  /// Whether upstream should be asked again for caps: it sends raw video in a size that is accepted, but not the head
  /// unit's first choice. H.264 in an accepted size stays as it is, so that its first key frame is not lost.
  func prefersAnotherSize(_ selection: VideoSelection) -> Bool {
    guard isToBeAsked, isRaw, let size, let preferred = selection.preferredSize else { return false }
    return size != preferred && selection.accepts(size) == true
  }

  var isToBeAsked: Bool { if case .toBeAsked = change { true } else { false } }

  var expectedSize: VideoSize? { if case .asked(_, let size, _) = change { size } else { nil } }

  /// Frames of the old size may still come.
  var expectsOutdatedFrames: Bool { if case .asked(_, _, 1...) = change { true } else { false } }
}

/// Inputs of caps, head unit and connection.
extension VideoUpstream {
  /// Upstream sends other pictures from now on.
  ///
  /// - Returns: whether the head unit takes them.
  mutating func inputChanged(_ size: VideoSize?, isRaw: Bool, _ selection: VideoSelection) -> Bool {
    mismatch = nil
    if let size, size != self.size { encodedResize = nil }
    self.size = size
    self.isRaw = isRaw
    if case .asked(_, let expected, _) = change { change = .asked(from: nil, expected: expected, outdatedFrames: 0) }
    // A size from before the head unit's last change is not the answer to that change.
    guard isAccepted(selection) == true else { return false }
    if case .asked = change { change = .settled }
    return true
  }

  /// Other sizes are accepted from now on.
  ///
  /// - Parameter asks: whether upstream should change to the first choice if its present size is accepted.
  mutating func choiceChanged(asks: Bool) {
    change = asks ? .toBeAsked : .settled
  }

  /// A flush: upstream may not have got what it was told meanwhile.
  mutating func flushed() {
    mismatch = nil
    if case .asked(_, let expected, let count) = change {
      change = .asked(from: nil, expected: expected, outdatedFrames: count)
    }
  }

  mutating func connectionLost() {
    if case .asked = change { change = .settled }
    encodedResize = nil
  }
}

/// Answers of upstream.
extension VideoUpstream {
  /// - Parameter sizes: the accepted sizes that upstream can send, in its order of preference.
  mutating func answered(_ sizes: [VideoSize], _ selection: VideoSelection) -> VideoNegotiation.UpstreamAnswer {
    let isAccepted = isAccepted(selection) == true
    if isAccepted, encodedResize != nil { return .changes }
    let expected = expectedSize(among: sizes, isAccepted: isAccepted, selection)
    // Encoders and parsers may answer with their present size, although the elements before them can change.
    let changes = expected != nil || (!isRaw && !isAccepted)
    mismatch?.upstreamChanges = changes
    guard changes else {
      change = .settled
      return .stays
    }
    if let size, case .asked(size, expected, _) = change { return .isChanging }
    change = .asked(from: size, expected: expected, outdatedFrames: isAccepted ? Self.outdatedFrames : 0)
    return .changes
  }

  /// The size that upstream will probably choose when it is asked; nil if it has only the present one.
  private func expectedSize(among sizes: [VideoSize], isAccepted: Bool, _ selection: VideoSelection) -> VideoSize? {
    // The answer may also hold sizes that ranges reject.
    for size in sizes where selection.accepts(size) == true {
      if size != self.size { return size }
      // It prefers its present size to any later one in the list.
      if isAccepted { return nil }
    }
    return nil
  }

  /// A frame from before the requested change.
  ///
  /// - Returns: whether that was one too many, so that it counts as the answer.
  mutating func outdatedFramePassed() -> Bool {
    guard case .asked(let former, let expected, let count) = change else { return false }
    change = count > 1 ? .asked(from: former, expected: expected, outdatedFrames: count - 1) : .settled
    return count <= 1
  }
}

/// Pictures that the head unit does not take.
extension VideoUpstream {
  mutating func forgetMismatch() {
    mismatch = nil
  }

  /// What happens to a frame whose size the head unit does not take: upstream gets some time to change, unless it
  /// can't; then it is an error. Encoders and parsers may answer with their present size, so only time tells whether
  /// they can change.
  mutating func decideMismatch(_ selection: VideoSelection, now: Duration) -> MismatchDecision {
    let accepted = selection.acceptedSizes
    var mismatch =
      self.mismatch.flatMap { $0.size == size && $0.accepted == accepted ? $0 : nil }
      ?? SizeMismatch(
        size: size, accepted: accepted, rejectionReason: selection.rejectionReason(of: size), isRaw: isRaw, since: now)
    defer { self.mismatch = mismatch }
    guard let changes = mismatch.upstreamChanges else { return .ask }
    mismatch.frames += 1
    let time = isRaw && expectedSize != nil ? Self.promisedTime : Self.mismatchTime
    let isOverdue = mismatch.frames >= Self.mismatchFrames && now - mismatch.since >= time
    return !changes || isOverdue ? .giveUp(mismatch) : .drop
  }

  /// Frames of a size that the head unit does not take, at the end of the stream; nil when there were none.
  func finalMismatch(_ selection: VideoSelection) -> SizeMismatch? {
    guard let mismatch, mismatch.frames > 0, isAccepted(selection) == false else { return nil }
    return mismatch
  }
}

/// Encoders that may change while the stream goes on.
extension VideoUpstream {
  /// The head unit prefers another size than before, which upstream of encoded video has not been asked for.
  ///
  /// - Parameters:
  ///   - formerSize: the size that it preferred before.
  ///   - streamSize: of the stream.
  /// - Returns: whether to ask upstream for it, while the stream continues.
  mutating func beginEncodedResize(
    formerSize: VideoSize?, streamSize: VideoSize?, _ policy: ResizePolicy, _ selection: VideoSelection, now: Duration
  ) -> Bool {
    encodedResize = nil
    guard policy == .renegotiate, !isRaw, let size, size == streamSize, selection.accepts(size) == true,
      let preferred = selection.preferredSize, preferred != size, preferred != formerSize
    else { return false }
    encodedResize = (preferred, now + Self.encodedResizeTime)
    return true
  }

  /// When ``takeIgnoredResize(now:)`` is due.
  var deadline: Duration? { encodedResize?.deadline }

  /// The size that an encoder was offered and has not changed to in time.
  mutating func takeIgnoredResize(now: Duration) -> VideoSize? {
    guard let resize = encodedResize, resize.deadline <= now else { return nil }
    encodedResize = nil
    return resize.offered
  }
}

/// Frames come in a size that the head unit does not take.
package struct SizeMismatch: Equatable, Sendable {
  var size: VideoSize?
  /// The sizes that would be accepted, for users.
  var accepted: String
  /// Why the app does not support the size, if that is the cause.
  var rejectionReason: String?
  var isRaw: Bool
  var since: Duration
  /// Whether upstream has answered that it can change; nil when it was not asked.
  var upstreamChanges: Bool?
  var frames = 0
}
