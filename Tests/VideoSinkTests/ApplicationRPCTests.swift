import GStreamerKit
import Glibc
import SDLApp
import SDLHeadUnit
import SDLLink
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// RPCs that the application sends through the sink, and gets.
@Suite struct ApplicationRPCTests {
  private static func harness(_ properties: String = "") throws -> SinkHarness {
    let harness = try SinkHarness(properties: "sync=false \(properties)")
    try harness.start()
    return harness
  }

  private static func responses(_ count: Int, _ pipeline: Pipeline) throws -> [[String: String]] {
    while pipeline.messages.count(where: { $0.isElement("sdl-rpc") && $0.fields["type"] == "response" }) < count {
      try pipeline.waitForElementMessage("sdl-rpc")
    }
    return pipeline.messages.filter { $0.isElement("sdl-rpc") && $0.fields["type"] == "response" }.map(\.fields)
  }

  @Test func vehicleData() throws {
    let harness = try Self.harness()
    let sink = try harness.pipeline.sink
    sink.set("rpc-notifications", "OnVehicleData")
    let id = sink.emit("send-rpc", "SubscribeVehicleData", #"{"speed":true}"#)
    #expect(id > 0)
    let answer = try #require(try Self.responses(1, harness.pipeline).first)
    #expect(answer["name"] == "SubscribeVehicleData" && answer["correlation-id"] == "\(id)")
    #expect(answer["success"] == "true" && answer["result-code"] == "SUCCESS")
    #expect(answer["json"]?.contains("VEHICLEDATA_SPEED") == true)
    harness.headUnit.server.perform(try #require(try HeadUnitCommand.parse("vehicle speed 50")))
    let told = try harness.pipeline.wait(for: "speed") { message in
      message.isElement("sdl-rpc") && message.fields["type"] == "notification" ? message.fields : nil
    }
    #expect(told == ["type": "notification", "name": "OnVehicleData", "json": #"{"speed":50}"#])
    // Nothing is told any more; the answers are.
    sink.set("rpc-notifications", "")
    harness.headUnit.server.perform(try #require(try HeadUnitCommand.parse("vehicle speed 60")))
    harness.pipeline.forgetMessages()
    _ = sink.emit("send-rpc", "GetVehicleData", #"{"speed":true}"#)
    #expect(try Self.responses(1, harness.pipeline).first?["json"]?.contains(#""speed":60"#) == true)
    #expect(harness.pipeline.messages.filter { $0.fields["type"] == "notification" }.isEmpty)
    #expect(harness.headUnit.record.violations == [])
  }

  /// In their order, each with its answer, while pictures go on.
  @Test func manyAndAFile() throws {
    let harness = try Self.harness()
    let sink = try harness.pipeline.sink
    var ids = [sink.emit("put-file", "icon.png", "GRAPHIC_PNG", [UInt8](repeating: 7, count: 200_000), true)]
    ids.append(sink.emit("send-rpc", "SetAppIcon", #"{"syncFileName":"icon.png"}"#))
    for number in 0..<20 { ids.append(sink.emit("send-rpc", "Show", #"{"mainField1":"\#(number)"}"#)) }
    try harness.deliver(5)
    let answers = try Self.responses(ids.count, harness.pipeline)
    #expect(answers.map { $0["correlation-id"] } == ids.map { "\($0)" })
    #expect(answers.allSatisfy { $0["result-code"] == "SUCCESS" }, "\(answers)")
    #expect(harness.headUnit.record.violations == [])
  }

  /// What can't be sent is 0, and nothing follows.
  @Test func refusals() throws {
    let harness = try Self.harness()
    let sink = try harness.pipeline.sink
    let byte: [UInt8] = [1]
    let refused = [
      sink.emit("send-rpc", "RegisterAppInterface", "{}"), sink.emit("send-rpc", "SubscribeButton", "{}"),
      sink.emit("send-rpc", "OnHMIStatus", "{}"), sink.emit("send-rpc", "Nothing", "{}"),
      sink.emit("send-rpc", "Show", "{"), sink.emit("send-rpc", "Show", "[]"), sink.emit("send-rpc", "PutFile", "{}"),
      sink.emit("put-file", "a/b", "BINARY", byte, false), sink.emit("put-file", "a", "PNG", byte, false),
      sink.emit("put-file", "a", "BINARY", [UInt8](), false),
      sink.emit("put-file", "a", "BINARY", [UInt8](repeating: 0, count: 17 << 20), false),
      sink.emit("put-file", String(repeating: "a", count: 256), "BINARY", byte, false),
      sink.emit("answer-system-request", "", byte),
    ]
    #expect(refused.allSatisfy { $0 == 0 }, "\(refused)")
    let errors = harness.pipeline.drain().filter { $0.isElement("sdl-rpc") }.map(\.fields)
    #expect(errors.count == refused.count && errors.allSatisfy { $0["type"] == "error" }, "\(errors)")
    #expect(errors[3]["name"] == "Nothing" && errors[3]["error"] == "Nothing is no request of the RPC specification")
    #expect(errors[4]["error"]?.hasPrefix("the parameters of Show are no JSON object") == true, "\(errors[4])")
    #expect(errors[7]["name"] == "PutFile" && errors[7]["error"]?.contains("no slash") == true, "\(errors[7])")
    sink.set("keys", "none")
    #expect(sink.emit("send-rpc", "SubscribeButton", #"{"buttonName":"SEARCH"}"#) > 0)
    #expect(try Self.responses(1, harness.pipeline).map { $0["name"] } == ["SubscribeButton"])
    harness.pipeline.stop()
    #expect(sink.emit("send-rpc", "Show", #"{"mainField1":"a"}"#) == 0)
  }

  @Test func namesOfNotifications() throws {
    let harness = try Self.harness("rpc-notifications=OnVehicleData,OnCommand")
    let sink = try harness.pipeline.sink
    for value in ["OnNothing", "Show", "OnAppCapabilityUpdated"] { sink.set("rpc-notifications", value) }
    #expect(sink["rpc-notifications"] == "OnVehicleData,OnCommand")
  }

  /// Whichever connection it was that has been lost.
  @Test func lostConnection() throws {
    let harness = try Self.harness()
    let sink = try harness.pipeline.sink
    // Its answer would come after 10 s.
    let id = sink.emit("send-rpc", "Alert", #"{"alertText1":"a","duration":10000}"#)
    try harness.headUnit.wait(for: "alert") { record in
      record.events.contains { if case .textShown(.alert, ["a"]) = $0 { true } else { false } } ? true : nil
    }
    harness.headUnit.server.perform(.cut)
    let answer = try #require(try Self.responses(1, harness.pipeline).first)
    #expect(answer["correlation-id"] == "\(id)" && answer["result-code"] == "ABORTED")
  }

  /// Both sinks of one app send through one connection, and one of them posts.
  @Test func oneAppOfTwoSinks() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(headUnit.uri) \
      audiotestsrc is-live=true samplesperbuffer=320 ! sdlaudiosink name=sound rpc-notifications=OnVehicleData uri=\(headUnit.uri)
      """)
    try pipeline.play()
    try headUnit.waitForFrames(3)
    let sinks = [try pipeline.sink, try pipeline["sound"]]
    let ids = sinks.map { $0.emit("send-rpc", "SubscribeVehicleData", #"{"speed":true}"#) }
    #expect(ids.allSatisfy { $0 > 0 } && ids[0] != ids[1])
    #expect(try Self.responses(2, pipeline).map { $0["result-code"] } == ["SUCCESS", "IGNORED"])
    headUnit.server.perform(try #require(try HeadUnitCommand.parse("vehicle speed 50")))
    try pipeline.wait(for: "speed") { $0.isElement("sdl-rpc") && $0.fields["name"] == "OnVehicleData" ? true : nil }
  }
}

/// What the head unit asks the app to fetch.
@Suite struct SystemRequestTests {
  @Test func answered() throws {
    let harness = try SinkHarness(properties: "sync=false policy-updates=application")
    try harness.start()
    harness.headUnit.server.perform(try #require(try HeadUnitCommand.parse("policy-update https://a.example/")))
    let request = try harness.pipeline.waitForElementMessage("sdl-system-request")
    #expect(request["request-type"] == "PROPRIETARY" && request["url"] == "https://a.example/")
    #expect(request["timeout-ms"] == "60000" && request["headers"]?.contains(#""RequestMethod":"POST""#) == true)
    // Not asked for as a notification.
    #expect(harness.pipeline.drain().allSatisfy { !$0.isElement("sdl-rpc") })
    let sink = try harness.pipeline.sink
    #expect(sink.emit("answer-system-request", "PROPRIETARY", Array("policy".utf8)) > 0)
    let answer = try harness.pipeline.waitForElementMessage("sdl-rpc")
    #expect(answer["name"] == "SystemRequest" && answer["success"] == "true")
    try harness.headUnit.wait(for: "policy") { record in
      record.events.contains(.systemRequestAnswered("PROPRIETARY", byteCount: 6)) ? true : nil
    }
  }

  /// Nothing is sent where it could be read; the stream goes on.
  @Test func fetchFromNoSafePlace() throws {
    let harness = try SinkHarness(properties: "sync=false policy-updates=fetch")
    try harness.start()
    harness.headUnit.server.perform(try #require(try HeadUnitCommand.parse("policy-update http://a.example/")))
    let warning = try harness.pipeline.waitForWarning()
    #expect(warning.text.contains("from http://a.example/: it is no https URL"), "\(warning.text)")
    try harness.deliver(2)
  }

  /// What a server answers gets to the head unit.
  @Test func fetch() throws {
    let server = try RawPeer { connection in
      var request: [UInt8] = []
      while !String(decoding: request, as: UTF8.self).contains("policy_table"), let bytes = connection.receive() {
        request += bytes
      }
      connection.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npolicy".utf8))
    }
    let harness = try SinkHarness(properties: "sync=false policy-updates=fetch")
    try harness.start()
    let url = "http://127.0.0.1:\(server.port)/policy"
    harness.headUnit.server.perform(try #require(try HeadUnitCommand.parse("policy-update \(url)")))
    try harness.headUnit.wait(for: "policy") { record in
      record.events.contains(.systemRequestAnswered("PROPRIETARY", byteCount: 6)) ? true : nil
    }
  }

  @Test func none() throws {
    let harness = try SinkHarness()
    try harness.start()
    harness.headUnit.server.perform(try #require(try HeadUnitCommand.parse("policy-update https://a.example/")))
    try harness.deliver(3)
    #expect(harness.pipeline.drain().allSatisfy { !$0.isElement("sdl-system-request") && !$0.isElement("sdl-rpc") })
  }
}

/// How the head unit shows the app.
@Suite struct AppPresentationTests {
  private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

  private static func file(_ bytes: [UInt8]) throws -> String {
    let path = "/tmp/sdl-icon-\(UInt64.random(in: 0 ... .max)).png"
    let file = try nonNull(fopen(path, "w"))
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
    return path
  }

  @Test func nameAndIcon() throws {
    let path = try Self.file(Self.png)
    defer { unlink(path) }
    let harness = try SinkHarness(
      .small().with { $0.language = "DE-DE" },
      properties: #"sync=false app-icon=\#(path) app-names="names,DE-DE=Karte" tts-name=Map vr-synonyms="Chart, Plan""#)
    try harness.start()
    try harness.headUnit.wait(for: "icon") { record in
      record.events.contains(.iconSet("app-icon.png", byteCount: 11)) && record.events.contains(.nameChanged("Karte"))
        ? true : nil
    }
    let sink = try harness.pipeline.sink
    #expect(sink["vr-synonyms"] == "Chart,Plan" && sink.structure("app-names") == ["DE-DE": "Karte"])
    #expect(harness.pipeline.drain().allSatisfy { $0.warning == nil })
    harness.pipeline.stop()
    #expect(harness.headUnit.record.violations == [])
  }

  /// A warning, and the stream goes on.
  @Test(arguments: ["missing", "not a PNG", "too large"]) func unusableIcon(_ fault: String) throws {
    // The bytes are no argument, because Swift Testing describes each of a million.
    let path =
      switch fault {
      case "not a PNG": try Self.file([1, 2, 3])
      case "too large": try Self.file(Self.png + [UInt8](repeating: 0, count: 1 << 20))
      default: "/nowhere/icon.png"
      }
    defer { unlink(path) }
    let harness = try SinkHarness(properties: "sync=false app-icon=\(path)")
    try harness.start()
    let warnings = harness.pipeline.drain().compactMap(\.warning)
    #expect(warnings.count == 1 && warnings.first?.text.contains("The icon \(path)") == true, "\(warnings)")
    try harness.deliver(2)
  }

  /// Players go through the states many times.
  @Test(arguments: [true, false]) func theIconsFileIsClosed(isIcon: Bool) throws {
    let path = try Self.file(isIcon ? Self.png : [1, 2, 3])
    defer { unlink(path) }
    let icon = try? AppIcon(path: path)
    #expect((icon != nil) == isIcon)
    #expect(!ProcessCounts.descriptorTargets.contains { $0.hasSuffix(path) })
  }

  /// Nobody waits for what a pipe's other end may write some day.
  @Test func aPipeIsNoIcon() throws {
    let path = "/tmp/sdl-icon-\(UInt64.random(in: 0 ... .max))"
    try #require(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    let other = open(path, O_RDWR | O_CLOEXEC)
    let fault = Monitor<String?>(nil)
    try WorkerThread.detach(name: "icon") {
      do throws(ElementError) {
        _ = try AppIcon(path: path)
        fault.change { $0 = "none" }
      } catch {
        fault.change { $0 = error.text }
      }
    }
    let text = fault.wait(until: MonotonicClock.now + testTimeout) { $0 }
    close(other)
    #expect(text?.contains("can't be read: \(String(cString: strerror(EAGAIN)))") == true, "\(text ?? "")")
  }

  @Test func aFolderIsNoIcon() {
    let error = #expect(throws: ElementError.self) { try AppIcon(path: "/tmp") }
    #expect(error?.text.contains("/tmp can't be read: \(String(cString: strerror(EISDIR)))") == true)
  }

  /// A mebibyte, of which each byte is sent.
  @Test(arguments: [(0, true), (1, false)]) func theLargestIcon(excess: Int, isTaken: Bool) throws {
    let path = try Self.file(Self.png + [UInt8](repeating: 0, count: (1 << 20) - Self.png.count + excess))
    defer { unlink(path) }
    let icon = try? AppIcon(path: path)
    #expect((icon != nil) == isTaken)
  }
}
