import CPluginTypes
import GStreamerKit

/// Events that come to the source pad from downstream.
extension HeadUnitSource {
  /// Does what the event asks for; false if nobody has.
  func handle(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    switch event.pointee.type {
    case GST_EVENT_NAVIGATION: navigate(event)
    default: gst_sdl_head_unit_src_parent_event(baseSource, event) != 0
    }
  }
}
