import GStreamerKit

/// Registers the elements; called when GStreamer loads the plugin.
@c(gst_sdl_register_elements)
public func registerElements(_ plugin: OpaquePointer?) -> gboolean {
  let elements: [(name: String, type: GType)] = [
    ("sdlvideosink", VideoSink.type), ("sdlaudiosink", AudioSink.type), ("sdlrangefilter", RangeFilter.type),
    ("sdlheadunitsrc", HeadUnitSource.type), ("sdlheadunitaudiosrc", HeadUnitAudioSource.type),
    ("sdlcarwindowsrc", CarWindowSource.type),
  ]
  return elements.allSatisfy { gst_element_register(plugin, $0.name, GST_RANK_NONE.rawValue, $0.type) != 0 } ? 1 : 0
}
