// The function names are those of C's header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CPluginTypes
import GStreamerKit

// The functions that C's class_init installs. Each turns the instance into its Swift object and forwards.

@inline(__always)
private func sink(_ instance: UnsafeMutableRawPointer) -> Unmanaged<VideoSink> {
  // Set in instance_init and freed in finalize, so it is there for every call in between.
  unsafe Unmanaged.fromOpaque(instance.assumingMemoryBound(to: GstSdlVideoSink.self).pointee.impl.unsafelyUnwrapped)
}

@c @implementation
public func gst_sdl_video_sink_install_properties(_ objectClass: UnsafeMutablePointer<GObjectClass>) {
  // Registers the debug category, which GST_DEBUG help then lists.
  _ = VideoSink.log
  _ = ProtocolLog.category
  VideoSink.properties.install(on: objectClass)
}

@c @implementation
public func gst_sdl_video_sink_impl_new(_ instance: UnsafeMutablePointer<GstSdlVideoSink>) -> UnsafeMutableRawPointer {
  let sink = VideoSink(element: instance)
  sink.configureBaseSink()
  return Unmanaged.passRetained(sink).toOpaque()
}

@c @implementation
public func gst_sdl_video_sink_impl_free(_ impl: UnsafeMutableRawPointer) {
  let sink = Unmanaged<VideoSink>.fromOpaque(impl)
  // Its state is NULL; only an app that lingers can be left.
  sink._withUnsafeGuaranteedRef { _ = $0.app?.leave(ObjectIdentifier($0), nil) }
  sink.release()
}

@c @implementation
public func gst_sdl_video_sink_set_property(
  _ object: UnsafeMutablePointer<GObject>, _ id: guint, _ value: UnsafePointer<GValue>,
  _ spec: UnsafeMutablePointer<GParamSpec>
) {
  sink(object)._withUnsafeGuaranteedRef { $0.setProperty(id, value) }
}

@c @implementation
public func gst_sdl_video_sink_get_property(
  _ object: UnsafeMutablePointer<GObject>, _ id: guint, _ value: UnsafeMutablePointer<GValue>,
  _ spec: UnsafeMutablePointer<GParamSpec>
) {
  sink(object)._withUnsafeGuaranteedRef { $0.getProperty(id, value) }
}

@c @implementation
public func gst_sdl_video_sink_change_state(
  _ element: UnsafeMutablePointer<GstElement>, _ transition: GstStateChange
) -> GstStateChangeReturn {
  sink(element)._withUnsafeGuaranteedRef { $0.changeState(transition) }
}

@c @implementation
public func gst_sdl_video_sink_send_event(
  _ element: UnsafeMutablePointer<GstElement>, _ event: UnsafeMutablePointer<GstEvent>
) -> gboolean {
  sink(element)._withUnsafeGuaranteedRef { $0.sendEvent(event) } ? 1 : 0
}

@c @implementation
public func gst_sdl_video_sink_caps_arrive(
  _ instance: UnsafeMutablePointer<GstSdlVideoSink>, _ caps: UnsafeMutablePointer<GstCaps>
) {
  guard let reason = InputCaps.rejectionReason(of: caps) else { return }
  sink(instance)._withUnsafeGuaranteedRef { $0.fail(reason) }
}

@c @implementation
public func gst_sdl_video_sink_take_ahead(
  _ instance: UnsafeMutablePointer<GstSdlVideoSink>, _ buffer: UnsafeMutablePointer<GstBuffer>,
  _ result: UnsafeMutablePointer<GstFlowReturn>
) -> gboolean {
  sink(instance)._withUnsafeGuaranteedRef { sink in
    guard let stream = sink.runs.onPad, let flow = stream.renderer.takeAhead(buffer, stream) else { return 0 }
    result.pointee = flow
    return 1
  }
}

@c @implementation
public func gst_sdl_video_sink_get_caps(
  _ baseSink: UnsafeMutablePointer<GstBaseSink>, _ filter: UnsafeMutablePointer<GstCaps>?
) -> UnsafeMutablePointer<GstCaps>? {
  sink(baseSink)._withUnsafeGuaranteedRef { $0.caps(filter: filter) }
}

@c @implementation
public func gst_sdl_video_sink_set_caps(
  _ baseSink: UnsafeMutablePointer<GstBaseSink>, _ caps: UnsafeMutablePointer<GstCaps>
) -> gboolean {
  sink(baseSink)._withUnsafeGuaranteedRef { $0.stream?.setCaps(caps) ?? false } ? 1 : 0
}

@c @implementation
public func gst_sdl_video_sink_query(
  _ baseSink: UnsafeMutablePointer<GstBaseSink>, _ query: UnsafeMutablePointer<GstQuery>
) -> gboolean {
  sink(baseSink)._withUnsafeGuaranteedRef { $0.answer(query) } ? 1 : 0
}

@c @implementation
public func gst_sdl_video_sink_propose_allocation(
  _ baseSink: UnsafeMutablePointer<GstBaseSink>, _ query: UnsafeMutablePointer<GstQuery>
) -> gboolean {
  gst_query_add_allocation_meta(query, gst_video_meta_api_get_type(), nil)
  gst_query_add_allocation_meta(query, gst_video_region_of_interest_meta_api_get_type(), nil)
  return 1
}

@c @implementation
public func gst_sdl_video_sink_event(
  _ baseSink: UnsafeMutablePointer<GstBaseSink>, _ event: UnsafeMutablePointer<GstEvent>
) -> gboolean {
  sink(baseSink)._withUnsafeGuaranteedRef { $0.handle(event) } ? 1 : 0
}

@c @implementation
public func gst_sdl_video_sink_wait_event(
  _ baseSink: UnsafeMutablePointer<GstBaseSink>, _ event: UnsafeMutablePointer<GstEvent>
) -> GstFlowReturn {
  sink(baseSink)._withUnsafeGuaranteedRef { $0.stream.map { $0.renderer.wait(for: event, $0) } ?? GST_FLOW_FLUSHING }
}

@c @implementation
public func gst_sdl_video_sink_unlock(_ baseSink: UnsafeMutablePointer<GstBaseSink>) -> gboolean {
  sink(baseSink)._withUnsafeGuaranteedRef { $0.stream?.setFlushing(true) }
  return 1
}

@c @implementation
public func gst_sdl_video_sink_unlock_stop(_ baseSink: UnsafeMutablePointer<GstBaseSink>) -> gboolean {
  sink(baseSink)._withUnsafeGuaranteedRef { $0.stream?.setFlushing(false) }
  return 1
}

@c @implementation
public func gst_sdl_video_sink_preroll(
  _ baseSink: UnsafeMutablePointer<GstBaseSink>, _ buffer: UnsafeMutablePointer<GstBuffer>
) -> GstFlowReturn {
  sink(baseSink)._withUnsafeGuaranteedRef { sink in
    sink.runs.onPad.map { $0.renderer.preroll(with: buffer, $0) } ?? GST_FLOW_FLUSHING
  }
}

@c @implementation
public func gst_sdl_video_sink_wait_for_preroll(
  _ instance: UnsafeMutablePointer<GstSdlVideoSink>, _ result: UnsafeMutablePointer<GstFlowReturn>
) -> gboolean {
  sink(instance)._withUnsafeGuaranteedRef { sink in
    if sink.stream?.waitForPreroll() == true { return 1 }
    result.pointee = GST_FLOW_FLUSHING
    return 0
  }
}

@c @implementation
public func gst_sdl_video_sink_render(
  _ baseSink: UnsafeMutablePointer<GstBaseSink>, _ buffer: UnsafeMutablePointer<GstBuffer>
) -> GstFlowReturn {
  sink(baseSink)._withUnsafeGuaranteedRef { sink in
    sink.runs.onPad.map { $0.renderer.render(buffer, $0) } ?? GST_FLOW_FLUSHING
  }
}

@c @implementation
public func gst_sdl_video_sink_copy_uri(
  _ instance: UnsafeMutablePointer<GstSdlVideoSink>
) -> UnsafeMutablePointer<gchar>? {
  sink(instance)._withUnsafeGuaranteedRef { sink in
    sink.settings.withLock { $0.app.uri }.map { g_strdup($0) }
  }
}

@c @implementation
public func gst_sdl_video_sink_take_uri(
  _ instance: UnsafeMutablePointer<GstSdlVideoSink>, _ uri: UnsafePointer<gchar>,
  _ error: UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?
) -> gboolean {
  sink(instance)._withUnsafeGuaranteedRef { $0.takeURI(String(cString: uri), error) } ? 1 : 0
}
