import CGStreamerApp
import GStreamerKit
import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Video on a second transport.
@Suite struct SecondaryTransportTests {
  private func port(_ screen: HeadUnitPipeline) throws -> UInt16 {
    let port = try #require(screen.source["current-secondary-port"].flatMap { UInt16($0) })
    #expect(port != 0 && port != screen.port)
    return port
  }

  /// Without the backslashes of structures within an array.
  private func appsText(_ screen: HeadUnitPipeline) -> String { screen.apps.filter { $0 != "\\" } }

  @Test func video() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240 secondary-port=0")
    let app = try RawApp.active(port: screen.port)
    #expect(screen.apps.contains("secondary-transport"), "\(screen.apps)")
    let secondary = try RawApp.secondary(of: app, port: try port(screen))
    try secondary.startVideo(.raw320x240)
    for unit in try encodedUnits(5) { secondary.video(unit.bytes) }
    _ = try screen.pull(3)
    let started = try screen.pipeline.waitForElementMessage("sdl-stream-started")
    #expect(started["service"] == "video" && started["transport"] == "secondary" && started["width"] == "320")
    #expect(appsText(screen).contains("video-transport=(string)secondary"), "\(screen.apps)")
    secondary.close()
    let stopped = try screen.pipeline.waitForElementMessage("sdl-stream-stopped")
    #expect(stopped["reason"] == "connection-lost")
    #expect(!screen.apps.contains("video-transport"), "\(screen.apps)")
    try app.startVideo(.raw320x240)
    let again = try screen.pipeline.waitForElementMessage("sdl-stream-started")
    #expect(again["transport"] == "primary")
    #expect(appsText(screen).contains("video-transport=(string)primary"), "\(screen.apps)")
    #expect(screen.statistics["violations"] == 0 && screen.statistics["connections"] == 1)
    #expect(screen.statistics["registrations"] == 1 && screen.statistics["stream-starts"] == 2)
  }

  @Test func videoThereAlone() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240 video-transports=2 secondary-port=0")
    let app = try RawApp.active(port: screen.port)
    #expect(try app.requestVideo(.raw320x240) == false)
    let refused = try screen.pipeline.waitForElementMessage("sdl-stream-refused")
    #expect(refused["reason"] == "The service is not allowed on the primary transport")
    let secondary = try RawApp.secondary(of: app, port: try port(screen))
    try secondary.startVideo(.raw320x240)
    // Elsewhere than it was started, its data are the app's fault.
    app.video([0, 0, 0, 1, 0x67])
    let violation = try screen.pipeline.waitForElementMessage("sdl-violation")
    #expect(violation["rule"] == "wrong-transport")
  }

  @Test func properties() throws {
    let pipeline = try Pipeline("sdlheadunitsrc name=source ! fakesink")
    let source = try pipeline["source"]
    #expect(source["secondary-port"] == "-1" && source["current-secondary-port"] == "0")
    #expect(source["video-transports"] == "1,2" && source["audio-transports"] == "1,2")
    source.set("preset", "bluetooth-and-wifi")
    #expect(source["secondary-port"] == "0" && source["video-transports"] == "2")
    #expect(source["audio-transports"] == "2,1")
    source.set("video-transports", "2, 1")
    source.set("audio-transports", "none")
    source.set("secondary-port", "-1")
    #expect(source["secondary-port"] == "-1" && source["video-transports"] == "2,1")
    #expect(source["audio-transports"] == "none")
    source.set("preset", "default")
    #expect(source["video-transports"] == "2,1")
  }
}
