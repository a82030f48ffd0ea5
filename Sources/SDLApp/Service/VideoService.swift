import SDLMessages
import SDLWire

/// The video service of a session: from the app's request to the right to send, and the driver's touches in the
/// pictures.
struct VideoService: RequestedService {
  /// The app's request; nil for none.
  var request: VideoStartRequest?
  var appState = AppState.foreground
  var end: AppSession.ServiceEnd?
  var transport = ServiceTransport()
  var lifecycle = StreamLifecycle<VideoStartRequest>()
  var lastGrant: VideoGrant?
  /// The place of the pictures of the present service, or of the last one, on the display.
  private var geometry: VideoGeometry?
  private var touches = TouchTracker()
  private var haptics = HapticDelivery()

  init(_ configuration: AppSession.Configuration, canEncrypt: Bool) {
    lifecycle.timeouts = StreamTimeouts(configuration, canEncrypt: canEncrypt)
    lifecycle.history.limits.longestPause = configuration.longestVideoRetry
    lifecycle.restartsAfterPause = configuration.restartsOnForeground
  }

  static var type: ServiceType { .video }

  func nextDeadline(now: Duration) -> Duration? {
    lifecycle.nextDeadline.earlier(transport.nextDeadline(now: now)).earlier(haptics.nextDeadline)
  }

  /// The sizes of the pictures that are streamed or requested, the most certain first: those of the service if there is
  /// one, else those of the app's request. None before the first service of the session, when the head unit can't know
  /// which of its displays the app will use.
  var sizesInUse: [VideoSize] {
    switch lifecycle.state {
    case .open(let request, let accepted, _): [accepted.size, request.size]
    case .starting(let request, _): [request.size]
    case .closed, .ending, .awaitingReason: lastGrant == nil ? [] : request.map { [$0.size] } ?? []
    }
  }

  /// The demanded state of the service, from HMI status × app state (table of SDL-0033, extended).
  func unplacedDemand(
    _ context: SessionContext, beside _: some RequestedService
  ) -> StreamDemand<VideoStartRequest> {
    guard context.isRegistered else { return .closed(.app) }
    // First, because a driver who leaves ends the pauses between attempts, whatever the app requests meanwhile.
    guard context.hmiStatus?.allowsVideo == true else { return .forbidden }
    guard let request else { return .closed(.app) }
    guard appState.isInForeground else { return .hold }
    return context.announced.isSettled ? .stream(request) : .closed(.app)
  }

  /// The head unit's capability is known, or has changed.
  mutating func capabilityChanged(_ context: inout SessionContext) {
    lifecycle.startDelay = context.announced.capability == nil ? context.configuration.legacyStartDelay : .zero
    // The running service may be shown in another place from now on; where the capability does not show its size any
    // more, it is about to end.
    guard context.announced.capability != nil, let size = grant?.size,
      let geometry = context.announced.geometry(of: size)
    else { return }
    if geometry.display != self.geometry?.display { interruptTouches(&context) }
    self.geometry = geometry
  }

  func answer(payload: [UInt8], _ context: inout SessionContext) -> VideoServiceParameters {
    let parameters = VideoServiceParameters(payload: payload)
    if (parameters.width == nil) != (parameters.height == nil) {
      context.messenger.diagnose("the head unit acknowledged only one side of the video size")
    } else if let width = parameters.width, let height = parameters.height, parameters.acceptedSize == nil {
      context.messenger.diagnose("the head unit acknowledged the impossible size \(width)×\(height)")
    }
    return parameters
  }

  mutating func perform(_ outputs: [StreamLifecycle<VideoStartRequest>.Output], _ context: inout SessionContext) {
    for output in outputs {
      switch output {
      case .sendStartService(let request): start(request, &context)
      case .sendEndService: sendEndService(&context)
      case .started(let accepted): started(accepted, &context)
      case .held, .withdrawn: interruptTouches(&context)
      case .resumed: break
      case .stopped(let reason):
        end = lastGrant.map { AppSession.ServiceEnd(epoch: $0.epoch, reason: reason) }
        interruptTouches(&context)
        context.messenger.report(.videoStopped(reason))
      case .startFailed(let failure, let request, let retryAfter):
        guard isAskedFor(context) else { break }
        context.messenger.report(
          .videoStartFailed(context.security.failed(.video, failure), request: request, retryAfter: retryAfter))
        avoidSecondary(after: failure, &context)
      }
    }
  }

  private mutating func start(_ request: VideoStartRequest, _ context: inout SessionContext) {
    context.announceSupportedDisplays()
    let isEncrypted = context.security.starts(.video, now: context.now)
    let parameters = VideoServiceParameters(
      width: Int32(clamping: request.size.width), height: Int32(clamping: request.size.height),
      videoProtocol: request.streamingProtocol.rawValue, videoCodec: VideoCodec.h264.rawValue)
    context.messenger.send(
      .startService, .video, on: transport.role, isEncrypted: isEncrypted,
      payload: request.isBare ? [] : parameters.bytes(version: context.messenger.version))
  }

  private mutating func started(_ accepted: VideoStartRequest.Acceptance, _ context: inout SessionContext) {
    var requested = accepted.size
    if case .open(let request, _, _) = lifecycle.state { requested = request.size }
    let grant = VideoGrant(
      media: mediaGrant(mtu: accepted.mtu, &context), size: accepted.size, isSizeOverridden: requested != accepted.size,
      streamingProtocol: accepted.streamingProtocol,
      transportClass: context.messenger.transportClass(of: transport.role))
    lastGrant = grant
    transport.started()
    geometry = context.announced.geometry(of: accepted.size, requested: requested)
    haptics.serviceStarted()
    context.messenger.report(.videoStarted(grant))
  }
}

// MARK: Touches, and what can be touched

extension VideoService {
  /// The actions of the driver's fingers while the app streams; while it is suspended, its pictures are not on the
  /// screen.
  mutating func receive(_ event: OnTouchEvent) -> [TouchAction] {
    guard let geometry, lifecycle.summary == .streaming else { return [] }
    return touches.receive(event, geometry)
  }

  /// Ends the touches under way, because the pictures are gone or shown in another place.
  mutating func interruptTouches(_ context: inout SessionContext) {
    if touches.interrupt() { context.messenger.report(.touchInterrupted) }
  }

  /// The touchable rectangles in the pictures; nil if the app has never set them.
  var hapticRectangles: HapticRectangleList? {
    get { haptics.list }
    set { haptics.list = newValue }
  }

  /// HMI level, permissions or encryption have changed, so that a refused request may now be accepted.
  mutating func permissionsChanged() {
    haptics.permissionsChanged()
  }

  /// Head units accept the request in FULL only, and the places of the rectangles depend on the size of the pictures.
  mutating func sendHapticRectangles(_ context: inout SessionContext) {
    let isAllowed =
      context.isRegistered && grant != nil && context.hmiStatus?.level == .full
      && !context.security.rpc.isPending(for: .sendHapticData)
    let geometry = isAllowed ? geometry : nil
    guard let rectangles = haptics.next(geometry, now: context.now) else { return }
    guard context.permit(.sendHapticData) else {
      let refusal = RPCResult(success: false, resultCode: .disallowed, info: "its policy does not name SendHapticData")
      return receiveHapticAnswer(refusal, &context)
    }
    context.request(.sendHapticData, SendHapticData(rectangles: rectangles).json)
  }

  /// The answer to SendHapticData, nil when none came in time.
  mutating func receiveHapticAnswer(_ result: RPCResult?, _ context: inout SessionContext) {
    let isNews = haptics.answered(result, isInFull: context.hmiStatus?.level == .full)
    guard let result else { return context.messenger.diagnose("SendHapticData was not answered") }
    guard !result.success else { return }
    context.messenger.diagnose("SendHapticData failed, \(result.resultCode)\(result.info.map { ": \($0)" } ?? "")")
    if isNews {
      context.messenger.report(.hapticRectanglesRefused(resultCode: result.resultCode, info: result.info))
    }
  }
}
