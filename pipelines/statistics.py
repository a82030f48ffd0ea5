#!/usr/bin/python3
# Shows the sink's counters in ten lines of Python: the property sdl-stats can be read at any time.
# Expect six lines, one a second: frames that came, frames that were sent, and the bitrate of the last second.
# Needs python3-gi, gir1.2-gstreamer-1.0 and the plugin in GST_PLUGIN_PATH.
import gi, time
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
pipeline = Gst.parse_launch("videotestsrc is-live=true ! sdlvideosink name=sink")
pipeline.set_state(Gst.State.PLAYING)
for second in range(6):
    time.sleep(1)
    statistics = pipeline.get_by_name("sink").get_property("sdl-stats")
    print(*(f"{name}={statistics.get_value(name)}" for name in ("frames-in", "frames-sent", "bitrate-measured-kbps")))
