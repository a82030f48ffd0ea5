@testable import SDLApp

/// Plays pipeline, head unit and clock for a ``VideoNegotiation``, and writes down what follows.
final class NegotiationDriver {
  var negotiation: VideoNegotiation
  private(set) var now: Duration = .zero
  static let headUnit = HeadUnitInfo(RPCServiceAcknowledgement(), protocolVersion: ProtocolVersion(5))

  /// The sizes that upstream can send; nil for any.
  var upstreamSizes: [VideoSize]?
  /// Why the app's ranges reject a display; nil when they don't.
  var rejection: (VideoDisplay) -> String? = { _ in nil }
  /// What the head unit names in its refusals of the next starts, in order; nil accepts.
  var refusals: [[String]?] = []
  /// Of the connection that carries the next service.
  var transportClass = TransportClass.tcpWiFi
  /// What the head unit acknowledges in place of the requested size.
  var overridingSize: VideoSize?

  /// What is requested at present.
  private(set) var request: VideoStartRequest?
  private(set) var supported: [[VideoDisplay]] = []
  /// Requests, notifications, RECONFIGURE events and errors, in order.
  var log: [String] = []
  /// All starts that the head unit was asked for.
  var starts: [String] = []
  private(set) var resizes: [VideoResize.Completed] = []
  var error: VideoProblem?
  /// Upstream was asked to negotiate anew, and has not yet.
  var mustRenegotiate = false
  /// What holds in the session.
  var session = AppSession.Status()
  /// What the head unit of the present connection has announced so far.
  var announcedProtocols: Set<VideoStreamingProtocol> = []
  /// It has refused a start.
  var hasRefused = false
  var appState = AppState.foreground
  /// What the service that runs was requested with.
  var running: VideoStartRequest?
  var isSuspended: Bool { session.video.state == .suspended }

  private var timer: Duration?
  var epoch: UInt32 = 0
  var queuedEpoch: UInt32?

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

  func apply() {
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

  func fail(_ problem: VideoProblem?) {
    guard let problem else { return }
    error = error ?? problem
    log.append("error")
    guard negotiation.isUsable else { return }
    change { $0.beginFailing() }
    change { $0.failed() }
  }
}

extension NegotiationDriver {
  /// "RTP 800×380", or "bare 800×380".
  static func text(_ request: VideoStartRequest) -> String {
    "\(request.isBare ? "bare" : request.streamingProtocol.rawValue) \(request.size)"
  }

  static func text(_ notification: VideoNotification) -> String {
    switch notification {
    case .started(let grant, let reason): "started \(grant.size) \(reason)"
    case .stream(let notification): text(notification)
    case .stopped(let reason): "stopped \(reason.rawValue)"
    case .resized(let resize): "resized \(resize.former) to \(resize.present)"
    case .resizeIgnored(let kept, let offered, let reason): "kept \(kept), not \(offered): \(reason.rawValue)"
    case .problem: "warning"
    }
  }

  private static func text(_ notification: StreamNotification) -> String {
    switch notification {
    case .suspended(let reason): "suspended \(reason)"
    case .suspendedTimeBegan: "suspension"
    case .waiting(let wait): "waiting \(wait.rawValue)"
    case .requestPause: "pause"
    case .requestPlaying: "play"
    }
  }
}
