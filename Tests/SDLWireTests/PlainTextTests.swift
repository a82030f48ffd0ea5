import Testing

@testable import SDLWire

/// What peers write is shown to people and to tools that read line by line.
@Suite struct PlainTextTests {
  @Test(arguments: [
    ("plain text", "GStreamer 1", "GStreamer 1"), ("letters of all languages", "Straße 日本 é", "Straße 日本 é"),
    ("a second line", "a\n1 registered \"b\"", "a\\u{A}1 registered \"b\""), ("a carriage return", "a\rb", "a\\u{D}b"),
    ("an escape sequence", "\u{1B}[2J", "\\u{1B}[2J"), ("one of 8 bits", "\u{9B}2J", "\\u{9B}2J"),
    ("the other direction", "a\u{202E}b", "a\\u{202E}b"), ("a line separator", "a\u{2028}b", "a\\u{2028}b"),
    ("a joiner", "न\u{94D}\u{200D}", "न\u{94D}\u{200D}"), ("zero and delete", "\0\u{7F}", "\\u{0}\\u{7F}"),
  ])
  func printable(what: String, text: String, expected: String) {
    #expect(text.printable() == expected, "\(what)")
  }

  @Test func textsAreBounded() {
    #expect("abc".printable(limit: 3) == "abc" && "abcd".printable(limit: 3) == "abc…")
    // A single character to code that counts those.
    let marks = "a" + String(repeating: "\u{301}", count: 500_000)
    #expect(marks.printable(limit: 100).utf8.count < 250 && marks.quoted.utf8.count < 250)
    #expect(String(repeating: "\n", count: 1 << 20).printable(limit: 100).utf8.count < 1000)
  }

  @Test func namesInQuotationMarksEndWithThem() {
    #expect("Map".quoted == "\"Map\"")
    #expect("a\" (id \"b".quoted == "\"a\\\" (id \\\"b\"")
    #expect("a\\".quoted == "\"a\\\\\"" && "a\n".quoted == "\"a\\u{A}\"")
    #expect(String(repeating: "\"", count: 1000).quoted == "\"" + String(repeating: "\\\"", count: 100) + "…\"")
  }

  @Test(arguments: [
    (Duration.seconds(5), "5 s"), (.nanoseconds(5_000_392_055), "5 s"),
    (.milliseconds(1250), "1.25 s"), (.zero, "0 s"),
  ])
  func seconds(time: Duration, text: String) {
    #expect(time.inSeconds == text)
  }

  @Test func tenthsOfSeconds() {
    #expect(Duration.milliseconds(1960).inTenthsOfSeconds == "2 s")
    #expect(Duration.milliseconds(649).inTenthsOfSeconds == "0.6 s")
  }

  @Test func controlFramesHaveTheirNames() {
    #expect(ControlFrame.startService.name == "StartService" && ControlFrame.heartbeatACK.name == "HeartbeatACK")
  }

  /// What a head unit writes into its answers is shown to the app's user.
  @Test func textsOfAnswers() {
    let rejection = ServiceRejection(rejectedParameters: ["a\nb"], reason: "\u{1B}[2J")
    let read = ServiceRejection(payload: rejection.bytes(version: 5))
    #expect(read.rejectedParameters == ["a\\u{A}b"] && read.reason == "\\u{1B}[2J")
    let many = ServiceRejection(rejectedParameters: Array(repeating: "a", count: 1000), reason: nil)
    #expect(ServiceRejection(payload: many.bytes(version: 5)).rejectedParameters.count == 32)
    var acknowledgement = RPCServiceAcknowledgement()
    acknowledgement.make = "Ford\r"
    acknowledgement.model = String(repeating: "x", count: 10_000)
    let answer = RPCServiceAcknowledgement(payload: acknowledgement.bytes(version: 5), version: 5)
    #expect(answer.make == "Ford\\u{D}" && answer.model?.utf8.count ?? 0 < 200)
  }
}
