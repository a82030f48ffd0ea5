# Makes the scripts beside this file prefer the plugin of this checkout, if it has been built, to an installed one.
built=$(cd "$(dirname "$0")/.." && pwd)/build/gstreamer-1.0
if [ -e "$built/libgstsmartdevicelink.so" ]; then
  export GST_PLUGIN_PATH="$built${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}"
fi
