import CGStreamerApp
import GStreamerKit
import SDLHeadUnit
import SDLWire
import Testing

import struct TestSupport.SeededGenerator

@testable import Plugin
@testable import PluginTestSupport

/// Connections that misbehave do not disturb the app on the screen.
@Suite struct HeadUnitSourceConnectionTests {
  /// Does something to a head unit that shows an app, and expects that it goes on.
  private func undisturbed(_ properties: String = "", _ body: (HeadUnitPipeline) throws -> Void) throws {
    let screen = try HeadUnitPipeline("screen-size=320x240 \(properties)")
    // Slow, because what piles up while a busy machine reads garbage has to fit into the queue.
    let app = try Pipeline(
      "videotestsrc is-live=true pattern=ball ! \(Picture.caps(frameRate: 10)) ! sdlvideosink name=sink uri=\(screen.uri)"
    )
    try app.play()
    _ = try screen.pull(3)
    try body(screen)
    let shown = screen.statistics["frames-out"]
    #expect(
      eventually {
        _ = screen.pull()
        return screen.statistics["frames-out"] > shown + 10
      })
    #expect(screen.statistics["stream-starts"] == 1)
    #expect(screen.statistics["discontinuities"] == 1, "\(screen.statistics)")
    #expect(screen.statistics.areFramesBalanced)
    let messages = screen.pipeline.drain()
    #expect(messages.allSatisfy { $0.error == nil })
    #expect(messages.count < 1000)
  }

  /// Two apps on one connection.
  @Test func sessionsOfAConnection() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240")
    let app = try RawApp.active(port: screen.port, name: "First")
    let first = app.sessionID
    try app.register(name: "Second")
    #expect(app.sessionID != first)
    #expect(eventually { screen.statistics["registrations"] == 2 && screen.statistics["apps"] == 2 })
    #expect(screen.statistics["connections"] == 1 && screen.statistics["connections-open"] == 1)
    app.close()
    #expect(eventually { screen.statistics["connections-open"] == 0 && screen.statistics["apps"] == 0 })
  }

  @Test(arguments: [1] as [UInt64]) func garbage(seed: UInt64) throws {
    try undisturbed { screen in
      var random = SeededGenerator(seed: seed)
      let noise = random.bytes(20_000)
      for shift in 0..<5 {
        let client = try RawApp(port: screen.port)
        for _ in 0..<10 where !client.send(Array(noise.dropFirst(shift * 1000))) { break }
      }
      #expect(eventually { screen.statistics["connections-open"] == 1 })
      #expect(eventually { screen.statistics["violations"] > 0 })
    }
  }

  /// More than are served at once, all of which send nothing: others get their place after a second.
  @Test func silentConnections() throws {
    try undisturbed { screen in
      let clients = try (0..<40).map { _ in try RawApp(port: screen.port) }
      #expect(eventually { screen.statistics["connections"] + screen.statistics["connections-refused"] >= 41 })
      #expect(screen.statistics["connections-open"] <= 16)
      #expect(screen.statistics["connections-refused"] > 0)
      var late: RawApp?
      #expect(
        eventually {
          late = try? RawApp(port: screen.port)
          return (try? late?.register(name: "Late")) != nil
        })
      #expect(eventually { screen.apps.contains("Late") })
      #expect(late != nil)
      #expect(clients.count == 40)
    }
  }

  @Test func manyConnectionsInARow() throws {
    try undisturbed { screen in
      for _ in 0..<2000 { _ = try RawApp(port: screen.port) }
      #expect(
        eventually {
          screen.statistics["connections"] + screen.statistics["connections-refused"] >= 2001
            && screen.statistics["connections-open"] == 1
        })
    }
  }

  @Test func floodOfFrames() throws {
    try undisturbed("strict=false") { screen in
      let client = try RawApp(port: screen.port)
      try client.register(name: "Flood")
      let video = Frame(
        header: FrameHeader(
          version: 5, frameType: .single, service: .video, frameInfo: 0, sessionID: client.sessionID, dataSize: 1,
          messageID: 1),
        payload: [0])
      for _ in 0..<20 where !client.send([[UInt8]](repeating: video.bytes, count: 1000).flatMap(\.self)) { break }
      #expect(eventually { screen.statistics["violations"] >= 100 })
      let reported = screen.pipeline.drain().count { $0.isElement("sdl-violation") }
      #expect(reported < 500)
      let heartbeat = Frame.control(.heartbeat, service: .control, version: 5, sessionID: client.sessionID)
      for _ in 0..<20 where !client.send([[UInt8]](repeating: heartbeat.bytes, count: 1000).flatMap(\.self)) { break }
      #expect(client.isClosed())
    }
  }

  @Test func portInUse() throws {
    let screen = try HeadUnitPipeline()
    let other = try Pipeline("sdlheadunitsrc name=src port=\(screen.port) ! fakesink")
    #expect(other.setState(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    let error = try other.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_OPEN_READ))
    #expect(error.text.contains("127.0.0.1:\(screen.port)") && error.text.contains("port=0"), "\(error.text)")
    other.stop()
    // And it can be started when the port is free.
    screen.pipeline.stop()
    try other.play()
    #expect(try other["src"]["current-port"] == "\(screen.port)")
  }

  @Test(arguments: [
    ("screen-size=big", "screen-size"), ("additional-sizes=320x200@0.1", "320x200@0.1"), ("formats=H264", "RAW/H264"),
    ("scale=0.5", "below 1"), ("address=does-not-exist.invalid", "address"),
  ])
  func badSettings(_ properties: String, _ complaint: String) throws {
    let pipeline = try Pipeline("sdlheadunitsrc name=src port=0 \(properties) ! fakesink")
    #expect(pipeline.setState(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    let error = try pipeline.waitForError()
    #expect(error.domain == gst_resource_error_quark() && error.text.contains(complaint), "\(error.text)")
  }

  @Test func loopbackOnlyByDefault() throws {
    let screen = try HeadUnitPipeline()
    #expect(screen.source["address"] == "127.0.0.1")
    #expect(try screen.pipeline.wait(for: "info") { $0.info }.text.contains("127.0.0.1:\(screen.port)"))
  }
}
