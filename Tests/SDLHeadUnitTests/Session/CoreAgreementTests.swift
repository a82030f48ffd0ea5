import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// What SDL Core 8.2.0 does, and this head unit has to do with the same bytes: the conversations that no other test
/// shows. Odd requests are in ``OddConversationTests``, differences in ``CoreDifferenceTests``.
@Suite struct CoreAgreementTests {
  struct Agreement: Sendable, CustomTestStringConvertible {
    let conversation: String
    /// What SDL Core was seen to do; the order of the checks of a request is that of its source.
    let core: [String]
    let answer: @Sendable () -> [String]

    var testDescription: String { conversation }
  }

  private static let preset = HeadUnitPreset.core.configuration

  private static func pictures(_ app: TestApp) -> [String] {
    app.events.compactMap { if case .videoData(let bytes) = $0 { "\(bytes.count) bytes of video" } else { nil } }
  }

  private static func levels(_ app: TestApp) -> [String] {
    app.levels.map { $0?.rawValue ?? "no level" }
  }

  /// The results of a Show with one soft button each, which has these members.
  private static func show(_ buttons: [String]) -> [String] {
    var app = TestApp.active(preset)
    return buttons.map { button in
      let json = #"{"softButtons":[{"softButtonID":1,\#(button)}]}"#
      let parameters = try? JSONObject(parsing: Array(json.utf8)[...])
      let id = app.request(.show, parameters ?? [:])
      return app.result(id)?.resultCode ?? "no answer"
    }
  }

  private static func results(_ app: TestApp) -> [String] {
    app.rpcs.filter { $0.type == .response }.map { "\($0.correlationID) \($0.parameters["resultCode"]?.string ?? "")" }
  }

  private static let agreements = [
    Agreement(
      conversation: "a request between the frames of a picture",
      core: ["SUCCESS", "\(Stream.keyFrame.count) bytes of video"]
    ) {
      var app = TestApp.streaming(Self.preset, start: .core)
      let picture = Fragmentation(
        service: .video, version: 5, sessionID: 1, messageID: 50, payloadSize: Stream.keyFrame.count, maximumPayload: 20
      ).frames(of: Stream.keyFrame)
      app.send(bytes: Array(picture.prefix(52)))
      let id = app.request(.listFiles)
      app.send(bytes: Array(picture.dropFirst(52)))
      return [app.result(id)?.resultCode ?? "no answer"] + Self.pictures(app)
    },
    Agreement(conversation: "a frame as long as the mtu", core: ["131072 bytes of video"]) {
      var app = TestApp.streaming(Self.preset, start: .core)
      let picture = Stream.keyFrame + [UInt8](repeating: 1, count: 131_072 - Stream.keyFrame.count)
      app.send(data: picture, .video, maximumPayload: 131_072)
      return app.headers.isEmpty ? Self.pictures(app) : ["an answer"]
    },
    Agreement(conversation: "a message of 4883 frames", core: ["5000000 bytes of video"]) {
      var app = TestApp.streaming(Self.preset, start: .core)
      let picture = Stream.keyFrame + [UInt8](repeating: 1, count: 5_000_000 - Stream.keyFrame.count)
      app.send(data: picture, .video, maximumPayload: 1024)
      return Self.pictures(app)
    },
    Agreement(conversation: "twenty starts of video in a session, each after an end", core: ["20 acknowledged"]) {
      var app = TestApp.active(Self.preset)
      for _ in 0..<20 {
        app.startVideo(.core)
        app.video(Stream.keyFrame)
        app.send(.endService, .video)
      }
      return ["\(app.controls.count { $0 == "video startServiceACK" }) acknowledged"]
    },
    Agreement(
      conversation: "a session without parameters, and its first video",
      core: ["version 4", "hash 00010001", "video startServiceACK", "video serviceDataACK"]
    ) {
      var app = TestApp(Self.preset)
      app.version = 4
      app.send(.startService, .rpc, version: 1, sessionID: 0)
      let version = app.headers.first.map { "version \($0.version)" } ?? "no answer"
      let hash = (app.payload(.startServiceACK, .rpc) ?? []).map { $0 < 16 ? "0\($0)" : "\($0)" }
      app.register()
      app.wait(.seconds(1))
      app.forget()
      app.startVideo(VideoServiceParameters())
      app.video(Stream.keyFrame)
      return [version, "hash " + hash.joined()] + app.controls
    },
    Agreement(
      conversation: "the acknowledgement of video", core: ["height", "mtu", "videoCodec", "videoProtocol", "width"]
    ) {
      var app = TestApp.active(Self.preset)
      app.startVideo(.core)
      let payload = app.payload(.startServiceACK, .video).flatMap { try? BSONDocument(decoding: $0) }
      return payload?.elements.map(\.key).sorted() ?? ["no answer"]
    },
    Agreement(
      conversation: "protocol 4, and an app that falls silent after its first heartbeat",
      core: ["control heartbeatACK", "control heartbeat", "rpc endService"]
    ) {
      var app = TestApp(Self.preset)
      app.version = 4
      app.send(.startService, .rpc, version: 1, sessionID: 0)
      app.register()
      app.wait(.seconds(1))
      app.forget()
      app.send(.heartbeat, .control)
      app.wait(.seconds(14))
      return app.controls
    },
    Agreement(
      conversation: "sound in clear, where it has to be encrypted", core: ["audio startServiceNAK", "NONE"]
    ) {
      var app = TestApp.secured(.require, change: { $0.behaviour.dropsToNoneAfterRefusal = true })
      app.send(.startService, .audio)
      return app.controls + Self.levels(app)
    },
    Agreement(
      conversation: "soft buttons: TEXT with a text, without one, with an empty one, with a line break",
      core: ["SUCCESS", "INVALID_DATA", "INVALID_DATA", "INVALID_DATA"]
    ) {
      Self.show([
        #""type":"TEXT","text":"Go""#, #""type":"TEXT""#, #""type":"TEXT","text":"""#,
        #""type":"TEXT","text":"a\\nb""#,
      ])
    },
    Agreement(
      conversation: "soft buttons: BOTH without an image, without a text, with an empty one, with an image of blanks",
      core: ["INVALID_DATA", "INVALID_DATA", "SUCCESS", "INVALID_DATA"]
    ) {
      Self.show([
        #""type":"BOTH","text":"Go""#, #""type":"BOTH","image":{"value":"0x11","imageType":"STATIC"}"#,
        #""type":"BOTH","text":"","image":{"value":"0x11","imageType":"STATIC"}"#,
        #""type":"BOTH","text":"Go","image":{"value":" ","imageType":"STATIC"}"#,
      ])
    },
    Agreement(
      conversation: "soft buttons: IMAGE with an image, without one; TEXT with an image of blanks",
      core: ["SUCCESS", "INVALID_DATA", "INVALID_DATA"]
    ) {
      Self.show([
        #""type":"IMAGE","image":{"value":"0x11","imageType":"STATIC"}"#, #""type":"IMAGE","text":"Go""#,
        #""type":"TEXT","text":"Go","image":{"value":" ","imageType":"STATIC"}"#,
      ])
    },
    Agreement(
      conversation: "soft buttons: actions of an app that no policy names",
      core: ["SUCCESS", "DISALLOWED", "DISALLOWED"]
    ) {
      Self.show(
        ["DEFAULT_ACTION", "STEAL_FOCUS", "KEEP_CONTEXT"].map { #""type":"TEXT","text":"Go","systemAction":"\#($0)""# })
    },
    Agreement(
      conversation: "negative correlation ids: a request, one that can't be read, a registration",
      core: ["-1 INVALID_ID", "-2 INVALID_ID", "-3 INVALID_ID", "rpc endService", "closed"]
    ) {
      var app = TestApp.active(Self.preset)
      app.send(RPCMessage(type: .request, function: .listFiles, correlationID: -1))
      app.send(RPCMessage(type: .request, function: .subscribeButton, correlationID: -2))
      app.send(RPCMessage(type: .request, function: .registerAppInterface, correlationID: -3))
      return Self.results(app) + app.controls + (app.isClosed ? ["closed"] : [])
    },
    Agreement(
      conversation: "negative correlation ids before the registration: a request, a registration",
      core: ["-1 APPLICATION_NOT_REGISTERED", "-2 INVALID_ID", "rpc endService", "closed"]
    ) {
      var app = TestApp(Self.preset)
      app.startSession()
      app.forget()
      app.send(RPCMessage(type: .request, function: .listFiles, correlationID: -1))
      app.send(RPCMessage(type: .request, function: .registerAppInterface, correlationID: -2))
      return Self.results(app) + app.controls + (app.isClosed ? ["closed"] : [])
    },
    Agreement(
      conversation: "a second registration, without a name", core: ["INVALID_DATA", "rpc endService", "closed"]
    ) {
      var app = TestApp.active(Self.preset)
      let id = app.register { $0["appName"] = nil }
      let isRegistered = app.session.identity != nil
      return [app.result(id)?.resultCode ?? "no answer"] + app.controls + (isRegistered ? [] : ["closed"])
    },
    Agreement(
      conversation: "the hybrid service, twice before the registration and after it",
      core: ["hybrid startServiceNAK", "hybrid startServiceNAK", "hybrid startServiceNAK"]
    ) {
      var app = TestApp(Self.preset)
      app.startSession()
      app.forget()
      app.send(.startService, .hybrid)
      app.send(.startService, .hybrid)
      let before = app.controls
      app.register()
      app.forget()
      app.send(.startService, .hybrid)
      return before + app.controls
    },
    Agreement(
      conversation: "requests that the policies do not allow: a malformed one, and an empty one",
      core: ["INVALID_DATA", "DISALLOWED"]
    ) {
      var app = TestApp.active(Self.preset)
      let ids = [app.request(.alertManeuver, ["ttsChunks": .string("Left")]), app.request(.alertManeuver)]
      return ids.map { app.result($0)?.resultCode ?? "no answer" }
    },
  ]

  @Test(arguments: agreements) func likeCore(_ agreement: Agreement) {
    #expect(agreement.answer() == agreement.core)
  }
}

extension VideoServiceParameters {
  /// What SDL Core's capabilities name first.
  fileprivate static let core = VideoServiceParameters(
    width: 800, height: 380, videoProtocol: "RAW", videoCodec: "H264")
}
