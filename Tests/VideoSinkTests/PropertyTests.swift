import CGStreamerApp
import GStreamerKit
import Glibc
import SDLApp
import SDLLink
import Synchronization
import Testing
import X264Encoder

@testable import Plugin
@testable import PluginTestSupport

@Suite struct PropertyTests {
  /// Name, default as text, value to set, value as read back.
  @Test(arguments: [
    ("uri", nil, "sdl://192.0.2.7", "sdl://192.0.2.7"),
    ("app-name", "GStreamer", "Maps", "Maps"),
    ("app-id", "gst-smartdevicelink", "1234", "1234"),
    ("app-type", "navigation", "projection", "projection"),
    ("language", "EN-US", "DE-DE", "DE-DE"),
    ("connect-timeout", "10000", "250", "250"),
    ("heartbeat-interval", "10000", "5000", "5000"),
    ("auto-reconnect", "true", "false", "false"),
    ("start-timeout", "5000", "250", "250"),
    ("max-retry-interval", "30000", "4000", "4000"),
    ("app-state", "foreground", "background", "background"),
    ("restart-on-foreground", "false", "true", "true"),
    ("suspend-policy", "auto", "drop", "drop"), ("open-timeout", "500", "0", "0"),
    ("keep-alive-interval", "500", "0", "0"),
    ("background-notice", "true", "false", "false"),
    ("background-repeat", "false", "true", "true"),
    ("background-text", nil, "See you soon", "See you soon"),
    ("bitrate", "0", "1500", "1500"),
    ("bitrate-policy", "head-unit-maximum", "default-capped", "default-capped"),
    ("adaptive-bitrate", "true", "false", "false"),
    ("min-bitrate", "200", "100", "100"),
    ("max-latency", "150", "0", "0"),
    ("max-framerate", "0/1", "30000/1001", "30000/1001"),
    ("max-framerate", "0/1", "15", "15/1"),
    ("max-framerate", "0/1", "240", "240/1"),
    (
      "haptic-rectangles", "<  >", "<<10,10,100,50>,<10,80,100,50>>",
      "< (array)< (int)10, (int)10, (int)100, (int)50 >, (array)< (int)10, (int)80, (int)100, (int)50 > >"
    ),
    ("video-formats", nil, "RTP, raw", "RTP, raw"),
    ("synced-panning", "true", "false", "false"),
    ("emulate-mouse", "false", "true", "true"),
    ("gestures", "false", "true", "true"),
    ("speed-preset", "superfast", "ultrafast", "ultrafast"),
    ("key-int-max", "0", "15", "15"),
    ("threads", "0", "1", "1"),
    ("option-string", nil, "ref=1", "ref=1"),
    ("encryption", "none", "authenticate-and-encrypt", "authenticate-and-encrypt"),
    ("encryption-policy", "require", "prefer", "prefer"),
    ("rpc-encryption", "prefer", "require", "require"),
    ("max-width", "4096", "8192", "8192"), ("max-height", "2304", "1080", "1080"),
    ("certificate", nil, "/tmp/app.pem", "/tmp/app.pem"),
    ("private-key", nil, "-----BEGIN PRIVATE KEY-----", "(PEM text)"),
    ("ca-certificates", nil, "/tmp/authority.pem", "/tmp/authority.pem"),
  ])
  func writable(_ name: String, _ initial: String?, _ set: String, _ read: String) throws {
    let sink = try Element("sdlvideosink")
    #expect(sink[name] == initial)
    sink.set(name, set)
    #expect(sink[name] == read)
  }

  @Test func readOnlyInNull() throws {
    let sink = try Element("sdlvideosink")
    #expect(sink["connection-state"] == "idle")
    #expect(sink["hmi-level"] == "none")
    #expect(sink["target-bitrate"] == "600")
    #expect(sink.structure("head-unit") == nil)
    let statistics = sink.statistics
    #expect(statistics.fields.count >= 20)
    #expect(statistics.areFramesConserved)
    let texts = ["last-error", "bitrate-reason"]
    #expect(statistics.fields.allSatisfy { $0.value == (texts.contains($0.key) ? "" : "0") }, "\(statistics.fields)")
  }

  @Test func tableMatchesTheClass() throws {
    let sink = try Element("sdlvideosink")
    let objectClass = UnsafeMutableRawPointer(sink.pointer.pointee.object.object.g_type_instance.g_class)
      .assumingMemoryBound(to: GObjectClass.self)
    var names: Set<String> = []
    for row in VideoSink.properties.properties {
      let name = "\(row.name)"
      let spec = try nonNull(g_object_class_find_property(objectClass, name), "\(name)")
      let flags = UInt32(bitPattern: spec.pointee.flags.rawValue)
      func has(_ flag: UInt32) -> Bool { flags & flag == flag }
      #expect(has(UInt32(CGST_PARAM_STATIC_STRINGS)))
      #expect(has(UInt32(CGST_PARAM_READABLE)) == (row.access != .writeOnlyReady), "\(name)")
      #expect(has(UInt32(CGST_PARAM_WRITABLE)) == (row.access != .readOnly), "\(name)")
      let isMutableInReady = row.access == .mutableReady || row.access == .writeOnlyReady
      #expect(has(UInt32(CGST_PARAM_MUTABLE_READY)) == isMutableInReady, "\(name)")
      #expect(has(UInt32(CGST_PARAM_MUTABLE_PLAYING)) == (row.access == .mutablePlaying), "\(name)")
      #expect(String(cString: g_param_spec_get_nick(spec)).isEmpty == false)
      #expect(String(cString: g_param_spec_get_blurb(spec)).isEmpty == false)
      names.insert(name)
    }
    #expect(names.count == VideoSink.properties.properties.count)
  }

  /// Values that must not change while the element runs; each attempt warns once.
  @Test(arguments: [
    ("uri", "sdl://192.0.2.7"), ("app-name", "Other"), ("app-id", "other"), ("app-type", "projection"),
    ("language", "DE-DE"), ("connect-timeout", "1"), ("heartbeat-interval", "1"), ("speed-preset", "slow"),
    ("key-int-max", "1"), ("threads", "3"), ("option-string", "ref=2"),
    ("video-formats", "raw"),
  ])
  func refusedInPaused(_ name: String, _ value: String) throws {
    let pipeline = try Pipeline("videotestsrc ! sdlvideosink name=sink")
    try pipeline.reach(GST_STATE_PAUSED)
    pipeline.drain()
    let before = try pipeline.sink[name]
    try pipeline.sink.set(name, value)
    let warning = try pipeline.waitForWarning()
    #expect(warning.isResource(GST_RESOURCE_ERROR_SETTINGS))
    #expect("\(warning.text) \(warning.details)".contains(name), "\(warning)")
    #expect(try pipeline.sink[name] == before)
    try pipeline.reach(GST_STATE_READY)
    try pipeline.sink.set(name, value)
    #expect(try pipeline.sink[name] != before)
  }

  /// GStreamer's state is READY until the first frame has come, but the stream has taken the settings.
  @Test(arguments: [("uri", "sdl://192.0.2.7"), ("app-id", "other"), ("suspend-policy", "drop")])
  func refusedOnTheWayToPlaying(_ name: String, _ value: String) throws {
    let pipeline = try Pipeline("appsrc ! sdlvideosink name=sink")
    let sink = try pipeline.sink
    let before = sink[name]
    #expect(pipeline.setState(GST_STATE_PLAYING) == GST_STATE_CHANGE_ASYNC)
    #expect(cgst_element_state(sink.pointer) == GST_STATE_READY)
    sink.set(name, value)
    let warning = try pipeline.waitForWarning()
    #expect(warning.isResource(GST_RESOURCE_ERROR_SETTINGS) && warning.text.contains(name), "\(warning)")
    #expect(sink[name] == before)
    pipeline.stop()
    sink.set(name, value)
    #expect(sink[name] == value)
  }

  /// A change of the pipeline to PLAYING goes through READY, in which the application may set the rest.
  @Test func acceptedOnTheWayToReady() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline("videotestsrc ! \(Picture.caps()) ! sdlvideosink name=sink")
    let sink = try pipeline.sink
    // The sink tells in that change that no uri is set.
    let application = CallbackApplication(pipeline.element.pointer, sink.pointer, at: .type(GST_MESSAGE_INFO)) { _ in
      sink.set("uri", headUnit.uri)
    }
    application.arm()
    try pipeline.play()
    try headUnit.waitForFrames(1)
    #expect(application.waitForEnd() && pipeline.drain().allSatisfy { $0.warning == nil })
  }

  @Test(arguments: [
    ("uri", "sdl://car:0", "uri"), ("uri", "sdl://car:0", "port"), ("uri", "http://car", "sdl://HOST:PORT"),
    ("app-id", String(repeating: "x", count: 101), "100 characters"),
  ])
  func settingsAreCheckedAtReady(_ name: String, _ value: String, _ complaint: String) throws {
    let pipeline = try Pipeline("videotestsrc ! sdlvideosink name=sink \(name)=\(value)")
    #expect(pipeline.setState(GST_STATE_READY) == GST_STATE_CHANGE_FAILURE)
    let error = try pipeline.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_SETTINGS))
    #expect(error.text.contains(complaint), "\(error)")
    #expect(pipeline.drain().count { $0.error != nil } == 1)
  }

  @Test(arguments: ["bframes=2", "profile=high", "cabac=1", "no-such-option=1", "ref=many"])
  func optionsThatBreakTheStreamAreRefused(_ options: String) throws {
    let pipeline = try Pipeline("videotestsrc ! sdlvideosink name=sink option-string=\"\(options)\"")
    #expect(pipeline.setState(GST_STATE_READY) == GST_STATE_CHANGE_FAILURE)
    let error = try pipeline.waitForError()
    #expect(error.isLibrary(GST_LIBRARY_ERROR_SETTINGS))
    #expect(error.text.contains("option-string"), "\(error)")
    #expect(error.text.contains(options.prefix { $0 != "=" }), "\(error)")
  }
}

@Suite struct SettingsInReadyTests {
  @Test(arguments: [("uri", "sdl://car:0"), ("uri", "http://car"), ("option-string", "bframes=2")])
  func whatCannotWorkFailsTheNextStep(_ name: String, _ value: String) throws {
    let pipeline = try Pipeline("videotestsrc ! sdlvideosink name=sink")
    try pipeline.reach(GST_STATE_READY)
    try pipeline.sink.set(name, value)
    #expect(pipeline.setState(GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE)
    let error = try pipeline.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_SETTINGS) || error.isLibrary(GST_LIBRARY_ERROR_SETTINGS), "\(error)")
    #expect(error.text.contains(name), "\(error)")
    #expect(pipeline.drain().count { $0.error != nil } == 1)
    #expect(try pipeline.sink["connection-state"] != "failed")
  }

  @Test func bitrateGoesAsFarAsTheEncoder() throws {
    let sink = try Element("sdlvideosink")
    let objectClass = UnsafeMutableRawPointer(sink.pointer.pointee.object.object.g_type_instance.g_class)
      .assumingMemoryBound(to: GObjectClass.self)
    let spec = try nonNull(g_object_class_find_property(objectClass, "bitrate"))
    let maximum = UnsafeMutableRawPointer(spec).assumingMemoryBound(to: GParamSpecUInt.self).pointee.maximum
    #expect(Int(maximum) == EncoderSettings.bitrateRange.upperBound)
    sink.set("bitrate", "\(EncoderSettings.bitrateRange.upperBound)")
    #expect(sink["bitrate"] == "\(EncoderSettings.bitrateRange.upperBound)")
  }
}

/// Properties that two threads change.
@Suite struct ConcurrentPropertyTests {
  /// Both threads set the property in the same round.
  private final class Rounds: Sendable {
    let begun = Atomic(0)
    let ended = Atomic(0)

    func wait(for round: Int, of counter: borrowing Atomic<Int>) {
      while counter.load(ordering: .acquiring) < round { sched_yield() }
    }
  }

  /// The stream has what the property has, not the value that was read first and applied last.
  @Test func theStreamHasTheLastValue() throws {
    let pipeline = try Pipeline("appsrc ! sdlvideosink name=sink")
    #expect(pipeline.setState(GST_STATE_PAUSED) == GST_STATE_CHANGE_ASYNC)
    let sink = try pipeline.sink
    let stream = try #require(VideoSink.of(OpaquePointer(sink.pointer))?.stream)
    let (rounds, count) = (Rounds(), 1000)
    let other = WorkerThread(name: "other")
    nonisolated(unsafe) let element = sink
    try other.start {
      for round in 1...count {
        rounds.wait(for: round, of: rounds.begun)
        element.set("bitrate", "\(2 * round)")
        rounds.ended.store(round, ordering: .releasing)
      }
    }
    var faults: [Int] = []
    for round in 1...count {
      rounds.begun.store(round, ordering: .releasing)
      sink.set("bitrate", "\(2 * round + 1)")
      rounds.wait(for: round, of: rounds.ended)
      let applied = stream.state.withLock { $0.settings.encoder.bitrate }
      if sink["bitrate"].flatMap({ Int($0) }) != applied { faults.append(round) }
    }
    other.join()
    #expect(faults == [])
  }
}

/// The property `video-formats`.
@Suite struct VideoFormatListTests {
  @Test(
    arguments: [
      ("raw", [.raw]), ("RTP", [.rtp]), ("rtp,raw", [.rtp, .raw]), (" Raw , rtp ", [.raw, .rtp]),
      ("rtp,rtp,raw", [.rtp, .raw]), ("", nil), (",", nil), ("rtp,", nil), ("rtsp", nil), ("raw rtp", nil),
      ("raw,h264", nil), ("räw", nil),
    ] as [(String, [VideoStreamingProtocol]?)])
  func streamingProtocols(_ text: String, _ expected: [VideoStreamingProtocol]?) {
    #expect(VideoFormatList(text)?.protocols == expected)
  }

  @Test(arguments: [(100, 40, true), (101, 40, false), (100, 41, false)])
  func synonyms(count: Int, length: Int, areAccepted: Bool) throws {
    let sink = try Element("sdlvideosink")
    let names = Array(repeating: String(repeating: "x", count: length), count: count).joined(separator: ",")
    sink.set("vr-synonyms", names)
    #expect((sink["vr-synonyms"] == names) == areAccepted)
  }

  @Test func refusedWithAWarning() throws {
    let pipeline = try Pipeline("videotestsrc ! sdlvideosink name=sink")
    let sink = try pipeline.sink
    sink.set("video-formats", "rtp")
    sink.set("video-formats", "rtp,webm")
    let warning = try pipeline.waitForWarning()
    #expect(warning.isResource(GST_RESOURCE_ERROR_SETTINGS) && warning.text.contains("rtp,webm"), "\(warning)")
    #expect(sink["video-formats"] == "rtp")
    sink.set("video-formats", "")
    #expect(sink["video-formats"] == nil)
  }

  @Test func refusedBeforeThereIsAPipeline() throws {
    let pipeline = try Pipeline("videotestsrc ! sdlvideosink name=sink video-formats=rpt")
    pipeline.setState(GST_STATE_READY)
    #expect(try pipeline.waitForWarning().text.contains("rpt"))
    #expect(try pipeline.sink["video-formats"] == nil)
  }
}
