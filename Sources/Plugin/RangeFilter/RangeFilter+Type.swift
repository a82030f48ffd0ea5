// The function names are those of C's header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CPluginTypes
import GStreamerKit

// The functions that C's class_init installs. Each turns the instance into its Swift object and forwards.

@inline(__always)
private func filter(_ instance: UnsafeMutableRawPointer) -> Unmanaged<RangeFilter> { RangeFilter.of(instance) }

extension RangeFilter {
  /// The object behind a C instance.
  @inline(__always)
  static func of(_ instance: UnsafeMutableRawPointer) -> Unmanaged<RangeFilter> {
    // Set in instance_init and freed in finalize, so it is there for every call in between.
    unsafe Unmanaged.fromOpaque(instance.assumingMemoryBound(to: GstSdlRangeFilter.self).pointee.impl.unsafelyUnwrapped)
  }
}

@c @implementation
public func gst_sdl_range_filter_prepare_class() {
  // Registers the debug category, which GST_DEBUG help then lists.
  _ = RangeFilter.log
}

@c @implementation
public func gst_sdl_range_filter_impl_new(
  _ instance: UnsafeMutablePointer<GstSdlRangeFilter>, _ landscape: UnsafeMutablePointer<GstSdlVideoRange>,
  _ portrait: UnsafeMutablePointer<GstSdlVideoRange>
) -> UnsafeMutableRawPointer {
  let filter = RangeFilter(
    element: instance, landscape: RangeChild.of(landscape).takeUnretainedValue(),
    portrait: RangeChild.of(portrait).takeUnretainedValue())
  return Unmanaged.passRetained(filter).toOpaque()
}

@c @implementation
public func gst_sdl_range_filter_impl_free(_ impl: UnsafeMutableRawPointer) {
  Unmanaged<RangeFilter>.fromOpaque(impl).release()
}

@c @implementation
public func gst_sdl_range_filter_start(_ transform: UnsafeMutablePointer<GstBaseTransform>) -> gboolean {
  filter(transform)._withUnsafeGuaranteedRef { $0.start() }
  return 1
}

@c @implementation
public func gst_sdl_range_filter_stop(_ transform: UnsafeMutablePointer<GstBaseTransform>) -> gboolean {
  filter(transform)._withUnsafeGuaranteedRef { $0.stop() }
  return 1
}

@c @implementation
public func gst_sdl_range_filter_transform_caps(
  _ transform: UnsafeMutablePointer<GstBaseTransform>, _ direction: GstPadDirection,
  _ caps: UnsafeMutablePointer<GstCaps>, _ limit: UnsafeMutablePointer<GstCaps>?
) -> UnsafeMutablePointer<GstCaps>? {
  filter(transform)._withUnsafeGuaranteedRef {
    $0.transformCaps(direction, Caps(retaining: caps), limit: limit.map { Caps(retaining: $0) }).take()
  }
}

@c @implementation
public func gst_sdl_range_filter_accept_caps(
  _ transform: UnsafeMutablePointer<GstBaseTransform>, _ direction: GstPadDirection,
  _ caps: UnsafeMutablePointer<GstCaps>
) -> gboolean {
  filter(transform)._withUnsafeGuaranteedRef { $0.acceptCaps(direction, Caps(retaining: caps)) } ? 1 : 0
}

@c @implementation
public func gst_sdl_range_filter_set_caps(
  _ transform: UnsafeMutablePointer<GstBaseTransform>, _ input: UnsafeMutablePointer<GstCaps>,
  _ output: UnsafeMutablePointer<GstCaps>
) -> gboolean {
  filter(transform)._withUnsafeGuaranteedRef { $0.setCaps(input) }
  return 1
}

@c @implementation
public func gst_sdl_range_filter_query(
  _ transform: UnsafeMutablePointer<GstBaseTransform>, _ direction: GstPadDirection,
  _ query: UnsafeMutablePointer<GstQuery>
) -> gboolean {
  filter(transform)._withUnsafeGuaranteedRef { $0.answer(direction, query) } ? 1 : 0
}
