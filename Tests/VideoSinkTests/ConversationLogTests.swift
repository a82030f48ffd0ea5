import GStreamerKit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The property `conversation-log`: a drive is recorded.
@Suite struct ConversationLogTests {
  private func pipeline(_ headUnit: TestHeadUnit, _ properties: String) throws -> Pipeline {
    try Pipeline(
      "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(headUnit.uri) \(properties)")
  }

  /// The file is whole once the pipeline is in NULL, and begins anew with the next start.
  @Test func record() throws {
    let (headUnit, file) = (try TestHeadUnit(), ConversationFile())
    let pipeline = try pipeline(headUnit, "app-name=Drive conversation-log=\(file.path)")
    for _ in 0..<2 {
      try pipeline.play()
      try pipeline.waitForElementMessage("sdl-stream-started")
      pipeline.stop()
      let lines = try file.lines
      #expect(lines.first?["type"] == .string("connected") && lines.last?["type"] == .string("disconnected"))
      #expect(try file.messages("RegisterAppInterface") == ["app→hu request", "hu→app response"])
      #expect(lines.contains { $0["type"] == .string("StartServiceACK") && $0["service"] == .string("video") })
      #expect(lines.contains { $0["app"] == .string("Drive") })
      pipeline.forgetMessages()
    }
  }

  /// With READY what was said of the stream is there, while the app stays registered.
  @Test func endOfTheStream() throws {
    let (headUnit, file) = (try TestHeadUnit(), ConversationFile())
    let pipeline = try pipeline(headUnit, "conversation-log=\(file.path)")
    try pipeline.play()
    try pipeline.waitForElementMessage("sdl-stream-started")
    pipeline.setState(GST_STATE_READY)
    let lines = try file.lines
    #expect(lines.contains { $0["type"] == .string("EndService") && $0["service"] == .string("video") })
    #expect(lines.last?["type"] != .string("disconnected"))
    pipeline.stop()
    #expect(try file.lines.last?["type"] == .string("disconnected"))
  }

  @Test func blank() throws {
    let (headUnit, file) = (try TestHeadUnit(), ConversationFile())
    let pipeline = try pipeline(
      headUnit, "app-name=\"Anna's Map\" app-id=anna-4711 conversation-log=\(file.path) conversation-blank=true")
    try pipeline.play()
    try pipeline.waitForElementMessage("sdl-stream-started")
    pipeline.stop()
    let text = String(decoding: file.bytes, as: UTF8.self)
    #expect(text.contains("\"appName\":\"name-1\"") && !text.contains("Anna") && !text.contains("anna-4711"))
  }

  /// Nothing connects without the log that was asked for.
  @Test func unwritableFile() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try pipeline(headUnit, "conversation-log=/nonexistent/drive.jsonl")
    #expect(pipeline.setState(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    let error = try pipeline.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_OPEN_WRITE))
    #expect(
      error.text.contains("/nonexistent/drive.jsonl failed: No such file") && error.text.contains("conversation-log"))
    pipeline.stop()
    #expect(headUnit.record.connections == [])
  }

  /// A disk that is full later costs the log, and not the stream.
  @Test func fullDisk() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try pipeline(headUnit, "conversation-log=/dev/full")
    try pipeline.play()
    let warning = try pipeline.waitForWarning()
    #expect(warning.isResource(GST_RESOURCE_ERROR_WRITE))
    #expect(warning.text.contains("conversation-log") && warning.text.contains("No space left"), "\(warning)")
    try headUnit.wait(for: "pictures") { $0.video.count >= 3 ? true : nil }
    pipeline.stop()
    #expect(pipeline.messages.count { $0.warning != nil } == 1 && pipeline.messages.allSatisfy { $0.error == nil })
  }

  /// Sound and picture of one app have one connection, and one log.
  @Test func logOfBoth() throws {
    let (headUnit, file, other) = (try TestHeadUnit(), ConversationFile(), ConversationFile())
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! \(Picture.caps()) ! \
      sdlvideosink name=sink uri=\(headUnit.uri) conversation-log=\(file.path) \
      audiotestsrc is-live=true ! sdlaudiosink name=sound uri=\(headUnit.uri) conversation-log=\(other.path)
      """)
    try pipeline.play()
    let warning = try pipeline.waitForWarning()
    #expect(warning.text.contains("differ in conversation-log:"), "\(warning)")
    pipeline.stop()
    // Whichever has registered the app.
    #expect(file.bytes.isEmpty != other.bytes.isEmpty)
  }
}
