import GStreamerKit
import Glibc
import SDLHeadUnit
import TestSupport
import Testing

@testable import Plugin
@testable import PluginTestSupport
@testable import SDLHeadUnitLink
@testable import SDLLink

/// `sdl+bluetooth:`, with a stand-in for BlueZ. The name of this suite gives it a process of its own, whose environment
/// it changes.
@Suite(.serialized, .timeLimit(.minutes(3))) struct BluetoothWholeProcessTests {
  private static let car = "AA:BB:CC:DD:EE:FF"
  private static let otherCar = "00:11:22:33:44:55"

  private let bluez: BlueZStandIn
  private let listener: UnixListener

  init() throws {
    bluez = try BlueZStandIn()
    listener = try UnixListener(in: bluez.bus.folder)
    setenv("DBUS_SYSTEM_BUS_ADDRESS", bluez.bus.address, 1)
  }

  private func makePipeline(_ uri: String = "sdl+bluetooth:", _ properties: String = "") throws -> Pipeline {
    try Pipeline(
      "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=\(uri) \(properties)")
  }

  private func waitForProgress(_ pipeline: Pipeline, _ part: String) throws {
    try pipeline.wait(for: "progress \(part)") { message -> Bool? in
      guard case .progress(_, _, let text) = message.kind, text.contains(part) else { return nil }
      return true
    }
  }

  /// The head unit of a car that connects now.
  private func connect(_ address: String = car) throws -> AcceptedHeadUnit {
    try bluez.command("connect", address, listener.path)
    return try AcceptedHeadUnit(listener.accept())
  }

  @Test func streamsToCarAfterCar() throws {
    let pipeline = try makePipeline()
    let sink = try pipeline.sink
    try pipeline.play()
    try waitForProgress(pipeline, "Waiting for a car over Bluetooth")
    #expect(sink["connection-state"] == "waiting")
    for number in 1...2 {
      let headUnit = try connect()
      let connected = try pipeline.waitForElementMessage("sdl-connected")
      #expect(connected["peer"] == Self.car && connected["uri"] == "sdl+bluetooth:")
      let frames = try headUnit.waitForFrames(10)
      #expect(try decode(frames, width: 320, height: 240).count == frames.count)
      #expect(headUnit.violations == [])
      headUnit.end()
      if number == 1 {
        let fields = try pipeline.waitForElementMessage("sdl-disconnected")
        #expect(fields["will-reconnect"] == "true" && fields["reason"]?.contains(Self.car) == true)
        #expect(eventually { sink["connection-state"] == "waiting" })
      }
    }
    pipeline.stop()
    #expect(try bluez.wait(for: "unregister")["path"] == bluez.wait(for: "register")["path"])
    #expect(sink.statistics.areFramesConserved)
  }

  /// The same element again: BlueZ has forgotten the first registration by then.
  @Test func restarts() throws {
    let pipeline = try makePipeline()
    for _ in 0..<3 {
      try pipeline.play()
      try waitForProgress(pipeline, "Waiting for a car")
      pipeline.stop()
      pipeline.forgetMessages()
    }
    #expect(eventually { bluez.count(of: "unregister") == 3 })
    #expect(bluez.count(of: "register") == 3)
  }

  /// The log says which one was turned away, for users who wonder why theirs is.
  @Test func onlyOneCar() throws {
    let log = LogLines()
    let pipeline = try makePipeline("sdl+bluetooth:\(Self.car)")
    try pipeline.play()
    try waitForProgress(pipeline, "Waiting for the car \(Self.car)")
    try bluez.command("connect", Self.otherCar, listener.path)
    #expect(try bluez.wait(for: "answer")["error"] == "org.bluez.Error.Rejected")
    let turnedAway = try listener.accept()
    defer { close(turnedAway) }
    #expect(eventually { log.lines.contains { $0.contains(Self.otherCar) && $0.contains("only \(Self.car)") } })
    let headUnit = try connect()
    _ = try headUnit.waitForFrames(1)
    headUnit.end()
    pipeline.stop()
  }

  /// The user disconnects the car: with auto-reconnect the next one is waited for, without it is an error.
  @Test func requestedDisconnection() throws {
    let pipeline = try makePipeline("sdl+bluetooth:", "auto-reconnect=false")
    try pipeline.play()
    try waitForProgress(pipeline, "Waiting for a car")
    let headUnit = try connect()
    _ = try headUnit.waitForFrames(1)
    try bluez.command("request-disconnection", Self.car)
    #expect(try pipeline.waitForError().text.contains(Self.car))
    pipeline.stop()
    headUnit.end()
  }

  /// What hinders cars is said once, as a warning; the wait goes on.
  @Test func switchedOff() throws {
    try bluez.command("power", "off")
    let pipeline = try makePipeline()
    try pipeline.play()
    let warning = try pipeline.waitForWarning()
    #expect(warning.isResource(GST_RESOURCE_ERROR_NOT_FOUND) && warning.text.contains("Bluetooth is switched off"))
    try bluez.command("power", "on")
    try waitForProgress(pipeline, "Waiting for a car")
    pipeline.stop()
  }

  @Test func taken() throws {
    try bluez.command("refuse", "org.bluez.Error.NotPermitted")
    let pipeline = try makePipeline()
    try pipeline.play()
    let error = try pipeline.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_BUSY) && error.text.contains("registered on this machine already"))
    pipeline.stop()
  }

  @Test func noBlueZ() throws {
    try bluez.command("leave")
    let pipeline = try makePipeline("sdl+bluetooth:", "connect-timeout=300")
    pipeline.setState(GST_STATE_PLAYING)
    let warning = try pipeline.waitForWarning()
    let error = try pipeline.waitForError()
    #expect(warning.text == error.text && error.text.contains("systemctl start bluetooth"), "\(error)")
    #expect(error.isResource(GST_RESOURCE_ERROR_NOT_FOUND))
    pipeline.stop()
  }

  @Test func noBus() throws {
    setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1)
    let pipeline = try makePipeline()
    pipeline.setState(GST_STATE_PLAYING)
    #expect(try pipeline.waitForError().text.contains("system D-Bus"))
    pipeline.stop()
  }

  /// Sound and video of one pipeline are one app, and so one registration at BlueZ.
  @Test func soundBesideVideo() throws {
    let pipeline = try Pipeline(
      """
      videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=sdl+bluetooth: \
      audiotestsrc is-live=true ! sdlaudiosink name=sound uri=sdl+bluetooth:
      """)
    try pipeline.play()
    try waitForProgress(pipeline, "Waiting for a car")
    let headUnit = try connect()
    _ = try headUnit.waitForFrames(3)
    try headUnit.waitForSound()
    #expect(bluez.count(of: "register") == 1)
    pipeline.stop()
    headUnit.end()
  }

  /// The other end: `sdlheadunitsrc` connects to a phone as SDL Core does, again after the end of a connection.
  @Test func headUnit() throws {
    try bluez.command("pair", Self.car)
    try bluez.command("phone", listener.path)
    let source = try Pipeline(
      "sdlheadunitsrc name=src address=bluetooth:\(Self.car) screen-size=320x240 ! fakesink sync=false")
    try source.play()
    for _ in 0..<2 {
      let app = try listener.accept()
      let pipeline = try Pipeline(
        "videotestsrc is-live=true ! \(Picture.caps()) ! sdlvideosink name=sink uri=sdl+fd:\(app)")
      try pipeline.play()
      #expect(eventually { (try? pipeline.sink.statistics["frames-sent"]) ?? 0 >= 5 })
      pipeline.stop()
    }
    let screen = try source["src"]
    #expect(eventually { screen.statistics["frames-in"] >= 10 })
    #expect(screen["current-port"] == "0")
    source.stop()
    #expect(eventually { bluez.count(of: "unregister") == 1 })
  }

  @Test func headUnitWithoutPhone() throws {
    let source = try Pipeline("sdlheadunitsrc address=bluetooth:\(Self.car) ! fakesink")
    try source.play()
    #expect(try source.waitForWarning().text.contains("Pair it first"))
    source.stop()
    let wrong = try Pipeline("sdlheadunitsrc address=bluetooth:phone ! fakesink")
    #expect(wrong.setState(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    #expect(try wrong.waitForError().text.contains("bluetooth:AA:BB:CC:DD:EE:FF"))
    try bluez.command("refuse", "org.bluez.Error.NotPermitted")
    let second = try Pipeline("sdlheadunitsrc address=bluetooth:\(Self.car) ! fakesink")
    try second.play()
    #expect(try second.waitForError().isResource(GST_RESOURCE_ERROR_BUSY))
    second.stop()
  }
}

/// What `GST_DEBUG=sdlprotocol:4` shows, from now until the end of the process.
private final class LogLines: Sendable {
  private let found = Monitor<[String]>([])

  init() {
    gst_debug_set_threshold_for_name("sdlprotocol", GST_LEVEL_INFO)
    gst_debug_add_log_function(
      { _, _, _, _, _, _, message, lines in
        guard let lines, let message, let text = gst_debug_message_get(message) else { return }
        let line = String(cString: text)
        Unmanaged<LogLines>.fromOpaque(lines).takeUnretainedValue().found.withLock { $0.append(line) }
      }, Unmanaged.passRetained(self).toOpaque(), nil)
  }

  var lines: [String] { found.withLock { $0 } }
}

/// A head unit at the end of a connection that stands.
private final class AcceptedHeadUnit {
  private final class Recorder: HeadUnitServerObserver {
    struct Record: Sendable {
      var video: [[UInt8]] = []
      var soundByteCount = 0
      var violations: [Violation] = []
    }

    let record = Monitor(Record())

    func server(_ server: HeadUnitServer, didReport event: HeadUnitServerEvent) {
      record.withLock { record in
        switch event {
        case .session(_, .videoData(let unit)): record.video.append(unit)
        case .session(_, .audioData(let bytes)): record.soundByteCount += bytes.count
        case .session(_, .violation(let violation)): record.violations.append(violation)
        default: break
        }
      }
      record.broadcast()
    }
  }

  private let recorder = Recorder()
  private var server: HeadUnitServer?

  init(_ descriptor: Int32) throws {
    server = try HeadUnitServer(configuration: .small(), serving: Socket(adopting: descriptor), observer: recorder)
    try server?.start()
  }

  deinit { end() }

  /// Closes the connection.
  func end() {
    server?.stop()
    server?.join()
    server = nil
  }

  var violations: [Violation] { recorder.record.withLock { $0.violations } }

  func waitForFrames(_ count: Int) throws -> [[UInt8]] {
    let frames = recorder.record.wait(until: MonotonicClock.now + testTimeout) { record in
      record.video.count >= count ? record.video : nil
    }
    guard let frames else { throw TestFailure("no \(count) frames: \(recorder.record.withLock { $0.violations })") }
    return frames
  }

  func waitForSound() throws {
    let hasCome = recorder.record.wait(atLatest: MonotonicClock.now + testTimeout) { $0.soundByteCount > 0 }
    guard hasCome else { throw TestFailure("no sound") }
  }
}
