/// What holds now, and what is requested because of it.
extension VideoNegotiation {
  var grant: VideoGrant? { if case .granted(let grant, _, _) = service { grant } else { nil } }

  public var hasGrant: Bool { grant != nil }

  var isSuspendedBySession: Bool { if case .granted(_, _, true) = service { true } else { false } }

  /// The right to send, and since when it is there.
  public var grantWithTime: (grant: VideoGrant, since: Duration)? {
    if case .granted(let grant, let time, _) = service { (grant, time) } else { nil }
  }

  /// A grant that is not used, because app or input are about to change.
  public var hasUnusedGrant: Bool { grant != nil && !isSuspendedBySession && permission == nil }

  /// The right to send pictures of the input now.
  var usableGrant: VideoGrant? {
    // A grant for another size is about to be replaced: the input has just changed, or the head unit's choice has.
    guard let grant, !isSuspendedBySession, appState.isInForeground, let input, grant.size == input.size,
      accepts(grant.size) == true
    else { return nil }
    return grant
  }

  /// The driver does not show the app.
  public var isSuspendedByDriver: Bool { hmiStatus.map { !$0.allowsVideo } ?? false }

  /// The pipeline has something to send, or is about to.
  var isServiceWanted: Bool { playback != .prerolling }

  var suspendPolicy: SuspendPolicy { settings.suspendPolicy }

  var isSuspended: Bool { !appState.isInForeground || isSuspendedBySession || isSuspendedByDriver }

  /// The stream to request of the head unit.
  var request: VideoStartRequest? {
    let next = nextRequest
    // What goes on as it is need not wait.
    return settlesAt == nil || heldSize != nil || next == requested ? next : nil
  }

  /// What to request once the head unit has stopped resizing.
  var nextRequest: VideoStartRequest? {
    guard isServiceWanted, !isEnded, areDisplaysCurrent, let input, phase != .stopping else { return nil }
    if let size = heldSize ?? upstream.expectedSize { return ladder.request(for: size) }
    if mustAskBeforeStopping(input.size) { return requested }
    guard !prefersAnotherSize, upstream.outdatedFrames == 0, accepts(input.size) == true else { return nil }
    return ladder.request(for: input.size)
  }

  /// Whether the service goes on until upstream has been asked: it need not be interrupted if upstream can't leave the size
  /// of the input, which the head unit still takes, or changes to the one that its acknowledgement has named.
  private func mustAskBeforeStopping(_ inputSize: VideoSize) -> Bool {
    guard case .toBeAsked = upstream, let requested else { return false }
    if let size = headUnitOverride?.streamSize { return size != inputSize && grant?.size == size }
    return prefersAnotherSize && ladder.request(for: inputSize) == requested
  }

  /// The service of an app that is not in the foreground is kept whatever the head unit resizes; it has to begin anew only
  /// when the app is back.
  private var heldSize: VideoSize? { appState.isInForeground ? nil : grant?.size }

  /// Whether the app's own frames can be expected to go on: neither ended nor stopping.
  var isRunning: Bool { phase == .running && !isEnded }

  /// Whether a notice should be shown when the stream is suspended.
  public var isNoticeWanted: Bool { wantsNotice }

  /// Neither failing nor stopping.
  public var isUsable: Bool { phase == .running }
}
