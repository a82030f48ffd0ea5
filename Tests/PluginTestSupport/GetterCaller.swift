import GStreamerKit
import SDLLink

@testable import Plugin

/// Reads every property, the caps and the URI of a sink at each notification or message.
final class GetterCaller: Sendable {
  nonisolated(unsafe) private let sink: UnsafeMutablePointer<GstElement>
  let calls = Monitor(0)

  init(_ sink: UnsafeMutablePointer<GstElement>) {
    self.sink = sink
  }

  func watch(_ property: String) {
    let handler: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, _, data in
      GetterCaller.from(data)?.readEverything()
    }
    g_signal_connect_data(
      sink, "notify::\(property)", unsafeBitCast(handler, to: GCallback.self),
      Unmanaged.passUnretained(self).toOpaque(), nil, GConnectFlags(rawValue: 0))
  }

  func watch(_ bus: UnsafeMutablePointer<GstBus>) {
    gst_bus_set_sync_handler(
      bus,
      { _, _, data in
        GetterCaller.from(data)?.readEverything()
        return GST_BUS_PASS
      }, Unmanaged.passUnretained(self).toOpaque(), nil)
  }

  private static func from(_ data: gpointer?) -> GetterCaller? {
    data.map { Unmanaged<GetterCaller>.fromOpaque($0).takeUnretainedValue() }
  }

  func readEverything() {
    for property in VideoSink.properties.properties where property.access != .writeOnlyReady {
      var value = GValue()
      g_object_get_property(sink.cast(), "\(property.name)", &value)
      g_value_unset(&value)
    }
    g_free(gst_uri_handler_get_uri(OpaquePointer(sink)))
    if let pad = gst_element_get_static_pad(sink, "sink") {
      gst_caps_unref(gst_pad_query_caps(pad, nil))
      gst_object_unref(pad)
    }
    calls.withLock { $0 += 1 }
  }
}
