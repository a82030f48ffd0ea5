import CGStreamerApp
import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages
import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// What an application is told, and in which order: each message once, and each property that has another value then.
@Suite struct HeadUnitSourceReportTests {
  private static let places = ["notify current-port", "notify current-secondary-port", "notify current-web-uri"]

  @Test func startAndStop() throws {
    let screen = try HeadUnitPipeline("secondary-port=0 web=127.0.0.1:0")
    let recorder = ReportRecorder(screen.pipeline, screen.source)
    // NULL takes what is on the bus.
    screen.pipeline.drain()
    screen.pipeline.stop()
    // Nobody has used it.
    #expect(recorder.takeReports() == Self.places)
    try screen.pipeline.play()
    #expect(recorder.takeReports() == Self.places)
    let texts = screen.pipeline.drain().compactMap(\.info?.text)
    #expect(texts.count { $0.hasPrefix("Listening") } == 2 && texts.count { $0.hasPrefix("The car's screen") } == 2)
  }

  @Test func oneApp() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240")
    let recorder = ReportRecorder(screen.pipeline, screen.source)
    let app = try RawApp.active(port: screen.port)
    let begin = [
      "sdl-app-registered", "notify apps", "sdl-hmi-status none", "notify apps", "notify hmi-level none",
      "sdl-hmi-status full", "notify apps", "notify hmi-level full",
    ]
    #expect(try recorder.takeReports(begin.count) == begin)
    try app.startVideo(.raw320x240)
    #expect(try recorder.takeReports(2) == ["sdl-stream-started video", "notify apps"])
    app.video(try encodedUnits(1)[0].bytes)
    _ = try screen.pull(1)
    app.endVideo()
    #expect(try recorder.takeReports(2) == ["sdl-stream-stopped video", "notify apps"])
    let stopped = try screen.pipeline.waitForElementMessage("sdl-stream-stopped")
    #expect(stopped["frames-out"] == "1" && stopped["name"] == "Raw" && stopped["reason"] == "app")
    app.close()
    // The level is that of later apps again.
    #expect(try recorder.takeReports(3) == ["sdl-app-unregistered", "notify apps", "notify hmi-level full"])
    screen.pipeline.stop()
    #expect(recorder.takeReports() == Self.places)
  }

  /// An element that leaves a head unit has no apps any more.
  @Test func oneOfTwoElements() throws {
    let pipeline = try Pipeline(
      """
      sdlheadunitsrc name=screen port=0 ! fakesink async=false \
      sdlheadunitaudiosrc name=src port=0 ! fakesink async=false
      """
    )
    try pipeline.play()
    let (screen, sound) = (try pipeline["screen"], try pipeline["src"])
    let app = try RawApp.active(port: try #require(screen["current-port"].flatMap { UInt16($0) }))
    #expect(eventually { sound["hmi-level"] == "full" })
    // An answer comes after all that was reported before.
    _ = try app.request(.getSystemCapability, ["systemCapabilityType": .string("VIDEO_STREAMING")])
    let recorder = ReportRecorder(pipeline, sound)
    gst_element_set_locked_state(sound.pointer, 1)
    gst_element_set_state(sound.pointer, GST_STATE_NULL)
    let changes = Self.places + ["notify apps", "notify hmi-level full"]
    #expect(recorder.takeReports() == changes)
    // It finds the app that is there.
    gst_element_set_state(sound.pointer, GST_STATE_PLAYING)
    #expect(recorder.takeReports() == changes)
    gst_element_set_locked_state(sound.pointer, 0)
    app.close()
  }

  /// A status with the level that is there already is no news of the level.
  @Test func aStatusWithTheSameLevel() throws {
    let screen = try HeadUnitPipeline()
    let recorder = ReportRecorder(screen.pipeline, screen.source)
    let app = try RawApp.active(port: screen.port)
    _ = try recorder.takeReports(8)
    for state in ["attenuated", "audible"] {
      screen.source.set("audio-streaming", state)
      // That of the property itself may come between.
      let reports = try recorder.takeReports(3).filter { $0 != "notify audio-streaming" }
      #expect(reports == ["sdl-hmi-status full", "notify apps"])
    }
    app.close()
  }

  /// The list is that of the element's life.
  @Test func violations() throws {
    let screen = try HeadUnitPipeline("strict=false")
    let recorder = ReportRecorder(screen.pipeline, screen.source)
    let app = try RawApp.active(port: screen.port)
    _ = try recorder.takeReports(8)
    app.endVideo()
    #expect(try recorder.takeReports(2) == ["sdl-violation", "notify violations"])
    let violation = try screen.pipeline.waitForElementMessage("sdl-violation")
    #expect(violation["suppressed"] == "0" && violation["name"] == "Raw")
    let kept = try #require(screen.source["violations"])
    #expect(kept.contains("Raw"))
    screen.pipeline.stop()
    #expect(screen.source["violations"] == kept && screen.statistics["violations"] == 1)
    try screen.pipeline.play()
    #expect(screen.source["violations"] == kept && screen.statistics["violations"] == 1)
    app.close()
  }

  /// Counters are those of the element's life, not of a run.
  @Test func countersGoOn() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240")
    let pad = try screen.source.pad("src")
    let none = GST_NAVIGATION_MODIFIER_NONE
    func send(_ event: UnsafeMutablePointer<GstEvent>?) -> Bool { gst_pad_send_event(pad, event) != 0 }
    let counters = ["connections", "registrations", "stream-starts", "frames-out", "key-frames-out"]
    let inputs = ["navigation-events", "touches", "buttons"]
    for run in 1...2 {
      let app = try RawApp.streaming(port: screen.currentPort)
      #expect(try app.request(.subscribeButton, ButtonSubscription(.ok).json).success)
      app.video(try encodedUnits(1)[0].bytes)
      _ = try screen.pull(1)
      #expect(eventually { send(gst_navigation_event_new_key_press("Return", none)) })
      #expect(send(gst_navigation_event_new_key_release("Return", none)))
      #expect(send(gst_navigation_event_new_mouse_button_press(1, 5, 5, none)))
      #expect(send(gst_navigation_event_new_mouse_button_release(1, 5, 5, none)))
      let expected = [4 * run, 2 * run, 2 * run]
      #expect(eventually { inputs.map { screen.statistics[$0] } == expected }, "\(screen.statistics)")
      screen.pipeline.stop()
      #expect(inputs.map { screen.statistics[$0] } == expected, "\(screen.statistics)")
      #expect(counters.allSatisfy { screen.statistics[$0] == run }, "\(screen.statistics)")
      app.close()
      try screen.pipeline.play()
    }
  }
}

/// The element messages of an element, and its notifications, in order.
private final class ReportRecorder: Sendable {
  private let reports = Monitor<[String]>([])
  nonisolated(unsafe) private let element: UnsafeMutablePointer<GstElement>

  init(_ pipeline: Pipeline, _ element: Element) {
    self.element = element.pointer
    let bus = gst_element_get_bus(pipeline.element.pointer)
    gst_bus_set_sync_handler(
      bus,
      { _, message, data in
        if let message { ReportRecorder.from(data)?.note(BusMessage(message)) }
        return GST_BUS_PASS
      }, Unmanaged.passRetained(self).toOpaque(),
      { if let data = $0 { Unmanaged<ReportRecorder>.fromOpaque(data).release() } })
    gst_object_unref(bus)
    let handler: @convention(c) (gpointer?, UnsafeMutablePointer<GParamSpec>?, gpointer?) -> Void = {
      _, property, data in
      if let property { ReportRecorder.from(data)?.note(notificationOf: String(cString: property.pointee.name)) }
    }
    g_signal_connect_data(
      element.pointer, "notify", unsafeBitCast(handler, to: GCallback.self), Unmanaged.passRetained(self).toOpaque(),
      { data, _ in if let data { Unmanaged<ReportRecorder>.fromOpaque(data).release() } }, GConnectFlags(rawValue: 0))
  }

  private static func from(_ data: gpointer?) -> ReportRecorder? {
    data.map { Unmanaged<ReportRecorder>.fromOpaque($0).takeUnretainedValue() }
  }

  private func note(_ message: BusMessage) {
    guard case .element(let name) = message.kind, message.source == "src" else { return }
    let detail = message.fields["level"] ?? message.fields["service"]
    reports.change { $0.append(name + (detail.map { " \($0)" } ?? "")) }
  }

  private func note(notificationOf property: String) {
    var text = "notify \(property)"
    if property == "hmi-level" {
      var value = GValue()
      g_object_get_property(element.cast(), property, &value)
      text += " " + (String(freeing: gst_value_serialize(&value)) ?? "")
      g_value_unset(&value)
    }
    reports.change { [text] in $0.append(text) }
  }

  /// What has come since the last call.
  func takeReports() -> [String] {
    reports.withLock { reports in
      defer { reports = [] }
      return reports
    }
  }

  /// Waits for so many, and leaves later ones for the next call.
  func takeReports(_ count: Int) throws -> [String] {
    let taken = reports.wait(until: MonotonicClock.now + testTimeout) { reports -> [String]? in
      guard reports.count >= count else { return nil }
      defer { reports.removeFirst(count) }
      return Array(reports.prefix(count))
    }
    guard let taken else { throw TestFailure("only \(reports.withLock { $0 })") }
    return taken
  }
}
