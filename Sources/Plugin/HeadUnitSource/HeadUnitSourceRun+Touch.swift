import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages

/// What is done in the window that shows the video (GstNavigation) goes to the app whose video that is.
extension HeadUnitSourceRun {
  /// False if it means nothing to the app, so that the window offers it to the application.
  func navigate(_ event: UnsafeMutablePointer<GstEvent>, pad: UnsafeMutablePointer<GstPad>) -> Bool {
    guard let input = WindowInput(event), let picture = Self.pictureSize(pad) else { return false }
    let now = MonotonicClock.now
    return state.withLock { state in
      guard let app = state.touchableApp,
        let isAsking = state.touches.receive(input, for: app, picture: picture, now: now)
      else { return false }
      state.navigationEvents &+= 1
      if isAsking { state.askToFetchTouches(for: app) }
      return true
    }
  }

  /// Of what is pushed, and so of what the window shows; nil before anything is.
  private static func pictureSize(_ pad: UnsafeMutablePointer<GstPad>) -> ImageResolution? {
    guard let caps = Caps.current(of: pad), let structure = caps.structure(at: 0),
      let width = structure.integer("width"), let height = structure.integer("height"), width > 0, height > 0
    else { return nil }
    return ImageResolution(Int(width), Int(height))
  }
}

extension HeadUnitSourceRun.State {
  /// Cancels the fingers that are down.
  mutating func interruptTouches(now: Duration) {
    let app = video.app
    if touches.interrupt(for: app, now: now), let app { askToFetchTouches(for: app) }
  }

  /// The server only gets an order here, so that the window never waits for the network.
  fileprivate func askToFetchTouches(for app: UInt8) {
    guard let server = part.headUnit?.server else { return }
    server.control(.app(app)) { [fetchTouches] session, now in
      fetchTouches(app).flatMap { session.touch($0.touch, picture: $0.picture, now: now) }
    }
  }

  /// The app whose video is shown, while it may be touched.
  var touchableApp: UInt8? {
    guard let id = video.app, let app = part.apps[id], app.video != nil, let status = app.status, status.level == .full,
      status.allowsVideo
    else { return nil }
    return id
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
