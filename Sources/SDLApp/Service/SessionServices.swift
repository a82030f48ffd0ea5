import SDLWire

/// The services of a session, which may depend on each other. And features without a service: the buttons of the car,
/// the app's name and icon, and the application's own RPCs.
struct SessionServices: Sendable {
  var video: VideoService
  var audio: AudioService
  var buttons: ButtonSubscriptions
  var presentation: AppPresentation
  var application = ApplicationRequests()

  init(_ configuration: AppSession.Configuration, canEncrypt: Bool) {
    video = VideoService(configuration, canEncrypt: canEncrypt)
    audio = AudioService(configuration, canEncrypt: canEncrypt)
    buttons = ButtonSubscriptions(configuration)
    presentation = AppPresentation(configuration)
  }

  /// Services on the secondary transport could go on over the primary one.
  var canReplaceSecondary: Bool { video.transport.canReplaceSecondary || audio.transport.canReplaceSecondary }

  /// The secondary transport carries a service that has not ended.
  var usesSecondary: Bool { video.isOnSecondary || audio.isOnSecondary }

  func nextDeadline(now: Duration) -> Duration? {
    video.nextDeadline(now: now).earlier(audio.nextDeadline(now: now)).earlier(buttons.nextDeadline)
      .earlier(application.nextDeadline)
  }

  /// The state of the services that encryption depends on.
  func situation(now: Duration) -> SessionSecurity.Situation {
    SessionSecurity.Situation(
      now: now, isVideoStarting: video.isStarting, isAudioStarting: audio.isStarting,
      hasEncryptedMedia: video.grant?.isEncrypted == true || audio.grant?.isEncrypted == true)
  }

  /// Acts on the difference between the demanded and the present state.
  mutating func reconcile(_ context: inout SessionContext) throws(AppSessionFailure) {
    try video.reconcile(&context, beside: audio)
    try audio.reconcile(&context, beside: video)
  }

  /// Notes whether a demanded service waits for a transport.
  mutating func updateWaits(_ context: SessionContext) {
    video.updateWait(context, beside: audio)
    audio.updateWait(context, beside: video)
  }

  mutating func advance(_ context: inout SessionContext) {
    video.advance(&context)
    audio.advance(&context)
    buttons.advance(&context)
    application.advance(&context)
  }

  /// Ends them because the session ends.
  mutating func stop(_ reason: StreamStopReason, _ context: inout SessionContext) {
    video.stop(reason, &context)
    audio.stop(reason, &context)
    buttons.releaseKeys(&context)
    application.end(&context)
  }

  /// Sends the requests that are due besides the starts and ends of services.
  mutating func sendRequests(_ context: inout SessionContext) {
    video.sendHapticRectangles(&context)
    buttons.reconcile(&context)
    presentation.reconcile(&context)
    application.reconcile(&context)
  }

  /// The answer to one of these requests; nil when none came in time.
  mutating func answered(_ function: FunctionID, _ result: RPCResult?, _ context: inout SessionContext) {
    switch function {
    case .sendHapticData: video.receiveHapticAnswer(result, &context)
    case .subscribeButton, .unsubscribeButton: buttons.answered(result, &context)
    case .changeRegistration, .putFile, .setAppIcon: presentation.answered(result, &context)
    default: break
    }
  }

  /// The HMI level is about to change. The head unit may not report the release of held fingers and buttons any more.
  mutating func levelChanges(_ context: inout SessionContext) {
    permissionsChanged()
    buttons.releaseKeys(&context)
    // SDL Core sends touches in FULL only.
    if context.hmiStatus?.level == .full { video.interruptTouches(&context) }
  }

  /// HMI level, permissions or encryption have changed, so that a refused request may now be accepted.
  mutating func permissionsChanged() {
    video.permissionsChanged()
    buttons.permissionsChanged()
    presentation.permissionsChanged()
  }

  /// The session has begun, and the head unit may have named the transports of each service.
  mutating func offered(_ acknowledgement: RPCServiceAcknowledgement) {
    video.transport.offered(acknowledgement.videoServiceTransports)
    audio.transport.offered(acknowledgement.audioServiceTransports)
  }

  mutating func addressChanged() {
    video.transport.addressChanged()
    audio.transport.addressChanged()
  }

  mutating func secondaryLost(_ context: inout SessionContext) {
    video.secondaryLost(&context)
    audio.secondaryLost(&context)
  }

  /// Gives up a start that is not answered.
  mutating func giveUp(_ service: ServiceType, _ context: inout SessionContext) {
    if service == .audio { audio.giveUp(&context) } else { video.giveUp(&context) }
  }

  /// A control frame of one of them, in clear.
  mutating func receive(
    _ control: ControlFrame, _ frame: Frame, on role: TransportRole, _ context: inout SessionContext
  ) throws(AppSessionFailure) {
    let service = frame.header.service
    let isVideo = service == .video
    if control == .endService {
      // Unanswered, the head unit would keep the service and refuse to start it again.
      context.messenger.send(.endServiceACK, service, on: role)
      return isVideo ? video.endedByHeadUnit(&context) : audio.endedByHeadUnit(&context)
    }
    guard role == (isVideo ? video.transport.role : audio.transport.role) else {
      context.messenger.diagnose("ignored \(control) of \(service) on the transport that does not carry it")
      // The start was given up before the head unit answered it.
      if control == .startServiceACK { context.messenger.send(.endService, service, on: role) }
      return
    }
    guard control != .serviceDataACK else { return }
    if isVideo {
      try video.receive(control, frame, &context, beside: audio)
    } else {
      try audio.receive(control, frame, &context, beside: video)
    }
  }
}
