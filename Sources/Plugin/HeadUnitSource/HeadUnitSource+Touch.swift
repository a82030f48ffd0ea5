import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages

/// What is done in the window that shows the video (GstNavigation) is told to the app whose video that is.
extension HeadUnitSource {
  /// False if it means nothing to the app, so that the window offers it to the application.
  func navigate(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    guard let input = WindowInput(event), let picture = pictureSize() else { return false }
    let now = MonotonicClock.now
    return state.withLock { $0.touch(input, picture: picture, now: now) }
  }

  /// Of what is pushed, and so of what the window shows; nil before anything is.
  private func pictureSize() -> ImageResolution? {
    guard let caps = gst_pad_get_current_caps(cgst_base_src_pad(element)) else { return nil }
    defer { gst_caps_unref(caps) }
    var width: gint = 0
    var height: gint = 0
    let structure = gst_caps_get_structure(caps, 0)
    guard gst_structure_get_int(structure, "width", &width) != 0, width > 0,
      gst_structure_get_int(structure, "height", &height) != 0, height > 0
    else { return nil }
    return ImageResolution(Int(width), Int(height))
  }
}

extension HeadUnitSourceState {
  /// The app whose video is shown, while it may be told of touches.
  private var touchedApp: UInt8? {
    guard let id = streamingApp, let app = apps[id], app.video != nil, let status = app.status, status.level == .full,
      status.allowsVideo
    else { return nil }
    return id
  }

  /// False if `input` means nothing. The server is only given an order, so that the window never waits for the network, and
  /// orders come in the order of what happened.
  mutating func touch(_ input: WindowInput, picture: ImageResolution, now: Duration) -> Bool {
    guard touchedApp != nil, let touches = fingers.receive(input, time: now) else { return false }
    touchedPicture = picture
    totals.navigationEvents &+= 1
    send(touches)
    return true
  }

  /// Cancels the fingers that are down, unless the app is still there to be touched.
  mutating func settleTouches(now: Duration) {
    if touchedApp == nil { interruptTouches(now: now) }
  }

  /// Cancels the fingers that are down.
  mutating func interruptTouches(now: Duration) {
    send(fingers.interrupt(time: now))
  }

  private func send(_ touches: [PictureTouch]) {
    guard !touches.isEmpty, let server, let streamingApp, let picture = touchedPicture else { return }
    server.control(.app(streamingApp)) { session, now in
      touches.flatMap { session.touch($0, picture: picture, now: now) }
    }
  }
}

extension WindowInput {
  /// Nil for what a finger can't do, such as keys, scrolling, and a mouse's other buttons.
  fileprivate init?(_ event: UnsafeMutablePointer<GstEvent>) {
    var id: guint = 0
    var button: gint = 0
    var x: gdouble = 0
    var y: gdouble = 0
    var pressure: gdouble = 0
    switch gst_navigation_event_get_type(event) {
    case GST_NAVIGATION_EVENT_MOUSE_BUTTON_PRESS:
      guard gst_navigation_event_parse_mouse_button_event(event, &button, &x, &y) != 0, button == 1 else { return nil }
      self = .press(x: x, y: y)
    case GST_NAVIGATION_EVENT_MOUSE_BUTTON_RELEASE:
      guard gst_navigation_event_parse_mouse_button_event(event, &button, &x, &y) != 0, button == 1 else { return nil }
      self = .release(x: x, y: y)
    case GST_NAVIGATION_EVENT_MOUSE_MOVE:
      guard gst_navigation_event_parse_mouse_move_event(event, &x, &y) != 0 else { return nil }
      self = .move(x: x, y: y)
    case GST_NAVIGATION_EVENT_TOUCH_DOWN:
      guard gst_navigation_event_parse_touch_event(event, &id, &x, &y, &pressure) != 0 else { return nil }
      self = .down(UInt32(id), x: x, y: y)
    case GST_NAVIGATION_EVENT_TOUCH_MOTION:
      guard gst_navigation_event_parse_touch_event(event, &id, &x, &y, &pressure) != 0 else { return nil }
      self = .motion(UInt32(id), x: x, y: y)
    case GST_NAVIGATION_EVENT_TOUCH_UP:
      guard gst_navigation_event_parse_touch_up_event(event, &id, &x, &y) != 0 else { return nil }
      self = .up(UInt32(id), x: x, y: y)
    case GST_NAVIGATION_EVENT_TOUCH_FRAME: self = .frame
    case GST_NAVIGATION_EVENT_TOUCH_CANCEL: self = .cancel
    default: return nil
    }
  }
}
