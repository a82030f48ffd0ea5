// The function names are those of C's header.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CPluginTypes
import GStreamerKit

/// How elements find the apps that they share, as GL elements find their display: an element that has no context asks for one
/// (NEED_CONTEXT), which its bin or the application may have; otherwise it makes one and offers it (HAVE_CONTEXT).
extension SharedApps {
  private static let contextType = "gst.sdl.apps"
  private static let field = "apps"

  /// The apps that `element` shares with others. Posts messages: call without locks.
  static func find(for element: UnsafeMutablePointer<GstElement>) -> SharedApps {
    if let apps = present(in: element) { return apps }
    gst_element_post_message(element, gst_message_new_need_context(element.cast(), contextType))
    if let apps = present(in: element) { return apps }
    let apps = SharedApps()
    guard let context = gst_context_new(contextType, 1) else { return apps }
    apps.put(in: gst_context_writable_structure(context))
    gst_element_set_context(element, context)
    gst_element_post_message(element, gst_message_new_have_context(element.cast(), context))
    return apps
  }

  private static func present(in element: UnsafeMutablePointer<GstElement>) -> SharedApps? {
    guard let context = gst_element_get_context(element, contextType) else { return nil }
    defer { gst_context_unref(context) }
    guard let structure = gst_context_get_structure(context), let value = gst_structure_get_value(structure, field),
      g_type_check_value_holds(value, gst_sdl_apps_get_type()) != 0, let boxed = g_value_get_boxed(value)
    else { return nil }
    return Unmanaged<SharedApps>.fromOpaque(boxed).takeUnretainedValue()
  }

  private func put(in structure: UnsafeMutablePointer<GstStructure>?) {
    guard let structure else { return }
    var value = GValue()
    g_value_init(&value, gst_sdl_apps_get_type())
    g_value_take_boxed(&value, Unmanaged.passRetained(self).toOpaque())
    gst_structure_take_value(structure, Self.field, &value)
  }
}

@c @implementation
public func gst_sdl_apps_ref(_ apps: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
  _ = Unmanaged<SharedApps>.fromOpaque(apps).retain()
  return apps
}

@c @implementation
public func gst_sdl_apps_unref(_ apps: UnsafeMutableRawPointer) {
  Unmanaged<SharedApps>.fromOpaque(apps).release()
}
