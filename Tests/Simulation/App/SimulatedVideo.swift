import H264
import SDLApp
import SDLAppLink
import SDLLink

/// The picture of a simulated app: what brings it, the real negotiation, and a frame path reduced to what the head unit
/// can see of one: key frames where they are due, RTP, and pictures that are left out.
final class SimulatedVideo {
  /// What is upstream, and what the user has set.
  struct Plan: Codable {
    /// Milliseconds between two pictures.
    var interval = 100
    var isLive = true
    var isRaw = true
    /// Upstream has one size only, as a file does.
    /// Of which upstream makes pictures, as "800x480"; nil for any.
    var sizes: [String]?
    var suspendPolicy = SuspendPolicy.auto.rawValue
    var resizePolicy: Int32 = 0
    /// The most bytes of a picture.
    var byteCount = 300
    /// Pictures wait for the link.
    var followsLink = true
    /// The application pauses when it is asked to.
    var followsRequests = true
  }

  private(set) var negotiation: VideoNegotiation
  var plan: Plan
  private let connection: AppConnection
  private let network: SimulatedNetwork
  /// Findings, and what happened.
  private let note: (Simulation.Note) -> Void
  private var order = NotificationOrder()
  private var controller: RateController?
  private var packetizer: RTPPacketizer
  private(set) var counters = Counters()
  private var nextPicture: Duration
  private var lastSent = Duration.zero
  private var number = 0
  private var needsKeyFrame = true
  private var queuedEpoch: UInt32?
  private var isPlaying = false
  private var isPausedOnRequest = false
  private var isEnded = false
  private var reconfiguresAt: Duration?
  /// Wider displays are rejected by the app's ranges.
  var widestDisplay = Int.max
  private(set) var problem: VideoProblem?
  /// What the session was asked for last, and how often that was something else.
  private(set) var request: VideoStartRequest?
  private(set) var requestCount = 0
  private(set) var appState = AppState.foreground
  /// How many the application has heard of.
  private var problemCount = 0
  /// Of the same app.
  weak var sound: SimulatedSound?
  var fairness: MediaFairness?

  /// Pictures: arrived = sent + dropped + discarded + queued.
  struct Counters {
    var arrived = 0
    var dropped = 0
    var sent = 0
    var discarded = 0
    var queued = 0
    var isBalanced: Bool { arrived == sent + dropped + discarded + queued }
  }

  init(
    _ plan: Plan, connection: AppConnection, network: SimulatedNetwork, note: @escaping (Simulation.Note) -> Void
  ) {
    self.plan = plan
    self.connection = connection
    self.network = network
    self.note = note
    var settings = VideoNegotiation.Settings()
    settings.suspendPolicy = SuspendPolicy(rawValue: plan.suspendPolicy) ?? .auto
    settings.resizePolicy = ResizePolicy(rawValue: plan.resizePolicy) ?? .renegotiate
    negotiation = VideoNegotiation(settings: settings)
    packetizer = RTPPacketizer(sequenceNumber: 7, timestamp: 7, synchronizationSource: 7)
    nextPicture = network.now
  }

  private var now: Duration { network.now }

  // MARK: What the application does

  func play() {
    isPlaying = true
    isPausedOnRequest = false
    nextPicture = max(nextPicture, now)
    change { $0.played() }
  }

  func pause() {
    isPlaying = false
    change { $0.paused() }
  }

  func endStream() {
    isEnded = true
    change { $0.streamEnded() }
  }

  func beginStream() {
    isEnded = false
    nextPicture = max(nextPicture, now)
    needsKeyFrame = true
    change { $0.streamBegan() }
  }

  func setFlushing(_ isFlushing: Bool) {
    change { $0.setFlushing(isFlushing) }
    connection.video.setFlushing(isFlushing)
    guard !isFlushing else { return }
    needsKeyFrame = true
    change { $0.flushed() }
  }

  func setAppState(_ state: AppState) { change { $0.appStateChanged(state) } }

  func setCaps(_ size: VideoSize?, isRaw: Bool) {
    plan.isRaw = isRaw
    needsKeyFrame = true
    choose(.caps)
    change { $0.inputChanged(size, isRaw: isRaw, now: now) }
  }

  func stop() {
    isPlaying = false
    change { $0.stop() }
  }

  /// A step of a script; false for an unknown one.
  func perform(_ words: [String], _ numbers: [Int]) -> Bool {
    switch words[2] {
    case "state": AppState(rawValue: words[3]).map(setAppState)
    case "play": play()
    case "pause": pause()
    case "flush": setFlushing(words[3] == "on")
    case "eos": endStream()
    case "begin": beginStream()
    case "caps":
      let sides = words[3].split(separator: "x").compactMap { Int($0) }
      setCaps(sides.count == 2 ? VideoSize(sides[0], sides[1]) : nil, isRaw: words.last == "raw")
    case "ranges":
      widestDisplay = numbers.last ?? .max
      choose(.ranges)
    default: return false
    }
    return true
  }

  // MARK: What the connection reports

  func sessionChanged(to status: AppSession.Status) {
    let former = negotiation.session
    if former.video.state == .suspended, status.video.state == .streaming { needsKeyFrame = true }
    do throws(VideoProblem) {
      let questions = try change { negotiation throws(VideoProblem) in
        try negotiation.sessionChanged(to: status, now: now)
      }
      if let question = questions.ranges { answer(question) }
      if questions.asksUpstream { askUpstream(negotiation.upstreamQuestion) }
    } catch { fail(error) }
    if status.video.state == .suspended, former.video.state != .suspended { change { $0.suspensionCompleted() } }
  }

  func startFailed(_ failure: VideoStartFailure, _ request: VideoStartRequest, retryAfter: Duration?) {
    let formerCount = problemCount
    defer {
      // Each step is a warning, or the error at the end.
      if problemCount == formerCount, problem == nil, negotiation.isUsable {
        note(.finding(.notifications, "a start has failed, and the application does not know: \(failure)"))
      }
    }
    do throws(VideoProblem) {
      try change { negotiation throws(VideoProblem) in
        try negotiation.startFailed(failure, request, retryAfter: retryAfter)
      }
    } catch { fail(error) }
  }

  func connectionLost() { order.connectionLost() }

  var isAnnounced: Bool { order.isAnnounced }

  /// Pictures may be sent, and the application still believes that it should pause.
  var pauseFault: String? {
    isPlaying && problem == nil && negotiation.permission != nil && order.isPauseRequested
      ? "the application pauses while pictures may be sent" : nil
  }

  func timerFired() { change { _ in } }

  private func fail(_ problem: VideoProblem?) {
    guard self.problem == nil, let problem else { return }
    self.problem = problem
    note(.told("video: fails, \(problem)"))
    change { $0.beginFailing() }
    change { $0.failed() }
  }

  // MARK: What the negotiation decides

  @discardableResult
  private func change<Result, Failure: Error>(
    _ body: (inout VideoNegotiation) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { apply() }
    negotiation.lostFrames = UInt64(counters.dropped + counters.discarded)
    return try body(&negotiation)
  }

  private func apply() {
    for output in negotiation.takeOutputs(at: now) {
      switch output {
      case .request(let request):
        if request != self.request { requestCount += 1 }
        self.request = request
        connection.setVideoRequest(request)
      case .supportedDisplays(let displays): connection.setSupportedDisplays(displays)
      case .appState(let state):
        appState = state
        connection.setAppState(state)
      case .setTimer(let time): connection.setTimer(at: time)
      case .notify(let notification):
        note(.told(notification.text))
        if let fault = order.take(notification) { note(.finding(.notifications, fault)) }
        if case .problem = notification { problemCount += 1 }
        if plan.followsRequests { follow(notification) }
      }
    }
  }

  private func follow(_ notification: VideoNotification) {
    switch notification {
    case .stream(.requestPause): isPausedOnRequest = true
    case .stream(.requestPlaying): isPausedOnRequest = false
    default: break
    }
  }

  // MARK: Upstream

  private func canSend(_ size: VideoSize) -> Bool { plan.sizes?.contains("\(size.width)x\(size.height)") ?? true }

  func choose(_ cause: VideoNegotiation.ChoiceCause) {
    if let question = change({ $0.beginChoice(cause) }) { answer(question) }
  }

  private func answer(_ question: VideoNegotiation.RangesQuestion) {
    let rejected = question.displays.enumerated().filter { $0.element.size.width > widestDisplay }
    let reasons = Dictionary(uniqueKeysWithValues: rejected.map { ($0.offset, "too wide") })
    let choice = VideoChoice(question.displays, reasons: reasons)
    let supported = choice.acceptedDisplays.filter { $0.streamSize.map(canSend) ?? false }
    do throws(VideoProblem) {
      let mustAsk = try change { negotiation throws(VideoProblem) in
        try negotiation.choose(choice, supported: supported, question, now: now)
      }
      if mustAsk { askUpstream(negotiation.upstreamQuestion) }
    } catch { fail(error) }
  }

  @discardableResult
  private func askUpstream(_ question: VideoNegotiation.UpstreamQuestion) -> VideoNegotiation.UpstreamAnswer {
    let displays = (negotiation.acceptedDisplays ?? []) + negotiation.rejectedDisplays
    let present = negotiation.isInputRefused ? [negotiation.inputSize].compactMap(\.self) : []
    let sizes = (displays.compactMap(\.streamSize) + present).filter(canSend)
    let answer = change { $0.upstreamAnswered(question, sizes) }
    // It takes a picture or two.
    if answer == .changes { reconfiguresAt = now + .milliseconds(plan.interval * 2) }
    return answer
  }

  private func reconfigure() {
    reconfiguresAt = nil
    let sizes = (negotiation.acceptedDisplays ?? []).compactMap(\.streamSize).filter(canSend)
    if let size = sizes.first ?? negotiation.inputSize { setCaps(size, isRaw: plan.isRaw) }
  }

  // MARK: Pictures

  var nextDeadline: Duration? {
    guard isPlaying, !isPausedOnRequest, !isEnded, problem == nil else { return reconfiguresAt }
    return Optional(nextPicture).earlier(reconfiguresAt)
  }

  func advance() {
    if let time = reconfiguresAt, time <= now { reconfigure() }
    guard isPlaying, !isPausedOnRequest, !isEnded, problem == nil, nextPicture <= now else { return }
    nextPicture = max(nextPicture + .milliseconds(plan.interval), now)
    counters.arrived += 1
    switch offer() {
    case .queued: break
    case .thinned: counters.dropped += 1
    case .dropped:
      counters.dropped += 1
      needsKeyFrame = true
    // The thread waits with it.
    case .waits: counters.arrived -= 1
    }
  }

  private enum Outcome {
    case queued
    case dropped
    case thinned
    case waits
  }

  private func offer() -> Outcome {
    for _ in 0..<10 {
      switch change({ $0.decide(plan.isLive ? .live : .synchronized, now: now) }) {
      case .send(let permission): return send(permission)
      case .drop: return .dropped
      case .askUpstream(let question, let dropsFrame):
        if askUpstream(question) != .stays, dropsFrame { return .dropped }
      case .wait, .interrupted: return .waits
      case .fail(let problem):
        fail(problem)
        return .dropped
      }
    }
    note(.finding(.decisions, "a picture is undecided after ten answers"))
    return .dropped
  }

  private func send(_ permission: VideoNegotiation.Permission) -> Outcome {
    let grant = permission.grant
    if queuedEpoch != grant.epoch { needsKeyFrame = true }
    let (sample, isFull) = connection.video.linkSampleAndIsFull()
    guard !isFull else { return plan.isLive ? .dropped : .waits }
    let targets = rateTargets(permission, sample)
    if plan.followsLink, let controller, case .wait = controller.readiness {
      connection.video.setAwaitsAcknowledgement(true)
      return plan.isLive ? .dropped : .waits
    }
    connection.video.setAwaitsAcknowledgement(false)
    // Raw pictures are thinned out before they are encoded.
    if now - lastSent < .seconds(0.98 / targets.frameRate) { return .thinned }
    // A decoder that had nothing for long is opened anew.
    let isKeyFrame = needsKeyFrame || now - lastSent > .milliseconds(500)
    let size = min(max(targets.sentBitrate / 8 / max(Int(targets.frameRate), 1), 30), plan.byteCount)
    let bytes = message(isKeyFrame: isKeyFrame, grant, byteCount: size)
    let place = MediaFairness.Place(ahead: counters.queued, sentOfOther: sound?.counters.sent ?? 0)
    let frameCount = (place.ahead + 1) * ((plan.byteCount + 200) / max(grant.maximumPayload, 1) + 1)
    let payload = SimulatedPayload(bytes, cut: bytes.count / 3) { [weak self] wasSent in
      let isAlone = grant.role != self?.sound?.negotiation.session.audio.grant?.role
      self?.released(wasSent, isAlone ? nil : place, frameCount: frameCount)
    }
    counters.queued += 1
    let result = connection.video.submit(payload, grantEpoch: grant.epoch, blocking: false)
    guard result == .queued else {
      counters.queued -= 1
      // The session knows of its end before this does.
      return plan.isLive || result == .flushing ? .dropped : .waits
    }
    number += 1
    needsKeyFrame = false
    packetizer = pendingPacketizer ?? packetizer
    lastSent = now
    if queuedEpoch != grant.epoch {
      queuedEpoch = grant.epoch
      _ = change { $0.firstFrameQueued(of: grant, now: now) }
      if !order.isStarted { note(.finding(.notifications, "a stream has pictures, and the application does not know")) }
    }
    return .queued
  }

  private func released(_ wasSent: Bool, _ place: MediaFairness.Place?, frameCount: Int) {
    counters.queued -= 1
    if wasSent {
      counters.sent += 1
      let soundsSent = sound?.counters.sent ?? 0
      if let place, let fault = fairness?.pictureSent(place, soundsSent: soundsSent, frameCount: frameCount) {
        note(.finding(.fairness, fault))
      }
    } else {
      counters.discarded += 1
      needsKeyFrame = true
    }
  }

  private func message(isKeyFrame: Bool, _ grant: VideoGrant, byteCount: Int) -> [UInt8] {
    let input = negotiation.inputSize ?? grant.size
    let size = (width: input.width, height: input.height)
    let bytes = SimulatedPicture.accessUnit(number, isKeyFrame: isKeyFrame, size: size, byteCount: byteCount)
    guard grant.streamingProtocol == .rtp else { return bytes }
    if queuedEpoch != grant.epoch {
      packetizer = RTPPacketizer(sequenceNumber: 65_530, timestamp: UInt32.max - 100, synchronizationSource: 7)
    }
    var former = packetizer
    var message: [UInt8] = []
    bytes.withUnsafeBytes { bytes in
      for packet in former.packets(of: bytes, at: now) {
        withUnsafeTemporaryAllocation(byteCount: RTPPacket.maximumPrefixByteCount, alignment: 4) { prefix in
          message += prefix[..<packet.writePrefix(to: prefix)]
        }
        message += bytes[packet.payloadRange]
      }
    }
    pendingPacketizer = former
    return message
  }

  /// Of the picture at hand, which may not be sent.
  private var pendingPacketizer: RTPPacketizer?

  private func rateTargets(_ permission: VideoNegotiation.Permission, _ sample: LinkSample?) -> RateTargets {
    let limits = RateController.Limits(
      minimumBitrate: 50_000, maximumBitrate: max(permission.targets.ceiling, 1),
      frameRate: max(permission.targets.frameRate.value, 1), maximumLatency: .milliseconds(200))
    if controller == nil { controller = RateController(limits: limits, start: permission.targets.start) }
    controller?.limits = limits
    if let sample { _ = controller?.update(sample) }
    let targets = controller?.targets ?? RateController(limits: limits, start: 1).targets
    if targets.bitrate < 1 || targets.sentBitrate > limits.maximumBitrate {
      note(
        .finding(
          .rates, "targets of \(targets.bitrate) and \(targets.sentBitrate) bit/s, limit \(limits.maximumBitrate)"))
    }
    return targets
  }
}
