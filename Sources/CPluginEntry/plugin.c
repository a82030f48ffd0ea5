int gst_plugin_placeholder;
