// The function names are those of C's header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CPluginTypes
import GStreamerKit

// The functions that C's class_init installs. Each turns the instance into its Swift object and forwards.

@inline(__always)
private func source(_ instance: UnsafeMutableRawPointer) -> Unmanaged<HeadUnitSource> {
  // Set in instance_init and freed in finalize, so it is there for every call in between.
  unsafe Unmanaged.fromOpaque(instance.assumingMemoryBound(to: GstSdlHeadUnitSrc.self).pointee.impl.unsafelyUnwrapped)
}

@c @implementation
public func gst_sdl_head_unit_src_install_properties(_ objectClass: UnsafeMutablePointer<GObjectClass>) {
  // Registers the debug category, which GST_DEBUG help then lists.
  _ = HeadUnitSource.log
  _ = ProtocolLog.category
  HeadUnitSource.properties.install(on: objectClass)
}

@c @implementation
public func gst_sdl_head_unit_src_impl_new(
  _ instance: UnsafeMutablePointer<GstSdlHeadUnitSrc>
) -> UnsafeMutableRawPointer {
  Unmanaged.passRetained(HeadUnitSource(element: instance)).toOpaque()
}

@c @implementation
public func gst_sdl_head_unit_src_impl_free(_ impl: UnsafeMutableRawPointer) {
  let source = Unmanaged<HeadUnitSource>.fromOpaque(impl)
  source._withUnsafeGuaranteedRef { _ = $0.endRun() }
  source.release()
}

@c @implementation
public func gst_sdl_head_unit_src_set_property(
  _ object: UnsafeMutablePointer<GObject>, _ id: guint, _ value: UnsafePointer<GValue>,
  _ spec: UnsafeMutablePointer<GParamSpec>
) {
  source(object)._withUnsafeGuaranteedRef { $0.setProperty(id, value) }
}

@c @implementation
public func gst_sdl_head_unit_src_get_property(
  _ object: UnsafeMutablePointer<GObject>, _ id: guint, _ value: UnsafeMutablePointer<GValue>,
  _ spec: UnsafeMutablePointer<GParamSpec>
) {
  source(object)._withUnsafeGuaranteedRef { $0.getProperty(id, value) }
}

@c @implementation
public func gst_sdl_head_unit_src_change_state(
  _ element: UnsafeMutablePointer<GstElement>, _ transition: GstStateChange
) -> GstStateChangeReturn {
  source(element)._withUnsafeGuaranteedRef { $0.changeState(transition) }
}

@c @implementation
public func gst_sdl_head_unit_src_start(_ baseSource: UnsafeMutablePointer<GstBaseSrc>) -> gboolean {
  source(baseSource)._withUnsafeGuaranteedRef { $0.start() } ? 1 : 0
}

@c @implementation
public func gst_sdl_head_unit_src_stop(_ baseSource: UnsafeMutablePointer<GstBaseSrc>) -> gboolean {
  source(baseSource)._withUnsafeGuaranteedRef { $0.stop() }
  return 1
}

@c @implementation
public func gst_sdl_head_unit_src_unlock(_ baseSource: UnsafeMutablePointer<GstBaseSrc>) -> gboolean {
  source(baseSource)._withUnsafeGuaranteedRef { $0.setFlushing(true) }
  return 1
}

@c @implementation
public func gst_sdl_head_unit_src_unlock_stop(_ baseSource: UnsafeMutablePointer<GstBaseSrc>) -> gboolean {
  source(baseSource)._withUnsafeGuaranteedRef { $0.setFlushing(false) }
  return 1
}

@c @implementation
public func gst_sdl_head_unit_src_event(
  _ baseSource: UnsafeMutablePointer<GstBaseSrc>, _ event: UnsafeMutablePointer<GstEvent>
) -> gboolean {
  source(baseSource)._withUnsafeGuaranteedRef { $0.handle(event) } ? 1 : 0
}

@c @implementation
public func gst_sdl_head_unit_src_query(
  _ baseSource: UnsafeMutablePointer<GstBaseSrc>, _ query: UnsafeMutablePointer<GstQuery>
) -> gboolean {
  source(baseSource)._withUnsafeGuaranteedRef { $0.answer(query) } ? 1 : 0
}

@c @implementation
public func gst_sdl_head_unit_src_create(
  _ pushSource: UnsafeMutablePointer<GstPushSrc>,
  _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<GstBuffer>?>
) -> GstFlowReturn {
  source(pushSource)._withUnsafeGuaranteedRef { $0.create(&buffer.pointee) }
}

@c @implementation
public func gst_sdl_head_unit_src_copy_uri(
  _ instance: UnsafeMutablePointer<GstSdlHeadUnitSrc>
) -> UnsafeMutablePointer<gchar> {
  source(instance)._withUnsafeGuaranteedRef { g_strdup($0.uri.text) }
}

@c @implementation
public func gst_sdl_head_unit_src_take_uri(
  _ instance: UnsafeMutablePointer<GstSdlHeadUnitSrc>, _ uri: UnsafePointer<gchar>,
  _ error: UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?
) -> gboolean {
  source(instance)._withUnsafeGuaranteedRef { $0.takeURI(String(cString: uri), error) } ? 1 : 0
}
