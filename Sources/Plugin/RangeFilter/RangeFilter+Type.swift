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
  _ instance: UnsafeMutablePointer<GstSdlRangeFilter>
) -> UnsafeMutableRawPointer {
  Unmanaged.passRetained(RangeFilter(element: instance)).toOpaque()
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
  _ caps: UnsafeMutablePointer<GstCaps>, _ wanted: UnsafeMutablePointer<GstCaps>?
) -> UnsafeMutablePointer<GstCaps>? {
  filter(transform)._withUnsafeGuaranteedRef { $0.transformCaps(direction, caps, filter: wanted) }
}

@c @implementation
public func gst_sdl_range_filter_accept_caps(
  _ transform: UnsafeMutablePointer<GstBaseTransform>, _ direction: GstPadDirection,
  _ caps: UnsafeMutablePointer<GstCaps>
) -> gboolean {
  filter(transform)._withUnsafeGuaranteedRef { $0.acceptCaps(direction, caps) } ? 1 : 0
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

extension RangeFilter {
  /// Has the sink told that it may choose anew. By another thread, because an event may have to wait where a pad is
  /// blocked, and whoever changes a property may be the one to unblock it.
  func tellChange() {
    guard gst_pad_is_active(cgst_base_transform_src_pad(element)) != 0 else { return }
    let isTold = state.withLock { state in
      defer { state.isChangeUntold = true }
      return !state.isChangeUntold
    }
    guard isTold else { return }
    gst_element_call_async(
      gstElement,
      { element, _ in
        guard let element else { return }
        filter(element)._withUnsafeGuaranteedRef { $0.sendChange() }
      }, nil, nil)
  }

  private func sendChange() {
    state.withLock { $0.isChangeUntold = false }
    RangesQuery.changeEvent()?.push(on: cgst_base_transform_src_pad(element))
  }
}
