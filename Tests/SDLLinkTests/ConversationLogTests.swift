import Glibc
import SDLHeadUnit
import SDLHeadUnitLink
import SDLMessages
import TLSEngine
import TestSupport
import Testing

@testable import SDLApp
@testable import SDLAppLink
@testable import SDLLink

/// The lines of a log.
private func parse(_ bytes: [UInt8]) throws -> [JSONObject] {
  try bytes.split(separator: UInt8(ascii: "\n")).map { try JSONObject(parsing: $0) }
}

extension ConversationWriter {
  fileprivate var allLines: [JSONObject] {
    get throws { try parse(lines(after: 0, atMost: .max).0) }
  }
}

/// The format, without connections.
@Suite struct ConversationWriterTests {
  private let clock = ManualClock()

  private func writer(isBlank: Bool = false) -> ConversationWriter {
    ConversationWriter(nil, isBlank: isBlank, keepsRecent: true, since: clock.now, clock: TimeSource(clock))
  }

  private func rpc(
    _ function: FunctionID, _ type: RPCType, _ parameters: JSONObject, by sender: ConversationMessage.Sender
  ) -> ConversationMessage {
    ConversationMessage(
      sender: sender,
      content: .rpc(RPCMessage(type: type, function: function, correlationID: 7, parameters: parameters)))
  }

  /// Video and sound are a line a second, before the first line of the next one.
  @Test func mediaIsCounted() throws {
    let writer = writer()
    for _ in 0..<3 { writer.noteMedia(.video, bytes: 100, of: 1) }
    writer.noteMedia(.audio, messages: 2, bytes: 10, of: 1)
    clock.advance(by: .milliseconds(1200))
    writer.note("event", of: 1, ["type": .string("x")])
    writer.noteMedia(.video, bytes: 5, of: 1)
    writer.finish()
    let lines = try writer.allLines
    #expect(lines.map { $0["kind"]?.string } == ["media", "media", "event", "media"])
    #expect(lines.map { $0["service"]?.string } == ["audio", "video", nil, "video"])
    #expect(lines.map { $0["messages"]?.integer } == [2, 3, nil, 1])
    #expect(lines.map { $0["bytes"]?.integer } == [10, 300, nil, 5])
    #expect(lines.map { $0["seq"]?.integer } == [1, 2, 3, 4] && lines[2]["t"]?.number == 1.2)
  }

  @Test func aControlFrameHasItsParameters() throws {
    let writer = writer()
    let payload = ServiceRejection(rejectedParameters: ["width"], reason: "no").bytes(version: 5)
    let frame = Frame.control(.startServiceNAK, service: .video, version: 5, sessionID: 1, payload: payload)
    writer.note(ConversationMessage(.startServiceNAK, frame, by: .headUnit, on: .secondary), of: 1)
    let line = try #require(try writer.allLines.first)
    #expect(line["kind"] == .string("frame") && line["dir"] == .string("hu→app"))
    #expect(line["type"] == .string("StartServiceNAK") && line["transport"] == .string("secondary"))
    #expect(
      line["params"] == .object(["rejectedParams": .array([.string("width")]), "reason": .string("no")]))
    #expect(line["text"] == .string("width; no"))
    let heartbeat = Frame.control(.heartbeat, service: .control, version: 5, sessionID: 1)
    writer.note(ConversationMessage(.heartbeat, heartbeat, by: .app, on: .primary), of: 1)
    let other = try #require(try writer.allLines.last)
    #expect(other["type"] == .string("Heartbeat") && other["params"] == nil && other["text"] == nil)
  }

  /// The last lines alone are kept: 20 000 of them, or up to a tenth less.
  @Test func recentLinesAreBounded() throws {
    let writer = writer()
    for _ in 0..<30_000 { writer.note("event", [:]) }
    let (bytes, last) = writer.lines(after: 29_990, atMost: .max)
    #expect(last == 30_000 && writer.sequence == 30_000)
    #expect(try parse(bytes).map { $0["seq"]?.integer } == Array(29_991...30_000))
    #expect(try (18_000...20_000).contains(writer.allLines.count))
    let first = writer.lines(after: 0, atMost: 1).last
    for number in [Int.min, -1] { #expect(writer.lines(after: number, atMost: 1).last == first) }
    #expect(writer.lines(after: .max, atMost: .max).0.isEmpty)
  }

  /// A tenth of the lines may be a small part of the bytes.
  @Test func largeLinesAfterManySmallOnes() {
    var lines = RecentLines()
    for number in 1...20_000 { lines.add([UInt8](repeating: 0, count: 100), number: number) }
    for number in 20_001...20_060 {
      lines.add([UInt8](repeating: 0, count: 1 << 20), number: number)
      if number.isMultiple(of: 20) { #expect(lines.lines(after: 0, atMost: .max).0.count <= 17 << 20) }
    }
    #expect(lines.lines(after: 0, atMost: .max).last == 20_060)
  }

  /// Also when each is large; the oldest go first, until the others have room.
  @Test func recentBytesAreBounded() {
    var lines = RecentLines()
    func numbers() -> [Int] {
      var numbers: [Int] = []
      while true {
        let (bytes, last) = lines.lines(after: numbers.last ?? 0, atMost: 1)
        if bytes.isEmpty { return numbers }
        numbers.append(last)
      }
    }
    lines.add([UInt8](repeating: 0, count: 8 << 20), number: 1)
    for number in 2...9 { lines.add([UInt8](repeating: 0, count: 1 << 20), number: number) }
    #expect(numbers() == Array(1...9))
    lines.add([0], number: 10)
    #expect(numbers() == Array(2...10))
    for number in 11...17 { lines.add([UInt8](repeating: 0, count: 1 << 20), number: number) }
    #expect(numbers() == Array(2...17))
    lines.add([UInt8](repeating: 0, count: 1 << 20), number: 18)
    #expect(numbers() == Array(3...18))
  }

  /// What a head unit's server reports: the app is named while it is registered.
  @Test(arguments: [true, false]) func linesOfASession(countsMedia: Bool) throws {
    let writer = writer()
    let conversation = ServerConversation(writer, countsMedia: countsMedia)
    func note(_ events: HeadUnitSession.Event...) { for event in events { conversation.note(.session(id: 3, event)) } }
    let registered = HeadUnitSession.Event.appRegistered(
      name: "Map", id: "1", types: [], protocolVersion: ProtocolVersion(5, 4, 0), .success)
    let end = HeadUnitServerEvent.disconnected(id: 3, .closedByPeer(address: "car"), VideoStreamStatistics())
    conversation.note(.connected(id: 3, peer: "car"))
    note(registered, .videoData([1, 2, 3]), .videoData([4]), .driverInput(.keyboard("A")), .capabilityUpdateDeferred)
    note(.appUnregistered(reason: .requestedByApp), .capabilityUpdateDeferred, registered)
    conversation.note(end)
    note(.capabilityUpdateDeferred)
    writer.finish()
    let lines = try writer.allLines
    let others = lines.filter { $0["kind"] != .string("media") }
    #expect(
      others.map { $0["kind"]?.string } == [
        "state", "state", "event", "event", "state", "event", "state", "state", "event",
      ])
    #expect(others.allSatisfy { $0["session"] == .integer(3) })
    #expect(others.map { $0["app"]?.string } == [nil, "Map", "Map", "Map", "Map", nil, "Map", "Map", nil])
    #expect(others.map { $0["dir"]?.string } == [nil, nil, "driver", nil, nil, nil, nil, nil, nil])
    #expect(others[0]["peer"] == .string("car") && others[7]["cause"]?.string?.contains("car") == true)
    #expect(others[1]["params"]?.object?["name"] == .string("Map") && others[3]["params"] == nil)
    #expect(others[2]["params"] == .object(["input": .string("keyboard A")]))
    let media = lines.filter { $0["kind"] == .string("media") }
    #expect(media.map { $0["messages"]?.integer } == (countsMedia ? [2] : [nil, nil]))
    #expect(media.map { $0["bytes"]?.integer } == (countsMedia ? [4] : [3, 1]))
  }

  /// A session whose messages, events and commands are full of what identifies somebody.
  @Test func nothingSecretIsInABlankLog() throws {
    let writer = writer(isBlank: true)
    let conversation = ServerConversation(writer)
    let name = "Anna's \"Way\" Home"
    let secrets = [
      "Anna", "Home", "anna-4711", "WVWZZZ1JZXW000001", "52.520008", "13.404954", "Alexanderplatz", "+4930123",
      "Tramway", "Pixel", "10.0.0.7", "Way",
    ]
    func note(_ event: HeadUnitSession.Event) { conversation.note(.session(id: 1, event)) }
    func note(_ message: ConversationMessage) { note(.message(message)) }
    conversation.note(.connected(id: 1, peer: "10.0.0.7:40000"))
    note(
      rpc(
        .registerAppInterface, .request,
        [
          "appName": .string(name), "appID": .string("anna-4711"), "fullAppID": .string("full-anna-4711"),
          "vrSynonyms": .array([.string("Anna")]), "isMediaApplication": .bool(false),
          "ttsName": .array([.object(["text": .string("Anna's"), "type": .string("TEXT")])]),
          "deviceInfo": .object(["hardware": .string("Pixel"), "os": .string("Android")]),
        ], by: .app))
    note(
      rpc(
        .registerAppInterface, .response,
        ["success": .bool(true), "resultCode": .string("SUCCESS"), "info": .string("welcome, anna-4711")],
        by: .headUnit))
    note(
      .appRegistered(
        name: name, id: "anna-4711", types: [.navigation], protocolVersion: ProtocolVersion(5, 4, 0), .success))
    conversation.note(
      .stepExecuted(
        try #require(try HeadUnitScript("at 0: vehicle vin WVWZZZ1JZXW000001").steps.first), id: 1))
    let gps: JSONObject = ["latitudeDegrees": .number(52.520008), "longitudeDegrees": .number(13.404954)]
    note(
      rpc(
        .onVehicleData, .notification, ["vin": .string("WVWZZZ1JZXW000001"), "gps": .object(gps)], by: .headUnit))
    note(.driverInput(.keyboard("Tramway")))
    note(rpc(.onKeyboardInput, .notification, ["data": .string("Tramway")], by: .headUnit))
    note(
      rpc(
        try #require(FunctionID(name: "SendLocation")), .request,
        [
          "locationName": .string("Home"), "addressLines": .array([.string("Alexanderplatz 1")]),
          "phoneNumber": .string("+4930123"),
          "address": .object(["thoroughfare": .string("Alexanderplatz")]),
        ], by: .app))
    note(
      rpc(
        .show, .request,
        [
          "mainField1": .string("Welcome to \(name)"), "mainField2": .string("Alexanderplatz, 3 km"),
          "graphic": .object(["value": .string("anna-4711.png")]),
        ], by: .app))
    note(.textShown(.alert, ["Call +4930123", "Alexanderplatz 1", name]))
    note(.nameChanged(name))
    conversation.note(
      .disconnected(id: 1, .closedByPeer(address: "10.0.0.7:40000"), VideoStreamStatistics()))
    let text = String(decoding: writer.lines(after: 0, atMost: .max).0, as: UTF8.self)
    for secret in secrets { #expect(!text.contains(secret), "\(secret) is in \(text)") }
    let lines = try writer.allLines
    #expect(lines.count == 13, "\(lines.count)")
    #expect(lines.dropFirst(3).allSatisfy { $0["app"] == .string("name-1") })
    // The rest stays.
    #expect(text.contains("Android") && text.contains("NAVIGATION") && text.contains(", 3 km"))
  }
}

extension LinkTests {
  /// The app's side of real connections, in a file.
  @Suite struct AppConversationTests {
    private let path = "/tmp/sdl-conversation-\(getpid())-\(UInt64.random(in: 0...(.max))).jsonl"

    private func lines() throws -> [JSONObject] {
      let file = try nonNull(fopen(path, "r"))
      defer { fclose(file) }
      var buffer = [UInt8](repeating: 0, count: 4 << 20)
      let count = fread(&buffer, 1, buffer.count, file)
      return try parse(Array(buffer.prefix(count)))
    }

    /// Encrypted RPCs are readable, with their answers; control frames have their parameters; video is counted.
    @Test func encryptedSession() throws {
      defer { unlink(path) }
      let recorder = HeadUnitRecorder()
      let app = ConnectionRecorder()
      var headUnit = quickHeadUnit()
      headUnit.security = .require
      headUnit.requiresRPCEncryption = true
      let server = try HeadUnitServer(
        configuration: headUnit, address: "127.0.0.1", port: 0, tls: try TestTLS.headUnit(), observer: recorder)
      try server.start()
      var session = testSession
      session.appID = TestCertificates.appID
      session.encryption = .authenticateAndEncrypt
      var configuration = AppConnection.Configuration(
        endpoint: .tcp(host: "127.0.0.1", port: try #require(server.port)), session: session)
      configuration.tls = try TestTLS.app()
      let log = ConversationWriter(
        try ConversationWriter.file(path, waitsForReader: false), since: MonotonicClock.now)
      try log.start()
      configuration.conversation = log
      let connection = AppConnection(configuration: configuration, observer: app)
      connection.setVideoRequest(testRequest)
      try connection.start()
      let grant = try #require(app.waitForGrant())
      #expect(app.waitFor { if case .session(.rpcProtected) = $0 { true } else { nil } } == true)
      connection.setHapticRectangles(HapticRectangleList([HapticRectangle(id: 1, x: 0, y: 0, width: 9, height: 9)]))
      #expect(
        recorder.waitFor { if case .session(_, .hapticRectangles) = $0 { true } else { nil } } == true)
      #expect(connection.video.submit(TestPayload(noise(5000)), grantEpoch: grant.epoch, blocking: true) == .queued)
      server.perform(try #require(try HeadUnitCommand.parse("touch tap 10 20")))
      #expect(app.waitFor { if case .session(.touch) = $0 { true } else { nil } } == true)
      connection.stop(grace: .seconds(1))
      connection.join()
      log.close()
      server.stop()
      server.join()
      let lines = try lines()
      #expect(lines.map { $0["seq"]?.integer } == Array(1...lines.count))
      func find(_ members: JSONObject) -> JSONObject? {
        lines.first { line in members.allSatisfy { line[$0.key] == $0.value } }
      }
      #expect(lines.first?["type"] == .string("connected") && lines.last?["type"] == .string("disconnected"))
      let start = find(["type": .string("StartService"), "service": .string("video"), "dir": .string("app→hu")])
      #expect(start?["params"]?.object?["width"] == .integer(800))
      let acknowledged = find(["type": .string("StartServiceACK"), "service": .string("rpc"), "dir": .string("hu→app")])
      #expect(acknowledged?["params"]?.object?["hashId"] != nil)
      let request = find(["function": .string("RegisterAppInterface"), "dir": .string("app→hu")])
      #expect(request?["params"]?.object?["appName"] == .string("Test") && request?["encrypted"] == .bool(false))
      let response = find(["function": .string("RegisterAppInterface"), "dir": .string("hu→app")])
      #expect(response?["type"] == .string("response") && response?["result"] == .string("SUCCESS"))
      #expect(response?["correlationID"] == request?["correlationID"] && request?["correlationID"] != nil)
      let haptics = find(["function": .string("SendHapticData"), "type": .string("request")])
      #expect(haptics?["encrypted"] == .bool(true) && haptics?["params"]?.object?["hapticRectData"] != nil)
      #expect(haptics?["app"] == .string("Test"))
      let answer = find(["function": .string("SendHapticData"), "type": .string("response")])
      #expect(answer?["encrypted"] == .bool(true) && answer?["correlationID"] == haptics?["correlationID"])
      let touch = find(["function": .string("OnTouchEvent"), "dir": .string("hu→app")])
      #expect(touch?["type"] == .string("notification") && touch?["params"]?.object?["event"] != nil)
      let media = lines.filter { $0["kind"] == .string("media") }
      #expect(media.compactMap { $0["bytes"]?.integer }.reduce(0, +) == 5000)
      #expect(find(["type": .string("EndService"), "service": .string("rpc")])?["params"]?.object?["hashId"] != nil)
    }

    /// A further connection has a number of its own, and the line of the end says why.
    @Test func reconnection() throws {
      let headUnit = HeadUnitRecorder()
      let server = try HeadUnitServer(
        configuration: quickHeadUnit(), address: "127.0.0.1", port: 0, observer: headUnit)
      try server.start()
      var configuration = AppConnection.Configuration(
        endpoint: .tcp(host: "127.0.0.1", port: try #require(server.port)), session: testSession,
        reconnection: Reconnection.Timing(first: .milliseconds(2)))
      let log = ConversationWriter(nil, keepsRecent: true, since: MonotonicClock.now)
      configuration.conversation = log
      let app = ConnectionRecorder()
      let connection = AppConnection(configuration: configuration, observer: app)
      connection.setVideoRequest(testRequest)
      try connection.start()
      #expect(app.waitForGrant() != nil)
      server.perform(.cut)
      #expect(app.waitForGrant(number: 2) != nil)
      connection.stop(grace: .seconds(1))
      connection.join()
      server.stop()
      server.join()
      let lines = try log.allLines
      let states = lines.filter { $0["kind"] == .string("state") }
      #expect(
        states.map { $0["type"]?.string } == ["connected", "disconnected", "connected", "disconnected"])
      #expect(states.map { $0["session"]?.integer } == [1, 1, 2, 2])
      #expect(states[1]["cause"]?.string?.contains("127.0.0.1") == true && states[3]["cause"] == nil)
      let starts = lines.filter {
        $0["type"] == .string("StartService") && $0["service"] == .string("rpc") && $0["dir"] == .string("app→hu")
      }
      #expect(starts.map { $0["session"]?.integer } == [1, 2])
    }
  }
}
