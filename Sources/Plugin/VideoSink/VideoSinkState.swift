import SDLApp
import SDLLink

/// What is, as opposed to what was asked for; shared between the connection's thread, the streaming thread and the
/// application.
struct VideoSinkState: Sendable {
  var connection: AppConnection?
  /// The connection is being ended by the application.
  var isStopping = false
  /// A PROGRESS message was posted whose end has not been.
  var isInProgress = false
  /// The head unit was reached, so that its loss is worth a message.
  var isConnected = false
  /// When the element began to connect, and when the present attempt began.
  var connectBegan: Duration = .zero
  var attemptBegan: Duration = .zero
  var connectionState = ConnectionState.idle
  /// The error is on its way to the bus.
  var isFailing = false
  /// The error is on the bus; frames fail from now on.
  var hasFailed = false
  /// Address of the head unit.
  var peer = ""
  var hmiStatus: HMIStatus?
  var headUnit: HeadUnitInfo?
  var lockScreen = LockScreen()

  /// What the head unit can show; nil while it has not said, empty when it takes any size.
  var displays: [VideoDisplay]?
  /// What upstream leaves of that; nil while it has not been asked.
  var choice: VideoChoice?
  /// How often upstream was asked, and which of those times the present choice is from.
  var choicesBegun: UInt64 = 0
  var choiceNumber: UInt64 = 0
  /// What the application was told last of why nothing is left.
  var objection: String?
  /// The display for whose size the head unit insisted on another in its acknowledgement.
  var insistedDisplay: VideoDisplay?
  /// The choice since a resize that is not followed before the service ends.
  var laterChoice: VideoChoice?
  /// What the user allows of the ways to carry H.264, in order of preference; nil for all.
  var wishedTransports: [VideoTransport]?
  /// What of all that may be asked for, since the head unit spoke last.
  var ladder = VideoStartLadder(sizes: [], transports: [])
  /// With which the ladder began.
  var ladderTransports: [VideoTransport] = []
  /// What the head unit of a former connection has refused does not count any more.
  var isLadderOutdated = false
  /// The right to send; nil while no frame may go out.
  var grant: VideoGrant?
  var grantedAt: Duration = .zero
  var hasStreamed = false
  /// The stream was lost with its connection.
  var wasLost = false
  var lastStop: VideoStopReason?
  /// The head unit of the present connection has said what it takes.
  var areDisplaysCurrent = false
  /// How far the session has come with the service.
  var videoState = VideoStreamState.stopped
  var announcement = StreamAnnouncement.none
  /// What the application has not been told yet, and whether a thread is at it.
  var news: [StreamNews] = []
  var isTelling = false
  /// The last value of `stream-state` that listeners were told of.
  var notifiedStreamState = VideoStreamState.stopped

  /// The application's own state, as it has told.
  var appState = AppState.foreground
  /// The app has been resigning since it was in the foreground last.
  var wantsNotice = false
  /// The session has suspended the stream on account of that, and not resumed it yet.
  var isHeld = false
  /// The application was asked to pause, and not yet to go on.
  var hasRequestedPause = false

  /// Size of the pictures that upstream sends; nil before caps.
  var inputSize: VideoSize?
  var isInputRaw = false
  /// What can be touched, as the frames tell; nil before the first one that does.
  var regions: HapticRectangleList?
  /// The choice has changed, and upstream has not been asked yet what it makes of them.
  var shouldRenegotiate = false
  /// Upstream was asked for another size: so many frames of the old one may come before it is taken for the answer.
  var framesBeforeWish = 0
  /// The size that upstream was asked for, and can send: the service may start in it before the first frame comes.
  var expectedSize: VideoSize?
  var resize = VideoResize()
  /// Those whose stream the application does not know of yet.
  var untoldResizes: [VideoResize.Completed] = []
  /// The pipeline has been in PLAYING since it started.
  var wantsVideo = false
  /// The stream has come to its end, and no new one has begun.
  var isEnded = false
  /// `unlock` was called and `unlock_stop` not yet.
  var isFlushing = false
  /// The application has paused a running stream.
  var isPaused = false

  /// The right to send pictures of the input now.
  var usableGrant: VideoGrant? {
    // A grant for another size is about to be replaced: the input has just changed, or the head unit's mind has.
    guard let grant, !isHeld, appState.isInForeground, grant.size == inputSize, accepts(grant.size) == true else {
      return nil
    }
    return grant
  }

  /// Driver or app do not want video now, as opposed to a head unit that is not there or not ready.
  var isSuspended: Bool { !appState.isInForeground || isHeld || (hmiStatus.map { !$0.allowsVideo } ?? false) }

  /// Whether to ask the application to pause: the suspension is certain, and the first for this stream. A flip of the
  /// app's state that the session has not seen may be over before it does.
  var mayRequestPause: Bool { isSuspended && hasStreamed && !hasRequestedPause && (grant == nil || isHeld) }

  /// The property `stream-state`: the session's, except for a notice that is still being sent, and a pipeline that is
  /// paused.
  var streamState: VideoStreamState {
    switch videoState {
    case .streaming, .suspended:
      grant == nil ? .stopping : announcement == .started ? .streaming : .suspended
    case .stopped, .starting, .stopping: videoState
    }
  }

  /// Whether upstream should be asked again for caps: it sends raw video in a size that is accepted, but not the head
  /// unit's first choice. H.264 in an accepted size stays as it is, lest its first key frame be lost.
  var needsRenegotiation: Bool {
    guard shouldRenegotiate, isInputRaw, let inputSize, let preferred = acceptedDisplays?.first?.streamSize else {
      return false
    }
    return inputSize != preferred && accepts(inputSize) == true
  }

  /// The stream to ask the head unit for.
  var wish: VideoStartRequest? {
    guard wantsVideo, !isEnded, areDisplaysCurrent, let inputSize else { return nil }
    if let size = heldSize ?? expectedSize { return ladder.request(for: size) }
    guard !needsRenegotiation, framesBeforeWish == 0, accepts(inputSize) == true else { return nil }
    return ladder.request(for: inputSize)
  }
}

/// What the application was last told of the stream.
enum StreamAnnouncement: Sendable {
  /// Nothing, or its end.
  case none
  case started
  case suspended
}
