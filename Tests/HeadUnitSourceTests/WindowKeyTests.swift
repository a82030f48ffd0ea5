import CGStreamerApp
import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Keys of the window that shows the car's screen, as buttons of the car.
@Suite struct WindowKeyTests {
  /// Whether it has been taken.
  @discardableResult
  private static func send(_ key: String, isPress: Bool, to screen: HeadUnitPipeline) throws -> Bool {
    let none = GST_NAVIGATION_MODIFIER_NONE
    let event =
      isPress ? gst_navigation_event_new_key_press(key, none) : gst_navigation_event_new_key_release(key, none)
    return gst_pad_send_event(try screen.source.pad("src"), event) != 0
  }

  /// An app made by hand, whose pictures are shown, and which has subscribed to OK and NAV_ZOOM_IN.
  private static func shown() throws -> (HeadUnitPipeline, RawApp) {
    let screen = try HeadUnitPipeline("screen-size=320x240")
    let app = try RawApp.streaming(port: screen.port)
    for button in [ButtonName.ok, .navZoomIn] {
      #expect(try app.request(.subscribeButton, ButtonSubscription(button).json).success)
    }
    for unit in try encodedUnits(3) { app.video(unit.bytes) }
    _ = try screen.pull(1)
    return (screen, app)
  }

  /// A repeat of a key that is down is none of a button.
  @Test func pressAndRelease() throws {
    let (screen, app) = try Self.shown()
    for (key, isPress) in [("Return", true), ("Return", true), ("plus", true), ("Return", false), ("plus", false)] {
      #expect(try Self.send(key, isPress: isPress, to: screen))
    }
    let expected = [
      ButtonNotification(.ok, .down), ButtonNotification(.navZoomIn, .down), ButtonNotification(.ok, .up),
      ButtonNotification(.ok, .shortPress), ButtonNotification(.navZoomIn, .up),
      ButtonNotification(.navZoomIn, .shortPress),
    ]
    for notification in expected { #expect(try app.waitForButton() == notification) }
    #expect(screen.statistics["navigation-events"] == 5)
    #expect(eventually { screen.statistics["buttons"] == 4 })
  }

  /// Keys that stand for no button, for one that the app does not have, or go up without having gone down.
  @Test func keysOfTheApplication() throws {
    let (screen, app) = try Self.shown()
    for (key, isPress) in [("a", true), ("Left", true), ("Return", false)] {
      #expect(try Self.send(key, isPress: isPress, to: screen) == false)
    }
    #expect(try app.request(.unsubscribeButton, ButtonSubscription(.ok).json).success)
    #expect(eventually { (try? Self.send("Return", isPress: true, to: screen)) == false })
    #expect(try Self.send("plus", isPress: true, to: screen))
    let last = try app.waitForButton()
    #expect([ButtonNotification(.navZoomIn, .down), ButtonNotification(.ok, .down)].contains(last))
  }

  /// A key that is down is released.
  @Test func endOfTheVideo() throws {
    let (screen, app) = try Self.shown()
    #expect(try Self.send("plus", isPress: true, to: screen))
    #expect(try app.waitForButton() == ButtonNotification(.navZoomIn, .down))
    app.endVideo()
    #expect(try app.waitForButton() == ButtonNotification(.navZoomIn, .up))
    #expect(try Self.send("plus", isPress: false, to: screen) == false)
    #expect(try Self.send("plus", isPress: true, to: screen) == false)
  }

  /// From the window through the network and the app to its source, and what the source is told.
  @Test func keyOfAnotherPipeline() throws {
    let screen = try HeadUnitPipeline("screen-size=320x240", through: "h264parse !")
    let app = try Pipeline(
      """
      videotestsrc is-live=true pattern=white ! video/x-raw,format=I420,framerate=30/1 \
      ! sdlvideosink name=sink uri=\(screen.uri)
      """)
    let recorder = NavigationRecorder(at: try app.sink.pad("sink"))
    try app.play()
    _ = try screen.pull(1)
    #expect(eventually { (try? Self.send("Up", isPress: true, to: screen)) == true })
    try recorder.wait(for: "repeat") { $0.count { $0 == "key-press Up" } >= 2 }
    #expect(try Self.send("Up", isPress: false, to: screen))
    try recorder.wait(for: "release") { $0.last == "key-release Up" }
  }
}
