import SDLApp
import SDLAppLink
import SDLLink

/// The sound of a simulated app: the real negotiation, and buffers that hold a number.
final class SimulatedSound {
  /// What is upstream, and what the user has set.
  struct Plan: Codable {
    /// Milliseconds between two buffers.
    var interval = 200
    var isLive = true
    var suspendPolicy = SuspendPolicy.auto.rawValue
    /// The service is there only while something sounds.
    var startsOnData = false
  }

  /// Of sound that starts its service; "docs/sdlaudiosink.md".
  private static let longestHold = Duration.seconds(2)

  private(set) var negotiation: AudioNegotiation
  private let plan: Plan
  private let connection: AppConnection
  private let network: SimulatedNetwork
  private let note: (Simulation.Note) -> Void
  private var order = NotificationOrder()
  private var number: UInt8 = 0
  private var isPlaying = false
  private var isSilent = false
  private var nextBuffer: Duration
  /// The present one waits for its service.
  private var isWaiting = false
  /// Since when, as documented for `start-on-data`.
  private var isHeldSince: Duration?
  private var isRefused = false
  private(set) var counters = SimulatedVideo.Counters()
  private(set) var hasFailed = false
  /// What the session was asked for last.
  private(set) var request: AudioStartRequest?
  /// Of the same app.
  weak var video: SimulatedVideo?
  var fairness: MediaFairness?

  init(
    _ plan: Plan, connection: AppConnection, network: SimulatedNetwork, note: @escaping (Simulation.Note) -> Void
  ) {
    self.plan = plan
    self.connection = connection
    self.network = network
    self.note = note
    var settings = AudioNegotiation.Settings()
    settings.suspendPolicy = SuspendPolicy(rawValue: plan.suspendPolicy) ?? .auto
    negotiation = AudioNegotiation(settings: settings, activity: AudioActivity(startsOnData: plan.startsOnData))
    nextBuffer = network.now
  }

  private var now: Duration { network.now }

  func play() {
    isPlaying = true
    nextBuffer = max(nextBuffer, now)
    change { $0.inputChanged(PCMFormat()) }
    change { $0.streamBegan() }
    change { $0.played() }
  }

  func pause() {
    isPlaying = false
    change { $0.paused() }
  }

  func setSilent(_ isSilent: Bool) { self.isSilent = isSilent }

  func endStream() {
    isPlaying = false
    change { $0.streamEnded() }
  }

  func stop() {
    isPlaying = false
    change { $0.stop() }
  }

  /// A step of a script.
  func perform(_ word: String) {
    switch word {
    case "play": play()
    case "pause": pause()
    case "silent": setSilent(true)
    case "loud": setSilent(false)
    default: endStream()
    }
  }

  func sessionChanged(to status: AppSession.Status) { change { $0.sessionChanged(to: status) } }

  func startFailed(_ failure: AudioStartFailure, retryAfter: Duration?, hasVideo: Bool) {
    isRefused = retryAfter == nil
    do throws(AudioProblem) {
      try change { negotiation throws(AudioProblem) in
        try negotiation.startFailed(failure, retryAfter: retryAfter, hasVideo: hasVideo)
      }
    } catch {
      hasFailed = true
      note(.told("sound: fails, \(error)"))
      change { $0.beginFailing() }
      change { $0.failed() }
    }
  }

  func connectionLost() {
    order.connectionLost()
    isRefused = false
  }

  var isAnnounced: Bool { order.isAnnounced }

  func timerFired() { change { _ in } }

  @discardableResult
  private func change<Result, Failure: Error>(
    _ body: (inout AudioNegotiation) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { apply() }
    return try body(&negotiation)
  }

  private func apply() {
    defer {
      if isWaiting, negotiation.permission != nil {
        isWaiting = false
        nextBuffer = min(nextBuffer, now)
      }
    }
    for output in negotiation.takeOutputs(at: now) {
      switch output {
      case .request(let request):
        self.request = request
        connection.setAudioRequest(request)
      case .setTimer(let time): connection.setTimer(at: time)
      case .notify(let notification):
        note(.told(notification.text))
        if let fault = order.take(notification) { note(.finding(.notifications, fault)) }
      }
    }
  }

  var nextDeadline: Duration? { isPlaying && !hasFailed ? nextBuffer : nil }

  func advance() {
    guard isPlaying, !hasFailed, nextBuffer <= now else { return }
    isWaiting = false
    nextBuffer = max(nextBuffer + .milliseconds(plan.interval), now)
    counters.arrived += 1
    for _ in 0..<3 {
      switch change({ $0.decide(plan.isLive ? .live : .synchronized, isSilence: isSilent, now: now) }) {
      case .send(let grant):
        isHeldSince = nil
        return send(grant)
      case .drop(let reason):
        if let fault = holdFault(reason) { note(.finding(.pace, fault)) }
        if reason == .silent { isHeldSince = nil }
        counters.dropped += 1
        return
      case .fail:
        counters.dropped += 1
        return
      case .wait, .interrupted:
        isHeldSince = isHeldSince ?? now
        counters.arrived -= 1
        isWaiting = true
        return
      }
    }
    counters.dropped += 1
  }

  /// The first words of a prompt wait for the service that they start.
  private func holdFault(_ reason: SampleDropReason) -> String? {
    let session = negotiation.session
    guard plan.startsOnData, reason == .notStreaming, !isRefused, session.hmi != nil, session.audio.state != .suspended,
      !negotiation.isDriverElsewhere
    else { return nil }
    let time = now - (isHeldSince ?? now)
    return time < Self.longestHold ? "sound was given up after \(time.text)" : nil
  }

  private func send(_ grant: AudioGrant) {
    let size = grant.format.sampleSize.byteCount
    // Much less than real time, so that it never adds up to more.
    let count = grant.format.samplingRate.hertz * min(plan.interval, 1000) / 1000 / 8
    number = number == 255 ? 1 : number + 1
    let bytes = [UInt8](repeating: number, count: max(count, 1) * size)
    let place = MediaFairness.Place(ahead: counters.queued, sentOfOther: video?.counters.sent ?? 0)
    let payload = SimulatedPayload(bytes, cut: bytes.count / 2) { [weak self] wasSent in
      guard let self else { return }
      counters.queued -= 1
      if wasSent { counters.sent += 1 } else { counters.discarded += 1 }
      guard wasSent, grant.role == video?.negotiation.session.video.grant?.role else { return }
      if let fault = fairness?.soundSent(place, picturesSent: video?.counters.sent ?? 0) {
        note(.finding(.fairness, fault))
      }
    }
    counters.queued += 1
    guard connection.audio.submit(payload, grantEpoch: grant.epoch, blocking: false) != .queued else { return }
    counters.queued -= 1
    counters.dropped += 1
  }
}
