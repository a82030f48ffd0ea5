import H264
import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// What the log of a head unit says.
@Suite struct EventTextTests {
  private func texts(of app: TestApp) -> [String] { app.events.compactMap(\.text) }

  @Test func registration() {
    var app = TestApp()
    app.startSession()
    app.register()
    #expect(texts(of: app).first == "registered \"Map\" (id \"1234\", NAVIGATION) over protocol 5.4.0: SUCCESS")
    app.forget()
    app.register()
    #expect(
      texts(of: app) == ["registration of \"Map\" (id \"1234\") refused: APPLICATION_REGISTERED_ALREADY"])
  }

  @Test func otherLanguage() {
    var app = TestApp()
    app.startSession()
    app.register { $0["languageDesired"] = .string("DE-DE") }
    #expect(texts(of: app).first?.hasSuffix(": WRONG_LANGUAGE") == true)
  }

  @Test func warnings() {
    var app = TestApp()
    app.startSession()
    let id = app.register { $0["appHMIType"] = .array([.string("NAVIGATION"), .string("FUTURE")]) }
    #expect(app.result(id)?.resultCode == "WARNINGS")
    #expect(texts(of: app).first?.hasSuffix(": WARNINGS") == true, "\(texts(of: app))")
  }

  @Test func refusedRegistration() {
    var app = TestApp()
    app.startSession()
    app.run { $0.setApps([], samePhone: [AppIdentity(id: "9", name: "Map")], now: $1) }
    app.register { $0["fullAppID"] = .string("com.example.map") }
    #expect(texts(of: app) == ["registration of \"Map\" (id \"com.example.map\") refused: DUPLICATE_NAME"])
    app = TestApp()
    app.startSession()
    app.register { $0["languageDesired"] = nil }
    #expect(texts(of: app) == ["registration of \"Map\" (id \"1234\") refused: INVALID_DATA"])
  }

  /// Names are taken as they are, and shown so that they are nothing else.
  @Test(arguments: [
    ("a line of its own", "Map\r1 registered \"Other\"", "Map\\u{D}1 registered \\\"Other\\\""),
    ("a command to the terminal", "\u{1B}]0;x\u{7}", "\\u{1B}]0;x\\u{7}"),
  ])
  func hostileNames(what: String, name: String, shown: String) {
    var app = TestApp()
    app.startSession()
    app.register { $0["appName"] = .string(name) }
    #expect(texts(of: app).first?.hasPrefix("registered \"\(shown)\" (id") == true, "\(what): \(texts(of: app))")
    #expect(app.session.identity?.name == name)
  }

  private static let odd = Duration.nanoseconds(5_000_392_055)

  private static let events: [HeadUnitSession.Event] =
    [
      .appUnregistered(reason: .headUnit(.tooManyRequests)), .appUnregistered(reason: .transportLost),
      .appUnregistered(reason: .requestedByApp), .appUnregistered(reason: .sessionEndedByApp),
      .appUnregistered(reason: .heartbeatTimeout), .appUnregistered(reason: .malformedFrames),
      .appUnregistered(reason: .registrationRefused),
      .videoDataStopped(after: odd), .interactionShown(.alert, for: odd, [.softButton(1)]),
      .driverInputWithoutEffect(.button("OK\u{1B}"), .notSubscribed(to: "OK", subscribed: ["a\nb"])),
      .videoStarted(VideoServiceParameters(width: 1, height: 2, videoCodec: "x\n"), on: .secondary),
      .videoRefused(ServiceRejection(rejectedParameters: ["width", "height"], reason: "a\nb")),
      .handshakeFailed("a\nb"), .hapticRectangles([HapticRectangle(id: 1, x: 2, y: 3, width: 4, height: 5)]),
    ]
    + [
      HeadUnitSession.StopReason.endedByApp, .endedByHeadUnit, .hmiLevelNone, .streamingForbidden,
      .otherAppStarted, .unregistered, .transportLost,
    ].map { .videoStopped(reason: $0) }
    + [
      Violation.malformedBytes(.oversized(5, limit: 4)), .malformedBytes(.version(9)), .malformedBytes(.service(200)),
      .tooManyFrames(limit: 5, within: odd), .brokenMessage(.rpc, .outOfSequence(expected: 1, got: 2)),
      .brokenMessage(.rpc, .sizeMismatch(announced: 1, got: 2)), .malformedRPC(.header(.type(7))),
      .malformedRPC(.parameters(RPCHeader(type: .request, functionID: 1, correlationID: 2, jsonSize: 3))),
      .unexpectedControlFrame(.startServiceACK, .video), .dataAfterEndService(.video, after: odd),
      .videoWhileForbidden(for: odd), .audioWhileForbidden(for: odd), .heartbeatUnanswered(after: odd),
      .audio(.fasterThanRealTime(by: odd)), .stream(.frameRate(pictures: 9, limit: 8, within: odd)),
      .tooManyRequests(limit: 5, within: odd), .tooManyViolations(limit: 5, within: odd),
      .wrongTransport(.video, expected: .primary),
      .appCapability(.notOffered(index: 1, VideoSize(1, 2))), .haptics(.repeatedID(1)),
      .notificationNotAllowed(.onHMIStatus, .limited), .hashID(expected: 1, got: nil),
    ].map { .violation($0) }

  /// No names of cases, labels or types, no long fractions, nothing that a terminal takes for a command.
  @Test func textsArePlainWords() throws {
    for event in Self.events {
      let text = try #require(event.text)
      #expect(!text.contains(/\b[a-z]+[A-Z]|SDL[A-Z]\w+\.|\w\(|: \[|\d\.\d{4}/), "\(text)")
      #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "\(text)")
    }
  }

  /// A line of the log is not as long as an app may make its lists.
  @Test func longListsAreCut() throws {
    let rectangle = HapticRectangle(id: 1, x: 2, y: 3, width: 4, height: 5)
    let lists: [(event: (Int) -> HeadUnitSession.Event, most: Int)] = [
      ({ .interactionShown(.alert, for: Self.odd, Array(repeating: .softButton(1), count: $0)) }, 8),
      ({ .textShown(.show, Array(repeating: "a", count: $0)) }, 8),
      ({ .hapticRectangles(Array(repeating: rectangle, count: $0)) }, 4),
    ]
    for list in lists {
      let whole = try #require(list.event(list.most).text)
      #expect(!whole.contains("…"))
      #expect(list.event(1000).text?.replacing("1000", with: "\(list.most)") == whole + ", …")
    }
  }
}
