import CGStreamerApp
import GStreamerKit
import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport
@testable import SDLLink

/// `sdlheadunitsrc` and `sdlheadunitaudiosrc` as one head unit.
@Suite struct SharedHeadUnitTests {
  /// The sinks do not wait for each other: there is sound before there is a picture.
  private static func description(
    port: UInt16 = 0, screen: String = "screen-size=320x240", sound: String = ""
  ) -> String {
    """
    sdlheadunitsrc name=screen port=\(port) \(screen) ! appsink name=pictures sync=false async=false \
    sdlheadunitaudiosrc name=sound port=\(port) \(sound) ! appsink name=out sync=false async=false
    """
  }

  private static func port(of element: Element) -> UInt16 { UInt16(element["current-port"] ?? "") ?? 0 }

  /// An app that streams both.
  private static func app(port: UInt16, name: String = "Raw") throws -> RawApp {
    let app = try RawApp.streaming(port: port, name: name)
    guard try app.startAudio() else { throw TestFailure("audio was refused") }
    return app
  }

  private static func sound(_ pipeline: Pipeline, byteCount: Int) throws -> [SoundPipeline.Sample] {
    let output = try pipeline["out"]
    var samples: [SoundPipeline.Sample] = []
    while samples.sound.count < byteCount {
      guard let sample = SoundPipeline.pull(from: output) else { throw TestFailure("no sound: \(pipeline.drain())") }
      samples.append(sample)
    }
    return samples
  }

  @Test func pictureAndSoundOfOneApp() throws {
    let units = try encodedUnits(3)
    let pipeline = try Pipeline(Self.description())
    try pipeline.play()
    let (screen, sound) = (try pipeline["screen"], try pipeline["sound"])
    let port = Self.port(of: screen)
    #expect(port > 0 && Self.port(of: sound) == port)
    let app = try Self.app(port: port)
    let standstills = Standstills()
    // At the same moment.
    app.video(units[0].bytes)
    let pieces = soundPieces(10)
    for piece in pieces { app.audio(piece) }
    for unit in units.dropFirst() { app.video(unit.bytes) }
    app.endVideo()
    let samples = try Self.sound(pipeline, byteCount: 6400)
    #expect(samples.sound == pieces.flatMap(\.self))
    let pictures = try pipeline["pictures"]
    let first = try #require(SoundPipeline.pull(from: pictures))
    #expect(first.bytes == units[0].bytes)
    for unit in units.dropFirst() { #expect(SoundPipeline.pull(from: pictures)?.bytes == unit.bytes) }
    let heard = try #require(samples.first { !$0.isSilence }).time
    let distance = abs(Int(heard) - Int(first.time))
    #expect(distance < 40_000_000 + standstills.total.nanoseconds, "\(heard) \(first.time)")
    // The end of the video may come between two readings.
    #expect(
      eventually { screen["apps"] == sound["apps"] && screen["apps"]?.contains(#"audio\=\(boolean\)true"#) == true })
    app.endAudio()
    app.close()
    let gone = try pipeline.wait(for: "end of the app") { $0.isElement("sdl-app-unregistered") ? $0 : nil }
    // Each message once: about a service by the element that takes it.
    let messages = pipeline.drain()
    #expect(messages.count { $0.isElement("sdl-app-registered") } == 1)
    #expect(messages.count { $0.isElement("sdl-app-unregistered") } == 1)
    #expect(gone.source == "screen")
    for name in ["sdl-stream-started", "sdl-stream-stopped"] {
      let streams = messages.filter { $0.isElement(name) }
      #expect(Set(streams.map { "\($0.source) \($0.fields["service"] ?? "")" }) == ["screen video", "sound audio"])
      #expect(streams.count == 2)
    }
    #expect(messages.count { $0.info?.text.contains("Listening") == true } == 1)
    #expect(screen.statistics["registrations"] == 1 && sound.statistics["registrations"] == 1)
    #expect(screen.statistics.areFramesBalanced && sound.statistics.areSamplesBalanced)
  }

  /// The end of an app that streams on one service alone is that of both; an app that streams on none ends neither.
  @Test(arguments: [ServiceType.video, .audio])
  func endOfStreamOnRequest(service: ServiceType) throws {
    let port = try RawPeer.unusedPort()
    let pipeline = try Pipeline(
      """
      sdlheadunitsrc name=screen port=\(port) screen-size=320x240 eos-on-disconnect=true ! fakesink sync=false async=false \
      sdlheadunitaudiosrc name=sound port=\(port) eos-on-disconnect=true ! fakesink sync=false async=false
      """)
    try pipeline.play()
    let (screen, sound) = (try pipeline["screen"], try pipeline["sound"])
    let idle = try RawApp.active(port: port, name: "Idle")
    idle.close()
    #expect(eventually { screen.statistics["registrations"] == 1 && screen.statistics["apps"] == 0 })
    let app = try RawApp.active(port: port)
    if service == .video {
      try app.startVideo(.raw320x240)
      app.video(try encodedUnits(1)[0].bytes)
      #expect(eventually { screen.statistics["frames-out"] == 1 })
    } else {
      #expect(try app.startAudio())
      app.audio([1, 2])
      #expect(eventually { sound.statistics["samples-out"] == 1 })
    }
    app.close()
    try pipeline.waitForEnd()
  }

  /// Whichever starts first, what is set on one of them counts; what is set on both differently is a warning.
  @Test func propertiesOfBoth() throws {
    let pipeline = try Pipeline(
      Self.description(
        screen: "screen-size=320x240 make=Ford strict=false", sound: "pcm-capabilities=8KHZ/8_BIT model=T preset=core"))
    try pipeline.play()
    let app = try Self.app(port: Self.port(of: pipeline["screen"]))
    app.audio([1, 2, 3])
    let samples = try Self.sound(pipeline, byteCount: 3)
    #expect(samples[0].caps.contains("format=(string)U8, layout=(string)interleaved, rate=(int)8000"))
    #expect(pipeline.drain().allSatisfy { $0.warning == nil })
    app.close()

    let other = try Pipeline(
      Self.description(screen: "screen-size=320x240 make=Ford model=T", sound: "make=Lincoln model=T hmi-level=limited")
    )
    try other.play()
    let warning = try other.waitForWarning()
    #expect(warning.isResource(GST_RESOURCE_ERROR_SETTINGS))
    #expect(
      warning.text.contains("sound") && warning.text.contains("screen") && warning.text.contains("differ in make:"))
    #expect(other.drain().count { $0.warning != nil } == 1)
  }

  /// The head unit is there from the first start to the last stop.
  @Test func elementsComeAndGo() throws {
    let pipeline = try Pipeline(Self.description())
    try pipeline.play()
    let (screen, sound) = (try pipeline["screen"], try pipeline["sound"])
    let port = Self.port(of: screen)
    let app = try Self.app(port: port)
    for _ in 0..<3 {
      gst_element_set_locked_state(sound.pointer, 1)
      gst_element_set_state(sound.pointer, GST_STATE_NULL)
      #expect(Self.port(of: screen) == port && Self.port(of: sound) == 0)
      app.audio(soundPieces(1)[0])
      // After the sound, so that it has been read.
      _ = try app.request(.getSystemCapability, ["systemCapabilityType": .string("VIDEO_STREAMING")])
      #expect(screen["apps"]?.contains("Raw") == true && sound["apps"] == "<  >")
      gst_element_set_locked_state(sound.pointer, 0)
      #expect(gst_element_sync_state_with_parent(sound.pointer) != 0)
      #expect(Self.port(of: sound) == port && sound["apps"] == screen["apps"])
      // The app that speaks already.
      app.audio([1, 2, 3, 4])
      #expect(try Self.sound(pipeline, byteCount: 4).sound.suffix(4) == [1, 2, 3, 4])
    }
    gst_element_set_locked_state(screen.pointer, 1)
    gst_element_set_state(screen.pointer, GST_STATE_NULL)
    app.audio([5, 6, 7, 8])
    #expect(try Self.sound(pipeline, byteCount: 4).sound == [5, 6, 7, 8])
    gst_element_set_state(sound.pointer, GST_STATE_NULL)
    #expect(app.isClosed())
  }

  /// An element for video that comes back with other properties: apps that connect from then on get those, except for
  /// the protection, which a head unit has from its beginning; a property that is set later does not change that.
  @Test func videoComesBackDifferent() throws {
    let pipeline = try Pipeline(Self.description())
    try pipeline.play()
    let (screen, sound) = (try pipeline["screen"], try pipeline["sound"])
    func takesVideo(of width: Int32, _ height: Int32) throws -> Bool {
      let app = try RawApp.active(port: Self.port(of: sound), name: "\(width)")
      defer { app.close() }
      var parameters = VideoServiceParameters.raw320x240
      (parameters.width, parameters.height) = (width, height)
      return try app.requestVideo(parameters)
    }
    func restart(_ properties: [String: String]) throws {
      gst_element_set_locked_state(screen.pointer, 1)
      gst_element_set_state(screen.pointer, GST_STATE_NULL)
      for (name, value) in properties { screen.set(name, value) }
      gst_element_set_locked_state(screen.pointer, 0)
      #expect(gst_element_sync_state_with_parent(screen.pointer) != 0)
    }
    #expect(try takesVideo(of: 320, 240))
    try restart(["screen-size": "640x480"])
    #expect(try takesVideo(of: 640, 480) && !takesVideo(of: 320, 240))
    #expect(pipeline.drain().allSatisfy { $0.warning == nil })
    try restart(["encryption": "require"])
    let warning = try pipeline.waitForWarning().text
    #expect(warning.contains("differ in encryption"), "\(warning)")
    screen.set("framerate", "20")
    #expect(try takesVideo(of: 640, 480))
  }

  /// The app on the screen is told whether it may stream now.
  @Test func videoComesBackUnstreamable() throws {
    let pipeline = try Pipeline(Self.description())
    try pipeline.play()
    let (screen, sound) = (try pipeline["screen"], try pipeline["sound"])
    let app = try RawApp.active(port: Self.port(of: sound))
    for isStreamable in [false, true] {
      gst_element_set_locked_state(screen.pointer, 1)
      gst_element_set_state(screen.pointer, GST_STATE_NULL)
      screen.set("video-streamable", "\(isStreamable)")
      gst_element_set_locked_state(screen.pointer, 0)
      #expect(gst_element_sync_state_with_parent(screen.pointer) != 0)
      let state = isStreamable ? "streamable" : "not-streamable"
      try pipeline.wait(for: state) {
        $0.isElement("sdl-hmi-status") && $0.fields["video-streaming-state"] == state && $0.fields["level"] == "full"
          ? true : nil
      }
    }
    #expect(pipeline.drain().allSatisfy { $0.warning == nil })
    app.close()
  }

  /// One takes the sound of a head unit, not two.
  @Test func twoOfOneKind() throws {
    let port = try RawPeer.unusedPort()
    let pipeline = try Pipeline(
      "sdlheadunitaudiosrc port=\(port) ! fakesink sync=false sdlheadunitaudiosrc port=\(port) ! fakesink sync=false")
    #expect(pipeline.setState(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    #expect(try pipeline.waitForError().text.contains("\(port)"))
  }

  /// Head units at other ports are others.
  @Test func otherPorts() throws {
    var ports = [try RawPeer.unusedPort(), try RawPeer.unusedPort()]
    while ports[0] == ports[1] { ports[1] = try RawPeer.unusedPort() }
    let pipeline = try Pipeline(
      "sdlheadunitsrc name=screen port=\(ports[0]) ! fakesink sdlheadunitaudiosrc name=sound port=\(ports[1]) ! fakesink"
    )
    try pipeline.play()
    let elements = [try pipeline["screen"], try pipeline["sound"]]
    #expect(elements.map(Self.port) == ports)
  }

  /// An application hands the context over.
  @Test(arguments: [true, false])
  func acrossPipelines(isHandedOver: Bool) throws {
    let port = try RawPeer.unusedPort()
    let screen = try Pipeline("sdlheadunitsrc name=screen port=\(port) screen-size=320x240 ! fakesink sync=false")
    let sound = try Pipeline("sdlheadunitaudiosrc name=sound port=\(port) ! appsink name=out sync=false")
    try screen.play()
    if isHandedOver {
      let context = try nonNull(gst_element_get_context(screen.element.pointer, "sdl.head-units"))
      gst_element_set_context(sound.element.pointer, context)
      gst_context_unref(context)
      try sound.play()
      let app = try Self.app(port: port)
      app.audio([1, 2, 3, 4])
      #expect(try Self.sound(sound, byteCount: 4).sound == [1, 2, 3, 4])
      screen.stop()
      app.audio([5, 6, 7, 8])
      #expect(try Self.sound(sound, byteCount: 4).sound == [5, 6, 7, 8])
    } else {
      #expect(sound.setState(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    }
  }

  /// Sound that breaks a rule is the audio element's business, all else that of the screen.
  @Test func violations() throws {
    let pipeline = try Pipeline(Self.description(screen: "screen-size=320x240 strict=false"))
    try pipeline.play()
    let app = try Self.app(port: Self.port(of: pipeline["screen"]))
    app.audio([1])
    app.video([1, 2, 3, 4, 5, 6])
    let rules = ["partial-sample": "sound", "not-byte-stream": "screen"]
    for _ in rules {
      let violation = try pipeline.wait(for: "violation") { $0.isElement("sdl-violation") ? $0 : nil }
      #expect(rules[violation.fields["rule"] ?? ""] == violation.source)
    }
    let elements = [try pipeline["sound"], try pipeline["screen"]]
    #expect(elements.map { $0.statistics["violations"] } == [1, 1])
  }

  @Test(arguments: [
    RestartingApplication.Trigger.element("sdl-app-registered"), .element("sdl-hmi-status"),
    .element("sdl-stream-started"), .property("apps"), .property("hmi-level"), .type(GST_MESSAGE_INFO),
  ])
  func restartInACallback(trigger: RestartingApplication.Trigger) throws {
    for name in ["screen", "sound"] {
      let pipeline = try Pipeline(Self.description())
      let isInfo = if case .type = trigger { true } else { false }
      if !isInfo { try pipeline.play() }
      let application = RestartingApplication(pipeline.element.pointer, try pipeline[name].pointer, at: trigger)
      for _ in 0..<5 {
        application.arm()
        if isInfo {
          // The one that starts first says where it listens.
          pipeline.stop()
          pipeline.setState(GST_STATE_PLAYING)
          if !application.hasRestarted { break }
          try pipeline.reach(GST_STATE_READY)
          try pipeline.play()
        } else {
          let old = try RawApp(port: Self.port(of: pipeline["screen"]))
          do {
            try old.register(name: "Old")
            try old.wait(for: .full)
            try old.startVideo(.raw320x240)
            _ = try old.startAudio()
          } catch { guard application.hasRestarted || old.isClosed() else { throw error } }
          try application.wait()
        }
        #expect(isInfo || application.late.isEmpty, "\(application.late)")
        let (screen, sound) = (try pipeline["screen"], try pipeline["sound"])
        #expect(eventually { Self.port(of: screen) > 0 && Self.port(of: screen) == Self.port(of: sound) })
        let app = try Self.app(port: Self.port(of: screen), name: "New")
        app.audio([1, 2, 3, 4])
        #expect(try Self.sound(pipeline, byteCount: 4).sound == [1, 2, 3, 4])
        #expect(sound["apps"]?.contains("Old") == false)
        application.disarm()
        pipeline.stop()
        try pipeline.play()
      }
    }
  }

  /// Two threads, each with an element of the same head unit: whichever is there first makes it, the last one ends it.
  @Test func startsAndStopsAtTheSameTime() throws {
    let port = try RawPeer.unusedPort()
    let elements = [try Element("sdlheadunitsrc"), try Element("sdlheadunitaudiosrc")]
    gst_element_set_state(elements[0].pointer, GST_STATE_READY)
    let context = try nonNull(gst_element_get_context(elements[0].pointer, "sdl.head-units"))
    gst_element_set_context(elements[1].pointer, context)
    gst_context_unref(context)
    let failures = Monitor(0)
    let threads = try elements.map { element in
      element.set("port", "\(port)")
      nonisolated(unsafe) let pointer = element.pointer
      let thread = WorkerThread(name: "element")
      try thread.start {
        for _ in 0..<300 {
          if gst_element_set_state(pointer, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE {
            failures.withLock { $0 += 1 }
          }
          gst_element_set_state(pointer, GST_STATE_READY)
        }
      }
      return thread
    }
    for thread in threads { thread.join() }
    #expect(failures.withLock { $0 } == 0)
    for element in elements { gst_element_set_state(element.pointer, GST_STATE_NULL) }
  }

  /// One that waits for another's start makes a head unit of its own if that fails; nothing is left of the first.
  @Test func theFirstFails() throws {
    let elements = [try Element("sdlheadunitsrc"), try Element("sdlheadunitaudiosrc")]
    let screen = try #require(PushSourceType.object(of: elements[0].pointer) as? HeadUnitSource)
    let sound = try #require(PushSourceType.object(of: elements[1].pointer) as? HeadUnitAudioSource)
    var settings = HeadUnitElementSettings()
    let (taken, address) = try Socket.listening(address: "127.0.0.1", port: 0)
    settings.headUnit.port = address.port
    let (video, audio) = (settings.setup(for: .video), settings.setup(for: .audio))
    let first = HeadUnitRun(
      of: screen, HeadUnitVideoStream(settings, after: nil), endsWithApp: false, after: nil)
    let second = HeadUnitRun(of: sound, HeadUnitAudioStream(settings, after: nil), endsWithApp: false, after: nil)
    let headUnits = HeadUnits()
    weak var failed: HeadUnit?
    do {
      guard case .first(let headUnit) = headUnits.join(first, { video }) else { throw TestFailure("not the first") }
      failed = headUnit
      let thread = WorkerThread(name: "second")
      try thread.start { _ = headUnits.join(second) { audio } }
      #expect(eventually { !headUnit.isOnlyMember(first) })
      #expect(throws: ElementError.self) { try headUnit.start(messageTrace: ProtocolLog(elements[0].pointer)) }
      _ = first.end(in: headUnits)
      thread.join()
      #expect(second.headUnit != nil && second.headUnit !== headUnit)
    }
    #expect(failed == nil)
    _ = second.end(in: headUnits)
    withExtendedLifetime(taken) {}
  }

  /// The application keeps nothing, and gives up its last reference on the server's own thread.
  @Test(arguments: ["sdl-app-registered", "sdl-hmi-status", "sdl-stream-started"])
  func lastReferenceGoesInACallback(message: String) throws {
    for _ in 0..<5 {
      let isGone = Monitor(false)
      let port = try RawPeer.unusedPort()
      let owner = try OwningApplication(
        "sdlheadunitaudiosrc name=src port=\(port) ! fakesink sdlheadunitsrc port=\(port) ! fakesink", message
      ) {
        isGone.withLock { $0 = true }
      }
      try owner.play()
      let app = try RawApp(port: port)
      _ = try? app.register()
      _ = try? app.wait(for: .full)
      _ = try? app.startAudio()
      #expect(eventually { isGone.withLock { $0 } })
      #expect(app.isClosed())
    }
  }
}
