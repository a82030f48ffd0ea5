import CGStreamerApp
import GStreamerKit
import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// What a head unit's events are for the stream of its screen, without a server.
@Suite final class HeadUnitVideoStreamTests {
  private let element: Element
  private let reporter: HeadUnitReporter
  private let pad: UnsafeMutablePointer<GstPad>
  private let stream = HeadUnitVideoStream(HeadUnitElementSettings(), after: nil)

  private static let keyFrame: [UInt8] = [
    0, 0, 0, 1, 0x67, 0x42, 0xC0, 0x1F, 0, 0, 0, 1, 0x68, 0xCE, 0x0F, 0, 0, 1, 0x65, 0x88, 0x84,
  ]
  private static let otherFrame: [UInt8] = [0, 0, 0, 1, 0x41, 0x9A, 0x21]

  init() throws {
    element = try Element("sdlheadunitsrc")
    let source = try #require(PushSourceType.object(of: element.pointer) as? HeadUnitSource)
    reporter = HeadUnitReporter(source)
    // One with the size of the pictures.
    pad = try nonNull(gst_pad_new("src", GST_PAD_SRC))
    gst_object_ref_sink(pad)
    gst_pad_set_active(pad, 1)
    gst_pad_push_event(pad, gst_event_new_stream_start("test"))
    guard let caps = Caps(EncodedUnit.caps()) else { throw TestFailure("no caps") }
    gst_pad_push_event(pad, gst_event_new_caps(caps.pointer))
  }

  deinit {
    gst_pad_set_active(pad, 0)
    gst_object_unref(pad)
  }

  /// An app that shows its video, unless something is left out.
  private func apps(
    _ level: HMILevel = .full, isStreamable: Bool = true, hasVideo: Bool = true, buttons: Set<String> = ["OK"]
  ) -> ServedApps {
    var apps = ServedApps()
    let status = HMIStatus(level: level, videoStreamingState: isStreamable ? .streamable : .notStreamable)
    let events: [HeadUnitSession.Event] = [
      .appRegistered(name: "Map", id: "1", types: [.navigation], protocolVersion: ProtocolVersion(5, 4), .success),
      .hmiStatusSent(status), .buttonsSubscribed(buttons), .videoStarted(.rtp320x240, on: .primary),
    ]
    for event in hasVideo ? events : events.dropLast() { apps.note(.session(id: 1, event)) }
    return apps
  }

  private func receive(_ event: HeadUnitSession.Event, from id: UInt8 = 1, _ apps: ServedApps? = nil) {
    stream.receive(event, from: id, apps ?? self.apps(), reporter)
  }

  private func begin() { receive(.videoStarted(.rtp320x240, on: .primary)) }

  private func receive(_ unit: [UInt8], at timestamp: UInt32) {
    receive(.videoTimestamp(timestamp))
    receive(.videoData(unit))
  }

  private func count(_ name: String, of stream: HeadUnitVideoStream? = nil) -> String? {
    let structure = Structure("stats")
    (stream ?? self.stream).fill(structure)
    return fields(of: structure.pointer)[name]
  }

  /// Whether an event in the window is for the app.
  private func isTaken(_ event: UnsafeMutablePointer<GstEvent>?) throws -> Bool {
    let event = try #require(event)
    defer { gst_event_unref(event) }
    return stream.navigate(event, pad: pad)
  }

  private func isTaken(mouseDown: Bool) throws -> Bool {
    let event =
      mouseDown
      ? gst_navigation_event_new_mouse_button_press(1, 5, 6, GST_NAVIGATION_MODIFIER_NONE)
      : gst_navigation_event_new_mouse_button_release(1, 5, 6, GST_NAVIGATION_MODIFIER_NONE)
    return try isTaken(event)
  }

  private func isTaken(key: String = "Return", down: Bool) throws -> Bool {
    try isTaken(
      down
        ? gst_navigation_event_new_key_press(key, GST_NAVIGATION_MODIFIER_NONE)
        : gst_navigation_event_new_key_release(key, GST_NAVIGATION_MODIFIER_NONE))
  }

  /// What depends on something that is missing is left out, up to the next key frame.
  @Test(
    arguments: [
      (.videoMissed, 1, true), (.videoDataStopped(after: .seconds(1)), 1, true),
      (.hmiStatusSent(HMIStatus(level: .full, videoStreamingState: .notStreamable)), 1, true),
      (.hmiStatusSent(HMIStatus(level: .full, videoStreamingState: .streamable)), 1, false),
      (.videoMissed, 2, false), (.videoDataStopped(after: .seconds(1)), 2, false),
      (.hmiStatusSent(HMIStatus(level: .full, videoStreamingState: .notStreamable)), 2, false),
    ] as [(HeadUnitSession.Event, UInt8, Bool)])
  func gaps(_ event: HeadUnitSession.Event, from id: UInt8, isGap: Bool) {
    begin()
    receive(Self.keyFrame, at: 0)
    receive(event, from: id)
    receive(Self.otherFrame, at: 3000)
    receive(Self.keyFrame, at: 6000)
    #expect(count("frames-in") == "3" && count("frames-queued") == (isGap ? "2" : "3"))
    #expect(count("video-bytes-in") == "\(2 * Self.keyFrame.count + Self.otherFrame.count)")
    #expect(count("frames-dropped-waiting-for-key-frame") == (isGap ? "1" : "0"))
  }

  /// An app's number may be another's later.
  @Test func anAppThatHasGoneIsForgotten() throws {
    begin()
    receive(Self.keyFrame, at: 0)
    #expect(stream.app == 1)
    stream.appsChanged(apps(), formerApp: 2)
    #expect(stream.app == 1)
    stream.appsChanged(ServedApps(), formerApp: 1)
    receive(Self.keyFrame, at: 3000)
    #expect(stream.app == nil && count("frames-in") == "1" && count("frames-queued") == "1")
    #expect(try !isTaken(mouseDown: true) && !isTaken(down: true))
  }

  /// Statistics are those of all runs; what was not pushed is gone.
  @Test func countersGoOn() throws {
    begin()
    receive(Self.keyFrame, at: 0)
    #expect(try isTaken(mouseDown: true) && isTaken(down: true))
    for _ in 0..<2 { receive(.driverInput(.button("OK"))) }
    receive(.driverInput(.dismiss))
    stream.end()
    let next = HeadUnitVideoStream(HeadUnitElementSettings(), after: stream)
    for stream in [stream, next] {
      #expect(count("navigation-events", of: stream) == "2" && count("buttons", of: stream) == "2")
      #expect(count("frames-in", of: stream) == "1" && count("frames-dropped-discarded", of: stream) == "1")
      #expect(count("frames-queued", of: stream) == "0")
    }
  }

  @Test(
    arguments: [
      (.full, true, true, true), (.limited, true, true, false), (.full, false, true, false),
      (.full, true, false, false),
    ] as [(HMILevel, Bool, Bool, Bool)])
  func onlyWhatTheDriverSeesIsTouched(_ level: HMILevel, isStreamable: Bool, hasVideo: Bool, isTouchable: Bool) throws {
    begin()
    stream.appsChanged(apps(level, isStreamable: isStreamable, hasVideo: hasVideo), formerApp: nil)
    #expect(try isTaken(mouseDown: true) == isTouchable)
    #expect(count("navigation-events") == (isTouchable ? "1" : "0"))
  }

  /// They are up for the app then, whatever the window says later.
  @Test(arguments: ["another level", "another service", "the end of the service", "the end of the stream"])
  func fingersAndKeysEnd(with event: String) throws {
    begin()
    #expect(try isTaken(mouseDown: true) && isTaken(down: true))
    switch event {
    case "another level": stream.appsChanged(apps(.limited), formerApp: nil)
    case "another service": begin()
    case "the end of the service": receive(.videoStopped(reason: .endedByApp), apps(hasVideo: false))
    default: stream.willEnd()
    }
    // The driver is back.
    stream.appsChanged(apps(), formerApp: nil)
    #expect(try !isTaken(mouseDown: false) && !isTaken(down: false))
    #expect(try isTaken(mouseDown: true) && isTaken(down: true))
  }

  /// The others are for the application, and so is a key that was down before.
  @Test func buttonsOfTheApp() throws {
    begin()
    #expect(try !isTaken(key: "x", down: true) && !isTaken(key: "Up", down: true) && !isTaken(down: false))
    #expect(try isTaken(down: true) && isTaken(down: false) && !isTaken(down: false))
    receive(.buttonsSubscribed([]), apps(buttons: []))
    #expect(try !isTaken(down: true))
    stream.appsChanged(apps(), formerApp: nil)
    #expect(try isTaken(down: true))
    stream.appsChanged(apps(hasVideo: false), formerApp: nil)
    #expect(try !isTaken(down: true))
  }
}
