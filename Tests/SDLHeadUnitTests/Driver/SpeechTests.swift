import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

/// What the head unit says, and records, takes its time.
@Suite struct SpeechTests {
  private func speak(_ app: inout TestApp, _ text: String, type: String = "TEXT") -> Int32 {
    let chunk: JSONObject = ["text": .string(text), "type": .string(type)]
    return app.request(.speak, ["ttsChunks": .array([.object(chunk)])])
  }

  private func record(_ app: inout TestApp, _ duration: Int, _ change: (inout JSONObject) -> Void = { _ in }) -> Int32 {
    var parameters: JSONObject = [
      "samplingRate": .string("8KHZ"), "maxDuration": .integer(duration), "bitsPerSample": .string("8_BIT"),
      "audioType": .string("PCM"),
    ]
    change(&parameters)
    return app.request(.performAudioPassThru, parameters)
  }

  private func recorded(by app: TestApp) -> [UInt8] {
    app.rpcs.filter { $0.function == .onAudioPassThru }.flatMap(\.bulk)
  }

  /// 60 ms for a letter, one prompt after the other.
  @Test func promptsQueue() {
    var app = TestApp.active()
    let first = speak(&app, "turn left!")
    app.wait(.milliseconds(100))
    let second = speak(&app, "straight ahead, always")
    #expect(app.rpcs == [])
    app.wait(.milliseconds(499))
    #expect(app.result(first) == nil)
    app.wait(.milliseconds(1))
    #expect(app.result(first) == RPCResult(success: true, resultCode: .success) && app.result(second) == nil)
    app.wait(.milliseconds(22 * 60 - 1))
    #expect(app.result(second) == nil)
    app.wait(.milliseconds(1))
    #expect(app.result(second)?.success == true && app.session.nextDeadline == nil)
  }

  /// The head unit's sound in the format that the app wants, then silence; each time from its beginning.
  @Test func soundOfAFileIsRecorded() {
    var configuration = HeadUnitPreset.standard.configuration
    let samples: [Int16] = [0, 0x100, -0x100, 0x7FFF, -0x8000, 0x40]
    let bytes = samples.flatMap { withUnsafeBytes(of: $0.littleEndian, Array.init) }
    configuration.microphone = WAVSound(WAVHeader(PCMFormat(), dataByteCount: 12).bytes + bytes)
    var app = TestApp.active(configuration)
    for _ in 0..<2 {
      app.forget()
      _ = record(&app, 1)
      app.wait(.milliseconds(1))
      #expect(recorded(by: app) == [0x80, 0x7F, 0, 0x80, 0x80, 0x80, 0x80, 0x80])
    }
    app.forget()
    _ = record(&app, 1) { ($0["samplingRate"], $0["bitsPerSample"]) = (.string("16KHZ"), .string("16_BIT")) }
    app.wait(.milliseconds(1))
    #expect(recorded(by: app) == bytes + [UInt8](repeating: 0, count: 20))
  }

  @Test func promptsEndWithTheLevel() {
    var app = TestApp.active()
    let ids = [speak(&app, "turn left"), speak(&app, "turn right")]
    let recording = record(&app, 3000)
    app.set(.limited, .streamable)
    #expect((ids + [recording]).allSatisfy { app.result($0) == nil })
    app.set(.background, .notStreamable)
    #expect((ids + [recording]).map { app.result($0)?.resultCode } == ["ABORTED", "ABORTED", "ABORTED"])
    #expect(app.session.nextDeadline == nil)
  }

  @Test func promptsAreBounded() {
    var app = TestApp.active()
    var ids: [Int32] = []
    for _ in 0...50 { ids.append(speak(&app, "left")) }
    #expect(ids.filter { app.result($0)?.resultCode == "REJECTED" } == [ids[50]])
  }

  @Test func fileThatIsNotThere() {
    var app = TestApp.active()
    let id = speak(&app, "ding.wav", type: "FILE")
    #expect(app.result(id)?.resultCode == "FILE_NOT_FOUND")
  }

  /// Silence, in parts of a tenth of a second.
  @Test(arguments: [("8KHZ", "8_BIT", 24_000, 0x80), ("16KHZ", "16_BIT", 96_000, 0)] as [(String, String, Int, UInt8)])
  func recordings(rate: String, size: String, count: Int, silence: UInt8) {
    var app = TestApp.active()
    let id = record(&app, 3000) {
      $0["samplingRate"] = .string(rate)
      $0["bitsPerSample"] = .string(size)
    }
    app.wait(.milliseconds(2999))
    #expect(app.result(id) == nil && app.rpcs.count == 29)
    app.wait(.milliseconds(1))
    #expect(app.result(id) == RPCResult(success: true, resultCode: .success))
    #expect(recorded(by: app) == [UInt8](repeating: silence, count: count))
    #expect(app.rpcs.last?.function == .performAudioPassThru, "after the last sound")
    #expect(app.session.nextDeadline == nil)
  }

  @Test func recordingThatTheAppEnds() {
    var app = TestApp.active()
    let id = record(&app, 60_000)
    app.wait(.milliseconds(250))
    let second = record(&app, 1000)
    let end = app.request(.endAudioPassThru)
    #expect([second, end, id].map { app.result($0)?.resultCode } == ["REJECTED", "SUCCESS", "SUCCESS"])
    #expect(app.rpcs.suffix(2).map(\.function) == [.endAudioPassThru, .performAudioPassThru])
    #expect(recorded(by: app).count == 1600 && app.session.nextDeadline == nil)
    let late = app.request(.endAudioPassThru)
    #expect(app.result(late)?.resultCode == "REJECTED")
  }

  /// What is said first is not recorded.
  @Test func recordingAfterAPrompt() {
    var app = TestApp.active()
    let chunk: JSONObject = ["text": .string("your turn!"), "type": .string("TEXT")]
    let id = record(&app, 1000) { $0["initialPrompt"] = .array([.object(chunk)]) }
    app.wait(.milliseconds(600))
    #expect(recorded(by: app) == [])
    app.wait(.milliseconds(1000))
    #expect(recorded(by: app).count == 8000 && app.result(id)?.success == true)
  }

  @Test func unregisteringEndsBoth() {
    var app = TestApp.active()
    _ = speak(&app, "turn left")
    _ = record(&app, 1000)
    app.request(.unregisterAppInterface)
    #expect(app.session.nextDeadline == nil)
  }

  /// A short word takes half a second.
  @Test func shortestPrompt() {
    var app = TestApp.active()
    let id = speak(&app, "left")
    app.wait(.milliseconds(499))
    #expect(app.result(id) == nil)
    app.wait(.milliseconds(1))
    #expect(app.result(id)?.resultCode == "SUCCESS")
  }

  /// The next prompt does not wait for those that were silenced.
  @Test func promptAfterASilencedOne() {
    var app = TestApp.active()
    let first = speak(&app, "turn left!")
    app.set(.background, .notStreamable)
    app.set(.full, .streamable)
    let second = speak(&app, "turn left!")
    app.wait(.milliseconds(600))
    #expect([first, second].map { app.result($0)?.resultCode } == ["ABORTED", "SUCCESS"])
  }
}
