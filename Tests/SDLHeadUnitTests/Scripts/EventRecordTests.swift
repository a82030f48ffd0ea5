import SDLMessages
import SDLWire
import Testing

@testable import SDLHeadUnit

/// What scripts can wait for and tests can expect, by the names and members that they write.
@Suite struct EventRecordTests {
  typealias Event = HeadUnitSession.Event

  private static let statistics = {
    var statistics = AudioStreamStatistics()
    (statistics.messages, statistics.samples) = (2, 300)
    return statistics
  }()

  static let events: [(Event, String)] = [
    (
      .appRegistered(
        name: "Map", id: "7", types: [.navigation, .projection], protocolVersion: ProtocolVersion(5, 4, 1), .success),
      #"registered {"id":"7","name":"Map","protocolVersion":"5.4.1","resultCode":"SUCCESS","#
        + #""types":["NAVIGATION","PROJECTION"]}"#
    ),
    (
      .registrationRefused(name: "Map", id: "7", .disallowed),
      #"registration-refused {"id":"7","name":"Map","resultCode":"DISALLOWED"}"#
    ),
    (.touchWithheld, "touch-withheld"),
    (.driverInput(.button("OK", .long)), #"driver-input {"input":"press OK long"}"#),
    (
      .driverInputWithoutEffect(.slider(2), .noSlider),
      #"no-effect {"input":"slider 2","reason":"the app shows no slider (Slider)"}"#
    ),
    (.buttonsSubscribed(["SEEKLEFT", "OK"]), #"buttons {"names":["OK","SEEKLEFT"]}"#),
    (
      .interactionShown(.alert, for: .milliseconds(2500), [.softButton(1)]),
      #"alert {"function":"Alert","inputs":["press soft-button 1"],"seconds":2.5}"#
    ),
    (
      .interactionShown(.slider, for: .seconds(7), []),
      #"interaction {"function":"Slider","inputs":[],"seconds":7}"#
    ),
    (
      .interactionEnded(.performInteraction, .timedOut),
      #"interaction-ended {"function":"PerformInteraction","resultCode":"TIMED_OUT"}"#
    ),
    (
      .textShown(.alertManeuver, ["Turn", "left"]), #"text-shown {"function":"AlertManeuver","texts":["Turn","left"]}"#
    ),
    (.nameChanged("Karte"), #"name-changed {"name":"Karte"}"#),
    (.iconSet("icon.png", byteCount: 9), #"icon {"bytes":9,"name":"icon.png"}"#),
    (.systemRequestAnswered("HTTP", byteCount: 3), #"system-request {"bytes":3,"requestType":"HTTP"}"#),
    (
      .videoStartRequested(VideoServiceParameters(width: 800, height: 480, videoProtocol: "RAW", videoCodec: "H264")),
      #"start-video {"height":480,"videoCodec":"H264","videoProtocol":"RAW","width":800}"#
    ),
    (
      .videoStarted(VideoServiceParameters(width: 800, height: 480), on: .secondary),
      #"stream-started {"height":480,"transport":"secondary","width":800}"#
    ),
    (
      .videoRefused(ServiceRejection(rejectedParameters: ["width"], reason: "no")),
      #"stream-refused {"reason":"no","rejectedParams":["width"]}"#
    ),
    (.videoDataStopped(after: .seconds(1)), #"data-stopped {"seconds":1}"#),
    (.videoStopped(reason: .otherAppStarted), #"stream-stopped {"reason":"another app has started its video"}"#),
    (.audioStartRequested, "start-audio"),
    (.audioInClear, "audio-in-clear"),
    (
      .audioStarted(PCMFormat(), on: .primary),
      #"audio-started {"format":"16000 Hz, 16 bit","transport":"primary"}"#
    ),
    (.audioRefused(ServiceRejection()), #"audio-refused {"rejectedParams":[]}"#),
    (
      .audioStopped(reason: .transportLost, statistics),
      #"audio-stopped {"messages":2,"reason":"the connection was lost","samples":300}"#
    ),
    (.appUnregistered(reason: .heartbeatTimeout), #"unregistered {"reason":"a heartbeat was not answered"}"#),
    (.secondaryTransportRegistered, "secondary-registered"),
    (
      .secondaryTransportRefused(.notOffered),
      #"secondary-refused {"reason":"No secondary transport is offered"}"#
    ),
    (.secondaryTransportLost, "secondary-lost"),
    (.rpcProtected, "rpc-protected"),
    (.handshakeFailed("no certificate"), #"handshake-failed {"reason":"no certificate"}"#),
    (.capabilityUpdateDeferred, "capability-deferred"),
  ]

  @Test(arguments: events) func name(event: Event, text: String) {
    #expect(EventRecord(event)?.text == text)
  }

  /// The level of the app's own window; other windows, and a status without a level, are no steps.
  @Test(arguments: [
    (HMILevel.full, "hmi-full"), (.limited, "hmi-limited"), (.background, "hmi-background"), (.none, "hmi-none"),
  ])
  func level(level: HMILevel, name: String) {
    var status = HMIStatus(level: level, videoStreamingState: .streamable)
    #expect(EventRecord(Event.hmiStatusSent(status))?.name == name)
    #expect(EventRecord(Event.systemContextSent(status))?.name == "system-context")
    #expect(EventRecord(Event.appHMIStatus(status))?.name == "app-hmi-status")
    status.windowID = 1
    #expect(EventRecord(Event.hmiStatusSent(status)) == nil)
  }

  /// Data is counted.
  @Test func data() {
    for event in [Event.videoData([1]), .videoTimestamp(1), .videoMissed, .audioData([1])] {
      #expect(EventRecord(event) == nil)
    }
  }
}
