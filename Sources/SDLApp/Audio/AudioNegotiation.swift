import SDLMessages

/// Decides when an app's sound is streamed, from the actions of driver, head unit, app and pipeline.
///
/// A value with inputs (methods) and outputs, as ``VideoNegotiation`` is for video. There is less to decide, because
/// the head unit alone chooses the format.
package struct AudioNegotiation: StreamNegotiation {
  package struct Settings: Equatable, Sendable {
    package var suspendPolicy = SuspendPolicy.auto
    /// The app registers as a media app, whose sound is heard in the background as well.
    package var isMedia = false

    package init() {}
  }

  package enum Output: Equatable, Sendable {
    case request(AudioStartRequest?)
    /// Call ``takeOutputs(at:)`` at this time.
    case setTimer(at: Duration)
    case notify(AudioNotification)
  }

  /// What to do with the samples at hand.
  package enum SampleDecision: Equatable, Sendable {
    case send(AudioGrant)
    case drop(SampleDropReason)
    /// Wait until something has changed, and then drop them.
    case wait(thenDrop: SampleDropReason, atMost: Duration = longestBufferWait)
    /// Wait for the pipeline to leave flushing or PAUSED.
    case interrupted
    case fail
  }

  /// How long sound that starts its own service is held up for it, lest a prompt loses its first words.
  static let longestHold = Duration.seconds(2)

  private let settings: Settings
  package var activity: AudioActivity
  package var pipeline = PipelineState()
  /// The session's status; empty without a connection.
  package private(set) var session = AppSession.Status()
  /// The format that upstream sends; nil before the first caps.
  package private(set) var input: PCMFormat?
  /// Sound has been waiting since then for the service that starts with it.
  private var waitsSince: Duration?
  /// The head unit takes no sound, and is not asked again as long as the app has video.
  private var isRefused = false
  var stream = AnnouncedStream<AudioGrant>()

  private var outputs: [Output] = []
  private var requested: AudioStartRequest?
  private var hasTimer = false
  /// The right to send; computed by ``takeOutputs(at:)``, which follows each input.
  package private(set) var permission: AudioGrant?

  package init(settings: Settings, activity: AudioActivity = AudioActivity()) {
    self.settings = settings
    self.activity = activity
  }

  /// What to do now, after any number of inputs.
  package mutating func takeOutputs(at now: Duration) -> [Output] {
    activity.elapse(now: now)
    if !activity.isServiceWanted { waitsSince = nil }
    permission = serviceState == .streaming && !hasStopped ? grant : nil
    let request = request
    if request != requested {
      requested = request
      outputs.insert(.request(request), at: 0)
    }
    // Each time, because a timer that is shared may have fired early for another.
    if let deadline = activity.deadline { outputs.append(.setTimer(at: deadline)) }
    hasTimer = activity.deadline != nil
    defer { outputs = [] }
    return outputs
  }

  /// Whether to take outputs although the samples may be sent: they are the first from which a silence counts.
  package var hasUrgentOutputs: Bool { !hasTimer && activity.deadline != nil }

  private mutating func notify(_ notification: AudioNotification) {
    outputs.append(.notify(notification))
  }
}

/// The present state, and the request that follows from it.
extension AudioNegotiation {
  package var permittedEpoch: UInt32? { permission?.epoch }

  /// The driver does not hear the app.
  package var isDriverElsewhere: Bool {
    session.hmi.map { !$0.allowsAudio(isMedia: settings.isMedia) || !$0.isAudible } ?? false
  }

  /// The driver or the head unit has silenced the app, as opposed to a head unit that is not there or not ready.
  private var isSilenced: Bool { isServiceHeld || isDriverElsewhere }

  private var isIdle: Bool { !activity.isServiceWanted && !pipeline.isStopping && !pipeline.isEnded }

  private var request: AudioStartRequest? {
    guard pipeline.wantsService, !pipeline.isEnded, input != nil, !pipeline.isStopping, activity.isServiceWanted else {
      return nil
    }
    return AudioStartRequest()
  }
}

/// Inputs of session, driver, app and pipeline.
extension AudioNegotiation {
  /// The session has this status now, whatever it was before.
  package mutating func sessionChanged(to status: AppSession.Status) {
    let former = session
    session = status
    guard status.headUnit != nil else {
      if former.headUnit != nil {
        announceLoss()
        isRefused = false
      }
      return
    }
    if let end = status.audio.end, end.epoch == grant?.epoch { announceStop(end.reason) }
    if let new = status.audio.grant, new.epoch != grant?.epoch {
      stream.granted(new)
      isRefused = false
    }
    announceStart()
    if isServiceHeld { announceSuspension(.notAudible) }
    if let wait = status.audio.wait, wait != former.audio.wait, pipeline.isRunning { notify(.waiting(wait)) }
  }

  /// A start has failed.
  ///
  /// - Parameter hasVideo: whether the app has video, which does not depend on sound.
  /// - Throws: when the head unit would only refuse the next one, and sound is all that the app has.
  package mutating func startFailed(
    _ failure: AudioStartFailure, retryAfter: Duration?, hasVideo: Bool = false
  ) throws(AudioProblem) {
    guard let retryAfter else {
      guard hasVideo else { throw .refused(failure, isVideoStreaming: false) }
      isRefused = true
      // The picture goes on without sound.
      if stream.requestPlaying() { notify(.requestPlaying) }
      return notify(.problem(.refused(failure, isVideoStreaming: session.video.state == .streaming)))
    }
    notify(.problem(.startRefused(failure, retryAfter: isDriverElsewhere ? nil : retryAfter)))
  }

  /// Upstream sends sound of this format from now on; nil for a format that can't be sent.
  package mutating func inputChanged(_ format: PCMFormat?) {
    input = format
  }

  /// The pad was flushed: the sound before is over.
  package mutating func flushed() {
    pipeline.begin()
    activity.reset()
  }
}

/// What happens to samples.
extension AudioNegotiation {
  /// Decides on the samples at hand. While they may not be sent they are dropped, and the application is asked once for
  /// a pause, in PLAYING. Sound that starts its own service waits a moment for it.
  ///
  /// - Parameter isSilence: the samples are silent.
  package mutating func decide(_ timing: BufferTiming, isSilence: Bool = false, now: Duration) -> SampleDecision {
    guard !hasStopped else { return .fail }
    if isInterrupted { return .interrupted }
    if !isSilence { activity.heard(at: now) }
    if let permission {
      waitsSince = nil
      return .send(permission)
    }
    guard activity.isServiceWanted else { return .drop(.silent) }
    guard !isRefused else { return .drop(.notStreaming) }
    let decision = decideWithoutPermission(timing, now: now)
    // Waiting sound keeps requesting its service.
    if case .wait = decision, !isSilence { activity.heard(at: now, isWaiting: true) }
    return decision
  }

  private mutating func decideWithoutPermission(_ timing: BufferTiming, now: Duration) -> SampleDecision {
    guard input != nil else { return .drop(.wrongFormat) }
    if activity.startsOnData, !isSilenced { return decideStart(now: now) }
    // The samples that ask wait for the answer: an application that pauses loses nothing.
    // In a pause no sound comes that could start the service.
    let asks = timing != .live && !activity.startsOnData && requestPause()
    let reason: SampleDropReason = isSilenced && stream.hasStreamed ? .suspended : .notStreaming
    let waits = asks || timing == .unsynchronized && pipeline.isPlaying
    return waits ? .wait(thenDrop: reason) : .drop(reason)
  }

  /// The first words of a prompt wait for the service that they start.
  private mutating func decideStart(now: Duration) -> SampleDecision {
    guard session.hmi != nil else { return .drop(.notStreaming) }
    let began = waitsSince ?? now
    waitsSince = began
    let rest = Self.longestHold - (now - began)
    return rest > .zero ? .wait(thenDrop: .notStreaming, atMost: rest) : .drop(.notStreaming)
  }
}

/// Notifications of the application: each change once, in order.
extension AudioNegotiation: AnnouncingNegotiation {
  var serviceStatus: AppSession.ServiceStatus<AudioGrant> { session.audio }

  var suspendPolicy: SuspendPolicy { settings.suspendPolicy }

  mutating func notify(_ notification: StreamNotification) {
    notify(.stream(notification))
  }

  mutating func announceStart() {
    guard let grant, serviceState == .streaming, !pipeline.isPaused || hasRequestedPause else { return }
    let (reason, requestsPlaying) = stream.start()
    if let reason { notify(.started(grant, reason: reason)) }
    if requestsPlaying { notify(.requestPlaying) }
  }

  mutating func announceSuspension(_ reason: SuspensionReason) {
    if stream.isStarted, stream.suspend(reason) { notify(.suspended(reason: reason.rawValue)) }
  }

  mutating func announceStop(_ reason: StreamStopReason) {
    // The service has ended because it was not requested any more.
    if stream.stop(reason) { notify(.stopped(reason == .app && isIdle ? .idle : .session(reason))) }
    if reason.isFromCar { notify(.suspendedTimeBegan) }
  }
}

package enum AudioNotification: Equatable, Sendable {
  case started(AudioGrant, reason: String)
  /// A notification that video and sound share.
  case stream(StreamNotification)
  case stopped(AudioStopReason)
  case problem(AudioProblem)
}

package enum AudioStopReason: Equatable, Sendable {
  case session(StreamStopReason)
  /// The sound was silent for long enough.
  case idle

  package var name: String {
    switch self {
    case .session(let reason): reason.rawValue
    case .idle: "idle"
    }
  }
}

package enum SampleDropReason: Int, CaseIterable, Sendable {
  /// There is no connection, or no service yet.
  case notStreaming
  /// The driver or the head unit has silenced the app.
  case suspended
  /// The head unit does not take sound as fast as it comes.
  case queueFull
  /// They came too late to be played in time.
  case late
  /// By their time stamps they were sent already.
  case overlap
  /// They are silent, and there is no service.
  case silent
  /// They have a format that the head unit does not play.
  case wrongFormat
  /// Flushed, stopped, or cut off by the end of the connection or of the service.
  case discarded
}

/// Whether sound needs a service: always, or from its first samples on until it has been silent for a while, so that a
/// prompt lowers the radio only while it speaks.
package struct AudioActivity: Equatable, Sendable {
  /// False keeps the service from the beginning to the end.
  package var startsOnData: Bool
  /// The silence after which the service ends.
  package var idleTimeout: Duration
  private var lastSound: Duration?
  /// Sound waits to be sent, for any time.
  private var isWaiting = false

  /// Before any sound.
  package init(startsOnData: Bool = false, idleTimeout: Duration = .seconds(2)) {
    self.startsOnData = startsOnData
    self.idleTimeout = idleTimeout
  }

  package var isServiceWanted: Bool { !startsOnData || lastSound != nil }

  /// When ``elapse(now:)`` is due; nil while that depends on something else.
  package var deadline: Duration? {
    guard startsOnData, !isWaiting, let lastSound else { return nil }
    return lastSound + idleTimeout
  }

  /// Sound has come.
  ///
  /// - Parameter isWaiting: whether it has to wait before it is sent.
  package mutating func heard(at now: Duration, isWaiting: Bool = false) {
    lastSound = max(lastSound ?? now, now)
    self.isWaiting = isWaiting
  }

  package mutating func elapse(now: Duration) {
    if let deadline, now >= deadline { reset() }
  }

  /// The sound before is over.
  package mutating func reset() {
    lastSound = nil
    isWaiting = false
  }
}
