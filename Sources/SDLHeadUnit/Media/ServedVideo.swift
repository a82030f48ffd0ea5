import SDLMessages
import SDLWire

/// The video service: the answers to its starts, and its data.
struct ServedVideo: Sendable {
  private static let mostAnswersInAdvance = 100

  var service = MediaService<VideoStreamChecker>()
  /// Whether starts and ends of the service get no answer.
  var isSilent = false
  /// Answers to the next starts; they precede ``HeadUnitBehaviour/videoStarts``.
  private var nextAnswers: [HeadUnitBehaviour.VideoStartAnswer] = []
  /// How many of ``HeadUnitBehaviour/videoStarts`` have been used.
  private var usedAnswerCount = 0
  /// When the service was acknowledged last.
  private var startTime = Duration.zero
  /// Of the message that is being checked; nil without one.
  private var permissionOfMessage: MediaPermission?
  /// Video messages, as ServiceDataACK counts them.
  private var acknowledgedMessageCount: UInt32 = 0
  /// Size of the display that the last stream fills, for touches; nil before the first stream.
  private(set) var displaySize: VideoSize?
  /// Of the pictures of that stream.
  private var pictureSize: VideoSize?

  var statistics: VideoStreamStatistics { service.checker.statistics }
  /// The size of the pictures; nil without a stream.
  var sizeInUse: VideoSize? { service.isOpen ? pictureSize : nil }
  private var transport: TransportRole { service.transport }

  // MARK: The start

  /// - Parameter isTransportAllowed: by the transport lists of the session's acknowledgement.
  mutating func start(
    _ frame: Frame, on transport: TransportRole, isTransportAllowed: Bool, _ app: RegisteredApp?,
    _ capability: OfferedCapability, _ security: inout ServedSecurity, _ context: inout ServedContext
  ) {
    guard let app, !app.isBeingRegistered(at: context.now) else {
      if !isSilent { service.noteEarlyStart(on: transport, &context) }
      return
    }
    let request =
      context.headerVersion >= 5 ? VideoServiceParameters(payload: frame.payload) : VideoServiceParameters()
    context.report(.videoStartRequested(request))
    if isSilent {
      service.isStartLost = true
      return
    }
    let isReady = service.begin(
      request, isEncrypted: frame.header.isEncrypted, on: transport, isTransportAllowed: isTransportAllowed, app,
      &security, &context)
    if isReady { startReady(app, capability, &context) }
  }

  /// The handshake for which the start has waited is over.
  /// - Parameter failure: why it has failed.
  mutating func handshakeEnded(
    _ failure: ServedHandshakeFailure?, _ app: RegisteredApp?, _ capability: OfferedCapability,
    _ context: inout ServedContext
  ) {
    guard let app, service.handshakeEnded(failure, &context) else { return }
    startReady(app, capability, &context)
  }

  /// Continues with a start that needs no handshake, or has completed it.
  private mutating func startReady(
    _ app: RegisteredApp, _ capability: OfferedCapability, _ context: inout ServedContext
  ) {
    // Without parameters SDL Core need not ask the HMI.
    let time = service.start?.request == VideoServiceParameters() ? nil : context.configuration.videoStartTime
    guard let delay = context.behaviour.videoStartDelay ?? time else { return answer(app, capability, &context) }
    context.timers.arm(.videoStart, at: context.now + delay)
  }

  func changeDelay(to delay: Duration, _ context: inout ServedContext) {
    if let time = service.start?.readyTime { context.timers.arm(.videoStart, at: time + delay) }
  }

  mutating func answerDue(_ app: RegisteredApp?, _ capability: OfferedCapability, _ context: inout ServedContext) {
    guard let app, service.start != nil else { return }
    service.isStartLost = isSilent
    if isSilent { _ = service.takeStart() } else { answer(app, capability, &context) }
  }

  /// Checks again, because status and behaviour may have changed since the request.
  private mutating func answer(_ app: RegisteredApp, _ capability: OfferedCapability, _ context: inout ServedContext) {
    guard let start = service.takeStart() else { return }
    if let reason = service.reasonToRefuse(app, &context) { return service.refuse(reason: reason, &context) }
    let request = start.request
    switch takeAnswer(context.behaviour.videoStarts) {
    case .silence: service.isStartLost = true
    case .echo: acknowledge(start, request, capability, &context)
    case .reject(let parameters, let reason): service.refuse(parameters, reason: reason, &context)
    case .acknowledge(let parameters): acknowledge(start, parameters, capability, &context)
    case .regular:
      let format = VideoFormatRules.rejection(of: request, supported: capability.formats(for: request))
      guard format.isEmpty else { return service.refuse(format, reason: "The format is not supported", &context) }
      let size = capability.sizes.rejection(of: request)
      if !size.isEmpty, context.configuration.refusesUnknownSizes {
        return service.refuse(size, reason: "The size is not supported", &context)
      }
      acknowledge(start, request, capability, &context)
    }
  }

  private mutating func takeAnswer(
    _ script: [HeadUnitBehaviour.VideoStartAnswer]
  ) -> HeadUnitBehaviour.VideoStartAnswer {
    if !nextAnswers.isEmpty { return nextAnswers.removeFirst() }
    guard let last = script.last else { return .regular }
    guard usedAnswerCount < script.count else { return last }
    defer { usedAnswerCount += 1 }
    return script[usedAnswerCount]
  }

  private mutating func acknowledge(
    _ start: MediaService<VideoStreamChecker>.Start, _ answer: VideoServiceParameters,
    _ capability: OfferedCapability, _ context: inout ServedContext
  ) {
    let version = context.headerVersion
    var answer = answer
    answer.mtu = answer.mtu ?? Int64(context.configuration.frameLimits.payload)
    if version < 5 { answer = VideoServiceParameters() }
    guard service.acknowledge(start, answer.bytes(version: version), &context) else { return }
    permissionOfMessage = nil
    startTime = context.now
    let sizes = capability.sizes
    let size = sizes.effective(answer, start.request)
    displaySize = sizes.display(of: size)
    pictureSize = size
    service.checker.begin(format: VideoFormatRules.effective(answer), size: size, limits: capability.limits(for: size))
    context.report(.videoStarted(answer, on: transport))
  }

  /// Sets the answer to the next start that is allowed; several calls answer as many starts, in order.
  mutating func answerNextStart(_ answer: HeadUnitBehaviour.VideoStartAnswer) {
    if nextAnswers.count < Self.mostAnswersInAdvance { nextAnswers.append(answer) }
  }

  // MARK: The stream

  mutating func take(_ message: [UInt8], _ permission: MediaPermission, _ context: inout ServedContext) {
    if let timeout = context.behaviour.videoDataTimeout {
      context.timers.arm(.videoData, at: context.now + timeout)
    }
    // An owner that gives more before has no other apps to serve.
    while isBusy { continueCheck(&context) }
    permissionOfMessage = permission
    service.checker.begin(message, now: context.now)
    continueCheck(&context)
  }

  /// Whether ``continueCheck(_:)`` has something to do, and no more video is to be given before.
  var isBusy: Bool { permissionOfMessage != nil && service.isOpen }

  /// Checks the next part of a long message; shows it after the last one.
  mutating func continueCheck(_ context: inout ServedContext) {
    guard let permission = permissionOfMessage, let (video, violations) = service.checker.checkSlice() else { return }
    permissionOfMessage = nil
    for violation in violations { context.report(.stream(violation)) }
    guard service.shows(permission, &context) else { return }
    if isPlayerConnected(context) { show(video, &context) } else if !video.isEmpty { context.report(.videoMissed) }
    acknowledgeData(&context)
  }

  private func isPlayerConnected(_ context: ServedContext) -> Bool {
    switch context.behaviour.player {
    case .connects(let delay): context.now - startTime >= delay
    case .absent: false
    }
  }

  private func show(_ video: [[UInt8]], _ context: inout ServedContext) {
    let timestamps = service.checker.timestamps
    for (index, bytes) in video.enumerated() {
      if index < timestamps.count { context.report(.videoTimestamp(timestamps[index])) }
      context.report(.videoData(bytes))
    }
  }

  private mutating func acknowledgeData(_ context: inout ServedContext) {
    switch context.behaviour.serviceDataAcknowledgement {
    case .never: return
    case .likeCore: guard (2...4).contains(context.headerVersion) else { return }
    case .always: break
    }
    acknowledgedMessageCount &+= 1
    let count = withUnsafeBytes(of: acknowledgedMessageCount.bigEndian, Array.init)
    context.send(.serviceDataACK, service: .video, on: transport, payload: count)
  }

  /// No data has come for ``HeadUnitBehaviour/videoDataTimeout``.
  mutating func dataStopped(_ context: inout ServedContext) {
    guard service.isOpen else { return }
    service.checker.expectRestart()
    context.report(.videoDataStopped(after: context.behaviour.videoDataTimeout ?? CoreLimits.videoDataStopped))
  }

  /// Other rates were announced to the app.
  mutating func setLimits(of capability: OfferedCapability, now: Duration) {
    service.checker.setLimits(capability.limits(for: service.checker.size), now: now)
  }

  // MARK: The end

  /// EndService from the app.
  mutating func answerEnd(on transport: TransportRole, _ context: inout ServedContext) {
    service.answerEnd(on: transport, isSilent ? .silence : context.behaviour.serviceEnd, &context)
  }
}
