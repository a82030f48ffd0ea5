import CGStreamer
import Synchronization

/// Draws a picture whenever the sink asks for one, with a square where the car's screen was touched last.
final class App: Sendable {
  static let picturesPerSecond = 15

  private struct State {
    var picture = 0
    var touched: (x: Int, y: Int)?
  }

  /// Touches come on a different thread from the one that draws.
  private let state = Mutex(State())
  private let pictures: Int
  /// The pipeline keeps it as long as it calls.
  nonisolated(unsafe) private let sink: UnsafeMutablePointer<GstElement>

  init(pictures: Int, sink: UnsafeMutablePointer<GstElement>) {
    self.pictures = pictures
    self.sink = sink
  }

  /// The sink has shown the last picture and asks for the next one.
  func push(to source: UnsafeMutablePointer<GstAppSrc>) {
    let (picture, touched) = state.withLock { state in
      defer { state.picture += 1 }
      return (state.picture, state.touched)
    }
    guard picture < pictures else {
      gst_app_src_end_of_stream(source)
      return
    }
    if picture == pictures / 3 { set("app-state", to: "background", of: sink) }
    if picture == pictures * 2 / 3 { set("app-state", to: "foreground", of: sink) }
    gst_app_src_push_buffer(source, draw(picture, touched: touched))
  }

  private func draw(_ number: Int, touched: (x: Int, y: Int)?) -> UnsafeMutablePointer<GstBuffer>? {
    guard let buffer = gst_buffer_new_allocate(nil, gsize(Picture.width * Picture.height), nil) else { return nil }
    var map = GstMapInfo()
    if gst_buffer_map(buffer, &map, GST_MAP_WRITE) != 0 {
      let picture = Picture(pixels: UnsafeMutableBufferPointer(start: map.data, count: Int(map.size)))
      picture.fill(x: 0, y: 0, width: Picture.width, height: Picture.height, brightness: 64)
      picture.fill(x: number * 4 % Picture.width, y: 0, width: 8, height: Picture.height, brightness: 128)
      if let (x, y) = touched { picture.fill(x: x - 10, y: y - 10, width: 20, height: 20, brightness: 255) }
      gst_buffer_unmap(buffer, &map)
    }
    let interval = 1_000_000_000 / GstClockTime(Self.picturesPerSecond)
    buffer.pointee.pts = GstClockTime(number) * interval
    buffer.pointee.duration = interval
    return buffer
  }

  /// Touches come up the pipeline. Scalers on the way convert them, so that here they are in pixels of the picture.
  func take(_ event: UnsafeMutablePointer<GstEvent>) {
    var finger: guint = 0
    var (x, y) = (0.0, 0.0)
    guard gst_navigation_event_get_type(event) == GST_NAVIGATION_EVENT_TOUCH_DOWN,
      gst_navigation_event_parse_touch_event(event, &finger, &x, &y, nil) != 0
    else { return }
    print("touch \(finger) at \(Int(x)) \(Int(y))")
    state.withLock { $0.touched = (Int(x), Int(y)) }
  }
}

/// Sets a property of any type from its text, as gst-launch-1.0 does.
func set(_ property: String, to value: String, of element: UnsafeMutablePointer<GstElement>) {
  gst_util_set_object_arg(cast(element), property, value)
}

/// Swift does not see the macros that C uses for casts, such as GST_BIN.
func cast<Class, Other>(_ object: UnsafeMutablePointer<Class>) -> UnsafeMutablePointer<Other> {
  UnsafeMutableRawPointer(object).assumingMemoryBound(to: Other.self)
}
