import SDLMessages
import Testing

@testable import SDLApp

/// What is streamed of sound, and when.
@Suite struct AudioNegotiationTests {
  private static let grant = AudioGrant(
    media: MediaGrant(service: .audio, epoch: 1, sessionID: 1, version: 5, maximumPayload: 1000), format: PCMFormat(),
    isFormatAssumed: false)

  private struct Driver {
    var negotiation: AudioNegotiation
    var session = AppSession.Status()
    var outputs: [AudioNegotiation.Output] = []
    var now = Duration.zero

    init(_ policy: SuspendPolicy = .auto, activity: AudioActivity = AudioActivity()) {
      var settings = AudioNegotiation.Settings()
      settings.suspendPolicy = policy
      negotiation = AudioNegotiation(settings: settings, activity: activity)
    }

    @discardableResult
    mutating func change<Result>(_ body: (inout AudioNegotiation) -> Result) -> Result {
      defer { outputs += negotiation.takeOutputs(at: now) }
      return body(&negotiation)
    }

    mutating func decide(_ timing: BufferTiming, isSilence: Bool = false) -> AudioNegotiation.SampleDecision {
      let now = self.now
      return change { $0.decide(timing, isSilence: isSilence, now: now) }
    }

    mutating func show(_ level: HMILevel, _ audio: AudioStreamingState) {
      publish { $0.hmi = HMIStatus(level: level, audioStreamingState: audio, videoStreamingState: .streamable) }
    }

    mutating func publish(_ change: (inout AppSession.Status) -> Void) {
      session.headUnit = NegotiationDriver.headUnit
      change(&session)
      let status = session
      self.change { $0.sessionChanged(to: status) }
    }

    mutating func startService() {
      publish {
        $0.audio.grant = grant
        $0.audio.state = .streaming
      }
    }

    mutating func stopService(_ reason: StreamStopReason) {
      publish {
        $0.audio.end = AppSession.ServiceEnd(epoch: grant.epoch, reason: reason)
        $0.audio.grant = nil
        $0.audio.state = .stopped
      }
      session.audio.end = nil
    }

    mutating func loseConnection() {
      session = AppSession.Status()
      change { $0.sessionChanged(to: AppSession.Status()) }
    }

    /// Up to the first sample that is sent.
    mutating func start() {
      show(.full, .audible)
      change { $0.inputChanged(PCMFormat()) }
      change { $0.played() }
      startService()
    }

    var requests: [AudioStartRequest?] {
      outputs.compactMap { if case .request(let request) = $0 { .some(request) } else { nil } }
    }

    var notifications: [AudioNotification] {
      outputs.compactMap { if case .notify(let notification) = $0 { notification } else { nil } }
    }
  }

  @Test func startsWithCapsAndPlaying() {
    var driver = Driver()
    driver.change { $0.played() }
    #expect(driver.requests.isEmpty)
    driver.start()
    #expect(driver.requests == [AudioStartRequest()])
    #expect(driver.notifications == [.started(Self.grant, reason: "first-start")])
    #expect(driver.decide(.live) == .send(Self.grant))
    driver.change { $0.streamEnded() }
    #expect(driver.requests == [AudioStartRequest(), nil])
    driver.stopService(.app)
    #expect(driver.notifications.last == .stopped(.session(.app)))
  }

  /// What becomes of samples while the driver does not hear the app, and whether the application is asked for a pause.
  @Test(arguments: SuspendPolicy.allCases, [BufferTiming.live, .synchronized, .unsynchronized])
  func suspended(policy: SuspendPolicy, timing: BufferTiming) {
    var driver = Driver(policy)
    driver.start()
    driver.show(.full, .notAudible)
    driver.publish { $0.audio.state = .suspended }
    #expect(driver.notifications.contains(.stream(.suspended(reason: "not-audible"))))
    let pauses = policy == .auto && timing != .live
    let waits = timing == .unsynchronized || pauses
    #expect(driver.decide(timing) == (waits ? .wait(thenDrop: .suspended) : .drop(.suspended)))
    #expect(driver.notifications.contains(.stream(.requestPause)) == pauses)
    driver.show(.full, .audible)
    driver.publish { $0.audio.state = .streaming }
    #expect(driver.notifications.contains(.started(Self.grant, reason: "resumed")))
    #expect(driver.notifications.contains(.stream(.requestPlaying)) == pauses)
    #expect(driver.decide(timing) == .send(Self.grant))
  }

  /// For a head unit that is not ready, files pause and live sources do not.
  @Test func beforeTheService() {
    var driver = Driver()
    driver.change { $0.inputChanged(PCMFormat()) }
    #expect(driver.requests.isEmpty)
    driver.change { $0.prerolled() }
    #expect(driver.requests == [AudioStartRequest()])
    #expect(driver.decide(.live) == .drop(.notStreaming))
    // In PAUSED nobody is asked for a pause.
    #expect(driver.decide(.synchronized) == .drop(.notStreaming))
    #expect(driver.notifications.isEmpty)
    driver.change { $0.played() }
    #expect(driver.decide(.synchronized) == .wait(thenDrop: .notStreaming))
    #expect(driver.notifications == [.stream(.requestPause)])
    #expect(driver.decide(.synchronized) == .drop(.notStreaming))
    // No service comes any more.
    driver.change { $0.streamEnded() }
    driver.change { $0.paused() }
    #expect(driver.notifications == [.stream(.requestPause), .stream(.requestPlaying)])
  }

  /// In a pause no sound would come that could start the service.
  @Test func soundThatStartsItsServiceAsksForNoPause() {
    var driver = Driver(activity: AudioActivity(startsOnData: true, idleTimeout: .seconds(2)))
    driver.change { $0.inputChanged(PCMFormat()) }
    driver.change { $0.played() }
    driver.show(.full, .notAudible)
    #expect(driver.decide(.synchronized) == .drop(.notStreaming))
    #expect(driver.notifications.isEmpty)
  }

  /// The picture goes on without sound.
  @Test func refusalEndsThePause() throws {
    var driver = Driver()
    driver.change { $0.inputChanged(PCMFormat()) }
    driver.change { $0.played() }
    #expect(driver.decide(.synchronized) == .wait(thenDrop: .notStreaming))
    try driver.change { negotiation in
      Result { () throws(AudioProblem) in
        let failure = AudioStartFailure.refused(rejectedParameters: [], reason: nil)
        try negotiation.startFailed(failure, retryAfter: nil, hasVideo: true)
      }
    }.get()
    #expect(driver.notifications.contains(.stream(.requestPlaying)))
  }

  @Test func announcements() {
    var driver = Driver(activity: AudioActivity(startsOnData: true, idleTimeout: .seconds(2)))
    driver.show(.limited, .audible)
    driver.change { $0.inputChanged(PCMFormat()) }
    driver.change { $0.played() }
    #expect(driver.decide(.live, isSilence: true) == .drop(.silent))
    #expect(driver.requests.isEmpty)
    driver.now = .seconds(10)
    #expect(driver.decide(.live) == .wait(thenDrop: .notStreaming, atMost: .seconds(2)))
    #expect(driver.requests == [AudioStartRequest()])
    // Held for two seconds at most.
    driver.now = .seconds(12)
    #expect(driver.decide(.live) == .drop(.notStreaming))
    driver.startService()
    #expect(driver.decide(.live) == .send(Self.grant))
    driver.now = .milliseconds(13_900)
    #expect(driver.decide(.live, isSilence: true) == .send(Self.grant))
    #expect(driver.requests == [AudioStartRequest()])
    driver.now = .seconds(14)
    driver.change { _ in }
    #expect(driver.requests == [AudioStartRequest(), nil])
    driver.stopService(.app)
    #expect(driver.notifications.last == .stopped(.idle))
    #expect(driver.outputs.contains(.setTimer(at: .seconds(14))))
  }

  /// Sound that had to wait for its service is sent: from then on silence counts, and a timer is needed for that.
  @Test func silenceBehindHeldSound() {
    var driver = Driver(activity: AudioActivity(startsOnData: true, idleTimeout: .seconds(2)))
    driver.show(.limited, .audible)
    driver.change { $0.inputChanged(PCMFormat()) }
    driver.change { $0.played() }
    #expect(driver.decide(.live) == .wait(thenDrop: .notStreaming, atMost: .seconds(2)))
    driver.startService()
    #expect(!driver.outputs.contains { if case .setTimer = $0 { true } else { false } })
    #expect(driver.negotiation.decide(.live, now: .seconds(1)) == .send(Self.grant))
    #expect(driver.negotiation.hasUrgentOutputs)
    driver.outputs += driver.negotiation.takeOutputs(at: .seconds(1))
    #expect(driver.outputs.last == .setTimer(at: .seconds(3)) && !driver.negotiation.hasUrgentOutputs)
  }

  /// Waits for its service for two seconds each time, whatever it has waited for before.
  @Test(arguments: ["flush", "end of the service"]) func heldAgain(after cause: String) {
    var driver = Driver(activity: AudioActivity(startsOnData: true, idleTimeout: .seconds(2)))
    driver.show(.limited, .audible)
    driver.change { $0.inputChanged(PCMFormat()) }
    driver.change { $0.played() }
    let wholeHold = AudioNegotiation.SampleDecision.wait(thenDrop: .notStreaming, atMost: .seconds(2))
    #expect(driver.decide(.live) == wholeHold)
    driver.now = .milliseconds(1500)
    if cause == "flush" {
      driver.change { $0.flushed() }
      // The sound before is over.
      #expect(driver.requests == [AudioStartRequest(), nil])
    } else {
      driver.startService()
      #expect(driver.decide(.live) == .send(Self.grant))
      driver.stopService(.headUnit)
    }
    driver.now = .milliseconds(1600)
    #expect(driver.decide(.live) == wholeHold)
  }

  /// Another head unit may take what this one has refused for good.
  @Test func refusedBeforeTheLoss() throws {
    var driver = Driver()
    driver.show(.full, .audible)
    driver.change { $0.inputChanged(PCMFormat()) }
    driver.change { $0.played() }
    let failure = AudioStartFailure.refused(rejectedParameters: [], reason: nil)
    try driver.change { negotiation in
      Result { () throws(AudioProblem) in
        try negotiation.startFailed(failure, retryAfter: nil, hasVideo: true)
      }
    }.get()
    #expect(driver.decide(.synchronized) == .drop(.notStreaming))
    driver.loseConnection()
    #expect(driver.decide(.synchronized) == .wait(thenDrop: .notStreaming))
  }

  @Test(arguments: [StreamStopReason.hmiStatus, .headUnit]) func serviceTakenAway(reason: StreamStopReason) {
    var driver = Driver()
    driver.start()
    driver.stopService(reason)
    #expect(driver.notifications.contains(.stream(.suspendedTimeBegan)))
  }

  @Test func reconnected() {
    var driver = Driver()
    driver.start()
    driver.stopService(.connectionLost)
    driver.loseConnection()
    #expect(driver.notifications.last == .stream(.suspendedTimeBegan))
    #expect(driver.decide(.live) == .drop(.notStreaming))
    #expect(driver.decide(.synchronized) == .wait(thenDrop: .notStreaming))
    #expect(driver.notifications.last == .stream(.requestPause))
    driver.show(.full, .audible)
    driver.startService()
    #expect(driver.notifications.suffix(2) == [.started(Self.grant, reason: "reconnected"), .stream(.requestPlaying)])
  }

  @Test func refused() throws {
    var driver = Driver()
    driver.start()
    let failure = AudioStartFailure.refused(rejectedParameters: [], reason: nil)
    try driver.change { negotiation in
      Result { () throws(AudioProblem) in try negotiation.startFailed(failure, retryAfter: .seconds(2)) }
    }.get()
    #expect(driver.notifications.last == .problem(.startRefused(failure, retryAfter: .seconds(2))))
    #expect(AudioProblem.startRefused(failure, retryAfter: .seconds(2)).description.hasSuffix("Trying again in 2 s."))
    #expect(throws: AudioProblem.refused(failure, isVideoStreaming: false)) {
      try driver.negotiation.startFailed(failure, retryAfter: nil)
    }
  }

  /// A head unit that refuses sound for good may have refused video too, or not have answered yet: only video that runs
  /// goes on.
  @Test(arguments: StreamState.allCases) func videoThatGoesOn(state: StreamState) throws {
    var driver = Driver()
    driver.start()
    driver.publish { $0.video.state = state }
    let failure = AudioStartFailure.refused(rejectedParameters: [], reason: "Allowed only in protected mode")
    try driver.change { negotiation in
      Result { () throws(AudioProblem) in try negotiation.startFailed(failure, retryAfter: nil, hasVideo: true) }
    }.get()
    guard case .problem(let problem) = driver.notifications.last else {
      Issue.record("\(driver.notifications)")
      return
    }
    #expect(problem.description.contains("Video continues without sound") == (state == .streaming), "\(problem)")
    #expect(problem.description.contains("It would refuse the same again"))
  }

  /// Video goes on without sound that is refused for good: nothing waits for that any more, until a service starts all
  /// the same.
  @Test(arguments: [BufferTiming.synchronized, .live]) func refusedBesideVideo(timing: BufferTiming) throws {
    var driver = Driver()
    driver.start()
    driver.stopService(.hmiStatus)
    let failure = AudioStartFailure.refused(rejectedParameters: [], reason: nil)
    try driver.change { negotiation in
      Result { () throws(AudioProblem) in try negotiation.startFailed(failure, retryAfter: nil, hasVideo: true) }
    }.get()
    #expect(driver.notifications.last == .problem(.refused(failure, isVideoStreaming: false)))
    driver.show(.none, .notAudible)
    #expect(driver.decide(timing) == .drop(.notStreaming))
    driver.change { $0.streamEnded() }
    driver.change { $0.streamBegan() }
    #expect(driver.decide(timing) == .drop(.notStreaming))
    driver.show(.full, .audible)
    driver.startService()
    #expect(driver.decide(timing) == .send(Self.grant))
  }
}

/// Whether sound calls for a service.
@Suite struct AudioActivityTests {
  @Test func alwaysByDefault() {
    var activity = AudioActivity()
    #expect(activity.isServiceWanted && activity.deadline == nil)
    activity.heard(at: .seconds(1))
    activity.elapse(now: .seconds(100))
    #expect(activity.isServiceWanted && activity.deadline == nil)
  }

  @Test func fromTheFirstSoundToSilence() {
    var activity = AudioActivity(startsOnData: true, idleTimeout: .seconds(2))
    #expect(!activity.isServiceWanted)
    activity.heard(at: .seconds(1))
    activity.heard(at: .seconds(3))
    #expect(activity.isServiceWanted && activity.deadline == .seconds(5))
    activity.elapse(now: .milliseconds(4999))
    #expect(activity.isServiceWanted)
    activity.elapse(now: .seconds(5))
    #expect(!activity.isServiceWanted && activity.deadline == nil)
  }

  /// What waits for its service is not silent.
  @Test func heldSound() {
    var activity = AudioActivity(startsOnData: true, idleTimeout: .seconds(2))
    activity.heard(at: .seconds(1), isWaiting: true)
    activity.elapse(now: .seconds(60))
    #expect(activity.isServiceWanted && activity.deadline == nil)
    activity.heard(at: .seconds(60))
    #expect(activity.deadline == .seconds(62))
  }
}

@Suite struct AudioFormatCheckTests {
  private let headUnit = PCMFormat(samplingRate: .hertz22000)

  /// Seconds that have passed, seconds of sound, and whether that is as long as another format is borne with.
  @Test(arguments: [(6, 1, false), (1, 60, false), (5, 5, false), (6, 6, true), (600, 6, true)])
  func mismatch(time: Int, sound: Int, fails: Bool) {
    var check = AudioFormatCheck(format: PCMFormat())
    #expect(check.check(0, headUnit: headUnit, now: .seconds(10)) == .ask(headUnit))
    let now = Duration.seconds(10 + time)
    let result = check.check(16_000 * sound, headUnit: headUnit, now: now)
    #expect(result == (fails ? .failed : .wait))
    #expect(check.problem == .wrongFormat(input: PCMFormat(), headUnit: headUnit))
    check.flush()
    #expect(check.problem == nil && check.check(1, headUnit: headUnit, now: now) == .ask(headUnit))
  }

  @Test func anotherHeadUnit() {
    var check = AudioFormatCheck(format: PCMFormat())
    #expect(check.check(1, headUnit: nil, now: .zero) == .played)
    #expect(check.check(1, headUnit: PCMFormat(), now: .zero) == .played)
    check.headUnitChanged()
    #expect(check.check(1, headUnit: headUnit, now: .zero) == .ask(headUnit))
  }
}
