import CGStreamerApp
import GStreamerKit
import SDLHeadUnit
import SDLMessages
import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// What is done in the window that shows the car's screen.
@Suite struct HeadUnitSourceTouchTests {
  /// An event, as the window's sink sends it.
  private enum Input {
    case press(Double, Double, button: Int32 = 1)
    case move(Double, Double)
    case release(Double, Double)
    case down(UInt32, Double, Double)
    case motion(UInt32, Double, Double)
    case up(UInt32, Double, Double)
    case frame
    case cancel
    case key

    var event: UnsafeMutablePointer<GstEvent>? {
      let none = GST_NAVIGATION_MODIFIER_NONE
      return switch self {
      case .press(let x, let y, let button): gst_navigation_event_new_mouse_button_press(button, x, y, none)
      case .move(let x, let y): gst_navigation_event_new_mouse_move(x, y, none)
      case .release(let x, let y): gst_navigation_event_new_mouse_button_release(1, x, y, none)
      case .down(let id, let x, let y): gst_navigation_event_new_touch_down(id, x, y, .nan, none)
      case .motion(let id, let x, let y): gst_navigation_event_new_touch_motion(id, x, y, .nan, none)
      case .up(let id, let x, let y): gst_navigation_event_new_touch_up(id, x, y, none)
      case .frame: gst_navigation_event_new_touch_frame(none)
      case .cancel: gst_navigation_event_new_touch_cancel(none)
      case .key: gst_navigation_event_new_key_press("a", none)
      }
    }
  }

  /// Whether it has been taken.
  @discardableResult
  private static func send(_ input: Input, to screen: HeadUnitPipeline) throws -> Bool {
    gst_pad_send_event(try screen.source.pad("src"), input.event) != 0
  }

  /// An app made by hand, whose pictures, 320×240, are on a display of this size.
  private static func shown(_ display: String) throws -> (HeadUnitPipeline, RawApp) {
    let screen = try HeadUnitPipeline("screen-size=\(display) scale=1.5")
    let app = try RawApp.streaming(port: screen.port)
    for unit in try encodedUnits(3) { app.video(unit.bytes) }
    _ = try screen.pull(1)
    return (screen, app)
  }

  private static func text(_ event: OnTouchEvent) -> String {
    let places = event.fingers.flatMap { finger in finger.samples.map { " \(finger.id) \($0.x) \($0.y)" } }
    return (event.kind?.rawValue ?? "?") + places.joined()
  }

  @Test func mouseAndFingers() throws {
    let (screen, app) = try Self.shown("480x360")
    for input in [Input.press(100, 50), .move(101, 50), .release(102, 50)] {
      #expect(try Self.send(input, to: screen))
    }
    for expected in ["BEGIN 0 150 75", "MOVE 0 152 75", "END 0 153 75"] {
      #expect(Self.text(try app.waitForTouch()) == expected)
    }
    let fingers: [Input] = [.frame, .down(70, 0, 0), .down(80, 319, 239), .frame, .motion(80, 20, 20), .cancel]
    for input in fingers { #expect(try Self.send(input, to: screen)) }
    for expected in ["BEGIN 0 0 0 1 479 359", "MOVE 1 30 30", "CANCEL 0 0 0 1 30 30"] {
      #expect(Self.text(try app.waitForTouch()) == expected)
    }
    // What means nothing to an app is left to the application.
    for input in [Input.key, .move(1, 1), .press(1, 1, button: 3), .up(70, 1, 1)] {
      #expect(try Self.send(input, to: screen) == false)
    }
    #expect(eventually { screen.statistics["touches"] == 6 })
    #expect(screen.statistics["navigation-events"] == 9)
  }

  @Test func nobodyToTouch() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240")
    #expect(try Self.send(.press(1, 1), to: screen) == false)
    let app = try RawApp.active(port: screen.port)
    #expect(try Self.send(.press(1, 1), to: screen) == false)
    try app.startVideo(.raw320x240)
    // Nothing is shown yet.
    #expect(try Self.send(.press(1, 1), to: screen) == false)
    for unit in try encodedUnits(3) { app.video(unit.bytes) }
    _ = try screen.pull(1)
    #expect(try Self.send(.press(1, 1), to: screen))
    #expect(Self.text(try app.waitForTouch()) == "BEGIN 0 1 1")
    screen.source.set("hmi-level", "background")
    #expect(eventually { screen.source["hmi-level"] == "background" })
    #expect(try Self.send(.release(1, 1), to: screen) == false)
    #expect(screen.statistics["touches"] == 1)
  }

  private enum End: CaseIterable {
    case service
    case element
    case app
  }

  @Test(arguments: End.allCases) private func openFingersAreCancelled(by end: End) throws {
    let (screen, app) = try Self.shown("480x360")
    #expect(try Self.send(.down(5, 10, 20), to: screen))
    #expect(Self.text(try app.waitForTouch()) == "BEGIN 0 15 30")
    switch end {
    case .service: app.endVideo()
    case .element: screen.pipeline.setState(GST_STATE_READY)
    case .app:
      app.close()
      #expect(eventually { screen.statistics["apps"] == 0 })
    }
    if end != .app { #expect(Self.text(try app.waitForTouch()) == "CANCEL 0 15 30") }
    #expect(try Self.send(.motion(5, 11, 20), to: screen) == false)
    #expect(screen.statistics["touches"] == (end == .app ? 1 : 2))
  }

  /// A square of navigationtest in the window, under the finger; through the network, the app, and the decoder.
  /// Display, scale, size of the pictures.
  @Test(arguments: [("320x240", 1.0, 320, 240), ("800x380", 1.5, 532, 252)])
  func markIsUnderTheFinger(display: String, scale: Double, width: Int, height: Int) throws {
    let screen = try HeadUnitPipeline(
      "screen-size=\(display) scale=\(scale)",
      through: "h264parse ! avdec_h264 max-threads=1 ! videoconvert ! video/x-raw,format=GRAY8 !",
      output: "sync=false max-buffers=2 drop=true")
    let app = try Pipeline(
      """
      videotestsrc is-live=true pattern=white ! video/x-raw,format=I420,framerate=30/1 ! navigationtest \
      ! sdlvideosink name=sink bitrate=8000 uri=\(screen.uri)
      """)
    try app.play()
    _ = try screen.pull { _ in true }
    let window = try screen.pipeline["out"]
    func send(_ input: Input) {
      #expect(gst_element_send_event(window.pointer, input.event) != 0)
    }
    var count = 0
    for (x, y) in [(30.0, 40.0), (Double(width) - 20, Double(height) - 25)] {
      for input in [Input.down(9, x, y), .frame, .motion(9, x, y), .frame] { send(input) }
      _ = try screen.pull { sample in
        guard let mark = Self.mark(sample.bytes, width: width, height: height) else { return false }
        return abs(mark.x - x) <= 1.5 && abs(mark.y - y) <= 1.5
      }
      for input in [Input.up(9, x, y), .frame] { send(input) }
      _ = try screen.pull { Self.mark($0.bytes, width: width, height: height) == nil }
      count += 3
    }
    let sink = try app.sink
    #expect(eventually { screen.statistics["touches"] == count && sink.statistics["touches"] == count })
    #expect(screen.statistics["navigation-events"] == 2 * count && sink.statistics["navigation-events"] == 2 * count)
    #expect(screen.statistics["violations"] == 0, "\(screen.source["violations"] ?? "")")
  }

  /// The middle of what is dark.
  private static func mark(_ picture: [UInt8], width: Int, height: Int) -> (x: Double, y: Double)? {
    let stride = (width + 3) & ~3
    guard picture.count >= stride * height else { return nil }
    var columns: Set<Int> = []
    var rows: Set<Int> = []
    for y in 0..<height {
      for x in 0..<width where picture[y * stride + x] < 100 {
        columns.insert(x)
        rows.insert(y)
      }
    }
    guard let left = columns.min(), let right = columns.max(), let top = rows.min(), let bottom = rows.max() else {
      return nil
    }
    return (Double(left + right + 1) / 2, Double(top + bottom + 1) / 2)
  }
}
