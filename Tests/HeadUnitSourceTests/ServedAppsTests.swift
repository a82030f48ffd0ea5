import SDLHeadUnit
import SDLHeadUnitLink
import SDLMessages
import SDLWire
import Testing

@testable import Plugin

/// What an application is told of the apps of a head unit, and which of them is on the screen.
@Suite struct ServedAppsTests {
  private var apps = ServedApps()

  private mutating func note(_ id: UInt8, _ events: HeadUnitSession.Event...) {
    for event in events { apps.note(.session(id: id, event)) }
  }

  private static func registered(_ name: String) -> HeadUnitSession.Event {
    .appRegistered(name: name, id: name, types: [.navigation], protocolVersion: ProtocolVersion(5, 4), .success)
  }

  private static func status(_ level: HMILevel, window: Int = 0) -> HeadUnitSession.Event {
    .hmiStatusSent(HMIStatus(level: level, videoStreamingState: .streamable, windowID: window))
  }

  private mutating func connect(_ id: UInt8, from peer: String) { apps.note(.connected(id: id, peer: peer)) }

  private mutating func disconnect(_ id: UInt8) { apps.note(.disconnected(id: id, nil, VideoStreamStatistics())) }

  @Test mutating func theAppWithTheHighestLevelIsOnTheScreen() {
    note(1, Self.registered("Map"))
    note(2, Self.registered("Radio"))
    #expect(apps.onScreen == nil && apps.levelOnScreen == nil)
    note(2, Self.status(.full))
    note(1, Self.status(.limited))
    #expect(apps.onScreen?.id == 2 && apps.levelOnScreen == .full)
    note(2, Self.status(.background))
    #expect(apps.onScreen?.id == 1 && apps.levelOnScreen == .limited)
    note(1, .appUnregistered(reason: .requestedByApp))
    #expect(apps.onScreen?.id == 2 && apps.levelOnScreen == .background)
  }

  @Test mutating func ofTwoWithTheSameLevelItIsTheOneThatChangedLast() {
    for id: UInt8 in 1...2 { note(id, Self.registered("\(id)")) }
    for id: UInt8 in [1, 2, 1] {
      note(id, Self.status(.limited))
      #expect(apps.onScreen?.id == id)
    }
    // Closed ones count if there are no others.
    for id: UInt8 in [1, 2, 1] {
      note(1, Self.status(.none))
      note(2, Self.status(.none))
      note(id, Self.status(.none))
      #expect(apps.onScreen?.id == id && apps.levelOnScreen == HMILevel.none)
    }
  }

  /// Nor does a session without an app.
  @Test mutating func aWidgetDoesNotChangeWhatIsOnTheScreen() {
    note(1, Self.registered("Map"), Self.status(.none))
    note(1, Self.status(.full, window: 2))
    note(2, Self.status(.full))
    #expect(apps.onScreen?.id == 1 && apps.levelOnScreen == HMILevel.none)
    note(1, .systemContextSent(HMIStatus(level: .full, systemContext: .menu, videoStreamingState: .streamable)))
    #expect(apps[1]?.status?.systemContext == .menu && apps.levelOnScreen == .full)
  }

  @Test mutating func sessionsOfOnePeerAreOneConnection() {
    connect(1, from: "a")
    connect(2, from: "a")
    connect(3, from: "b")
    note(1, Self.registered("Map"))
    #expect(apps.connectionCount == 2 && apps[1]?.peer == "a")
    note(1, .appUnregistered(reason: .requestedByApp))
    #expect(apps.all.isEmpty && apps.connectionCount == 2)
    disconnect(1)
    #expect(apps.connectionCount == 2)
    note(2, Self.registered("Radio"))
    disconnect(2)
    #expect(apps.connectionCount == 1 && apps.all.isEmpty)
  }

  @Test mutating func aSessionHasOneApp() {
    note(1, Self.registered("Old"), .videoStarted(VideoServiceParameters(width: 8, height: 4), on: .secondary))
    note(2, Self.registered("Other"))
    note(1, Self.registered("New"))
    #expect(apps.all.map(\.name) == ["Other", "New"])
    #expect(apps[1]?.video == nil && apps[1]?.hasStreamed == false && apps[1]?.appID == "New")
    note(1, .nameChanged("Neu"), .buttonsSubscribed(["OK"]))
    #expect(apps[1]?.name == "Neu" && apps[1]?.buttons == ["OK"] && apps[2]?.name == "Other")
  }

  @Test mutating func servicesComeAndGo() {
    note(1, Self.registered("Map"))
    #expect(apps[1]?.hasStreamed == false && apps[1]?.video == nil && apps[1]?.audioTransport == nil)
    note(1, .videoStarted(VideoServiceParameters(width: 8, height: 4), on: .secondary))
    #expect(apps[1]?.video?.width == 8 && apps[1]?.videoTransport == .secondary && apps[1]?.hasStreamed == true)
    note(1, .videoStopped(reason: .endedByApp))
    #expect(apps[1]?.video == nil && apps[1]?.hasStreamed == true)
    note(2, Self.registered("Radio"), .audioStarted(PCMFormat(), on: .secondary))
    #expect(apps[2]?.audioTransport == .secondary && apps[2]?.hasStreamed == true && apps[1]?.audioTransport == nil)
    note(2, .audioStopped(reason: .endedByApp, AudioStreamStatistics()))
    #expect(apps[2]?.audioTransport == nil && apps[2]?.hasStreamed == true)
  }

  /// It may be there before the app is registered, and after its end.
  @Test mutating func theSecondaryTransportBelongsToTheSession() {
    note(1, .secondaryTransportRegistered, Self.registered("Map"))
    #expect(apps[1]?.hasSecondaryTransport == true)
    note(1, .secondaryTransportLost)
    #expect(apps[1]?.hasSecondaryTransport == false)
    note(1, Self.registered("Map"))
    #expect(apps[1]?.hasSecondaryTransport == false)
    note(1, .secondaryTransportRegistered)
    #expect(apps[1]?.hasSecondaryTransport == true)
    note(1, .appUnregistered(reason: .requestedByApp), Self.registered("Map"))
    note(2, Self.registered("Radio"))
    #expect(apps[1]?.hasSecondaryTransport == true && apps[2]?.hasSecondaryTransport == false)
  }
}

/// Which element of a head unit tells the application of an event.
@Suite struct EventServiceTests {
  private static let videoRules: [Violation] = [
    .stream(.pictureBeforeKeyFrame), .videoWhileForbidden(for: .seconds(1)), .dataWithoutService(.video),
  ]
  private static let audioRules: [Violation] = [
    .audio(.fasterThanRealTime(by: .seconds(1))), .audioWhileForbidden(for: .seconds(1)), .messageIDZero(.audio),
    .encryptedFrame(.audio), .clearFrame(.audio), .undecryptableFrame(.audio), .startBeforeRegistration(.audio),
    .startWhileActive(.audio), .endOfServiceNotRunning(.audio), .endServiceNotAcknowledged(.audio, after: .seconds(1)),
    .dataWithoutService(.audio), .dataAfterEndService(.audio, after: .seconds(1)),
    .wrongTransport(.audio, expected: .primary),
  ]
  private static let otherRules: [Violation] = [.transport("text"), .heartbeatUnanswered(after: .seconds(1))]

  private static func service(_ event: HeadUnitSession.Event) -> ServiceType? {
    HeadUnitServerEvent.session(id: 1, event).service
  }

  @Test func violationsBelongToTheServiceOfTheirRule() {
    for (rules, service) in [(Self.videoRules, ServiceType.video), (Self.audioRules, .audio), (Self.otherRules, nil)] {
      for rule in rules { #expect(Self.service(.violation(rule)) == service, "\(rule)") }
    }
  }

  @Test func eventsBelongToTheirService() {
    #expect(Self.service(.videoStopped(reason: .endedByApp)) == .video && Self.service(.videoData([1])) == .video)
    #expect(Self.service(.handshakeFailed("text")) == .video && Self.service(.rpcProtected) == .video)
    #expect(Self.service(.audioInClear) == .audio && Self.service(.audioData([1])) == .audio)
    #expect(Self.service(.nameChanged("Map")) == nil && HeadUnitServerEvent.connected(id: 1, peer: "").service == nil)
  }
}
