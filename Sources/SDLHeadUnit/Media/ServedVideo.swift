import SDLMessages
import SDLWire

/// The video service: the answers to its starts, and its data.
struct ServedVideo: Sendable {
  /// A start whose answer is still to come.
  private struct Start: Sendable {
    let request: VideoServiceParameters
    /// Whether to encrypt the acknowledgement.
    var isEncrypted = false
    /// When the request was ready to be answered; nil while it waits for a TLS handshake.
    var readyTime: Duration?
  }

  private static let mostAnswersInAdvance = 100

  var service = MediaService<VideoStreamChecker>()
  /// Whether starts and ends of the service get no answer.
  var isSilent = false
  private var start: Start?
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
  private(set) var displaySize: ImageResolution?
  /// Of the pictures of that stream.
  private var pictureSize: ImageResolution?

  var statistics: VideoStreamStatistics { service.checker.statistics }
  /// The size of the pictures; nil without a stream.
  var sizeInUse: ImageResolution? { service.isOpen ? pictureSize : nil }
  private var transport: TransportRole { service.transport }
  var waitsForHandshake: Bool { start.map { $0.readyTime == nil } ?? false }

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
    service.isStartLost = isSilent
    if isSilent { return }
    if transport == .primary, isTransportAllowed, service.transport == .secondary {
      if start != nil { withdrawStart(reason: service.preemptedReason, &context) }
      security.cancel(.video, &context)
      service.giveWayToPrimary(&context)
    }
    let isEncrypted = frame.header.isEncrypted
    let isAccepted = service.accepts(
      on: transport, isTransportAllowed: isTransportAllowed, app, isStarting: start != nil,
      unless: security.reasonToRefuseMedia(isEncrypted: isEncrypted, context), &context)
    guard isAccepted else { return }
    start = Start(request: request)
    switch security.prepare(.video, on: transport, isEncrypted: isEncrypted, app, &context) {
    case .clear: startReady(isEncrypted: false, app, capability, &context)
    case .encrypted: startReady(isEncrypted: true, app, capability, &context)
    case .handshake: break
    case .refused(let reason): refuse(reason: reason, &context)
    }
  }

  /// The handshake for which the start has waited is over.
  /// - Parameter failure: why it has failed.
  mutating func handshakeEnded(
    _ failure: HandshakeFailure?, _ app: RegisteredApp?, _ capability: OfferedCapability,
    _ context: inout ServedContext
  ) {
    guard waitsForHandshake, let app else { return }
    if let failure, context.configuration.security == .require {
      start = nil
      return service.refuse(reason: failure.text, costsLevel: failure.isOwnFault, &context)
    }
    startReady(isEncrypted: failure == nil && context.behaviour.handshake != .clear, app, capability, &context)
  }

  /// Continues with a start that needs no handshake, or has completed it.
  private mutating func startReady(
    isEncrypted: Bool, _ app: RegisteredApp, _ capability: OfferedCapability, _ context: inout ServedContext
  ) {
    start?.isEncrypted = isEncrypted
    start?.readyTime = context.now
    // Without parameters SDL Core need not ask the HMI.
    let time = start?.request == VideoServiceParameters() ? nil : context.configuration.videoStartTime
    guard let delay = context.behaviour.videoStartDelay ?? time else { return answer(app, capability, &context) }
    context.timers.arm(.videoStart, at: context.now + delay)
  }

  func changeDelay(to delay: Duration, _ context: inout ServedContext) {
    if let time = start?.readyTime { context.timers.arm(.videoStart, at: time + delay) }
  }

  mutating func answerDue(_ app: RegisteredApp?, _ capability: OfferedCapability, _ context: inout ServedContext) {
    guard let app, start != nil else { return }
    service.isStartLost = isSilent
    if isSilent { start = nil } else { answer(app, capability, &context) }
  }

  /// Checks again, because status and behaviour may have changed since the request.
  private mutating func answer(_ app: RegisteredApp, _ capability: OfferedCapability, _ context: inout ServedContext) {
    guard let start = start.take() else { return }
    if let reason = service.reasonToRefuse(app, &context) { return refuse(reason: reason, &context) }
    let request = start.request
    switch takeAnswer(context.behaviour.videoStarts) {
    case .silence: service.isStartLost = true
    case .echo: acknowledge(start, request, capability, &context)
    case .reject(let parameters, let reason): refuse(parameters, reason: reason, &context)
    case .acknowledge(let parameters): acknowledge(start, parameters, capability, &context)
    case .regular:
      let format = VideoFormatRules.rejection(of: request, supported: capability.formats(for: request))
      guard format.isEmpty else { return refuse(format, reason: "The format is not supported", &context) }
      let size = capability.sizes.rejection(of: request)
      if !size.isEmpty, context.configuration.refusesUnknownSizes {
        return refuse(size, reason: "The size is not supported", &context)
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

  private mutating func refuse(_ parameters: [String] = [], reason: String?, _ context: inout ServedContext) {
    start = nil
    service.refuse(parameters, reason: reason, &context)
  }

  private mutating func acknowledge(
    _ start: Start, _ answer: VideoServiceParameters, _ capability: OfferedCapability,
    _ context: inout ServedContext
  ) {
    let version = context.headerVersion
    var answer = answer
    answer.mtu = answer.mtu ?? Int64(context.configuration.frameLimits.payload)
    if version < 5 { answer = VideoServiceParameters() }
    let payload = answer.bytes(version: version)
    let encrypted = start.isEncrypted ? context.encryption.encrypted(payload) : nil
    if start.isEncrypted, encrypted == nil, context.configuration.security == .require {
      return refuse(reason: "The acknowledgement can't be encrypted", &context)
    }
    service.begin()
    permissionOfMessage = nil
    startTime = context.now
    let sizes = capability.sizes
    let size = sizes.effective(answer, start.request)
    displaySize = sizes.display(of: size)
    pictureSize = size
    service.checker.begin(format: VideoFormatRules.effective(answer), size: size, limits: capability.limits(for: size))
    context.encryption.begin(.video, isEncrypted: encrypted != nil)
    context.send(
      .startServiceACK, service: .video, on: transport, isEncrypted: encrypted != nil, payload: encrypted ?? payload)
    context.report(.videoStarted(answer, on: transport))
  }

  /// Sets the answer to the next start that is allowed; several calls answer as many starts, in order.
  mutating func answerNextStart(_ answer: HeadUnitBehaviour.VideoStartAnswer) {
    if nextAnswers.count < Self.mostAnswersInAdvance { nextAnswers.append(answer) }
  }

  // MARK: The stream

  /// The status of the app, which may allow or forbid the stream.
  mutating func permit(_ app: RegisteredApp, _ context: inout ServedContext) {
    // The level stays as the driver chose it.
    if !app.allows(.video), start != nil { withdrawStart(reason: service.disallowedReason, &context) }
    service.permit(app, &context)
  }

  /// Refuses a start that waits, without the loss of the HMI level.
  private mutating func withdrawStart(reason: String, _ context: inout ServedContext) {
    cancelStart(&context)
    service.refuse(reason: reason, costsLevel: false, &context)
  }

  /// Data of the service.
  /// - Returns: nil if the data is ignored.
  func permission(_ context: inout ServedContext) -> MediaPermission? {
    service.permission(isStarting: start != nil, &context)
  }

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
    let answer = isSilent ? .silence : context.behaviour.serviceEnd
    if service.answerEnd(on: transport, answer, isStarting: start != nil, &context) { cancelStart(&context) }
  }

  /// Removes the service, without EndService.
  mutating func close(_ reason: HeadUnitSession.StreamStopReason, _ context: inout ServedContext) {
    cancelStart(&context)
    service.close(reason, &context)
  }

  mutating func secondaryLost(_ context: inout ServedContext) {
    if transport == .secondary { cancelStart(&context) }
    service.secondaryLost(&context)
  }

  private mutating func cancelStart(_ context: inout ServedContext) {
    start = nil
    context.timers.cancel(.videoStart)
  }
}
