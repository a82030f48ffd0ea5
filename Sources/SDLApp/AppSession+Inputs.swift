// What happens to a session, from either side, and with time.

extension AppSession {
  /// The transport is up.
  public mutating func transportConnected(now: Duration) -> [Action] {
    perform(at: now) { $0.startSession() }
  }

  /// A frame, or garbage, from the head unit.
  public mutating func receive(_ item: FrameDecoder.Item, now: Duration) -> [Action] {
    perform(at: now) {
      $0.charge(item)
      switch item {
      case .frame(let frame): $0.receive(frame)
      case .garbage(_, let firstBytes): $0.receiveGarbage(firstBytes)
      }
    }
  }

  mutating func charge(_ item: FrameDecoder.Item) {
    guard case .frame(let frame) = item else { return budget.charge(InputBudget.message, now: now) }
    switch frame.header.controlFrame {
    case .heartbeatACK, .serviceDataACK: budget.charge(InputBudget.frame, now: now)
    default:
      budget.charge(InputBudget.message + InputBudget.kibibyte * (frame.payload.count / 1024), now: now)
    }
  }

  /// Time has passed.
  public mutating func advance(to now: Duration) -> [Action] {
    perform(at: now) { $0.handleDeadlines() }
  }

  /// The transport is gone.
  public mutating func transportLost(now: Duration) -> [Action] {
    perform(at: now) { session in
      // Head units close the connection after their EndService.
      if case .endedByHeadUnit = session.phase { return session.fail(.endedByHeadUnit) }
      session.fail(.connectionLost)
    }
  }

  /// Asks for a stream from now on, or for none if `request` is nil. Asking again for what failed does not shorten the
  /// pause before the next attempt.
  public mutating func setVideoRequest(_ request: VideoStartRequest?, now: Duration) -> [Action] {
    perform(at: now) { $0.videoRequest = request }
  }

  /// Asks for sound from now on, or for none if `request` is nil.
  public mutating func setAudioRequest(_ request: AudioStartRequest?, now: Duration) -> [Action] {
    perform(at: now) { $0.audioRequest = request }
  }

  /// Sets which of the head unit's displays the app supports from now on. They are announced once, before the first start
  /// of video with any (OnAppCapabilityUpdated).
  public mutating func setSupportedDisplays(_ displays: [VideoDisplay], now: Duration) -> [Action] {
    perform(at: now) { $0.supportedDisplays = displays }
  }

  /// Sets whether the app is in the foreground of its own device.
  public mutating func setAppState(_ appState: AppState, now: Duration) -> [Action] {
    perform(at: now) { $0.appState = appState }
  }

  /// Ends video, audio, registration and session, as far as they exist, each after the answer to the one before, within
  /// `finishTimeout`. While ``isRegistrationPending``, that begins only with its answer. No failure is reported any more.
  public mutating func finish(now: Duration) -> [Action] {
    perform(at: now) { $0.beginFinish() }
  }

  /// Whether RegisterAppInterface waits for its answer, before which the transport must not be closed if that can be
  /// helped.
  public var isRegistrationPending: Bool {
    switch phase {
    case .registering, .finishing(.awaitingRegistration, _): true
    default: false
    }
  }

  mutating func perform(at now: Duration, _ body: (inout AppSession) -> Void) -> [Action] {
    guard phase != .over else { return [] }
    self.now = now
    body(&self)
    reconcileSecondary()
    reconcile()
    unregisterIfServicesHaveEnded()
    sendHapticRectangles()
    reportTransports()
    defer { actions = [] }
    return actions
  }

  private mutating func handleDeadlines() {
    switch phase {
    case .startingSession(let deadline) where deadline <= now:
      return fail(.unanswered(request: "StartService"))
    case .endedByHeadUnit(let deadline) where deadline <= now:
      return fail(.endedByHeadUnit)
    case .finishing(.unregistering, let deadline) where deadline <= now,
      .finishing(.endingSession, let deadline) where deadline <= now:
      return end()
    default: break
    }
    for function in requests.takeExpired(now: now) { requestExpired(function) }
    advanceHeartbeat()
    guard phase != .over else { return }
    advanceHandshake()
    advanceRPCProtection()
    perform(stream.advance(now: now))
    perform(audioStream.advance(now: now))
  }

  /// Ends the session with an error for the app, unless the app is ending it anyway.
  mutating func fail(_ failure: AppSessionFailure) {
    guard phase != .over else { return }
    if case .finishing = phase { return end() }
    stopStreams(failure == .connectionLost || failure == .heartbeatLost ? .connectionLost : .sessionEnded)
    actions.append(.report(.failed(failure)))
    end()
  }

  mutating func end() {
    guard phase != .over else { return }
    stopStreams(.sessionEnded)
    finishSecondary()
    requests.removeAll()
    phase = .over
    actions.append(.close)
  }
}
