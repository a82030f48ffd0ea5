import GStreamerKit
import SDLApp
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Touches on their way to the element that draws the pictures.
@Suite struct TouchDeliveryQueueTests {
  private func touch(_ id: Int, _ x: Double = 1, _ y: Double = 2, at time: Duration? = nil) -> Touch {
    Touch(id: id, position: TouchPosition(x: x, y: y), time: time)
  }

  /// What is to be delivered, as text.
  private func rest(_ queue: inout TouchDeliveryQueue) -> [String] {
    var texts: [String] = []
    while let delivery = queue.next() {
      let text =
        switch delivery {
        case .touch(.down, _): "down"
        case .touch(.motion, _): "motion"
        case .touch(.up, _): "up"
        case .touch(.frame, _): "frame"
        case .touch(.cancel, _): "cancel"
        case .gesture: "gesture"
        }
      texts.append("\(text) \(delivery.eventCount)")
    }
    return texts
  }

  /// An element upstream does not return from its handler.
  @Test func tooManyAreReplacedByTheirEnd() {
    var queue = TouchDeliveryQueue()
    _ = queue.add([.touch(.down(touch(0)))])
    for _ in 1..<1000 { _ = queue.add([.touch(.motion(touch(0)))]) }
    var copy = queue
    #expect(rest(&copy).count == 1000)
    _ = queue.add([.touch(.motion(touch(0)))])
    #expect(rest(&queue) == ["cancel 1"])
    // No finger is down any more.
    #expect(queue.interrupt(now: .zero).isEmpty)
  }

  @Test func touchesUnderWayEndWithACancel() {
    var queue = TouchDeliveryQueue()
    #expect(queue.interrupt(now: .zero).isEmpty)
    _ = queue.add([.touch(.down(touch(0))), .touch(.down(touch(1))), .touch(.up(touch(0)))])
    #expect(rest(&queue).count == 3)
    #expect(queue.interrupt(now: .zero) == [.touch(.cancel)])
    queue.seal(now: .zero)
    #expect(!queue.add([.touch(.motion(touch(1)))]) && queue.takeOver())
    #expect(rest(&queue) == ["cancel 1"])
    queue.close()
    #expect(queue.isClosed)
  }

  @Test(arguments: [TouchAction.up(Touch(id: 0, position: TouchPosition(x: 1, y: 2))), .cancel])
  func withoutFingersThereIsNothingToCancel(_ last: TouchAction) {
    var queue = TouchDeliveryQueue()
    _ = queue.add([.touch(.down(touch(0))), .touch(last)])
    #expect(rest(&queue).count == 2)
    #expect(queue.interrupt(now: .zero).isEmpty)
  }

  /// The property changes meanwhile.
  @Test func aButtonThatIsDownIsReleased() {
    var queue = TouchDeliveryQueue()
    queue.settings.emulatesMouse = true
    _ = queue.add([.touch(.down(touch(0)))])
    #expect(rest(&queue) == ["down 2"])
    queue.settings.emulatesMouse = false
    _ = queue.add([.touch(.motion(touch(0))), .touch(.up(touch(0))), .touch(.down(touch(0)))])
    #expect(rest(&queue) == ["motion 2", "up 2", "down 1"])
  }

  /// Motion waits for the next frame, unless the application does not want that.
  @Test func settings() {
    var queue = TouchDeliveryQueue()
    #expect(queue.input.receive([.motion(touch(0))], now: .zero).isEmpty && queue.input.isWaiting)
    queue = TouchDeliveryQueue()
    queue.settings.isSynced = false
    #expect(queue.input.receive([.motion(touch(0))], now: .zero) == [.touch(.motion(touch(0)))])
  }

  /// A head unit may send no times; positions are those in the source's pictures.
  @Test func timesAndPositions() throws {
    var queue = TouchDeliveryQueue()
    let arrival = Duration.seconds(50)
    let plain = queue.localize([.down(touch(3)), .frame, .cancel], arrival: arrival)
    #expect(plain == [.down(touch(3, at: arrival)), .frame, .cancel])
    queue.turn = try #require(PictureTurn(GST_VIDEO_ORIENTATION_180))
    #expect(queue.localize([.up(touch(3))], arrival: arrival) == [.up(touch(3, at: arrival))])
    queue.pictureSize = VideoSize(320, 240)
    let turned = queue.localize([.motion(touch(3)), .up(touch(3))], arrival: arrival)
    #expect(turned == [.motion(touch(3, 319, 238, at: arrival)), .up(touch(3, 319, 238, at: arrival))])
  }
}

/// Navigation events for a program, or a car.
@Suite struct PointerEventTests {
  init() throws {
    try #require(GStreamer.isReady)
  }

  /// The event as text; nil for one that can't be passed on.
  private func text(_ event: UnsafeMutablePointer<GstEvent>?) throws -> String? {
    let event = try #require(event)
    defer { gst_event_unref(event) }
    return PointerEvent(event).map { "\($0)" }
  }

  @Test(arguments: [(0, false), (1, true), (9, true), (10, false)])
  func buttons(_ button: Int32, isKnown: Bool) throws {
    let none = GST_NAVIGATION_MODIFIER_NONE
    let press = try text(gst_navigation_event_new_mouse_button_press(button, 3, 4, none))
    #expect(press == (isKnown ? "button(\(button), isDown: true, x: 3.0, y: 4.0)" : nil))
    let release = try text(gst_navigation_event_new_mouse_button_release(button, 3, 4, none))
    #expect(release == (isKnown ? "button(\(button), isDown: false, x: 3.0, y: 4.0)" : nil))
  }

  @Test func everyKind() throws {
    let none = GST_NAVIGATION_MODIFIER_NONE
    #expect(try text(gst_navigation_event_new_mouse_move(1, 2, none)) == "move(x: 1.0, y: 2.0)")
    #expect(
      try text(gst_navigation_event_new_mouse_scroll(1, 2, 3, 4, none))
        == "scroll(x: 1.0, y: 2.0, right: 3.0, up: 4.0)")
    #expect(try text(gst_navigation_event_new_touch_down(7, 1, 2, 0, none)) == "down(7, x: 1.0, y: 2.0)")
    #expect(try text(gst_navigation_event_new_touch_motion(7, 1, 2, 0, none)) == "motion(7, x: 1.0, y: 2.0)")
    #expect(try text(gst_navigation_event_new_touch_up(7, 1, 2, none)) == "up(7, x: 1.0, y: 2.0)")
    #expect(try text(gst_navigation_event_new_touch_frame(none)) == "frame")
    #expect(try text(gst_navigation_event_new_touch_cancel(none)) == "cancel")
    #expect(try text(gst_navigation_event_new_key_press("a", none)) == #"key("a", isDown: true)"#)
    #expect(try text(gst_navigation_event_new_key_release("a", none)) == #"key("a", isDown: false)"#)
    #expect(try text(gst_navigation_event_new_command(GST_NAVIGATION_COMMAND_MENU1)) == nil)
  }
}
