import GStreamerKit

/// Registers the elements and the device provider; called when GStreamer loads the plugin.
@c(gst_sdl_register_elements)
public func registerElements(_ plugin: OpaquePointer?) -> gboolean {
  let elements: [(name: String, type: GType)] = [
    ("sdlvideosink", VideoSink.type), ("sdlaudiosink", AudioSink.type), ("sdlrangefilter", RangeFilter.type),
    ("sdlheadunitsrc", HeadUnitSource.type), ("sdlheadunitaudiosrc", HeadUnitAudioSource.type),
    ("sdlcarwindowsrc", CarWindowSource.type),
  ]
  guard elements.allSatisfy({ gst_element_register(plugin, $0.name, GST_RANK_NONE.rawValue, $0.type) != 0 }) else {
    return 0
  }
  // GstDeviceMonitor asks no provider of a lower rank.
  return gst_device_provider_register(
    plugin, "sdldeviceprovider", GST_RANK_MARGINAL.rawValue, HeadUnitDevices.providerType)
}
