import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing
import TestSupport

/// The audio service against a hand-written app.
@Suite struct AudioServiceTests {
  /// Half a second of 16 kHz, 16 bit.
  private static let sound = [UInt8](repeating: 7, count: 16_000)

  private static func configuration(
    _ change: (inout HeadUnitConfiguration) -> Void = { _ in }
  ) -> HeadUnitConfiguration {
    var configuration = HeadUnitPreset.standard.configuration
    change(&configuration)
    return configuration
  }

  private static func speaking(_ configuration: HeadUnitConfiguration = configuration()) -> TestApp {
    var app = TestApp.active(configuration)
    app.send(.startService, .audio)
    app.forget()
    return app
  }

  private static func status(_ level: HMILevel, _ audio: AudioStreamingState) -> HMIStatus {
    HMIStatus(level: level, audioStreamingState: audio, videoStreamingState: .notStreamable)
  }

  @Test func startAndEnd() throws {
    var app = TestApp.active(Self.configuration { $0.maximumPayload = 5000 })
    app.send(.startService, .audio)
    #expect(app.controls == ["audio startServiceACK"])
    let answer = AudioServiceAcknowledgement(payload: try #require(app.payload(.startServiceACK, .audio)))
    #expect(answer.mtu == 5000)
    #expect(app.events == [.audioStartRequested, .audioStarted(PCMFormat(), on: .primary)])
    app.send(data: Self.sound, .audio, maximumPayload: 4000)
    #expect(app.events.last == .audioData(Self.sound))
    // The app streams, but no video that another app could end.
    var isStreaming = app.session.isStreaming
    #expect(isStreaming && app.session.summary?.isStreaming == false)
    app.send(.endService, .audio)
    isStreaming = app.session.isStreaming
    #expect(!isStreaming)
    var statistics = AudioStreamStatistics()
    statistics.messages = 1
    statistics.bytes = 16_000
    statistics.samples = 8000
    statistics.longestLead = .milliseconds(500)
    #expect(app.events.last == .audioStopped(reason: .endedByApp, statistics))
    #expect(app.controls.last == "audio endServiceACK")
    #expect(app.violations == [])
    #expect(app.session.nextDeadline == nil)
    app.send(.endService, .audio)
    #expect(app.violations == [.endOfServiceNotRunning(.audio)])
    #expect(app.controls.last == "audio endServiceNAK")
  }

  /// The bytes of protocol version 5: nothing, and `mtu` alone.
  @Test func bytesOfTheAcknowledgement() {
    let mtuAlone = joined([18, 0, 0, 0, 0x12], Array("mtu\0".utf8), [0, 0, 2, 0, 0, 0, 0, 0, 0])
    #expect(AudioServiceAcknowledgement(mtu: 131_072).bytes(version: 5) == mtuAlone)
    #expect(AudioServiceAcknowledgement(mtu: 131_072).bytes(version: 4) == [])
    #expect(AudioServiceAcknowledgement(payload: [1, 2, 3]).mtu == nil)
  }

  @Test(arguments: [PCMFormat(samplingRate: .hertz44000, sampleSize: .bits8), nil] as [PCMFormat?])
  func announcement(format: PCMFormat?) {
    var app = TestApp(Self.configuration { $0.pcmFormat = format })
    app.startSession()
    app.register()
    let response = app.rpcs.first { $0.type == .response }
    #expect(response.map { RegisterAppInterfaceResponse(json: $0.parameters).pcmFormat } == format)
    app.wait(.milliseconds(100))
    app.send(.startService, .audio)
    #expect(app.events.last == .audioStarted(format ?? PCMFormat(), on: .primary))
  }

  @Test(arguments: [
    (HMILevel.full, AudioStreamingState.audible, true), (.full, .attenuated, true), (.full, .notAudible, false),
    (.limited, .audible, true), (.limited, .notAudible, false), (.background, .audible, false),
    (.none, .notAudible, false),
  ])
  func levels(level: HMILevel, audio: AudioStreamingState, starts: Bool) {
    var app = TestApp.registered()
    app.wait(.milliseconds(10))
    app.run { $0.setHMIStatus(Self.status(level, audio), now: $1) }
    app.send(.startService, .audio)
    #expect(app.controls.last == (starts ? "audio startServiceACK" : "audio startServiceNAK"))
    if !starts { #expect(app.session.summary?.level == HMILevel.none, "a refusal costs the level") }
  }

  @Test func mediaAppsSpeakInTheBackground() {
    var app = TestApp(Self.configuration())
    app.startSession()
    app.register { $0["isMediaApplication"] = .bool(true) }
    app.run { $0.setHMIStatus(Self.status(.background, .audible), now: $1) }
    app.send(.startService, .audio)
    #expect(app.controls.last == "audio startServiceACK")
  }

  @Test func refusals() {
    var early = TestApp()
    early.startSession()
    early.forget()
    early.send(.startService, .audio)
    #expect(early.controls == [] && early.violations == [.startBeforeRegistration(.audio)])

    var other = TestApp()
    other.startSession()
    other.register { $0["appHMIType"] = .array([.string("MEDIA")]) }
    other.wait(.milliseconds(100))
    other.send(.startService, .audio)
    #expect(other.controls.last == "audio startServiceNAK")

    var twice = Self.speaking()
    twice.send(.startService, .audio)
    twice.send(data: Self.sound, .audio)
    #expect(twice.controls == ["audio startServiceNAK"], "the first service goes on")
    #expect(twice.violations == [.startWhileActive(.audio)] && twice.events.last == .audioData(Self.sound))
  }

  @Test(arguments: HeadUnitBehaviour.AudioStartAnswer.allCases)
  func scriptedAnswers(answer: HeadUnitBehaviour.AudioStartAnswer) {
    var app = TestApp.active()
    app.run { $0.change(.audioStart(answer), now: $1) }
    app.send(.startService, .audio)
    switch answer {
    case .acknowledge: #expect(app.controls == ["audio startServiceACK"])
    case .reject: #expect(app.controls == ["audio startServiceNAK"])
    case .silence:
      #expect(app.controls == [])
      // Of a start that was never answered, an app may send the end.
      app.send(.endService, .audio)
      #expect(app.controls == ["audio endServiceNAK"] && app.violations == [])
    case .acknowledgeAndEnd:
      #expect(app.controls == ["audio startServiceACK", "audio endService"])
      app.send(.endServiceACK, .audio)
      #expect(app.session.nextDeadline == nil)
      app.send(.startService, .audio)
      #expect(app.controls.suffix(2) == ["audio startServiceACK", "audio endService"])
    }
  }

  /// A head unit that encrypts nothing: an app that asks for it learns that from the missing bit.
  @Test(arguments: [true, false])
  func encryptedSoundIsAnsweredInClear(isEncrypted: Bool) {
    var app = TestApp.active()
    var start = Frame.control(.startService, service: .audio, version: 5, sessionID: 1)
    start.header.isEncrypted = isEncrypted
    app.send(start)
    #expect(app.controls == ["audio startServiceACK"] && app.headers.map(\.isEncrypted) == [false])
    #expect(app.events.contains(.audioInClear) == isEncrypted)
  }

  @Test func aRefusalCostsNoLevelWhileVideoRuns() {
    var app = TestApp.streaming()
    app.run { $0.change(.audioStart(.reject), now: $1) }
    app.send(.startService, .audio)
    #expect(app.controls == ["audio startServiceNAK"])
    #expect(app.levels == [])
  }

  /// A second in which the app may not know yet; then it is told, and a second later the session ends.
  @Test func soundWhileNotAudible() {
    var app = Self.speaking()
    app.run { $0.setAudioStreaming(.notAudible, now: $1) }
    app.send(data: Self.sound, .audio)
    #expect(app.violations == [] && !app.events.contains(.audioData(Self.sound)))
    app.wait(.milliseconds(1000))
    app.send(data: Self.sound, .audio)
    #expect(app.violations == [.audioWhileForbidden(for: .milliseconds(1000))])
    #expect(app.controls == ["audio endService"])
    app.wait(.milliseconds(1001))
    app.send(data: Self.sound, .audio)
    #expect(app.violations.last == .dataAfterEndService(.audio, after: .milliseconds(1001)))
    #expect(app.events.last == .appUnregistered(reason: .headUnit(.protocolViolation)) && !app.isClosed)
  }

  @Test func silentAppsKeepTheService() {
    var app = Self.speaking()
    app.run { $0.apply(.event(.phoneCall, isActive: true), now: $1) }
    app.wait(.seconds(60))
    app.run { $0.apply(.event(.phoneCall, isActive: false), now: $1) }
    app.send(data: Self.sound, .audio)
    #expect(app.events.last == .audioData(Self.sound))
    #expect(app.controls == [] && app.violations == [])
  }

  @Test func levelNoneEndsAudioThenVideo() {
    var app = TestApp.streaming()
    app.send(.startService, .audio)
    app.forget()
    app.set(.none, .notStreamable)
    #expect(app.controls == ["audio endService", "video endService"])
    app.wait(.seconds(1))
    #expect(
      app.violations == [
        .endServiceNotAcknowledged(.video, after: .seconds(1)), .endServiceNotAcknowledged(.audio, after: .seconds(1)),
      ])
  }

  @Test func theDriverChoosesWhetherItIsHeard() {
    var app = Self.speaking()
    for state in [AudioStreamingState.attenuated, .notAudible, .audible] {
      app.run { $0.setAudioStreaming(state, now: $1) }
      #expect(app.rpcs.last.map { HMIStatus(json: $0.parameters).audioStreamingState } == state)
    }
    app.run { $0.apply(.event(.phoneCall, isActive: true), now: $1) }
    app.run { $0.setAudioStreaming(.attenuated, now: $1) }
    #expect(app.rpcs.last.map { HMIStatus(json: $0.parameters).audioStreamingState } == .notAudible)
    app.set(.none, .notStreamable)
    app.forget()
    app.run { $0.setAudioStreaming(.audible, now: $1) }
    #expect(app.rpcs == [])
  }

  /// What the end of the service tells.
  private static func endedStatistics(of app: inout TestApp) -> AudioStreamStatistics? {
    app.run { $0.endService(.audio, now: $1) }
    return if case .audioStopped(_, let statistics)? = app.events.last { statistics } else { nil }
  }

  @Test func partsOfSamples() {
    var app = Self.speaking()
    app.send(data: [1, 2, 3], .audio)
    #expect(app.violations == [.audio(.partialSample(byteCount: 3, sampleByteCount: 2))])
    #expect(app.events.last == .audioData([1, 2, 3]), "the bytes are those that came")
    #expect(Self.endedStatistics(of: &app)?.samples == 1)
  }

  /// A second ahead is allowed, in hours as in the first minute.
  @Test func asFastAsItIsPlayed() {
    var app = Self.speaking()
    app.send(data: Self.sound, .audio)
    for _ in 0..<7200 {
      app.send(data: Self.sound, .audio)
      app.wait(.milliseconds(500))
    }
    #expect(app.violations == [])
    app.send(data: Self.sound, .audio)
    app.send(data: [0, 0], .audio)
    app.send(data: Self.sound, .audio)
    let lead = Duration.seconds(1) + .microseconds(62) + .nanoseconds(500)
    #expect(app.violations == [.audio(.fasterThanRealTime(by: lead))], "reported once")
    app.wait(.seconds(10))
    for _ in 0..<3 { app.send(data: Self.sound, .audio) }
    #expect(app.violations.count == 2, "reported again, since all was played in between")
    #expect(Self.endedStatistics(of: &app)?.longestLead == lead + .milliseconds(500))
  }

  /// What has piled up while the head unit did not read is not the app's fault.
  @Test func afterAPauseOfReading() {
    var app = Self.speaking()
    app.send(data: Self.sound, .audio)
    app.run { $0.setReading(false, now: $1) }
    app.wait(.seconds(8))
    app.run { $0.setReading(true, now: $1) }
    for _ in 0..<17 { app.send(data: Self.sound, .audio) }
    #expect(app.violations == [])
    for _ in 0..<3 { app.send(data: Self.sound, .audio) }
    #expect(app.violations.count == 1)
  }

  @Test func numbersForPrograms() {
    let violations: [(Violation, String, [String: Int])] = [
      (.audioWhileForbidden(for: .seconds(2)), "audio-while-forbidden", ["after-ms": 2000]),
      (.audio(.partialSample(byteCount: 3, sampleByteCount: 2)), "partial-sample", ["bytes": 3, "sample-bytes": 2]),
      (.audio(.fasterThanRealTime(by: .seconds(3))), "audio-faster-than-real-time", ["ahead-ms": 3000]),
    ]
    for (violation, rule, numbers) in violations {
      #expect(violation.rule == rule)
      #expect(Dictionary(uniqueKeysWithValues: violation.numbers.map { ($0.name, $0.value) }) == numbers)
      #expect(!violation.description.isEmpty)
    }
  }

  /// Pauses of reading add up.
  @Test func afterSeveralPausesOfReading() {
    var app = Self.speaking()
    app.send(data: Self.sound, .audio)
    for seconds in [4, 2] {
      app.run { $0.setReading(false, now: $1) }
      app.wait(.seconds(seconds))
      app.run { $0.setReading(true, now: $1) }
    }
    app.wait(.seconds(3))
    for _ in 0..<18 { app.send(data: Self.sound, .audio) }
    #expect(app.violations == [])
  }
}
