// The function names are those of C's header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CPluginTypes
import GStreamerKit
import SDLApp

/// One of the filter's children: the range of one orientation. Its settings are the range itself.
final class RangeChild: Sendable {
  // Unowned: the instance frees this object in finalize.
  nonisolated(unsafe) let object: UnsafeMutablePointer<GstSdlVideoRange>
  let settings = ElementSettings(VideoRange())

  init(object: UnsafeMutablePointer<GstSdlVideoRange>) {
    self.object = object
  }

  /// All of a child's properties may change at any time.
  var isRunning: Bool { false }

  /// The parent warns, since a child has no bus.
  func refuse(_ property: PropertyName, id: UInt32, _ reason: String) {
    let name = String(freeing: gst_object_get_name(object.cast())) ?? ""
    let refusal = Self.refusal("\(name)::\(property)", reason)
    let isTold = withParent { filter in
      guard filter.hasBus else { return false }
      filter.warn(refusal)
      return true
    }
    if isTold != true { settings.keepRefusal(refusal, of: id) }
  }

  func rangeChanged() {
    withParent { $0.rangesChanged() }
  }

  /// Calls `body` with the filter, unless this child has outlived it.
  private func withParent<Result>(_ body: (RangeFilter) -> Result) -> Result? {
    guard let parent = ObjectReference(owning: gst_object_get_parent(object.cast())) else { return nil }
    return RangeFilter.of(parent.pointer)._withUnsafeGuaranteedRef(body)
  }

  /// The object behind a C instance.
  @inline(__always)
  static func of(_ instance: UnsafeMutableRawPointer) -> Unmanaged<RangeChild> {
    // Set in instance_init and freed in finalize, so it is there for every call in between.
    unsafe Unmanaged.fromOpaque(instance.assumingMemoryBound(to: GstSdlVideoRange.self).pointee.impl.unsafelyUnwrapped)
  }
}

@c @implementation
public func gst_sdl_video_range_install_properties(_ objectClass: UnsafeMutablePointer<GObjectClass>) {
  RangeChild.properties.install(on: objectClass)
}

@c @implementation
public func gst_sdl_video_range_impl_new(_ instance: UnsafeMutablePointer<GstSdlVideoRange>) -> UnsafeMutableRawPointer
{
  Unmanaged.passRetained(RangeChild(object: instance)).toOpaque()
}

@c @implementation
public func gst_sdl_video_range_impl_free(_ impl: UnsafeMutableRawPointer) {
  Unmanaged<RangeChild>.fromOpaque(impl).release()
}

@c @implementation
public func gst_sdl_video_range_set_property(
  _ object: UnsafeMutablePointer<GObject>, _ id: guint, _ value: UnsafePointer<GValue>,
  _ spec: UnsafeMutablePointer<GParamSpec>
) {
  RangeChild.of(object)._withUnsafeGuaranteedRef { $0.setProperty(id, value) }
}

@c @implementation
public func gst_sdl_video_range_get_property(
  _ object: UnsafeMutablePointer<GObject>, _ id: guint, _ value: UnsafeMutablePointer<GValue>,
  _ spec: UnsafeMutablePointer<GParamSpec>
) {
  RangeChild.of(object)._withUnsafeGuaranteedRef { $0.getProperty(id, value) }
}
