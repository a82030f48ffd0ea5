import GStreamerKit
import Glibc
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Picture and sound of one app.
@Suite struct SharedAppTests {
  private static func sources(_ properties: String = "", audio: String = "") -> String {
    """
    videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink \(properties) \
    audiotestsrc is-live=true samplesperbuffer=320 ! sdlaudiosink name=sound \(audio)
    """
  }

  private let headUnit: TestHeadUnit

  init() throws {
    headUnit = try TestHeadUnit()
  }

  private func pipeline(video: String = "", audio: String = "") throws -> Pipeline {
    try Pipeline(Self.sources("uri=\(headUnit.uri) \(video)", audio: "uri=\(headUnit.uri) \(audio)"))
  }

  private func waitForBoth(sound byteCount: Int = 3200) throws {
    try headUnit.waitForFrames(3)
    try headUnit.waitForSound(byteCount)
  }

  @Test func oneRegistration() throws {
    // GstBaseSink warns of late pictures, on a busy machine.
    let pipeline = try pipeline(video: "max-lateness=-1")
    try pipeline.play()
    try waitForBoth()
    let sinks = [try pipeline.sink, try pipeline["sound"]]
    for sink in sinks {
      #expect(eventually { sink["hmi-level"] == "full" && sink["connection-state"] == "streaming" })
      #expect(sink.structure("head-unit") != nil && sink.statistics["connections"] == 1)
    }
    gst_element_send_event(pipeline.element.pointer, gst_event_new_eos())
    try pipeline.waitForEnd()
    try pipeline.stopKeepingMessages()
    let messages = pipeline.drain()
    for name in ["sdl-connected", "sdl-disconnected"] { #expect(messages.count { $0.isElement(name) } == 1) }
    #expect(messages.allSatisfy { $0.warning == nil && $0.error == nil })
    #expect(headUnit.record.registrations.count == 1 && headUnit.record.violations == [])
    #expect(sinks[0].statistics.areFramesConserved && sinks[1].statistics.areSamplesConserved)
    for sink in sinks { #expect(sink["connection-state"] == "idle" && sink["hmi-level"] == "none") }
  }

  /// The app lives from the first element's start to the last one's end.
  @Test(arguments: ["sink", "sound"])
  func oneLeavesAndComesBack(_ name: String) throws {
    let pipeline = try pipeline()
    try pipeline.play()
    try waitForBoth()
    let element = try pipeline[name]
    gst_element_set_locked_state(element.pointer, 1)
    gst_element_set_state(element.pointer, GST_STATE_NULL)
    #expect(element["connection-state"] == "idle")
    let record = headUnit.record
    let (frames, bytes) = (record.video.count, record.audio.count)
    if name == "sink" { try headUnit.waitForSound(bytes + 6400) } else { try headUnit.waitForFrames(frames + 5) }
    #expect(headUnit.record.disconnections == 0)
    gst_element_set_locked_state(element.pointer, 0)
    // A live source has ended without its sink.
    pipeline.stop()
    try pipeline.play()
    try headUnit.wait(for: "both again") { $0.starts.count == 2 && $0.audioStarts.count == 2 ? true : nil }
    #expect(headUnit.record.registrations.count == 2 && headUnit.record.violations == [])
  }

  /// Without an address as well: the built-in head unit is one.
  @Test func builtIn() throws {
    let pipeline = try Pipeline(
      "videotestsrc is-live=true ! sdlvideosink name=sink audiotestsrc is-live=true ! sdlaudiosink name=sound")
    try pipeline.play()
    let sinks = [try pipeline.sink, try pipeline["sound"]]
    #expect(eventually { sinks.allSatisfy { $0["stream-state"] == "streaming" } })
    #expect(pipeline.drain().count { $0.isElement("sdl-connected") } == 1)
  }

  /// Another identity is another app.
  @Test func twoApps() throws {
    let pipeline = try pipeline(audio: "app-id=other app-name=Other")
    try pipeline.play()
    try headUnit.wait(for: "two apps") { $0.registrations.count == 2 ? true : nil }
  }

  @Test func contradictions() throws {
    let pipeline = try pipeline(video: "language=DE-DE max-lateness=-1", audio: "language=FR-FR connect-timeout=7000")
    try pipeline.play()
    let warning = try pipeline.waitForWarning()
    #expect(warning.text.contains("sink") && warning.text.contains("sound") && warning.text.contains("language"))
    try waitForBoth()
    #expect(pipeline.drain().count { $0.warning != nil } == 1)
  }

  @Test func twoSounds() throws {
    let pipeline = try Pipeline(
      """
      audiotestsrc is-live=true ! sdlaudiosink name=sink uri=\(headUnit.uri) \
      audiotestsrc is-live=true ! sdlaudiosink name=second uri=\(headUnit.uri)
      """)
    #expect(pipeline.setState(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    let error = try pipeline.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_BUSY) && error.text.contains("app-id"), "\(error)")
  }

  /// Encryption can't be added to an app that is registered without it.
  @Test func encryptionComesTooLate() throws {
    let sound = try Pipeline("audiotestsrc is-live=true ! sdlaudiosink name=sink uri=\(headUnit.uri)")
    try sound.play()
    try headUnit.waitForSound(640)
    let picture = try Pipeline(
      "videotestsrc ! sdlvideosink name=sink uri=\(headUnit.uri) encryption=authenticate")
    try handOver(from: sound, to: picture)
    picture.setState(GST_STATE_READY)
    let error = try picture.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_SETTINGS) && error.text.contains("encryption"), "\(error)")
    #expect(headUnit.record.disconnections == 0)
  }

  /// The application hands the context over to another pipeline.
  @Test func twoPipelines() throws {
    let sound = try Pipeline("audiotestsrc is-live=true ! sdlaudiosink name=sink uri=\(headUnit.uri)")
    try sound.play()
    try headUnit.waitForSound(640)
    let picture = try Pipeline(
      "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(headUnit.uri)")
    try handOver(from: sound, to: picture)
    try picture.play()
    try headUnit.waitForFrames(3)
    #expect(headUnit.record.registrations.count == 1)
    sound.stop()
    let count = headUnit.record.video.count
    try headUnit.waitForFrames(count + 5)
    #expect(headUnit.record.disconnections == 0 && headUnit.record.violations == [])
    picture.stop()
    #expect(eventually { headUnit.record.disconnections == 1 })
  }

  private func handOver(from: Pipeline, to: Pipeline) throws {
    let context = try nonNull(gst_element_get_context(try from.sink.pointer, "sdl.apps"))
    gst_element_set_context(to.element.pointer, context)
    gst_context_unref(context)
  }

  /// Once, by one of them.
  @Test func errorsOfTheConnection() throws {
    let pipeline = try pipeline(video: "auto-reconnect=false", audio: "auto-reconnect=false")
    try pipeline.play()
    try waitForBoth()
    headUnit.server.perform(.cut)
    _ = try pipeline.waitForError()
    let sinks = [try pipeline.sink, try pipeline["sound"]]
    #expect(eventually { sinks.allSatisfy { $0["connection-state"] == "failed" || $0["connection-state"] == "idle" } })
    let own = pipeline.drain().filter { $0.error != nil && ["sink", "sound"].contains($0.source) }
    #expect(own.count == 1)
  }

  @Test func reconnected() throws {
    let pipeline = try pipeline()
    try pipeline.play()
    try waitForBoth()
    headUnit.server.perform(.cut)
    try headUnit.wait(for: "both again") { $0.starts.count == 2 && $0.audioStarts.count == 2 ? true : nil }
    #expect(pipeline.drain().count { $0.isElement("sdl-disconnected") } == 1)
    #expect(headUnit.record.registrations.count == 2)
  }

  /// A handler of the sound's message stops and starts the pipeline of both.
  @Test func restartInACallback() throws {
    let pipeline = try pipeline()
    try pipeline.play()
    for _ in 0..<3 {
      try pipeline.wait(for: "sound") {
        $0.isElement("sdl-stream-started") && $0.fields["service"] == "audio" ? true : nil
      }
      pipeline.stop()
      try pipeline.play()
    }
    #expect(eventually { headUnit.record.registrations.count == 4 })
    pipeline.stop()
    #expect(eventually { headUnit.record.disconnections == 4 })
    #expect(try pipeline.sink.statistics.areFramesConserved && pipeline["sound"].statistics.areSamplesConserved)
  }

  /// `playbin video-sink=sdlvideosink audio-sink=sdlaudiosink`: a film in the car.
  @Test(arguments: ["playbin", "playbin3"])
  func film(player: String) throws {
    let path = "/tmp/sdl-film-\(getpid())-\(player).ogv"
    defer { unlink(path) }
    let writer = try Pipeline(
      """
      oggmux name=muxer ! filesink location=\(path) \
      videotestsrc num-buffers=25 ! video/x-raw,width=320,height=240,framerate=25/1 ! theoraenc ! queue ! muxer. \
      audiotestsrc num-buffers=25 samplesperbuffer=1920 ! audio/x-raw,rate=48000,channels=2 ! audioconvert \
      ! vorbisenc ! queue ! muxer.
      """)
    try writer.play()
    try writer.waitForEnd()
    writer.stop()
    let pipeline = try Pipeline(
      """
      \(player) uri=file://\(path) video-sink="sdlvideosink name=sink max-lateness=-1 qos=false uri=\(headUnit.uri)" \
      audio-sink="sdlaudiosink name=sound lead-time=800 uri=\(headUnit.uri)"
      """)
    try pipeline.pausePlayer()
    try pipeline.play()
    try pipeline.waitForEnd()
    let record = headUnit.record
    #expect(record.registrations.count == 1 && record.violations == [])
    // A busy machine leaves out what it brings late, and has silence in its place.
    let statistics = try pipeline["sound"].statistics
    let late = 2 * (statistics["samples-dropped-late"] - statistics["silence-samples-sent"])
    #expect(
      record.video.count > 10 && abs(record.audio.count + late - 32_000) < 3200, "\(record.audio.count), \(statistics)")
    pipeline.stop()
    #expect(eventually { headUnit.record.disconnections == 1 })
  }
}
