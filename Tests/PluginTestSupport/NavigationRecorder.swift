import GStreamerKit
import SDLLink

/// Records the navigation events that go upstream through a pad, as text: "touch-down 0 (80.0, 160.0)".
final class NavigationRecorder: Sendable {
  struct Entry: Sendable {
    var text: String
    /// `GST_EVENT_TIMESTAMP`.
    var time: UInt64
  }

  let entries = Monitor<[Entry]>([])
  private let consumesEvents: Bool
  /// Called for each event, on the thread that brings it.
  private let callback: @Sendable () -> Void

  /// - Parameter consumesEvents: whether events end here, instead of going on to the source.
  init(
    at pad: UnsafeMutablePointer<GstPad>, consumesEvents: Bool = true, callback: @escaping @Sendable () -> Void = {}
  ) {
    self.consumesEvents = consumesEvents
    self.callback = callback
    gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, recordNavigation, Unmanaged.passRetained(self).toOpaque(),
      releaseNavigationRecorder)
  }

  var texts: [String] { entries.withLock { $0.map(\.text) } }

  /// Waits until `match` accepts the recorded texts.
  @discardableResult
  func wait(for what: String, _ match: ([String]) -> Bool) throws -> [String] {
    let found = entries.wait(until: MonotonicClock.now + testTimeout) { entries -> [String]? in
      let texts = entries.map(\.text)
      return match(texts) ? texts : nil
    }
    guard let found else { throw TestFailure("no \(what) among \(texts)") }
    return found
  }

  fileprivate func record(_ event: UnsafeMutablePointer<GstEvent>) -> GstPadProbeReturn {
    guard event.pointee.type == GST_EVENT_NAVIGATION else { return GST_PAD_PROBE_OK }
    entries.withLock { $0.append(Entry(text: Self.text(event), time: UInt64(event.pointee.timestamp))) }
    entries.broadcast()
    callback()
    guard consumesEvents else { return GST_PAD_PROBE_OK }
    gst_event_unref(event)
    return GST_PAD_PROBE_HANDLED
  }

  private static func text(_ event: UnsafeMutablePointer<GstEvent>) -> String {
    var id: guint = 0
    var button: gint = 0
    var x: gdouble = 0
    var y: gdouble = 0
    var pressure: gdouble = 0
    var key: UnsafePointer<CChar>?
    switch gst_navigation_event_get_type(event) {
    case GST_NAVIGATION_EVENT_TOUCH_DOWN:
      gst_navigation_event_parse_touch_event(event, &id, &x, &y, &pressure)
      return "touch-down \(id) (\(x), \(y))"
    case GST_NAVIGATION_EVENT_TOUCH_MOTION:
      gst_navigation_event_parse_touch_event(event, &id, &x, &y, &pressure)
      return "touch-motion \(id) (\(x), \(y))"
    case GST_NAVIGATION_EVENT_TOUCH_UP:
      gst_navigation_event_parse_touch_up_event(event, &id, &x, &y)
      return "touch-up \(id) (\(x), \(y))"
    case GST_NAVIGATION_EVENT_TOUCH_FRAME: return "touch-frame"
    case GST_NAVIGATION_EVENT_TOUCH_CANCEL: return "touch-cancel"
    case GST_NAVIGATION_EVENT_MOUSE_BUTTON_PRESS:
      gst_navigation_event_parse_mouse_button_event(event, &button, &x, &y)
      return "mouse-press \(button) (\(x), \(y))"
    case GST_NAVIGATION_EVENT_MOUSE_BUTTON_RELEASE:
      gst_navigation_event_parse_mouse_button_event(event, &button, &x, &y)
      return "mouse-release \(button) (\(x), \(y))"
    case GST_NAVIGATION_EVENT_MOUSE_MOVE:
      gst_navigation_event_parse_mouse_move_event(event, &x, &y)
      return "mouse-move (\(x), \(y))"
    case GST_NAVIGATION_EVENT_KEY_PRESS, GST_NAVIGATION_EVENT_KEY_RELEASE:
      gst_navigation_event_parse_key_event(event, &key)
      let isPress = gst_navigation_event_get_type(event) == GST_NAVIGATION_EVENT_KEY_PRESS
      return "key-\(isPress ? "press" : "release") \(key.map { String(cString: $0) } ?? "?")"
    default: return "?"
    }
  }
}

private func recordNavigation(
  _ pad: UnsafeMutablePointer<GstPad>?, _ info: UnsafeMutablePointer<GstPadProbeInfo>?, _ data: gpointer?
) -> GstPadProbeReturn {
  guard let data, let event = gst_pad_probe_info_get_event(info) else { return GST_PAD_PROBE_OK }
  return Unmanaged<NavigationRecorder>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.record(event) }
}

private func releaseNavigationRecorder(_ data: gpointer?) {
  if let data { Unmanaged<NavigationRecorder>.fromOpaque(data).release() }
}
