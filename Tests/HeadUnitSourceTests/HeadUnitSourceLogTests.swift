import GStreamerKit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The property `conversation-log` of a head unit.
@Suite struct HeadUnitSourceLogTests {
  /// The file is whole once the element is in NULL.
  @Test func record() throws {
    let file = ConversationFile()
    let headUnit = try HeadUnitPipeline("screen-size=320x240 conversation-log=\(file.path)")
    let app = try RawApp.streaming(port: headUnit.port)
    for unit in try encodedUnits(3) { app.video(unit.bytes) }
    _ = try headUnit.pull(3)
    headUnit.pipeline.stop()
    app.close()
    let lines = try file.lines
    #expect(lines.first?["type"] == .string("connected") && lines.contains { $0["type"] == .string("disconnected") })
    #expect(try file.messages("RegisterAppInterface") == ["app→hu request", "hu→app response"])
    #expect(lines.contains { $0["type"] == .string("registered") && $0["app"] == .string("Raw") })
    let media = lines.filter { $0["kind"] == .string("media") && $0["service"] == .string("video") }
    #expect(media.compactMap { $0["messages"]?.integer }.reduce(0, +) == 3)
  }

  /// It listens only with the log that was asked for.
  @Test func unwritableFile() throws {
    let port = try RawPeer.unusedPort()
    let pipeline = try Pipeline("sdlheadunitsrc name=src port=\(port) conversation-log=/nonexistent/log ! fakesink")
    #expect(pipeline.setState(GST_STATE_READY) != GST_STATE_CHANGE_FAILURE)
    #expect(pipeline.setState(GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE)
    let error = try pipeline.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_OPEN_WRITE))
    #expect(error.text.contains("/nonexistent/log failed: No such file") && error.text.contains("conversation-log"))
    #expect(try pipeline["src"]["current-port"] == "0")
  }

  /// Apps stream on without a log that fails.
  @Test func fullDisk() throws {
    let headUnit = try HeadUnitPipeline("screen-size=320x240 conversation-log=/dev/full")
    let app = try RawApp.streaming(port: headUnit.port)
    #expect(try headUnit.pipeline.waitForWarning().isResource(GST_RESOURCE_ERROR_WRITE))
    for unit in try encodedUnits(3) { app.video(unit.bytes) }
    _ = try headUnit.pull(3)
    headUnit.pipeline.stop()
    app.close()
  }
}
