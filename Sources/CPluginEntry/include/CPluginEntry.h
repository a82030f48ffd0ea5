/* The plugin has no API of its own: GStreamer finds gst_plugin_smartdevicelink_get_desc by name. */
