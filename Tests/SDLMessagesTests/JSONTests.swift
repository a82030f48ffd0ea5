import Foundation
import SDLMessages
import Testing
import TestSupport

@Suite struct JSONParsingTests {
  private func failure(_ bytes: [UInt8]) -> JSONObject.Malformed? {
    do throws(JSONObject.Malformed) {
      _ = try JSONObject(parsing: bytes)
      return nil
    } catch {
      return error
    }
  }

  private func value(_ text: String) throws -> JSONValue? {
    try json(#"{"v":\#(text)}"#)["v"]
  }

  /// Swift hashes texts with many combining marks in a time that grows with the square of their number: a message of the
  /// largest size would take minutes.
  @Test func manyCombiningMarks() throws {
    let text = "e" + String(repeating: "\u{301}\u{323}", count: 100)
    let object = try json(#"{"\#(text)":"\#(text)"}"#)
    #expect(object.serialized == [text.streamSafe: .string(text.streamSafe)].serialized)
  }

  @Test func everyType() throws {
    let text = #"""
      { "null" : null, "yes":true,"no" : false , "i": -12, "d": 1.5, "s": "text", "a": [1, "x", [], {}],
        "o": {"k": {}} }
      """#
    #expect(
      try json(text) == [
        "null": .null, "yes": .bool(true), "no": .bool(false), "i": .integer(-12), "d": .number(1.5),
        "s": .string("text"), "a": .array([.integer(1), .string("x"), .array([]), .object([:])]),
        "o": .object(["k": .object([:])]),
      ])
  }

  @Test(arguments: [
    ("0", JSONValue.integer(0)), ("-0", .integer(0)), ("9223372036854775807", .integer(.max)),
    ("-9223372036854775808", .integer(.min)), ("9223372036854775808", .number(9_223_372_036_854_775_808)),
    ("15.0", .number(15)), ("1e3", .number(1000)), ("1E+3", .number(1000)), ("25e-1", .number(2.5)),
    ("-0.5", .number(-0.5)), ("123456789012345678901234567890", .number(123_456_789_012_345_677_877_719_597_056)),
    ("1e+9999", .number(.infinity)), ("-1e999", .number(-.infinity)), ("1e-999", .number(0)),
    ("NaN", .null), ("Infinity", .null), ("-Infinity", .null),
  ])
  func numbers(text: String, expected: JSONValue) throws {
    #expect(try value(text) == expected)
  }

  @Test func numbersAsTypes() throws {
    #expect(try value("15.0")?.integer == 15 && value("15")?.number == 15)
    #expect(try value("14.6")?.integer == 15 && value("-14.6")?.integer == -15)
    #expect(try value("1e+9999")?.number == nil && value("1e+9999")?.integer == nil)
    #expect(try value("9007199254740991.0")?.integer == 9_007_199_254_740_991)
    #expect(try value("1e300")?.integer == nil && value("-1e16")?.integer == nil)
    #expect(try value("true")?.integer == nil && value("\"1\"")?.number == nil && value("1")?.bool == nil)
  }

  @Test(arguments: [
    (#""""#, ""), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9\u00E9é""#, "ééé"),
    (#""a\u0000b""#, "a\0b"), (#""\ud83d\ude97""#, "🚗"), (#""🚗""#, "🚗"),
    // Halves of surrogate pairs.
    (#""\ud83d""#, "\u{FFFD}"), (#""\ude97x""#, "\u{FFFD}x"), (#""\ud83d\n""#, "\u{FFFD}\n"),
    (#""\ud83d\u0041""#, "\u{FFFD}A"), ("\"tab\tand\nline\"", "tab\tand\nline"),
  ])
  func strings(text: String, expected: String) throws {
    #expect(try value(text)?.string == expected)
  }

  @Test(arguments: [
    "{", "}", "{]", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{"a":1 "b":2}"#, #"{a:1}"#, #"{'a':1}"#, #"{"a":[1,]}"#,
    #"{"a":[1 2]}"#, #"{"a":[}"#, #"{"a":tru}"#, #"{"a":True}"#, #"{"a":Nan}"#, #"{"a":Inf}"#, #"{"a":-}"#,
    #"{"a":-Inf}"#,
    #"{"a":01}"#, #"{"a":-01}"#, #"{"a":+1}"#, #"{"a":.5}"#, #"{"a":1.}"#, #"{"a":1e}"#, #"{"a":1e+}"#, #"{"a":0x10}"#,
    #"{"a":"x}"#, #"{"a":"\x"}"#, #"{"a":"\u12"}"#, #"{"a":"\u12G4"}"#, #"{"a":"\"}"#, #"{"a":1}}"#, #"{"a":1}x"#,
    "{}\0{}", "\0{}", #"{"a":"\ud83d\u12"}"#, #"{"a":1,"#, #"{"a":"\"#, "/* */{}", "nul", "\"",
  ])
  func syntaxErrors(text: String) {
    guard case .syntax = failure(Array(text.utf8)) else {
      Issue.record("\(text) gives \(String(describing: failure(Array(text.utf8))))")
      return
    }
  }

  @Test(arguments: ["[]", "null", "1", "\"x\"", "[{}]"]) func otherValues(text: String) {
    #expect(failure(Array(text.utf8)) == .notAnObject)
  }

  @Test(arguments: ["", " ", "\n", "\0"]) func nothing(text: String) throws {
    #expect(try json(text).isEmpty)
  }

  /// The styled writer of SDL Core, with the NUL that some versions add.
  @Test func indentedText() throws {
    let text = "{\r\n   \"success\" : true,\n\t\"list\" : [\n      1,\n      2\n   ]\n}\n\0"
    #expect(try json(text) == ["success": .bool(true), "list": .array([.integer(1), .integer(2)])])
    #expect(try json("{}\0\0\0").isEmpty)
  }

  @Test func lastOfEqualKeysCounts() throws {
    #expect(try json(#"{"a":1,"b":2,"a":"x","\u0061":3}"#) == ["a": .integer(3), "b": .integer(2)])
  }

  @Test func notUTF8() throws {
    let bytes = joined(Array(#"{"name":"Caf"#.utf8), [0xE9], Array(#"","ok":true}"#.utf8))
    #expect(try JSONObject(parsing: bytes) == ["name": .string("Caf\u{FFFD}"), "ok": .bool(true)])
    #expect(failure([0xFF, 0xFE, 0x7B, 0x00]) == .syntax(offset: 0))
  }

  @Test func depth() throws {
    func nested(_ depth: Int, _ open: String, _ close: String) -> String {
      String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
    }
    #expect(failure(Array(nested(64, #"{"a":"#, "}").utf8)) == nil)
    #expect(failure(Array(nested(65, #"{"a":"#, "}").utf8)) == .tooDeep)
    #expect(failure(Array(#"{"a":\#(nested(63, "[", "]"))}"#.utf8)) == nil)
    #expect(failure(Array(#"{"a":\#(nested(64, "[", "]"))}"#.utf8)) == .tooDeep)
    #expect(failure(Array(nested(10_000, #"{"a":"#, "}").utf8)) == .tooDeep)
    #expect(failure(Array(nested(500_000, "[", "]").utf8)) == .tooDeep)
    #expect(failure([UInt8](repeating: UInt8(ascii: "["), count: 1 << 20)) == .tooDeep)
  }

  /// What apps write is read as by SDL Core.
  @Test(arguments: [
    (#"{"a":1}, {"b":2}"#, "{\"a\":1}"), (#"{"a":1}}"#, #"{"a":1}"#), ("{} trailing \u{1}", "{}"), ("{}\0{}", "{}"),
    ("", "{}"), (#"{"a":1e400}"#, nil), (#"{"a":[-1e400]}"#, nil), (#"{"a":1e308}"#, #"{"a":1e+308}"#),
    (#"{"a":\#(String(repeating: "9", count: 400))}"#, nil), (#"{"a":NaN}"#, nil), (#"{"a":-Infinity}"#, nil),
    (#"{"a":Infinity}"#, nil), (#"{"a":1"#, nil), ("{]", nil), ("x", nil),
  ])
  func likeSDLCore(text: String, expected: String?) {
    let object = try? JSONObject(parsing: Array(text.utf8), as: .sdlCore)
    #expect(object.map { String(decoding: $0.serialized, as: UTF8.self) } == expected)
  }

  /// A thousand levels are read on a small stack, of which the upper ones are kept.
  @Test(arguments: [(900, true), (1000, true), (1001, false), (500_000, false)])
  func depthLikeSDLCore(depth: Int, isRead: Bool) {
    for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
      let inner = String(repeating: open, count: depth - 1) + "1" + String(repeating: close, count: depth - 1)
      let bytes = Array(#"{"mainField1":"x","deep":\#(inner),"last":2}"#.utf8)
      let object = onSmallStack { try? JSONObject(parsing: bytes, as: .sdlCore) }
      #expect((object != nil) == isRead)
      guard let object else { continue }
      #expect(object["mainField1"] == .string("x") && object["last"] == .integer(2))
      #expect(object.serialized.count < 600)
      // What is dropped has to be JSON as well.
      let broken = bytes.map { $0 == UInt8(ascii: "1") ? UInt8(ascii: "!") : $0 }
      #expect((try? JSONObject(parsing: broken, as: .sdlCore)) == nil)
    }
  }

  /// Runs a closure on a thread with a stack of 128 KiB, where recursion over a thousand levels would crash.
  private func onSmallStack(_ body: @escaping @Sendable () -> JSONObject?) -> JSONObject? {
    final class Result: @unchecked Sendable {  // Written by the thread, and read after it has ended.
      var object: JSONObject?
    }
    let result = Result()
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      result.object = body()
      done.signal()
    }
    thread.stackSize = 128 << 10
    thread.start()
    done.wait()
    return result.object
  }

  @Test func length() throws {
    let padding = String(repeating: " ", count: (1 << 20) - 2)
    #expect(failure(Array("{\(padding)}".utf8)) == nil)
    #expect(failure(Array("{\(padding) }".utf8)) == .tooLong((1 << 20) + 1))
  }

  @Test func truncatedAnywhere() throws {
    let text = Array(#"{"a":[1.5e3,true,null,{"b":"\u00e9\ud83d\ude97"}],"c":-12}"#.utf8)
    #expect(failure(text) == nil)
    for length in 1..<text.count { #expect(failure(Array(text.prefix(length))) != nil, "\(length) bytes") }
  }

  /// Changed text never traps, and what is read can be written and read again.
  @Test func hostileBytes() throws {
    var generator = SeededGenerator(seed: 21)
    let seed = Array(#"{"a":[1.5e3,true,null,{"b":"\u00e9\ud83d\ude97"}],"c":-12,"d":{"e":""},"f":1e400}"#.utf8)
    let alphabet = Array(#"{}[]",:\ue0123456789-+.tfn"#.utf8) + [0, 0x0A, 0x20, 0x80, 0xFF]
    var objects = 0
    for _ in 0..<20_000 {
      var bytes = seed
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        let byte = alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
        if Bool.random(using: &generator) { bytes[index] = byte } else { bytes.insert(byte, at: index) }
      }
      guard let object = try? JSONObject(parsing: bytes) else { continue }
      objects += 1
      let again = object.serialized
      #expect(try JSONObject(parsing: again).serialized == again, "\(String(decoding: bytes, as: UTF8.self))")
    }
    #expect(objects > 1000)
  }
}

@Suite struct JSONWritingTests {
  private func text(_ object: JSONObject) -> String {
    String(decoding: object.serialized, as: UTF8.self)
  }

  @Test func everyType() {
    let object: JSONObject = [
      "s": .string("x"), "b": .bool(true), "a": .array([.integer(1), .null, .array([]), .bool(false)]),
      "o": .object(["z": .integer(2), "a": .object([:])]), "d": .number(1.25),
    ]
    #expect(text(object) == #"{"a":[1,null,[],false],"b":true,"d":1.25,"o":{"a":{},"z":2},"s":"x"}"#)
    #expect(text([:]) == "{}")
  }

  @Test func numbers() {
    #expect(text(["v": .number(15)]) == #"{"v":15}"#)
    #expect(text(["v": .number(-0.5)]) == #"{"v":-0.5}"#)
    #expect(text(["v": .integer(.min)]) == #"{"v":-9223372036854775808}"#)
    #expect(text(["v": .number(.nan)]) == #"{"v":null}"#)
    #expect(text(["v": .number(.infinity)]) == #"{"v":null}"#)
  }

  @Test(arguments: [1e300, 1e-7, 0.1, 4.0 / 3, 123_456_789.125, -1e16, .leastNonzeroMagnitude]) func numbersRoundTrip(
    number: Double
  )
    throws
  {
    let object: JSONObject = ["v": .number(number)]
    #expect(try JSONObject(parsing: object.serialized)["v"]?.number == number)
  }

  @Test func strings() throws {
    #expect(text(["k\"": .string("a\"b\\c/d\n\u{1}\u{1F}é🚗")]) == #"{"k\"":"a\"b\\c/d\u000a\u0001\u001fé🚗"}"#)
    let everything = String(String.UnicodeScalarView((0..<0x300).compactMap(Unicode.Scalar.init)))
    let object: JSONObject = [everything: .string(everything)]
    #expect(try JSONObject(parsing: object.serialized) == object)
  }
}
