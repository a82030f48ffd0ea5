// The function names are those of C's header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CPluginTypes
import GStreamerKit

// The functions that C's class_init installs. Each turns the instance into its Swift object and forwards.

@inline(__always)
private func source(_ instance: UnsafeMutableRawPointer) -> Unmanaged<HeadUnitAudioSource> {
  // Set in instance_init and freed in finalize, so it is there for every call in between.
  unsafe Unmanaged.fromOpaque(
    instance.assumingMemoryBound(to: GstSdlHeadUnitAudioSrc.self).pointee.impl.unsafelyUnwrapped)
}

@c @implementation
public func gst_sdl_head_unit_audio_src_install_properties(_ objectClass: UnsafeMutablePointer<GObjectClass>) {
  // Registers the debug category, which GST_DEBUG help then lists.
  _ = HeadUnitAudioSource.log
  _ = ProtocolLog.category
  HeadUnitAudioSource.properties.install(on: objectClass)
}

@c @implementation
public func gst_sdl_head_unit_audio_src_impl_new(
  _ instance: UnsafeMutablePointer<GstSdlHeadUnitAudioSrc>
) -> UnsafeMutableRawPointer {
  Unmanaged.passRetained(HeadUnitAudioSource(element: instance)).toOpaque()
}

@c @implementation
public func gst_sdl_head_unit_audio_src_impl_free(_ impl: UnsafeMutableRawPointer) {
  let source = Unmanaged<HeadUnitAudioSource>.fromOpaque(impl)
  source._withUnsafeGuaranteedRef { _ = $0.endRun() }
  source.release()
}

@c @implementation
public func gst_sdl_head_unit_audio_src_set_property(
  _ object: UnsafeMutablePointer<GObject>, _ id: guint, _ value: UnsafePointer<GValue>,
  _ spec: UnsafeMutablePointer<GParamSpec>
) {
  source(object)._withUnsafeGuaranteedRef { $0.setProperty(id, value) }
}

@c @implementation
public func gst_sdl_head_unit_audio_src_get_property(
  _ object: UnsafeMutablePointer<GObject>, _ id: guint, _ value: UnsafeMutablePointer<GValue>,
  _ spec: UnsafeMutablePointer<GParamSpec>
) {
  source(object)._withUnsafeGuaranteedRef { $0.getProperty(id, value) }
}

@c @implementation
public func gst_sdl_head_unit_audio_src_change_state(
  _ element: UnsafeMutablePointer<GstElement>, _ transition: GstStateChange
) -> GstStateChangeReturn {
  source(element)._withUnsafeGuaranteedRef { $0.changeState(transition) }
}

@c @implementation
public func gst_sdl_head_unit_audio_src_start(_ baseSource: UnsafeMutablePointer<GstBaseSrc>) -> gboolean {
  source(baseSource)._withUnsafeGuaranteedRef { $0.start() } ? 1 : 0
}

@c @implementation
public func gst_sdl_head_unit_audio_src_stop(_ baseSource: UnsafeMutablePointer<GstBaseSrc>) -> gboolean {
  source(baseSource)._withUnsafeGuaranteedRef { $0.stop() }
  return 1
}

@c @implementation
public func gst_sdl_head_unit_audio_src_unlock(_ baseSource: UnsafeMutablePointer<GstBaseSrc>) -> gboolean {
  source(baseSource)._withUnsafeGuaranteedRef { $0.setFlushing(true) }
  return 1
}

@c @implementation
public func gst_sdl_head_unit_audio_src_unlock_stop(_ baseSource: UnsafeMutablePointer<GstBaseSrc>) -> gboolean {
  source(baseSource)._withUnsafeGuaranteedRef { $0.setFlushing(false) }
  return 1
}

@c @implementation
public func gst_sdl_head_unit_audio_src_query(
  _ baseSource: UnsafeMutablePointer<GstBaseSrc>, _ query: UnsafeMutablePointer<GstQuery>
) -> gboolean {
  source(baseSource)._withUnsafeGuaranteedRef { $0.answer(query) } ? 1 : 0
}

@c @implementation
public func gst_sdl_head_unit_audio_src_create(
  _ pushSource: UnsafeMutablePointer<GstPushSrc>,
  _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<GstBuffer>?>
) -> GstFlowReturn {
  source(pushSource)._withUnsafeGuaranteedRef { $0.create(&buffer.pointee) }
}
