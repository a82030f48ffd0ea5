import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Buttons of the car as keys for upstream, and as messages.
@Suite struct KeyTests {
  /// OK, and those for a map.
  private static let buttonsOfNavigation = 12

  /// A stream without frames, and a recorder at the sink's pad.
  private struct KeyFixture {
    let harness: SinkHarness
    let recorder: NavigationRecorder

    init(
      _ configuration: HeadUnitConfiguration = .small(), properties: String = "", buttons: Int = buttonsOfNavigation,
      consumesEvents: Bool = true
    ) throws {
      harness = try SinkHarness(configuration, properties: "sync=false \(properties)")
      recorder = NavigationRecorder(at: try harness.pipeline.sink.pad("sink"), consumesEvents: consumesEvents)
      try harness.start()
      try waitForButtons(buttons)
    }

    /// Waits until the app has subscribed to as many buttons.
    func waitForButtons(_ count: Int) throws {
      guard count > 0 else { return }
      try harness.headUnit.wait(for: "\(count) buttons") { record in
        let last = record.events.lazy.compactMap { event -> Int? in
          if case .buttonsSubscribed(let buttons) = event { buttons.count } else { nil }
        }.last
        return last == count ? true : nil
      }
    }

    /// As the head unit's remote control.
    func perform(_ lines: String...) throws {
      for line in lines { harness.headUnit.server.perform(try #require(try HeadUnitCommand.parse(line))) }
    }

    /// The messages `sdl-button`, once there are `count` of them.
    func messages(_ count: Int) throws -> [[String: String]] {
      var found = harness.pipeline.drain().filter { $0.isElement("sdl-button") }
      while found.count < count {
        try harness.pipeline.waitForElementMessage("sdl-button")
        found = harness.pipeline.messages.filter { $0.isElement("sdl-button") }
      }
      return found.map(\.fields)
    }
  }

  /// The table on the element's page. The head unit's window has the same keys, the other way round.
  @Test(arguments: [
    (ButtonName.ok, "Return"), (.playPause, "XF86AudioPlay"), (.seekLeft, "XF86AudioPrev"),
    (.seekRight, "XF86AudioNext"), (.tuneUp, "Prior"), (.tuneDown, "Next"), (.preset0, "0"), (.preset1, "1"),
    (.preset2, "2"), (.preset3, "3"), (.preset4, "4"), (.preset5, "5"), (.preset6, "6"), (.preset7, "7"),
    (.preset8, "8"), (.preset9, "9"), (.search, "XF86Search"), (.navCenterLocation, "Home"), (.navZoomIn, "plus"),
    (.navZoomOut, "minus"), (.navPanUp, "Up"), (.navPanUpRight, "KP_Prior"), (.navPanRight, "Right"),
    (.navPanDownRight, "KP_Next"), (.navPanDown, "Down"), (.navPanDownLeft, "KP_End"), (.navPanLeft, "Left"),
    (.navPanUpLeft, "KP_Home"), (.navTiltToggle, "t"), (.navRotateClockwise, "bracketright"),
    (.navRotateCounterclockwise, "bracketleft"), (.navHeadingToggle, "h"),
  ])
  func keysOfTheTable(button: ButtonName, key: String) {
    #expect(KeyMap().keyName(of: button) == key && ButtonName(keyName: key) == button)
  }

  @Test func shortPress() throws {
    let fixture = try KeyFixture()
    let before = MonotonicClock.now
    try fixture.perform("press ok", "press nav-zoom-in", "press nav-pan-left")
    try fixture.recorder.wait(for: "the end") { $0.last == "key-release Left" }
    #expect(
      fixture.recorder.texts == [
        "key-press Return", "key-release Return", "key-press plus", "key-release plus", "key-press Left",
        "key-release Left",
      ])
    let range = UInt64(before.nanoseconds)...UInt64(MonotonicClock.now.nanoseconds)
    #expect(fixture.recorder.entries.withLock { $0.map(\.time) }.allSatisfy(range.contains))
    let messages = try fixture.messages(9)
    #expect(
      messages.map { $0["type"] } == [[String?]](repeating: ["down", "up", "short-press"], count: 3).flatMap(\.self))
    #expect(messages.first?["button"] == "OK" && messages.first?["key"] == "Return")
    #expect(messages.last?["button"] == "NAV_PAN_LEFT" && messages.last?["key"] == "Left")
    #expect(try fixture.harness.statistics["buttons"] == 9)
    #expect(try fixture.harness.statistics["navigation-events"] == 6)
    #expect(try fixture.harness.statistics["touches"] == 0)
  }

  /// It is repeated while the driver holds the button.
  @Test func longPress() throws {
    let fixture = try KeyFixture()
    try fixture.perform("press nav-pan-up long")
    try fixture.recorder.wait(for: "the end") { $0.last == "key-release Up" }
    let presses = fixture.recorder.texts.dropLast()
    // 7 repeats in 1.2 s, or fewer on a busy machine.
    #expect(presses.allSatisfy { $0 == "key-press Up" } && (2...9).contains(presses.count), "\(presses)")
    #expect(try fixture.messages(3).map { $0["type"] } == ["down", "up", "long-press"])
  }

  /// Names can change while a key is down, which goes up with the name that it went down with.
  @Test func keyMap() throws {
    let fixture = try KeyFixture(properties: #"key-map="keys,OK=space,NAV_ZOOM_IN=(string)\"\"""#)
    let sink = try fixture.harness.pipeline.sink
    #expect(sink.structure("key-map") == ["OK": "space", "NAV_ZOOM_IN": ""])
    try fixture.perform("press nav-zoom-in", "press nav-zoom-out", "press ok down")
    try fixture.recorder.wait(for: "space") { $0.contains("key-press space") }
    sink.set("key-map", "keys,OK=Escape")
    try fixture.perform("press ok up", "press ok")
    try fixture.recorder.wait(for: "the end") { $0.last == "key-release Escape" }
    #expect(
      fixture.recorder.texts.filter { $0 != "key-press space" } == [
        "key-press minus", "key-release minus", "key-release space", "key-press Escape", "key-release Escape",
      ])
    // Without a key, but told all the same.
    let messages = try fixture.messages(3)
    #expect(messages.first?["button"] == "NAV_ZOOM_IN" && messages.first?["key"] == nil)
    // What can't be is refused, and the old value stays.
    for value in ["keys,HORN=a", "keys,OK=(int)1"] { sink.set("key-map", value) }
    #expect(sink.structure("key-map") == ["OK": "Escape"])
    sink.set("key-map", "keys")
    #expect(sink.structure("key-map") == nil)
  }

  @Test func keysOfNone() throws {
    let fixture = try KeyFixture(properties: "keys=none", buttons: 0)
    let sink = try fixture.harness.pipeline.sink
    sink.set("keys", "auto")
    try fixture.waitForButtons(Self.buttonsOfNavigation)
    let events = fixture.harness.headUnit.record.events
    let first = events.first { if case .buttonsSubscribed = $0 { true } else { false } }
    #expect(first == .buttonsSubscribed(["OK"]))
    sink.set("keys", "none")
    // The last button is given back.
    try fixture.harness.headUnit.wait(for: "no buttons") { record in
      record.events.contains(.buttonsSubscribed([])) ? true : nil
    }
    try fixture.perform("press ok")
    try fixture.harness.headUnit.wait(for: "press without effect") { record in
      record.events.contains { if case .driverInputWithoutEffect = $0 { true } else { false } } ? true : nil
    }
    #expect(fixture.recorder.texts == [])
  }

  /// A media app has those of the radio, and a projection app none for a map.
  @Test func mediaButtons() throws {
    let headUnit = try TestHeadUnit()
    let pipeline = try Pipeline(
      """
      appsrc is-live=true format=time ! sdlvideosink name=sink app-type=projection uri=\(headUnit.uri) \
      audiotestsrc is-live=true ! audioconvert ! audioresample ! sdlaudiosink app-type=projection uri=\(headUnit.uri)
      """)
    try pipeline.play()
    let buttons = try headUnit.wait(for: "buttons") { record -> Set<String>? in
      let last = record.events.lazy.compactMap { event -> Set<String>? in
        if case .buttonsSubscribed(let buttons) = event { buttons } else { nil }
      }.last
      return last.flatMap { $0.contains("OK") && ($0.count == 1 || $0.count == 16) ? $0 : nil }
    }
    #expect(buttons.contains { $0.hasPrefix("NAV_") } == false)
  }

  @Test(arguments: [true, false]) func unhandledKeysAreMessages(consumesEvents: Bool) throws {
    let fixture = try KeyFixture(consumesEvents: consumesEvents)
    try fixture.perform("press ok")
    try fixture.recorder.wait(for: "the end") { $0.last == "key-release Return" }
    try fixture.harness.settle()
    let messages = fixture.harness.pipeline.drain().filter { $0.isElement("GstNavigationMessage") }
    #expect(messages.count == (consumesEvents ? 0 : 2))
    #expect(messages.allSatisfy { $0.source == "sink" && $0.fields["type"] == "event" }, "\(messages)")
  }

  /// A key that is down when the stream ends goes up.
  @Test func endOfTheStream() throws {
    let fixture = try KeyFixture()
    try fixture.perform("press ok down")
    try fixture.recorder.wait(for: "press") { $0.last == "key-press Return" }
    fixture.harness.pipeline.setState(GST_STATE_READY)
    try fixture.recorder.wait(for: "release") { $0.last == "key-release Return" }
  }

  /// So does one when the driver leaves the app.
  @Test func endOfTheLevel() throws {
    let fixture = try KeyFixture()
    try fixture.perform("press ok down")
    try fixture.recorder.wait(for: "press") { $0.last == "key-press Return" }
    try fixture.harness.headUnit.show(.background)
    try fixture.recorder.wait(for: "release") { $0.last == "key-release Return" }
  }
}
