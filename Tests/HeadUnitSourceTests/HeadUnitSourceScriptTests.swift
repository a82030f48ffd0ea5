import GStreamerKit
import Glibc
import SDLHeadUnit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The property `script`: where it is found, what can be wrong with it, and that it is followed.
@Suite struct HeadUnitSourceScriptTests {
  private func path(of text: String) throws -> String {
    let path = "/tmp/sdl-script-\(getpid())-\(UInt64.random(in: 0...(.max))).txt"
    let file = try nonNull(fopen(path, "w"))
    fputs(text, file)
    fclose(file)
    return path
  }

  /// The error at the change to PAUSED, after which nothing listens.
  private func failure(of path: String) throws -> BusMessage.Fault {
    let port = try RawPeer.unusedPort()
    let pipeline = try Pipeline("sdlheadunitsrc name=src port=\(port) ! fakesink")
    let source = try pipeline["src"]
    source.set("script", path)
    #expect(pipeline.setState(GST_STATE_READY) != GST_STATE_CHANGE_FAILURE)
    #expect(pipeline.setState(GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE)
    let error = try pipeline.waitForError()
    #expect(source["current-port"] == "0" && source["script"] == path)
    // Another one gets the port.
    let other = try Pipeline("sdlheadunitsrc port=\(port) ! fakesink")
    try other.play()
    // And this one as well, once the script is there.
    other.stop()
    source.set("script", "")
    try pipeline.play()
    #expect(source["current-port"] == "\(port)")
    return error
  }

  @Test func missing() throws {
    let error = try failure(of: "/nowhere/at-all.txt")
    #expect(error.isResource(GST_RESOURCE_ERROR_NOT_FOUND))
    #expect(error.text.contains("/nowhere/at-all.txt can't be read: No such file or directory"), "\(error)")
  }

  @Test func folder() throws {
    let error = try failure(of: "/tmp")
    #expect(error.isResource(GST_RESOURCE_ERROR_OPEN_READ))
    #expect(error.text.contains("/tmp can't be read: Is a directory"), "\(error)")
  }

  @Test func malformed() throws {
    let path = try path(of: "# What is wrong?\n\nat 1: level high\n")
    defer { unlink(path) }
    let error = try failure(of: path)
    #expect(error.isResource(GST_RESOURCE_ERROR_SETTINGS))
    #expect(error.text.contains("\(path), line 3: \"level high\" is not of the form level full|"), "\(error)")
  }

  /// It would be read in part, or as nothing, or wait without end.
  @Test func pipe() throws {
    let path = "/tmp/sdl-script-\(getpid()).pipe"
    try #require(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    let error = try failure(of: path)
    #expect(error.isResource(GST_RESOURCE_ERROR_OPEN_READ))
    #expect(error.text.contains("\(path) can't be read: it is no regular file"), "\(error)")
  }

  @Test func onlyBeforeItStarts() throws {
    let screen = try HeadUnitPipeline("script=\(ScriptedHeadUnit.folder)/suspend.txt")
    screen.source.set("script", "/other")
    #expect(try screen.pipeline.waitForWarning().text.contains("The property script was not changed"))
    #expect(screen.source["script"] == "\(ScriptedHeadUnit.folder)/suspend.txt")
  }

  /// Read anew at each start, and begun from the beginning.
  @Test func eachStartBegins() throws {
    let path = try path(of: "at 0: answer register disallowed")
    defer { unlink(path) }
    let screen = try HeadUnitPipeline("script=\(path)")
    let first = try RawApp(port: screen.port)
    try first.register()
    #expect(first.isClosed())
    _ = screen.pipeline.setState(GST_STATE_READY)
    let file = try nonNull(fopen(path, "w"))
    fputs("on registered 1: level limited", file)
    fclose(file)
    try screen.pipeline.play()
    let port = try #require(screen.source["current-port"].flatMap { UInt16($0) })
    let second = try RawApp(port: port)
    try second.register()
    try second.wait(for: .limited)
  }

  /// A script that never comes to rest keeps neither apps nor the application waiting.
  @Test func stepsThatCauseEachOther() throws {
    let path = try path(
      of: "on hmi-limited: level background\non hmi-background: level limited\non registered: level limited")
    defer { unlink(path) }
    let screen = try HeadUnitPipeline("script=\(path) hmi-level=none")
    let app = try RawApp(port: screen.port)
    try app.register()
    try app.wait(for: .background)
    screen.pipeline.stop()
  }

  /// An application hears how each expectation has ended; pictures are not looked at here; `quit` ends the stream.
  @Test func expectations() throws {
    let path = try path(
      of: """
        then: expect registered name=Raw within 20
        then: expect hmi-limited within 0.1
        on registered: expect picture a.png
        on registered after 0.3: quit
        """)
    defer { unlink(path) }
    let screen = try HeadUnitPipeline("script=\(path)")
    let app = try RawApp(port: screen.port)
    try app.register()
    try screen.pipeline.waitForEnd()
    let ends = screen.pipeline.drain().filter { $0.isElement("sdl-expectation") }.map(\.fields)
    #expect(Set(ends.map { $0["line"] }) == ["1", "2", "3"])
    for end in ends { #expect((end["failure"] == nil) == (end["line"] == "1" && end["met"] == "true"), "\(end)") }
    let reasons = ends.compactMap { $0["failure"] }
    #expect(reasons.contains { $0.contains("not within 0.1 s") })
    #expect(reasons.contains { $0.contains("only the program sdl-head-unit looks at pictures") })
  }
}
