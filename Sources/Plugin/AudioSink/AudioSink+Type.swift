// The function names are those of C's header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CPluginTypes
import GStreamerKit

// The functions that C's class_init installs. Each turns the instance into its Swift object and forwards.

@inline(__always)
private func sink(_ instance: UnsafeMutableRawPointer) -> Unmanaged<AudioSink> {
  // Set in instance_init and freed in finalize, so it is there for every call in between.
  unsafe Unmanaged.fromOpaque(instance.assumingMemoryBound(to: GstSdlAudioSink.self).pointee.impl.unsafelyUnwrapped)
}

@c @implementation
public func gst_sdl_audio_sink_install_properties(_ objectClass: UnsafeMutablePointer<GObjectClass>) {
  // Registers the debug category, which GST_DEBUG help then lists.
  _ = AudioSink.log
  _ = ProtocolLog.category
  AudioSink.properties.install(on: objectClass)
}

@c @implementation
public func gst_sdl_audio_sink_impl_new(_ instance: UnsafeMutablePointer<GstSdlAudioSink>) -> UnsafeMutableRawPointer {
  let sink = AudioSink(element: instance)
  sink.configureBaseSink()
  return Unmanaged.passRetained(sink).toOpaque()
}

@c @implementation
public func gst_sdl_audio_sink_impl_free(_ impl: UnsafeMutableRawPointer) {
  let sink = Unmanaged<AudioSink>.fromOpaque(impl)
  // Its state is NULL; only an app that lingers can be left.
  sink._withUnsafeGuaranteedRef { _ = $0.app?.leave(ObjectIdentifier($0), nil) }
  sink.release()
}

@c @implementation
public func gst_sdl_audio_sink_set_property(
  _ object: UnsafeMutablePointer<GObject>, _ id: guint, _ value: UnsafePointer<GValue>,
  _ spec: UnsafeMutablePointer<GParamSpec>
) {
  sink(object)._withUnsafeGuaranteedRef { $0.setProperty(id, value) }
}

@c @implementation
public func gst_sdl_audio_sink_get_property(
  _ object: UnsafeMutablePointer<GObject>, _ id: guint, _ value: UnsafeMutablePointer<GValue>,
  _ spec: UnsafeMutablePointer<GParamSpec>
) {
  sink(object)._withUnsafeGuaranteedRef { $0.getProperty(id, value) }
}

@c @implementation
public func gst_sdl_audio_sink_change_state(
  _ element: UnsafeMutablePointer<GstElement>, _ transition: GstStateChange
) -> GstStateChangeReturn {
  sink(element)._withUnsafeGuaranteedRef { $0.changeState(transition) }
}

@c @implementation
public func gst_sdl_audio_sink_element_query(
  _ element: UnsafeMutablePointer<GstElement>, _ query: UnsafeMutablePointer<GstQuery>
) -> gboolean {
  guard gst_sdl_audio_sink_parent_element_query(element, query) != 0 else { return 0 }
  if query.pointee.type == GST_QUERY_LATENCY { sink(element)._withUnsafeGuaranteedRef { $0.addLead(to: query) } }
  return 1
}

@c @implementation
public func gst_sdl_audio_sink_caps_arrive(
  _ instance: UnsafeMutablePointer<GstSdlAudioSink>, _ caps: UnsafeMutablePointer<GstCaps>
) {
  guard let reason = AudioCaps.rejectionReason(of: caps) else { return }
  sink(instance)._withUnsafeGuaranteedRef { $0.fail(reason) }
}

@c @implementation
public func gst_sdl_audio_sink_get_caps(
  _ baseSink: UnsafeMutablePointer<GstBaseSink>, _ filter: UnsafeMutablePointer<GstCaps>?
) -> UnsafeMutablePointer<GstCaps>? {
  sink(baseSink)._withUnsafeGuaranteedRef { $0.caps(filter: filter) }
}

@c @implementation
public func gst_sdl_audio_sink_set_caps(
  _ baseSink: UnsafeMutablePointer<GstBaseSink>, _ caps: UnsafeMutablePointer<GstCaps>
) -> gboolean {
  sink(baseSink)._withUnsafeGuaranteedRef { $0.stream?.setCaps(caps) ?? false } ? 1 : 0
}

@c @implementation
public func gst_sdl_audio_sink_query(
  _ baseSink: UnsafeMutablePointer<GstBaseSink>, _ query: UnsafeMutablePointer<GstQuery>
) -> gboolean {
  sink(baseSink)._withUnsafeGuaranteedRef { $0.answer(query) } ? 1 : 0
}

@c @implementation
public func gst_sdl_audio_sink_event(
  _ baseSink: UnsafeMutablePointer<GstBaseSink>, _ event: UnsafeMutablePointer<GstEvent>
) -> gboolean {
  sink(baseSink)._withUnsafeGuaranteedRef { $0.handle(event) } ? 1 : 0
}

@c @implementation
public func gst_sdl_audio_sink_wait_event(
  _ baseSink: UnsafeMutablePointer<GstBaseSink>, _ event: UnsafeMutablePointer<GstEvent>
) -> GstFlowReturn {
  sink(baseSink)._withUnsafeGuaranteedRef { $0.stream?.wait(for: event) ?? GST_FLOW_FLUSHING }
}

@c @implementation
public func gst_sdl_audio_sink_get_times(
  _ baseSink: UnsafeMutablePointer<GstBaseSink>, _ buffer: UnsafeMutablePointer<GstBuffer>,
  _ start: UnsafeMutablePointer<GstClockTime>, _ end: UnsafeMutablePointer<GstClockTime>
) {
  gst_sdl_audio_sink_parent_get_times(baseSink, buffer, start, end)
  sink(baseSink)._withUnsafeGuaranteedRef { $0.subtractLead(from: &start.pointee) }
}

@c @implementation
public func gst_sdl_audio_sink_unlock(_ baseSink: UnsafeMutablePointer<GstBaseSink>) -> gboolean {
  sink(baseSink)._withUnsafeGuaranteedRef { $0.stream?.setFlushing(true) }
  return 1
}

@c @implementation
public func gst_sdl_audio_sink_unlock_stop(_ baseSink: UnsafeMutablePointer<GstBaseSink>) -> gboolean {
  sink(baseSink)._withUnsafeGuaranteedRef { $0.stream?.setFlushing(false) }
  return 1
}

@c @implementation
public func gst_sdl_audio_sink_preroll(
  _ baseSink: UnsafeMutablePointer<GstBaseSink>, _ buffer: UnsafeMutablePointer<GstBuffer>
) -> GstFlowReturn {
  sink(baseSink)._withUnsafeGuaranteedRef { $0.stream?.preroll() ?? GST_FLOW_FLUSHING }
}

@c @implementation
public func gst_sdl_audio_sink_wait_for_preroll(
  _ instance: UnsafeMutablePointer<GstSdlAudioSink>, _ result: UnsafeMutablePointer<GstFlowReturn>
) -> gboolean {
  sink(instance)._withUnsafeGuaranteedRef { sink in
    if sink.stream?.waitForPreroll() == true { return 1 }
    result.pointee = GST_FLOW_FLUSHING
    return 0
  }
}

@c @implementation
public func gst_sdl_audio_sink_render(
  _ baseSink: UnsafeMutablePointer<GstBaseSink>, _ buffer: UnsafeMutablePointer<GstBuffer>
) -> GstFlowReturn {
  sink(baseSink)._withUnsafeGuaranteedRef { $0.stream?.render(buffer) ?? GST_FLOW_FLUSHING }
}
