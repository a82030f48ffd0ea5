import CGStreamerApp
import GStreamerKit
import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// What the driver does, and several apps.
@Suite struct HeadUnitSourceAppTests {
  private func app(_ screen: HeadUnitPipeline, name: String) throws -> Pipeline {
    try Pipeline(
      """
      videotestsrc is-live=true pattern=ball ! \(Picture.caps()) \
      ! sdlvideosink name=sink uri=\(screen.uri) app-name=\(name) app-id=\(name)
      """)
  }

  @Test func hmiLevels() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240")
    let app = try app(screen, name: "Map")
    let sink = try app.sink
    try app.play()
    _ = try screen.pull(3)
    #expect(screen.source["hmi-level"] == "full")
    screen.source.set("hmi-level", "none")
    #expect(eventually { sink["hmi-level"] == "none" && screen.source["hmi-level"] == "none" })
    let stopped = try screen.pipeline.waitForElementMessage("sdl-stream-stopped")
    #expect(stopped["reason"] == "hmi-status" && stopped["name"] == "Map")
    screen.source.set("hmi-level", "limited")
    #expect(try screen.pull { $0.isDiscontinuous }.isDelta == false)
    #expect(eventually { sink["hmi-level"] == "limited" && screen.source["hmi-level"] == "limited" })
    screen.source.set("video-streamable", "false")
    #expect(eventually { sink["stream-state"] == "stopped" })
    screen.source.set("video-streamable", "true")
    #expect(try screen.pull { $0.isDiscontinuous }.isDelta == false)
    #expect(screen.statistics["violations"] == 0, "\(screen.source["violations"] ?? "")")
  }

  /// Later messages have the new name, too.
  @Test func anAppThatChangesItsName() throws {
    let screen = try HeadUnitPipeline()
    let app = try RawApp.active(port: screen.port, name: "Map")
    let registration: JSONObject = [
      "language": .string("EN-US"), "hmiDisplayLanguage": .string("EN-US"), "appName": .string("Karte"),
    ]
    #expect(try app.request(.changeRegistration, registration).success)
    #expect(eventually { screen.apps.contains("Karte") })
    app.close()
    #expect(try screen.pipeline.waitForElementMessage("sdl-app-unregistered")["name"] == "Karte")
  }

  /// Policies beside those of the preset.
  @Test(arguments: [("", false), (#"grant="HapticGroup, Emergency-1""#, true)])
  func grants(property: String, isGranted: Bool) throws {
    let screen = try HeadUnitPipeline("preset=core \(property)")
    let app = try RawApp.active(port: screen.port)
    #expect(try app.request(.sendHapticData, [:]).success == isGranted)
    #expect(screen.source["grant"] == (isGranted ? "Emergency-1, HapticGroup" : nil))
  }

  @Test func unknownGroup() throws {
    let pipeline = try Pipeline("sdlheadunitsrc name=source ! fakesink")
    let source = try pipeline["source"]
    source.set("grant", "Notifications")
    source.set("grant", "Notifications, RemoteControl")
    #expect(source["grant"] == "Notifications")
  }

  @Test func levelThatAppsGetFromTheBeginning() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240 hmi-level=none")
    let app = try RawApp(port: screen.port)
    try app.register()
    try app.wait(for: HMILevel.none)
    let status = try screen.pipeline.waitForElementMessage("sdl-hmi-status")
    #expect(status["level"] == "none" && status["video-streaming-state"] == "not-streamable")
    screen.source.set("hmi-level", "full")
    try app.wait(for: .full)
    try app.startVideo(.raw320x240)
  }

  @Test func screenSizeThatIsSetBeforeTheNextRegistration() throws {
    let screen = try HeadUnitPipeline("screen-size=480x320")
    let app = try RawApp.active(port: screen.port)
    #expect(try app.request(.unregisterAppInterface, [:]).success == true)
    screen.source.set("screen-size", "320x240")
    #expect(try app.request(.registerAppInterface, RawApp.registration()).success == true)
    try app.wait(for: .full)
    try app.startVideo(.raw320x240)
  }

  /// One has the screen at a time; the source's stream changes over with parameter sets and a discontinuity.
  @Test func twoApps() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240")
    let first = try app(screen, name: "First")
    try first.play()
    _ = try screen.pull(3)
    let second = try app(screen, name: "Second")
    try second.play()
    #expect(eventually { screen.statistics["apps"] == 2 })
    #expect(screen.apps.contains("name=\\(string\\)First") || screen.apps.contains("First"), "\(screen.apps)")
    let secondSink = try second.sink
    #expect(eventually { secondSink["hmi-level"] == "none" && secondSink["connection-state"] == "ready" })
    #expect(screen.statistics["stream-starts"] == 1)
    // The first leaves, so that the screen is free for the other.
    first.stop()
    let start = try screen.pull { $0.isDiscontinuous }
    #expect(try startsStream(start.bytes) && !start.isDelta)
    #expect(secondSink["stream-state"] == "streaming")
    #expect(screen.statistics["violations"] == 0, "\(screen.source["violations"] ?? "")")
  }

  @Test func appsAreStructures() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240 formats=\"RAW/H264, RTP/H264\"")
    #expect(screen.apps == "<  >", "\(screen.apps)")
    let app = try RawApp.streaming(port: screen.port, name: "Hand")
    #expect(eventually { screen.apps.contains("streaming") })
    let text = screen.apps
    for part in ["Hand", "320", "240", "RAW", "5.4.0", "full", "navigation", "127.0.0.1"] {
      #expect(text.contains(part), "\(part) in \(text)")
    }
    app.endVideo()
    #expect(eventually { !screen.apps.contains("RAW") })
  }

  @Test func violationsAreToldOf() throws {
    let screen = try HeadUnitPipeline("screen-size=480x320 strict=false")
    let app = try RawApp.streaming(
      port: screen.port, name: "Wrong",
      VideoServiceParameters(width: 480, height: 320, videoProtocol: "RAW", videoCodec: "H264"))
    for unit in try encodedUnits(3) { app.video(unit.bytes) }
    let violation = try screen.pipeline.waitForElementMessage("sdl-violation")
    #expect(violation["rule"] == "picture-size" && violation["name"] == "Wrong")
    #expect(violation["expected-width"] == "480" && violation["width"] == "320" && violation["height"] == "240")
    #expect(violation["running-time"].flatMap { Int($0) } != nil)
    #expect(violation["text"]?.contains("480×320") == true)
    #expect(screen.statistics["violations"] == 1)
    #expect(screen.source["violations"]?.contains("picture-size") == true)
    // It is shown all the same, in the size that it has.
    #expect(try screen.pull { _ in true }.caps.contains("width=(int)320"))
  }

  @Test(arguments: [true, false])
  func videoWithoutAService(isStrict: Bool) throws {
    let screen = try HeadUnitPipeline("strict=\(isStrict)")
    let app = try RawApp.active(port: screen.port)
    app.video([0, 0, 0, 1, 0x67])
    let violation = try screen.pipeline.waitForElementMessage("sdl-violation")
    #expect(violation["rule"] == "data-without-service")
    guard isStrict else {
      try app.startVideo(.init())
      return
    }
    let gone = try screen.pipeline.waitForElementMessage("sdl-app-unregistered")
    #expect(gone["reason"] == "protocol-violation")
    #expect(app.isClosed())
  }

  @Test func refusedStart() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240")
    let app = try RawApp.active(port: screen.port)
    #expect(try app.requestVideo(VideoServiceParameters(width: 640, height: 480)) == false)
    let refused = try screen.pipeline.waitForElementMessage("sdl-stream-refused")
    #expect(refused["rejected"] == "height, width" && refused["name"] == "Raw")
  }

  @Test(arguments: ["default", "core", "generic-hmi", "legacy", "hostile"])
  func presets(_ preset: String) throws {
    let screen = try HeadUnitPipeline("preset=\(preset)")
    let app = try Pipeline(
      "videotestsrc is-live=true pattern=ball ! videoconvertscale ! sdlvideosink name=sink uri=\(screen.uri)")
    try app.play()
    let sample = try screen.pull { _ in true }
    #expect(!sample.isDelta && sample.caps.contains("width"), "\(sample.caps)")
    _ = try screen.pull(3)
    #expect(screen.statistics["violations"] == 0, "\(screen.source["violations"] ?? "")")
  }
}
