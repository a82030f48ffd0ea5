import GStreamerKit

/// A GstNavigation event that a program or a car can get.
enum PointerEvent {
  case button(Int, isDown: Bool, x: Double, y: Double)
  case move(x: Double, y: Double)
  case scroll(x: Double, y: Double, right: Double, up: Double)
  case down(UInt32, x: Double, y: Double)
  case motion(UInt32, x: Double, y: Double)
  case up(UInt32, x: Double, y: Double)
  case frame
  case cancel
  case key(String, isDown: Bool)

  /// Nil for other events.
  init?(_ event: UnsafeMutablePointer<GstEvent>) {
    var (id, button): (guint, gint) = (0, 0)
    var (x, y, pressure): (gdouble, gdouble, gdouble) = (0, 0, 0)
    let type = gst_navigation_event_get_type(event)
    switch type {
    case GST_NAVIGATION_EVENT_MOUSE_BUTTON_PRESS, GST_NAVIGATION_EVENT_MOUSE_BUTTON_RELEASE:
      guard gst_navigation_event_parse_mouse_button_event(event, &button, &x, &y) != 0, (1...9).contains(button) else {
        return nil
      }
      self = .button(Int(button), isDown: type == GST_NAVIGATION_EVENT_MOUSE_BUTTON_PRESS, x: x, y: y)
    case GST_NAVIGATION_EVENT_MOUSE_MOVE:
      guard gst_navigation_event_parse_mouse_move_event(event, &x, &y) != 0 else { return nil }
      self = .move(x: x, y: y)
    case GST_NAVIGATION_EVENT_MOUSE_SCROLL:
      var (right, up): (gdouble, gdouble) = (0, 0)
      guard gst_navigation_event_parse_mouse_scroll_event(event, &x, &y, &right, &up) != 0 else { return nil }
      self = .scroll(x: x, y: y, right: right, up: up)
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
    case GST_NAVIGATION_EVENT_KEY_PRESS, GST_NAVIGATION_EVENT_KEY_RELEASE:
      var name: UnsafePointer<CChar>?
      guard gst_navigation_event_parse_key_event(event, &name) != 0, let name else { return nil }
      self = .key(String(cString: name), isDown: type == GST_NAVIGATION_EVENT_KEY_PRESS)
    default: return nil
    }
  }
}
