# Lets the scripts beside this file use the plugin of this checkout, where it has been built, before any installed one.
built=$(cd "$(dirname "$0")/.." && pwd)/build/gstreamer-1.0
if [ -e "$built/libgstsmartdevicelink.so" ]; then
  export GST_PLUGIN_PATH="$built${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}"
fi
