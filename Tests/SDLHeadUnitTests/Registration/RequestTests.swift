@testable import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@Suite struct RequestTests {
  private func query(_ type: String, subscribe: Bool? = nil) -> JSONObject {
    var json: JSONObject = ["systemCapabilityType": .string(type)]
    json["subscribe"] = subscribe.map(JSONValue.bool)
    return json
  }

  @Test(arguments: HMILevel.allCases)
  func capabilityIsAnsweredInEveryLevel(level: HMILevel) throws {
    var app = TestApp.registered(HeadUnitPreset.core.configuration)
    app.set(level, .notStreamable)
    let id = app.request(.getSystemCapability, query("VIDEO_STREAMING"))
    #expect(app.result(id)?.success == true)
    let capability = SystemCapability(json: try #require(app.rpcs.last).parameters).videoStreaming
    #expect(capability == HeadUnitPreset.core.configuration.videoCapability)
    #expect(capability?.additionalCapabilities?.count == 7)
    #expect(capability?.preferredFPS == 15)
  }

  @Test(
    arguments: [
      (["systemCapabilityType": .string("REMOTE_CONTROL")], "DISALLOWED"),
      (["systemCapabilityType": .string("WINGS")], "UNSUPPORTED_RESOURCE"), ([:], "INVALID_DATA"),
      (["systemCapabilityType": .string("VIDEO_STREAMING"), "subscribe": .string("yes")], "INVALID_DATA"),
    ] as [(JSONObject, String)])
  func refusedCapabilities(parameters: JSONObject, code: String) {
    var app = TestApp.registered()
    let id = app.request(.getSystemCapability, parameters)
    #expect(app.result(id)?.resultCode == code)
    #expect(app.result(id)?.success == false)
  }

  @Test func scriptedCapabilityAnswers() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.behaviour.answers[.getSystemCapability] = HeadUnitBehaviour.ScriptedAnswer(answer: .silence)
    var silent = TestApp.registered(configuration)
    silent.request(.getSystemCapability, query("VIDEO_STREAMING"))
    #expect(silent.answers == [])
    configuration.behaviour.answers[.getSystemCapability]?.answer = .result(.genericError, success: false)
    var failing = TestApp.registered(configuration)
    let id = failing.request(.getSystemCapability, query("VIDEO_STREAMING"))
    #expect(failing.result(id)?.resultCode == "GENERIC_ERROR")
  }

  /// The driver splits the screen.
  @Test func resize() throws {
    var update = VideoStreamingCapability()
    update.preferredResolution = VideoSize(480, 320)
    var app = TestApp.streaming()
    app.run { $0.updateCapability(update, now: $1) }
    #expect(app.answers == [])
    app.request(.getSystemCapability, query("VIDEO_STREAMING", subscribe: true))
    app.forget()
    app.run { $0.updateCapability(update, now: $1) }
    let notification = try #require(app.rpcs.first)
    #expect(notification.function == .onSystemCapabilityUpdated)
    #expect(SystemCapability(json: notification.parameters).videoStreaming == update)
    // The running service is untouched.
    app.video(Stream.keyFrame)
    #expect(app.violations == [])
    app.send(.endService, .video)
    app.startVideo(VideoServiceParameters(width: 480, height: 320))
    app.video(Stream.units(Stream.sps480x320, Stream.pps, Stream.idr))
    #expect(app.controls == ["video endServiceACK", "video startServiceACK"])
    #expect(app.violations == [])
    // GetSystemCapability still returns the old value.
    app.request(.getSystemCapability, query("VIDEO_STREAMING", subscribe: false))
    #expect(
      SystemCapability(json: try #require(app.rpcs.last).parameters).videoStreaming?.preferredResolution
        == VideoSize(800, 480))
    app.forget()
    app.run { $0.updateCapability(update, now: $1) }
    #expect(app.answers == [])
  }

  @Test func appCapabilityIsReported() throws {
    var entry = HeadUnitPreset.standard.configuration.videoCapability ?? VideoStreamingCapability()
    entry.additionalCapabilities = nil
    let notification = OnAppCapabilityUpdated(supported: [entry])
    let parameters = notification.json
    var app = TestApp.registered()
    app.notify(.onAppCapabilityUpdated, parameters)
    #expect(app.events == [.violation(.notificationNotAllowed(.onAppCapabilityUpdated, HMILevel.none))])
    app.forget()
    app.set(.background, .notStreamable)
    app.notify(.onAppCapabilityUpdated, parameters)
    app.notify(.onAppCapabilityUpdated, [:])
    #expect(app.events.dropFirst() == [.appCapability(try #require(notification.videoStreaming))])
    #expect(app.answers.count == 1)
  }

  private static func entry(_ width: Int, _ height: Int, inches: Double? = nil) -> VideoStreamingCapability {
    var entry = VideoStreamingCapability()
    entry.preferredResolution = VideoSize(width, height)
    entry.diagonalScreenSize = inches
    return entry
  }

  /// OnAppCapabilityUpdated by the rules of SDL-0332.
  @Test(
    arguments: [
      ([entry(800, 380), entry(480, 320, inches: 5)], []),
      ([], [.empty]),
      ([entry(480, 320, inches: 5), entry(480, 320, inches: 5)], [.duplicate(index: 1)]),
      // The same size with another diagonal is another entry.
      ([entry(480, 320, inches: 5), entry(480, 320)], [.notOffered(index: 1, VideoSize(480, 320))]),
      ([VideoStreamingCapability()], [.notOffered(index: 0, nil)]),
    ] as [([VideoStreamingCapability], [AppCapabilityFault])])
  func appCapabilityRules(_ entries: [VideoStreamingCapability], _ faults: [AppCapabilityFault]) {
    var offered = Self.entry(800, 380)
    offered.additionalCapabilities = [Self.entry(480, 320, inches: 5), Self.entry(320, 200)]
    let configuration = HeadUnitConfiguration(screen: VideoSize(800, 380), videoCapability: offered)
    var app = TestApp.active(configuration)
    app.notify(.onAppCapabilityUpdated, OnAppCapabilityUpdated(supported: entries).json)
    #expect(app.violations == faults.map { .appCapability($0) })
    for fault in faults { #expect(!fault.description.isEmpty) }
  }

  /// Of two updates in a row the app may answer the first when the second is on its way.
  @Test func appCapabilityThatCrossesAnUpdate() throws {
    var app = TestApp.active()
    app.request(.getSystemCapability, query("VIDEO_STREAMING", subscribe: true))
    app.run { $0.resize(to: VideoSize(480, 320), scale: 1, now: $1) }
    app.run { $0.resize(to: VideoSize(800, 480), scale: 1, now: $1) }
    var update = Self.entry(480, 320)
    update.scale = 1
    var entry = try #require(HeadUnitPreset.standard.configuration.videoCapability).updated(by: update)
    entry.additionalCapabilities = nil
    app.notify(.onAppCapabilityUpdated, OnAppCapabilityUpdated(supported: [entry]).json)
    #expect(app.violations == [])
  }

  /// Eight updates at most are on the way.
  @Test func appCapabilityOfAFormerUpdate() throws {
    var app = TestApp.active()
    app.request(.getSystemCapability, query("VIDEO_STREAMING", subscribe: true))
    let configured = try #require(HeadUnitPreset.standard.configuration.videoCapability)
    let sizes = (1...10).map { VideoSize(400 + 2 * $0, 240) }
    for size in sizes { app.run { $0.resize(to: size, scale: 1, now: $1) } }
    let isOffered = sizes.map { size in
      var update = Self.entry(size.width, size.height)
      update.scale = 1
      var entry = configured.updated(by: update)
      entry.additionalCapabilities = nil
      app.forget()
      app.notify(.onAppCapabilityUpdated, OnAppCapabilityUpdated(supported: [entry]).json)
      return app.violations == []
    }
    #expect(isOffered == [false] + Array(repeating: true, count: 9))
  }

  /// The level is gone when the notification comes: within a second it was on the way.
  @Test(arguments: [(1000, false), (1001, true)])
  func appCapabilityThatCrossesTheEndOfTheLevel(milliseconds: Int, isViolation: Bool) {
    var app = TestApp.active()
    app.set(.none, .notStreamable)
    app.wait(.milliseconds(milliseconds))
    let supported = [HeadUnitPreset.standard.configuration.videoCapability].compactMap(\.self)
    app.notify(.onAppCapabilityUpdated, OnAppCapabilityUpdated(supported: supported).json)
    #expect(app.violations.isEmpty != isViolation, "\(app.violations)")
  }

  @Test func appCapabilityBesidesItsList() {
    var app = TestApp.active()
    var notification = OnAppCapabilityUpdated(supported: [])
    notification.videoStreaming = HeadUnitPreset.standard.configuration.videoCapability
    app.notify(.onAppCapabilityUpdated, notification.json)
    #expect(app.violations == [.appCapability(.empty), .appCapability(.rootNotEmpty)])
  }

  @Test func appCapabilityOfAnOldVersion() {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.rpcVersion = RPCVersion(7, 0)
    var app = TestApp.active(configuration)
    var entry = configuration.videoCapability ?? VideoStreamingCapability()
    entry.additionalCapabilities = nil
    app.notify(.onAppCapabilityUpdated, OnAppCapabilityUpdated(supported: [entry]).json)
    #expect(app.violations == [.appCapability(.version(RPCVersion(7, 0)))])
  }

  private func rectangle(id: Int, width: JSONValue = .number(20)) -> JSONValue {
    let sides: JSONObject = ["x": .number(1.5), "y": .integer(0), "width": width, "height": .integer(9)]
    return .object(["id": .integer(id), "rect": .object(sides)])
  }

  @Test func hapticDataInFullOnly() {
    let parameters: JSONObject = ["hapticRectData": .array([rectangle(id: 1), rectangle(id: 2)])]
    var app = TestApp.active()
    let first = app.request(.sendHapticData, parameters)
    #expect(app.result(first)?.success == true)
    let rectangles = [1, 2].map { HapticRectangle(id: $0, x: 1.5, y: 0, width: 20, height: 9) }
    #expect(app.events == [.hapticRectangles(rectangles)])
    let empty = app.request(.sendHapticData)
    #expect(app.result(empty)?.success == true)
    #expect(app.events.last == .hapticRectangles([]))
    app.set(.limited, .streamable)
    let limited = app.request(.sendHapticData, parameters)
    #expect(app.result(limited)?.resultCode == "DISALLOWED")
  }

  @Test func invalidHapticData() {
    var app = TestApp.active()
    let tooMany = [JSONValue](repeating: rectangle(id: 1), count: 1001)
    for value in [
      .string("none"), .array([.integer(1)]), .array([rectangle(id: -1)]), .array(tooMany),
      .array([rectangle(id: 1, width: .string("wide"))]),
    ] as [JSONValue] {
      let id = app.request(.sendHapticData, ["hapticRectData": value])
      #expect(app.result(id)?.resultCode == "INVALID_DATA")
    }
    #expect(app.events == [])
  }

  /// SDL Core accepts all of these, the emulator reports them.
  @Test(
    arguments: [
      ([(1, 0, 0), (1, 9, 9)], true, [.repeatedID(1)]),
      ([(1, 790, 470)], true, []),
      ([(1, 790.5, 0)], true, [.outsideDisplay(square(1, 790.5, 0), display: VideoSize(800, 480))]),
      ([(1, 0, -0.5)], true, [.outsideDisplay(square(1, 0, -0.5), display: VideoSize(800, 480))]),
      ([(1, 0, 0)], false, [.notSupported]),
      ([], false, [.notSupported]),
    ] as [([(Int, Double, Double)], Bool, [HapticFault])])
  func hapticFaults(corners: [(Int, Double, Double)], isSupported: Bool, faults: [HapticFault]) {
    var configuration = HeadUnitPreset.standard.configuration
    configuration.videoCapability?.hapticSpatialDataSupported = isSupported
    var app = TestApp.active(configuration)
    let rectangles = corners.map { Self.square($0, $1, $2) }
    let id = app.request(.sendHapticData, SendHapticData(rectangles: rectangles).json)
    #expect(app.result(id)?.success == true)
    #expect(app.events == faults.map { .violation(.haptics($0)) } + [.hapticRectangles(rectangles)])
  }

  /// 10×10.
  private static func square(_ id: Int, _ x: Double, _ y: Double) -> HapticRectangle {
    HapticRectangle(id: id, x: x, y: y, width: 10, height: 10)
  }

  @Test func hapticRectanglesBelongToTheWindow() {
    var app = TestApp.active()
    app.request(.getSystemCapability, query("VIDEO_STREAMING", subscribe: true))
    app.run { $0.resize(to: VideoSize(400, 300), scale: nil, now: $1) }
    app.forget()
    app.request(.sendHapticData, SendHapticData(rectangles: [Self.square(0, 391, 0)]).json)
    let outside = HapticFault.outsideDisplay(Self.square(0, 391, 0), display: VideoSize(400, 300))
    #expect(app.violations == [.haptics(outside)])
  }

  @Test func malformedRPCs() {
    var app = TestApp.active()
    app.send(data: [1, 2, 3], .rpc)
    let header = RPCHeader(type: .request, functionID: 48, correlationID: 9, jsonSize: 2)
    app.send(data: header.bytes + Array("{]".utf8), .rpc)
    #expect(app.result(9)?.resultCode == "INVALID_DATA")
    #expect(app.violations == [.malformedRPC(.header(.truncated)), .malformedRPC(.parameters(header))])
    // Responses are ignored.
    app.forget()
    app.send(RPCMessage(type: .response, function: .onHMIStatus, correlationID: 3))
    #expect(app.answers == [] && app.events == [])
  }

  /// All are answered, although the settings that SDL Core ships name a limit of 100.
  @Test func manyRequestsAtNone() {
    var app = TestApp.registered()
    let ids = (0..<150).map { _ in app.request(.getSystemCapability, query("VIDEO_STREAMING")) }
    #expect(ids.allSatisfy { app.result($0)?.success == true })
    #expect(app.violations == [] && !app.isClosed)
  }

  @Test func tooManyRequestsInFull() {
    var app = TestApp.active()
    for _ in 0..<1001 {
      app.request(.getSystemCapability, query("VIDEO_STREAMING"))
      app.wait(.milliseconds(2))
    }
    #expect(app.events.last == .appUnregistered(reason: .headUnit(.tooManyRequests)))
    #expect(app.violations == [.tooManyRequests(limit: 1000, within: .seconds(10))])
  }
}
