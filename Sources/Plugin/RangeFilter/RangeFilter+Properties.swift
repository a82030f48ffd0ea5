// The function names are those of C's header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CPluginTypes
import GStreamerKit
import SDLApp
import Synchronization

/// One of the filter's children.
final class RangeChild: Sendable {
  // Unowned: the instance frees this object in finalize.
  nonisolated(unsafe) let object: UnsafeMutablePointer<GstSdlVideoRange>
  let range = Mutex(VideoRange())

  init(object: UnsafeMutablePointer<GstSdlVideoRange>) {
    self.object = object
  }

  func setProperty(_ id: UInt32, _ value: UnsafePointer<GValue>) {
    guard let property = VideoRangeProperty(rawValue: id) else { return }
    let before = range.withLock { $0 }
    do {
      let after = try change(property, value)
      if after != before { RangeFilter.rangeChanged(of: object) }
    } catch {
      let text = "\(name): \(error). It was not changed."
      RangeFilter.withParent(of: object) { $0.warn(.resource(GST_RESOURCE_ERROR_SETTINGS, text)) }
    }
  }

  /// All or nothing: a range that could not be meant stays as it was.
  private func change(
    _ property: VideoRangeProperty, _ value: UnsafePointer<GValue>
  ) throws(VideoRange.Invalid) -> VideoRange {
    func side() -> Int? { g_value_get_int(value) == 0 ? nil : Int(g_value_get_int(value)) }
    func number() -> Double? { g_value_get_double(value) == 0 ? nil : g_value_get_double(value) }
    return try range.withLock { range throws(VideoRange.Invalid) in
      var changed = range
      switch property {
      case .enabled: changed.isEnabled = g_value_get_boolean(value) != 0
      case .minimumWidth: changed.minimumWidth = side()
      case .minimumHeight: changed.minimumHeight = side()
      case .maximumWidth: changed.maximumWidth = side()
      case .maximumHeight: changed.maximumHeight = side()
      case .minimumDiagonal: changed.minimumDiagonal = number()
      case .minimumAspectRatio: changed.minimumAspectRatio = number()
      case .maximumAspectRatio: changed.maximumAspectRatio = number()
      }
      try changed.check()
      range = changed
      return changed
    }
  }

  func getProperty(_ id: UInt32, _ value: UnsafeMutablePointer<GValue>) {
    guard let property = VideoRangeProperty(rawValue: id) else { return }
    let range = self.range.withLock { $0 }
    switch property {
    case .enabled: g_value_set_boolean(value, range.isEnabled ? 1 : 0)
    case .minimumWidth: g_value_set_int(value, gint(clamping: range.minimumWidth ?? 0))
    case .minimumHeight: g_value_set_int(value, gint(clamping: range.minimumHeight ?? 0))
    case .maximumWidth: g_value_set_int(value, gint(clamping: range.maximumWidth ?? 0))
    case .maximumHeight: g_value_set_int(value, gint(clamping: range.maximumHeight ?? 0))
    case .minimumDiagonal: g_value_set_double(value, range.minimumDiagonal ?? 0)
    case .minimumAspectRatio: g_value_set_double(value, range.minimumAspectRatio ?? 0)
    case .maximumAspectRatio: g_value_set_double(value, range.maximumAspectRatio ?? 0)
    }
  }

  private var name: String {
    guard let name = gst_object_get_name(object.cast()) else { return "" }
    defer { g_free(name) }
    return String(cString: name)
  }
}

extension RangeFilter {
  /// Takes the children's values, and asks upstream to negotiate by them. Buffers of caps that were chosen before pass
  /// until the new ones come.
  func rangesChanged() {
    let (landscape, portrait) = (element.pointee.landscape, element.pointee.portrait)
    state.withLock { state in
      if let landscape {
        state.ranges.landscape = child(landscape)._withUnsafeGuaranteedRef { $0.range.withLock { $0 } }
      }
      if let portrait { state.ranges.portrait = child(portrait)._withUnsafeGuaranteedRef { $0.range.withLock { $0 } } }
    }
    gst_base_transform_reconfigure_sink(transform)
    tellChange()
  }
}

@inline(__always)
private func child(_ instance: UnsafeMutableRawPointer) -> Unmanaged<RangeChild> {
  // Set in instance_init and freed in finalize, so it is there for every call in between.
  unsafe Unmanaged.fromOpaque(instance.assumingMemoryBound(to: GstSdlVideoRange.self).pointee.impl.unsafelyUnwrapped)
}

@c @implementation
public func gst_sdl_video_range_install_properties(_ objectClass: UnsafeMutablePointer<GObjectClass>) {
  VideoRangeProperty.install(on: objectClass)
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
  child(object)._withUnsafeGuaranteedRef { $0.setProperty(id, value) }
}

@c @implementation
public func gst_sdl_video_range_get_property(
  _ object: UnsafeMutablePointer<GObject>, _ id: guint, _ value: UnsafeMutablePointer<GValue>,
  _ spec: UnsafeMutablePointer<GParamSpec>
) {
  child(object)._withUnsafeGuaranteedRef { $0.getProperty(id, value) }
}
