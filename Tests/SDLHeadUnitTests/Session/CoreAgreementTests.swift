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

  /// What the app reads, in order: control frames, and RPCs with result, level or reason.
  private static func conversation(_ app: TestApp) -> [String] {
    app.answers.map { answer in
      switch answer {
      case .control(let frame, let service, _): return "\(service) \(frame)"
      case .rpc(let rpc):
        let members = ["resultCode", "hmiLevel", "reason"].compactMap { rpc.parameters[$0]?.string }
        return ([rpc.function.description] + members).joined(separator: " ")
      }
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
      let answer = [app.result(id)?.resultCode ?? "no answer"]
      return answer + app.controls + (isRegistered ? [] : ["closed"])
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
    Agreement(
      conversation: "a second start of running video, data, a third start",
      core: [
        "video startServiceNAK", "OnHMIStatus NONE", "OnAppInterfaceUnregistered PROTOCOL_VIOLATION",
        "RegisterAppInterface SUCCESS",
      ]
    ) {
      var app = TestApp.streaming(Self.preset, start: .core)
      app.startVideo(.core)
      app.video(Stream.keyFrame)
      let answers = Self.conversation(app)
      app.forget()
      app.register()
      return answers + Self.conversation(app).prefix(1)
    },
    Agreement(
      conversation: "a second start of running video, its end, the end again",
      core: ["video startServiceNAK", "OnHMIStatus NONE", "video endServiceACK", "video endServiceNAK"]
    ) {
      var app = TestApp.streaming(Self.preset, start: .core)
      app.startVideo(.core)
      app.send(.endService, .video)
      app.send(.endService, .video)
      return Self.conversation(app)
    },
    Agreement(
      conversation: "a second start of running video beside sound, and data",
      core: ["video startServiceNAK", "\(Stream.keyFrame.count) bytes of video"]
    ) {
      var app = TestApp.streaming(Self.preset, start: .core)
      app.send(.startService, .audio)
      app.forget()
      app.startVideo(.core)
      app.video(Stream.keyFrame)
      return Self.conversation(app) + Self.pictures(app)
    },
    Agreement(
      conversation: "1200 requests at once",
      core: [
        "ListFiles SUCCESS", "OnAppInterfaceUnregistered TOO_MANY_REQUESTS", "rpc endService", "open",
        "rpc startServiceACK",
      ]
    ) {
      var app = TestApp.active(Self.preset)
      app.wait(.seconds(1))
      for _ in 0..<1200 { app.request(.listFiles) }
      let answers = Self.conversation(app)
      app.wait(.seconds(1))
      app.forget()
      app.startSession()
      let isOpen = app.isClosed ? "closed" : "open"
      let (first, rest) = (Set(answers.prefix(1000)), answers.dropFirst(1000))
      return Array(first) + rest + [isOpen] + Self.conversation(app)
    },
    Agreement(
      conversation: "more than 1000 requests in ten seconds, and one more",
      core: ["OnAppInterfaceUnregistered TOO_MANY_REQUESTS", "ListFiles APPLICATION_NOT_REGISTERED", "open"]
    ) {
      var app = TestApp.active(Self.preset)
      for _ in 0..<1002 {
        app.request(.listFiles)
        app.wait(.milliseconds(2))
      }
      return Self.conversation(app).suffix(2) + [app.isClosed ? "closed" : "open"]
    },
    Agreement(
      conversation: "UnregisterAppInterface while streaming video and sound",
      core: [
        "audio endService", "video endService", "audio endService", "video endService",
        "UnregisterAppInterface SUCCESS",
      ]
    ) {
      var app = TestApp.streaming(Self.preset, start: .core)
      app.send(.startService, .audio)
      app.forget()
      app.request(.unregisterAppInterface)
      for service in [ServiceType.audio, .video, .audio, .video] { app.send(.endServiceACK, service) }
      return Self.conversation(app)
    },
    Agreement(
      conversation: "a second end of sound", core: ["audio endServiceACK", "audio endServiceNAK", "OnHMIStatus NONE"]
    ) {
      var app = TestApp.active(Self.preset)
      app.send(.startService, .audio)
      app.forget()
      app.send(.endService, .audio)
      app.send(.endService, .audio)
      return Self.conversation(app)
    },
    Agreement(
      conversation: "requests without a session: a registration, another",
      core: ["RegisterAppInterface GENERIC_ERROR", "ListFiles APPLICATION_NOT_REGISTERED"]
    ) {
      var app = TestApp(Self.preset)
      app.register()
      app.request(.listFiles)
      return Self.conversation(app)
    },
    Agreement(
      conversation: "a registration in a session that was not started", core: ["RegisterAppInterface GENERIC_ERROR"]
    ) {
      var app = TestApp(Self.preset)
      app.startSession()
      app.forget()
      let rpc = RPCMessage(type: .request, function: .registerAppInterface, correlationID: 5)
      let header = FrameHeader(
        version: 5, frameType: .single, service: .rpc, frameInfo: 0, sessionID: 9,
        dataSize: UInt32(rpc.payload.count), messageID: 3)
      app.send(Frame(header: header, payload: rpc.payload))
      return Self.conversation(app)
    },
    Agreement(
      conversation: "an unknown response, an unknown notification, and known ones",
      core: ["function 39321 UNSUPPORTED_REQUEST", "function 39321 UNSUPPORTED_REQUEST"]
    ) {
      var app = TestApp.active(Self.preset)
      for function in [FunctionID(rawValue: 39_321), .onHMIStatus] {
        for type in [RPCType.response, .notification] {
          app.send(RPCMessage(type: type, function: function, correlationID: 7))
        }
      }
      return Self.conversation(app)
    },
    Agreement(conversation: "OnAppCapabilityUpdated as a request, and a request", core: ["ListFiles SUCCESS"]) {
      var app = TestApp.active(Self.preset)
      app.request(.onAppCapabilityUpdated, ["appCapability": .object([:])])
      app.request(.onAppCapabilityUpdated)
      app.request(.listFiles)
      return Self.conversation(app)
    },
    Agreement(
      conversation: "a request in frames with fewer bytes than announced, with more, and a whole one",
      core: ["ListFiles INVALID_DATA", "ListFiles SUCCESS"]
    ) {
      var app = TestApp.active(Self.preset)
      app.send(inTwoFrames: RPCMessage(type: .request, function: .listFiles, correlationID: 5), announcing: 40)
      app.send(inTwoFrames: RPCMessage(type: .request, function: .listFiles, correlationID: 6), announcing: 4)
      app.send(inTwoFrames: RPCMessage(type: .request, function: .listFiles, correlationID: 7), announcing: 14)
      return Self.conversation(app)
    },
    Agreement(
      conversation: "registrations in frames with fewer bytes than announced",
      core: [
        "rpc startServiceACK", "ListFiles APPLICATION_NOT_REGISTERED", "RegisterAppInterface INVALID_DATA",
        "rpc endService",
      ]
    ) {
      var app = TestApp(Self.preset)
      app.startSession()
      app.send(inTwoFrames: RPCMessage(type: .request, function: .listFiles, correlationID: 5), announcing: 40)
      let registration = RPCMessage(type: .request, function: .registerAppInterface, correlationID: 6)
      app.send(inTwoFrames: registration, announcing: 40)
      return Self.conversation(app)
    },
    Agreement(conversation: "EndService with the id of another session", core: []) {
      var app = TestApp.streaming(Self.preset, start: .core)
      for service in [ServiceType.video, .audio, .rpc] { app.send(.endService, service, sessionID: 9) }
      return Self.conversation(app)
    },
    Agreement(
      conversation: "SetDisplayLayout of apps since RPC 6.0, and before", core: ["WARNINGS true", "SUCCESS true"]
    ) {
      [RPCVersion(6), RPCVersion(5)].map { version in
        var configuration = Self.preset
        configuration.rpcVersion = version
        var app = TestApp.active(configuration)
        let id = app.request(.setDisplayLayout, ["displayLayout": .string("DEFAULT")])
        return app.result(id).map { "\($0.resultCode) \($0.success)" } ?? "no answer"
      }
    },
    Agreement(
      conversation: "starts right behind RegisterAppInterface, and later",
      core: ["nothing", "video startServiceNAK", "audio startServiceNAK"]
    ) {
      var app = TestApp(Self.preset)
      app.startSession()
      app.register()
      app.forget()
      app.startVideo(.core)
      app.send(.startService, .audio)
      let early = app.controls.isEmpty ? "nothing" : "an answer"
      app.wait(.seconds(1))
      app.startVideo(.core)
      app.send(.startService, .audio)
      return [early] + app.controls
    },
    Agreement(
      conversation: "JSON with a text behind it, of 900 levels, of 2000 levels, with a number that is too large",
      core: ["SUCCESS", "SUCCESS", "INVALID_DATA", "INVALID_DATA"]
    ) {
      func nested(_ depth: Int) -> String {
        #"{"x":"# + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
      }
      var app = TestApp.active(Self.preset)
      let texts = [#"{"windowID":0} and more"#, nested(900), nested(2000), #"{"x":1e400}"#]
      for (index, text) in texts.enumerated() {
        let header = RPCHeader(
          type: .request, functionID: FunctionID.listFiles.rawValue, correlationID: Int32(index),
          jsonSize: UInt32(text.utf8.count))
        app.send(data: header.bytes + Array(text.utf8), .rpc)
      }
      return app.rpcs.map { $0.parameters["resultCode"]?.string ?? "" }
    },
    Agreement(
      conversation: "SystemRequest unasked: HTTP, PROPRIETARY, another type; PROPRIETARY when asked",
      core: ["REJECTED", "REJECTED", "SUCCESS", "SUCCESS"]
    ) {
      var app = TestApp.active(Self.preset)
      func send(_ type: String, _ id: Int32) -> String {
        app.send(
          RPCMessage(
            type: .request, function: .systemRequest, correlationID: id, parameters: ["requestType": .string(type)],
            bulk: [1, 2, 3]))
        return app.result(id)?.resultCode ?? "no answer"
      }
      let unasked = [send("HTTP", 1), send("PROPRIETARY", 2), send("FOTA", 3)]
      app.run { $0.requestPolicyUpdate(from: "http://127.0.0.1", now: $1) }
      return unasked + [send("PROPRIETARY", 4)]
    },
    Agreement(
      conversation: "soft buttons with an unknown action, also without a text",
      core: ["DISALLOWED", "DISALLOWED", "INVALID_DATA"]
    ) {
      Self.show([
        #""type":"TEXT","text":"Go","systemAction":"EXPLODE""#, #""type":"TEXT","systemAction":"EXPLODE""#,
        #""type":"TEXT","text":"Go","systemAction":5"#,
      ])
    },
    Agreement(conversation: "CloseApplication", core: ["OnHMIStatus NONE", "CloseApplication SUCCESS"]) {
      var app = TestApp.active(Self.preset)
      app.request(.closeApplication)
      return Self.conversation(app)
    },
  ]

  @Test(arguments: agreements) func likeCore(_ agreement: Agreement) {
    #expect(agreement.answer() == agreement.core)
  }
}

extension TestApp {
  /// Sends a message of 14 bytes in a first frame and two others.
  fileprivate mutating func send(inTwoFrames rpc: RPCMessage, announcing size: UInt8) {
    let payload = rpc.payload
    let parts = [[0, 0, 0, size, 0, 0, 0, 2], Array(payload.prefix(7)), Array(payload.dropFirst(7))]
    for (index, part) in parts.enumerated() {
      let header = FrameHeader(
        version: 5, frameType: index == 0 ? .first : .consecutive, service: .rpc, frameInfo: index == 1 ? 1 : 0,
        sessionID: 1, dataSize: UInt32(part.count), messageID: UInt32(rpc.correlationID) + 1000)
      send(Frame(header: header, payload: part))
    }
  }
}

extension VideoServiceParameters {
  /// What SDL Core's capabilities name first.
  fileprivate static let core = VideoServiceParameters(
    width: 800, height: 380, videoProtocol: "RAW", videoCodec: "H264")
}
