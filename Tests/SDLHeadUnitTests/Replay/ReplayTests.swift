import SDLMessages
import SDLWire
import Testing

@testable import SDLHeadUnit

/// A recorded head unit that is played to apps: what it answers and does, and where an app differs.
@Suite struct ReplayTests {
  private static let beginning = Duration.seconds(100)

  /// A line of a head unit's log.
  private static func line(_ time: Double, _ members: JSONObject) -> String {
    String(
      decoding: members.merging(["t": .number(time), "session": .integer(1)]) { own, _ in own }.serialized,
      as: UTF8.self)
  }

  private static func rpc(
    _ time: Double, _ direction: String, _ type: String, _ function: String, _ id: Int, _ parameters: JSONObject = [:],
    app: String? = "Map"
  ) -> String {
    line(
      time,
      JSONObject(present: [
        "kind": .string("rpc"), "dir": .string(direction), "type": .string(type), "function": .string(function),
        "correlationID": .integer(id), "params": .object(parameters), "app": app.map(JSONValue.string),
        "service": .string("rpc"),
      ]))
  }

  private static func frame(
    _ time: Double, _ direction: String, _ name: String, _ service: String, _ parameters: JSONObject = [:]
  ) -> String {
    line(
      time,
      [
        "kind": .string("frame"), "dir": .string(direction), "type": .string(name), "service": .string(service),
        "params": .object(parameters), "app": .string("Map"),
      ])
  }

  private static let up = "app→hu"
  private static let down = "hu→app"
  private static let success: JSONObject = ["success": .bool(true), "resultCode": .string("SUCCESS")]

  private static func status(_ level: String) -> JSONObject {
    [
      "hmiLevel": .string(level), "audioStreamingState": .string("NOT_AUDIBLE"), "systemContext": .string("MAIN"),
      "videoStreamingState": .string("STREAMABLE"),
    ]
  }

  /// An app that shows a text, is refused an alert, is touched, and starts video.
  static let recorded = [
    line(0, ["kind": .string("state"), "type": .string("listening")]),
    frame(1, up, "StartService", "rpc", ["protocolVersion": .string("5.4.1")]),
    frame(1, down, "StartServiceACK", "rpc", ["protocolVersion": .string("5.3.0"), "make": .string("Rover")]),
    rpc(1.1, up, "request", "RegisterAppInterface", 1, app: nil),
    rpc(
      1.1, down, "response", "RegisterAppInterface", 1,
      success.merging([
        "language": .string("DE-DE"), "systemSoftwareVersion": .string("7.1"),
        "displayCapabilities": .object([
          "screenParams": .object([
            "resolution": .object(["resolutionWidth": .integer(1024), "resolutionHeight": .integer(600)])
          ])
        ]),
      ]) { $1 }),
    rpc(1.1, down, "notification", "OnHMIStatus", -1, status("NONE")),
    rpc(
      1.1, down, "notification", "OnPermissionsChange", -1,
      [
        "permissionItem": .array(
          ["Show", "Alert", "OnTouchEvent", "OnHMIStatus"].map { name in
            .object([
              "rpcName": .string(name),
              "hmiPermissions": .object(["allowed": .array([.string("FULL")]), "userDisallowed": .array([])]),
            ])
          })
      ]),
    rpc(1.6, down, "notification", "OnHMIStatus", -1, status("FULL")),
    rpc(2, up, "request", "Show", 2, ["mainField1": .string("a")]),
    rpc(2.2, down, "response", "Show", 2, success),
    rpc(3, up, "request", "Alert", 3, ["alertText1": .string("a")]),
    rpc(
      6, down, "response", "Alert", 3,
      ["success": .bool(false), "resultCode": .string("ABORTED"), "info": .string("a call")]),
    rpc(7, down, "notification", "OnTouchEvent", -1, ["type": .string("BEGIN"), "event": .array([])]),
    rpc(7.5, down, "notification", "OnTouchEvent", -1, ["type": .string("END"), "event": .array([])]),
    frame(
      8, up, "StartService", "video",
      ["width": .integer(800), "height": .integer(480), "videoCodec": .string("H264"), "videoProtocol": .string("RAW")]),
    frame(8.3, down, "StartServiceNAK", "video", ["rejectedParams": .array([.string("width")])]),
    rpc(9, up, "request", "UnregisterAppInterface", 4),
    rpc(9, down, "response", "UnregisterAppInterface", 4, success),
    line(
      9.1,
      ["kind": .string("state"), "type": .string("disconnected"), "cause": .string("closed"), "app": .string("Map")]),
  ]

  private static func recording(_ lines: some Sequence<String> = recorded) throws -> ConversationRecording {
    try ConversationRecording(parsing: Array(Array(lines).joined(separator: "\n").utf8))
  }

  struct Run {
    var replay: Replay
    var now = ReplayTests.beginning
    var commands: [String] = []

    init(_ lines: [String] = ReplayTests.recorded, speed: Double = 1) throws {
      replay = Replay(try ReplayTests.recording(lines), speed: speed)
      commands = replay.start().map { "\($0)" }
    }

    mutating func wait(_ time: Duration) {
      let end = now + time
      while let deadline = replay.nextDeadline, deadline <= end {
        now = max(now, deadline)
        guard let command = replay.takeDue(at: now) else { continue }
        commands.append("\(now - ReplayTests.beginning): \(command)")
      }
      now = end
    }

    mutating func send(_ content: ConversationMessage.Content) {
      replay.note(ConversationMessage(sender: .app, content: content), app: 1, now: now)
      wait(.zero)
    }

    mutating func request(_ function: FunctionID) {
      send(.rpc(RPCMessage(type: .request, function: function, correlationID: 9)))
    }

    mutating func start(_ service: ServiceType, _ parameters: JSONObject = [:]) {
      send(.control(.startService, service, parameters: parameters, details: ""))
    }

    /// The whole drive, but for what is left out.
    mutating func drive(without left: Set<FunctionID> = [], width: Int = 800) {
      start(.rpc)
      request(.registerAppInterface)
      wait(.seconds(1))
      if !left.contains(.show) { request(.show) }
      wait(.seconds(1))
      if !left.contains(.alert) { request(.alert) }
      wait(.seconds(5))
      start(
        .video,
        [
          "width": .integer(width), "height": .integer(480), "videoCodec": .string("H264"),
          "videoProtocol": .string("RAW"),
        ])
      wait(.seconds(1))
      request(.unregisterAppInterface)
    }

    var outcomes: [String] { mutating get { replay.takeOutcomes().map { "\($0.text): \($0.failure ?? "met")" } } }
  }

  // MARK: The machine

  @Test func theSameAppIsNoDifference() throws {
    var run = try Run()
    run.drive()
    #expect(!run.replay.isOver)
    run.wait(.seconds(2))
    #expect(run.replay.isOver && run.outcomes == ["replay of 6 messages: met"])
    #expect(run.replay.nextDeadline == nil)
  }

  /// What the head unit did on its own follows the same message of the app, after the same time.
  @Test(arguments: [1.0, 2.0]) func theDriverActsAsThen(speed: Double) throws {
    var run = try Run(speed: speed)
    run.commands = []
    run.start(.rpc)
    run.request(.registerAppInterface)
    run.wait(.seconds(20))
    let level = try #require(run.commands.first { $0.contains("level") })
    #expect(level.hasPrefix("\(Duration.seconds(0.5 / speed)): level(") && level.contains("notAudible"))
    #expect(run.commands.count { $0.contains("level(") } == 1)
    run.request(.show)
    run.commands = []
    let base = run.now - Self.beginning
    run.request(.alert)
    run.wait(.seconds(10))
    let touches = run.commands.filter { $0.contains("OnTouchEvent") || $0.contains("notify") }
    let times = [4, 4.5].map { base + Duration.seconds($0 / speed) }
    #expect(touches.map { String($0.prefix { $0 != ":" }) } == times.map(\.description))
  }

  @Test(arguments: [1.0, 2.0]) func answersAreSetBeforeTheyAreAsked(speed: Double) throws {
    var run = try Run(speed: speed)
    let text = run.commands.joined(separator: "\n")
    #expect(text.contains("registration(") && text.contains("DE-DE"))
    #expect(text.contains("aborted") && text.contains("\(Duration.seconds(3 / speed))"))
    #expect(text.contains("answerOnce") && text.contains("\"width\""))
    run.commands = []
    run.request(.alert)
    // Later ones are as usual.
    #expect(run.commands.contains { $0.contains("answer(Alert") && $0.contains("regular") })
  }

  /// A start of video is acknowledged with the recorded size, but with this head unit's own largest payload.
  @Test func anAcknowledgedStart() throws {
    let acknowledgement = Self.frame(
      8.3, Self.down, "StartServiceACK", "video",
      ["width": .integer(640), "height": .integer(360), "mtu": .integer(1500)])
    let lines = Self.recorded.map { $0.contains("StartServiceNAK") ? acknowledgement : $0 }
    var replay = Replay(try Self.recording(lines))
    let commands = replay.start()
    #expect(commands.contains(.answerOnce(.acknowledge(VideoServiceParameters(width: 640, height: 360)))))
    let delays = commands.compactMap { if case .behave(.videoStartDelay(let delay)) = $0 { delay } else { nil } }
    #expect(delays.count == 1 && (.milliseconds(299) ... .milliseconds(301)).contains(delays[0]))
  }

  /// What every head unit sends after a registration is not sent twice; more of it is.
  @Test func ownNotifications() throws {
    let displays: JSONObject = [
      "systemCapability": .object(["systemCapabilityType": .string("DISPLAYS"), "displayCapabilities": .array([])])
    ]
    var lines = Self.recorded
    for time in [1.2, 1.3] {
      lines.insert(Self.rpc(time, Self.down, "notification", "OnSystemCapabilityUpdated", -1, displays), at: 7)
    }
    lines.insert(Self.rpc(1.25, Self.down, "notification", "OnPermissionsChange", -1, [:]), at: 8)
    var run = try Run(lines)
    run.start(.rpc)
    run.request(.registerAppInterface)
    run.commands = []
    run.wait(.seconds(0.9))
    for name in ["DISPLAYS", "OnPermissionsChange"] {
      #expect(run.commands.count { $0.contains(name) } == 1, "\(run.commands)")
    }
    #expect(run.commands.count == 3)
  }

  /// A drive has times in which the app says nothing.
  @Test func longPauses() throws {
    var lines = Array(Self.recorded[..<10])
    lines.append(Self.rpc(30, Self.up, "request", "Speak", 3))
    var run = try Run(lines)
    run.start(.rpc)
    run.request(.registerAppInterface)
    run.request(.show)
    run.wait(.seconds(28))
    #expect(run.outcomes.isEmpty)
    run.request(.speak)
    run.wait(.seconds(2))
    #expect(run.outcomes == ["replay of 4 messages: met"])
  }

  /// What the head unit did after the app's last message comes before the end.
  @Test func theEndIsAfterTheLastAction() throws {
    var run = try Run(Array(Self.recorded[..<14]))
    run.start(.rpc)
    run.request(.registerAppInterface)
    run.request(.show)
    run.request(.alert)
    run.wait(.seconds(6))
    #expect(run.commands.count { $0.contains("notify") } == 2 && run.replay.isOver, "\(run.commands)")
  }

  /// The rest is played all the same.
  @Test func anAppThatDoesNothing() throws {
    var run = try Run()
    run.start(.rpc)
    run.wait(.seconds(100))
    #expect(run.replay.isOver && run.outcomes.count == 5)
    #expect(run.commands.contains { $0.contains("level(") } && run.commands.count { $0.contains("notify") } == 2)
  }

  @Test func aMessageTooMany() throws {
    var run = try Run()
    run.start(.rpc)
    run.request(.registerAppInterface)
    run.request(.speak)
    #expect(run.outcomes == ["replay: Speak: the recorded app did not send it here"])
  }

  @Test func anotherSize() throws {
    var run = try Run()
    run.drive(width: 640)
    run.wait(.seconds(2))
    #expect(
      run.outcomes == [
        "replay: StartService(video) (line 15): it asks for 640×480 H264 over RAW, and the recorded app asked for 800×480 H264 over RAW"
      ])
  }

  @Test func theHeadUnitEndsBefore() throws {
    var run = try Run()
    run.start(.rpc)
    run.replay.finish()
    let outcomes = run.outcomes
    #expect(outcomes.count == 5 && outcomes.allSatisfy { $0.hasSuffix("it did not come") })
    run.replay.finish()
    #expect(run.outcomes.isEmpty && run.replay.takeDue(at: run.now + .seconds(100)) == nil)
  }

  /// Only one app is compared, and after its end the next.
  @Test func otherApps() throws {
    var run = try Run()
    run.start(.rpc)
    let speak = ConversationMessage(
      sender: .app, content: .rpc(RPCMessage(type: .request, function: .speak, correlationID: 1)))
    run.replay.note(speak, app: 2, now: run.now)
    #expect(run.outcomes.isEmpty)
    run.replay.noteEnd(of: 1)
    run.replay.note(speak, app: 2, now: run.now)
    #expect(run.outcomes.count == 1)
  }

  @Test func differencesAreBounded() throws {
    var run = try Run()
    for _ in 0..<500 { run.request(.speak) }
    let outcomes = run.outcomes
    #expect(outcomes.count == 100 && outcomes.last?.hasSuffix("further differences are not listed") == true)
  }

  /// The road broke the connection, and the app came again.
  @Test(arguments: [true, false]) func aCut(isOfHeadUnit: Bool) throws {
    let cause: JSONObject = isOfHeadUnit ? [:] : ["cause": .string("Connection reset by peer")]
    var lines = Array(Self.recorded[..<10])
    if !isOfHeadUnit { lines.removeFirst() }
    lines.append(
      Self.line(
        4, cause.merging(["kind": .string("state"), "type": .string("disconnected"), "app": .string("Map")]) { $1 }))
    lines.append(Self.frame(6, Self.up, "StartService", "rpc"))
    var run = try Run(lines)
    run.start(.rpc)
    run.request(.registerAppInterface)
    run.request(.show)
    run.commands = []
    run.wait(.seconds(3))
    #expect(run.commands.last == "2.0 seconds: cut" && run.commands.count == 2)
    run.start(.rpc)
    run.wait(.seconds(2))
    #expect(run.outcomes == ["replay of 4 messages: met"])
  }

  /// Where the recording ends, the app goes on; and what it does then is not compared.
  @Test func theEndOfTheRecordingIsNone() throws {
    var lines = Array(Self.recorded[..<10])
    lines.append(Self.line(4, ["kind": .string("state"), "type": .string("disconnected"), "app": .string("Map")]))
    var run = try Run(lines)
    run.start(.rpc)
    run.request(.registerAppInterface)
    run.request(.show)
    run.wait(.milliseconds(600))
    #expect(!run.commands.contains { $0.contains("cut") } && !run.replay.isOver)
    run.replay.noteEnd(of: 1)
    let start = ConversationMessage(
      sender: .app, content: .control(.startService, .rpc, parameters: [:], details: ""))
    run.replay.note(start, app: 2, now: run.now)
    run.wait(.seconds(2))
    #expect(run.outcomes == ["replay of 3 messages: met"])
  }

  /// Two connections have no order between them.
  @Test func orderOfOneConnection() throws {
    let video = Self.line(
      1.9,
      [
        "kind": .string("frame"), "dir": .string(Self.up), "type": .string("StartService"), "service": .string("video"),
        "transport": .string("secondary"), "app": .string("Map"),
      ])
    var lines = Array(Self.recorded[..<10])
    lines.insert(video, at: 8)
    var run = try Run(lines)
    run.start(.rpc)
    run.request(.registerAppInterface)
    run.request(.show)
    #expect(run.outcomes.isEmpty)
    run.start(.video)
    run.wait(.seconds(2))
    #expect(run.outcomes == ["replay of 4 messages: met"])
  }

  // MARK: With a session

  /// The recorded capabilities, permissions and answers, at an app that is another one.
  @Test func theHeadUnitOfTheRecording() throws {
    let recording = try Self.recording()
    var configuration = HeadUnitPreset.standard.configuration
    configuration.adopt(recording)
    #expect(configuration.maximumProtocolVersion == ProtocolVersion(5, 3, 0) && configuration.vehicle.make == "Rover")
    #expect(configuration.language == "DE-DE" && configuration.vehicle.systemSoftwareVersion == "7.1")
    #expect(configuration.screen == VideoSize(1024, 600) && configuration.activation == nil)
    var app = TestApp(configuration)
    var replay = Replay(recording)
    func apply(_ command: HeadUnitCommand) {
      switch command {
      case .behave(let change): app.run { $0.change(change, now: $1) }
      case .level(let level, let state, let sound):
        app.run {
          $0.setHMIStatus(
            HMIStatus(level: level, audioStreamingState: sound ?? .audible, videoStreamingState: state), now: $1)
        }
      case .answerOnce(let answer):
        app.run { session, _ in
          session.answerNextVideoStart(answer)
          return []
        }
      default: break
      }
    }
    for command in replay.start() { apply(command) }
    app.startSession()
    let id = app.register {
      $0["languageDesired"] = .string("DE-DE"); $0["hmiDisplayLanguageDesired"] = .string("DE-DE")
    }
    let response = try #require(app.rpcs.first { $0.correlationID == id })
    #expect(response.parameters["systemSoftwareVersion"]?.string == "7.1")
    #expect(response.parameters["resultCode"]?.string == "SUCCESS" && response.parameters["vehicleType"] != nil)
    let permissions = try #require(app.rpcs.first { $0.function == .onPermissionsChange })
    #expect(permissions.parameters["permissionItem"]?.array?.count == 4)
    apply(.level(.full, .streamable))
    let alert = app.request(.alert, ["alertText1": .string("a")])
    app.wait(.seconds(2.9))
    #expect(app.result(alert) == nil)
    app.wait(.seconds(0.2))
    #expect(app.result(alert)?.resultCode == "ABORTED" && app.result(alert)?.info == "a call")
    app.startVideo(.standard)
    app.wait(.seconds(1))
    #expect(app.controls.last == "video startServiceNAK")
  }

  // MARK: Files

  @Test(arguments: [
    ("", "no RegisterAppInterface"), ("{\"t\": 1}\nx\n{}", "line 2: this is no JSON object"),
    ("{\"kind\": \"rpc\", \"dir\": \"up\", \"t\": 1}", "no RegisterAppInterface"),
  ])
  func noRecording(text: String, error: String) {
    let malformed = #expect(throws: ConversationRecording.Malformed.self) {
      try ConversationRecording(parsing: Array(text.utf8))
    }
    #expect(malformed?.description.contains(error) == true)
  }

  /// The recorder has lost its power in the middle of a line.
  @Test func incompleteLastLine() throws {
    let text = Self.recorded.joined(separator: "\n")
    let recording = try ConversationRecording(parsing: Array(text.utf8.dropLast(30)))
    #expect(recording == (try Self.recording(Self.recorded.dropLast())))
  }

  /// It tells its version only from protocol 5 on.
  @Test func olderHeadUnit() throws {
    let lines = Self.recorded.map { line in
      line.contains("StartServiceACK")
        ? Self.frame(1, Self.down, "StartServiceACK", "rpc", ["hashId": .integer(1)]) : line
    }
    var configuration = HeadUnitPreset.standard.configuration
    configuration.adopt(try Self.recording(lines))
    #expect(configuration.maximumProtocolVersion == ProtocolVersion(4))
  }

  /// Of two apps in one log, the one that was registered first.
  @Test func twoApps() throws {
    let other = Self.line(
      1.2,
      [
        "kind": .string("rpc"), "dir": .string(Self.up), "type": .string("request"), "function": .string("Speak"),
        "correlationID": .integer(1), "session": .integer(2), "app": .string("Radio"),
      ])
    let recording = try Self.recording(Self.recorded + [other])
    #expect(recording.entries.allSatisfy { $0.session == 1 } && recording.entries.count == 17)
  }

  /// What is written is what is read.
  @Test func messagesAsLines() throws {
    let messages = [
      ConversationMessage(
        sender: .app,
        content: .rpc(RPCMessage(type: .request, function: .show, correlationID: 7, parameters: ["a": .integer(1)])),
        isEncrypted: true),
      ConversationMessage(
        sender: .headUnit,
        content: .rpc(RPCMessage(type: .response, function: .show, correlationID: 7, parameters: Self.success))),
      ConversationMessage(
        sender: .headUnit,
        content: .control(.startServiceACK, .video, parameters: ["width": .integer(800)], details: "800")),
    ]
    #expect(messages[1].members["text"] == nil && messages[2].members["params"] != nil)
    let plain = ConversationMessage(sender: .app, content: .control(.heartbeat, .control, parameters: [:], details: ""))
    #expect(plain.members["params"] == nil && plain.members["text"] == nil)
    for message in messages {
      let members = message.members.merging(["kind": .string(message.kind)]) { $1 }
      #expect(ConversationMessage(members: members) == message)
    }
  }
}
