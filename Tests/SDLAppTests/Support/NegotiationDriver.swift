@testable import SDLApp

/// Plays pipeline, head unit and clock for a ``VideoNegotiation``, and writes down what follows.
final class NegotiationDriver {
  var negotiation: VideoNegotiation
  private(set) var now: Duration = .zero

  /// The sizes that upstream can send; nil for any.
  var upstreamSizes: [VideoSize]?
  /// Why the app's ranges reject a display; nil when they don't.
  var rejection: (VideoDisplay) -> String? = { _ in nil }
  /// What the head unit names in its refusals of the next starts, in order; nil accepts.
  var refusals: [[String]?] = []
  /// What the head unit acknowledges in place of the requested size.
  var overridingSize: VideoSize?

  /// What is requested at present.
  private(set) var request: VideoStartRequest?
  private(set) var supported: [[VideoDisplay]] = []
  /// Requests, notifications, RECONFIGURE events and errors, in order.
  private(set) var log: [String] = []
  /// All starts that the head unit was asked for.
  private(set) var starts: [String] = []
  private(set) var resizes: [VideoResize.Completed] = []
  private(set) var error: VideoProblem?
  /// Upstream was asked to negotiate anew, and has not yet.
  private(set) var mustRenegotiate = false
  private(set) var lostFrames: UInt64 = 0
  private(set) var status: HMIStatus?
  private(set) var appState = AppState.foreground
  /// What the service that runs was requested with.
  private(set) var running: VideoStartRequest?
  private(set) var isSuspended = false

  private var timer: Duration?
  private var epoch: UInt32 = 0
  private var queuedEpoch: UInt32?

  init(_ change: (inout VideoNegotiation.Settings) -> Void = { _ in }) {
    var settings = VideoNegotiation.Settings()
    change(&settings)
    negotiation = VideoNegotiation(settings: settings)
  }

  /// In PLAYING on a head unit that shows the app and takes `sizes`, with raw input of the first one.
  static func playing(
    _ sizes: [VideoSize], isRaw: Bool = true, _ change: (inout VideoNegotiation.Settings) -> Void = { _ in }
  ) -> NegotiationDriver {
    let driver = NegotiationDriver(change)
    driver.announce(sizes)
    driver.show()
    if let first = sizes.first { driver.input(first, isRaw: isRaw) }
    driver.change { $0.played() }
    return driver
  }

  /// The same, with the first frame sent.
  static func streaming(
    _ sizes: [VideoSize], isRaw: Bool = true, _ change: (inout VideoNegotiation.Settings) -> Void = { _ in }
  ) -> NegotiationDriver {
    let driver = playing(sizes, isRaw: isRaw, change)
    driver.runSession()
    _ = driver.frame()
    _ = driver.take()
    return driver
  }

  /// The log since the last call.
  func take() -> [String] {
    defer { log = [] }
    return log
  }

  /// Gives an input, and does what follows.
  @discardableResult
  func change<Result, Failure: Error>(
    _ body: (inout VideoNegotiation) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { apply() }
    return try body(&negotiation)
  }

  func wait(_ time: Duration) {
    let end = now + time
    while let timer, timer <= end {
      now = max(now, timer)
      self.timer = nil
      apply()
    }
    now = end
  }

  private func apply() {
    for output in negotiation.takeOutputs(at: now) {
      switch output {
      case .request(let request):
        self.request = request
        log.append("request \(request.map(Self.text) ?? "nothing")")
      case .appState: break
      case .supportedDisplays(let displays): supported.append(displays)
      case .notify(let notification):
        log.append(Self.text(notification))
        if case .resized(let resize) = notification { resizes.append(resize) }
      case .setTimer(let time): timer = min(timer ?? time, time)
      }
    }
  }

  private func fail(_ problem: VideoProblem?) {
    guard let problem else { return }
    error = error ?? problem
    log.append("error")
    guard change({ $0.beginFailing() }) else { return }
    change { $0.failed() }
  }
}

// MARK: Choice and upstream

extension NegotiationDriver {
  /// The head unit takes `sizes`; `fallbacks` are from a list that these have replaced.
  func announce(_ sizes: [VideoSize], fallbacks: [VideoSize] = [], over transports: [VideoTransport] = [.raw]) {
    let formats = transports.map { VideoStreamingFormat(videoProtocol: $0.rawValue, codec: "H264") }
    announce(
      (sizes + fallbacks).enumerated().map { index, size in
        var display = VideoDisplay(size: size)
        display.formats = formats
        display.isFallback = index >= sizes.count
        return display
      }, formats)
  }

  func announce(_ displays: [VideoDisplay], _ formats: [VideoStreamingFormat]? = nil) {
    var capability = VideoStreamingCapability()
    capability.supportedFormats = formats
    do throws(VideoProblem) {
      _ = try change { negotiation throws(VideoProblem) in try negotiation.headUnitSpoke(capability, screen: nil) }
    } catch { return fail(error) }
    choose(.headUnit(displays))
  }

  func choose(_ cause: VideoNegotiation.ChoiceCause) {
    guard let question = change({ $0.beginChoice(cause) }) else { return }
    answer(question)
  }

  /// Answers for ranges and caps of upstream.
  func answer(_ question: VideoNegotiation.RangesQuestion) {
    let reasons = question.displays.enumerated().compactMap { index, display in rejection(display).map { (index, $0) } }
    let choice = VideoChoice(question.displays, reasons: Dictionary(uniqueKeysWithValues: reasons))
    let supported = choice.acceptedDisplays.filter { $0.streamSize.map(canSend) ?? false }
    do throws(VideoProblem) {
      let mustAsk = try change { negotiation throws(VideoProblem) in
        try negotiation.choose(choice, supported: supported, question, lostFrames: lostFrames, now: now)
      }
      if mustAsk { askUpstream() }
    } catch { fail(error) }
  }

  private func canSend(_ size: VideoSize) -> Bool { upstreamSizes?.contains(size) ?? true }

  /// Caps come from upstream.
  func input(_ size: VideoSize?, isRaw: Bool = true) {
    choose(.caps)
    change { $0.inputChanged(size, isRaw: isRaw, lostFrames: lostFrames, now: now) }
  }

  @discardableResult
  func askUpstream(_ question: VideoNegotiation.UpstreamQuestion? = nil) -> VideoNegotiation.UpstreamAnswer {
    let displays = (negotiation.acceptedDisplays ?? []) + negotiation.rejectedDisplays
    let present = negotiation.isInputRefused ? [negotiation.inputSize].compactMap(\.self) : []
    let sizes = (displays.compactMap(\.streamSize) + present).filter(canSend)
    let answer = change { $0.upstreamAnswered(question ?? $0.upstreamQuestion, sizes) }
    if answer == .changes {
      log.append("reconfigure")
      mustRenegotiate = true
    }
    return answer
  }

  /// Upstream negotiates anew, if it was asked to, and brings the first size that both sides have.
  func renegotiate() {
    guard mustRenegotiate else { return }
    mustRenegotiate = false
    let isRaw = negotiation.isInputRaw
    let sizes = (negotiation.acceptedDisplays ?? []).compactMap(\.streamSize).filter(canSend)
    if let size = sizes.first ?? negotiation.inputSize { input(size, isRaw: isRaw) }
  }
}

// MARK: Head unit, app and pipeline

extension NegotiationDriver {
  func show(_ level: HMILevel = .full, isStreamable: Bool = true) {
    let status = HMIStatus(level: level, videoStreamingState: isStreamable ? .streamable : .notStreamable)
    self.status = status
    change { $0.hmiStatusChanged(status) }
  }

  func setAppState(_ state: AppState) {
    appState = state
    change { $0.appStateChanged(state) }
  }

  /// Does what an ``AppSession`` does with the present request, whose head unit answers at once.
  func runSession() {
    for _ in 0..<20 where runSessionOnce() {}
  }

  /// Whether anything was done.
  private func runSessionOnce() -> Bool {
    guard let running else {
      guard let request, error == nil, status?.allowsVideo == true, appState.isInForeground else { return false }
      return start(request)
    }
    var followed = running
    followed.size = negotiation.grant?.size ?? running.size
    if status?.allowsVideo != true {
      stop(.hmiStatus)
    } else if request == nil {
      stop(.app)
    } else if !appState.isInForeground {
      guard !isSuspended else { return false }
      suspend()
    } else if request != running, request != followed {
      stop(.resized)
    } else if isSuspended {
      isSuspended = false
      change { $0.serviceResumed() }
    } else {
      return false
    }
    return true
  }

  private func start(_ request: VideoStartRequest) -> Bool {
    starts.append(Self.text(request))
    guard let rejected = refusals.isEmpty ? nil : refusals.removeFirst() else {
      grant(request)
      return true
    }
    refuse(request, .refused(rejectedParameters: rejected, reason: nil))
    return self.request != request
  }

  func refuse(_ request: VideoStartRequest, _ failure: VideoStartFailure, retryAfter: Duration? = nil) {
    do throws(VideoProblem) {
      try change { negotiation throws(VideoProblem) in
        try negotiation.startFailed(failure, request, retryAfter: retryAfter)
      }
    } catch { fail(error) }
  }

  func grant(_ request: VideoStartRequest) {
    epoch += 1
    running = request
    isSuspended = false
    var grant = VideoGrant(
      epoch: epoch, sessionID: 1, version: 5, maximumPayload: 1000, size: overridingSize ?? request.size)
    grant.isSizeOverridden = grant.size != request.size
    grant.transport = request.transport
    change { negotiation in
      negotiation.sessionStateChanged(.streaming)
      negotiation.serviceStarted(grant, now: now)
    }
  }

  /// The session suspends the service, and the notice is out.
  func suspend() {
    isSuspended = true
    change { $0.serviceSuspended() }
    change { $0.suspensionCompleted() }
  }

  func stop(_ reason: VideoStopReason) {
    running = nil
    isSuspended = false
    let mustAsk = change { $0.serviceStopped(reason, lostFrames: lostFrames, now: now) }
    if mustAsk { askUpstream() }
    change { $0.sessionStateChanged(.stopped) }
  }

  /// The connection breaks; the session ends the service first.
  func loseConnection() {
    if running != nil { stop(.connectionLost) }
    status = nil
    change { _ = $0.connectionLost() }
  }

  /// What becomes of a frame: "sent", "dropped REASON", "waits", "interrupted" or "error".
  func frame(isLive: Bool = true) -> String {
    for _ in 0..<10 {
      let decision = negotiation.decide(isLive: isLive, now: now)
      apply()
      switch decision {
      case .send(let permission):
        if queuedEpoch != permission.grant.epoch {
          queuedEpoch = permission.grant.epoch
          _ = change { $0.firstFrameQueued(of: permission.grant, lostFrames: lostFrames, now: now) }
        }
        return "sent"
      case .drop(let reason): return drop(reason)
      case .askUpstream(let question, let dropsFrame):
        if askUpstream(question) != .stays, dropsFrame { return drop(.wrongSize) }
      case .wait: return "waits"
      case .interrupted: return "interrupted"
      case .pauseRequested: break
      case .fail(let problem):
        fail(problem)
        return "error"
      }
    }
    return "undecided"
  }

  private func drop(_ reason: FrameDropReason) -> String {
    lostFrames += 1
    return "dropped \(reason)"
  }

  /// What becomes of so many frames.
  func frames(_ count: Int, isLive: Bool = true) -> [String] { (0..<count).map { _ in frame(isLive: isLive) } }
}

// MARK: Text

extension NegotiationDriver {
  /// "RTP 800×380", or "bare 800×380".
  static func text(_ request: VideoStartRequest) -> String {
    "\(request.isBare ? "bare" : request.transport.rawValue) \(request.size)"
  }

  private static func text(_ notification: StreamNotification) -> String {
    switch notification {
    case .started(let grant, let reason): "started \(grant.size) \(reason)"
    case .suspended(let reason): "suspended \(reason)"
    case .stopped(let reason): "stopped \(reason.rawValue)"
    case .suspensionBegan: "suspension"
    case .resized(let resize): "resized \(resize.former) to \(resize.present)"
    case .resizeIgnored(let kept, let offered): "kept \(kept), not \(offered)"
    case .requestPause: "pause"
    case .requestPlaying: "play"
    case .problem: "warning"
    }
  }
}
