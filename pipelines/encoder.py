#!/usr/bin/python3
# Shows H.264 from any encoder that is installed, in the size, rate and bitrate that the head unit accepts: encoder.py [NAME].
# Expect a line with the encoder, size, frame rate and bitrate, and another when the head unit resizes or changes its limits.
# Needs python3-gi, gir1.2-gstreamer-1.0, gstreamer1.0-plugins-bad and the plugin. SDL_URI and NUM_BUFFERS may be set.

import os
import signal
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, GObject, Gst  # noqa: E402

# For each its options for low delay and a steady bitrate, and how many of its units of bitrate are a kbit/s.
ENCODERS = {
    "vah264enc": ("rate-control=cbr key-int-max=30 b-frames=0", 1),
    "openh264enc": ("rate-control=bitrate gop-size=30 complexity=low", 1000),
    "x264enc": ("tune=zerolatency speed-preset=superfast key-int-max=30", 1),
}
# Used unless the head unit accepts only less.
FRAME_RATE = 15


class Encoder:
    def __init__(self, name, uri, pictures):
        options, self.kilobit = ENCODERS[name]
        # The size needs no code: the encoder passes the sink's caps on to the source. The mode "delayed" also lets pictures of the
        # former rate pass that are on their way when it changes.
        self.pipeline = Gst.parse_launch(
            f"videotestsrc num-buffers={pictures} ! capsfilter name=rate caps-change-mode=delayed ! {name} {options} name=encoder"
            f" ! video/x-h264,profile=constrained-baseline ! h264parse ! sdlvideosink name=sink uri={uri}")
        self.name = name
        self.rate, self.encoder, self.sink = map(self.pipeline.get_by_name, ("rate", "encoder", "sink"))
        # What head unit and link take; of a live source it follows the link.
        self.sink.bind_property(
            "target-bitrate", self.encoder, "bitrate", GObject.BindingFlags.SYNC_CREATE,
            lambda _, kilobits: kilobits * self.kilobit, None)
        self.size = self.shown = None
        self.follow(None)

    def follow(self, capability):
        """Sets the frame rate, which the caps of H.264 do not carry."""
        limit = capability and capability.has_field("preferred-fps") and capability.get_value("preferred-fps")
        self.frame_rate = min(FRAME_RATE, limit or FRAME_RATE)
        self.rate.set_property("caps", Gst.Caps.from_string(f"video/x-raw,framerate={self.frame_rate}/1"))

    def show(self):
        kilobits = self.encoder.get_property("bitrate") // self.kilobit
        text = f"{self.name}: {self.size}, {self.frame_rate} fps, {kilobits} kbit/s"
        if self.size and text != self.shown:
            print(text, flush=True)
        self.shown = text

    def run(self):
        """Returns the text of an error, or None."""
        for name in "head-unit", "target-bitrate":
            self.sink.add_property_notify_watch(name, True)
        self.pipeline.set_state(Gst.State.PLAYING)
        bus = self.pipeline.get_bus()
        while message := bus.timed_pop(Gst.CLOCK_TIME_NONE):
            if message.type == Gst.MessageType.PROPERTY_NOTIFY:
                _, name, value = message.parse_property_notify()
                if name == "head-unit" and value and value.has_field("video-capability"):
                    self.follow(value.get_value("video-capability"))
                self.show()
            elif message.has_name("sdl-stream-started"):
                started = message.get_structure()
                self.size = f"{started.get_value('width')}×{started.get_value('height')}"
                self.show()
            elif message.type == Gst.MessageType.ERROR:
                return message.parse_error()[0].message
            elif message.type == Gst.MessageType.EOS:
                return None


def main():
    # Python's own handler would have to wait until GStreamer returns.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    Gst.init(None)
    wanted = sys.argv[1:] or ENCODERS
    name = next((name for name in wanted if name in ENCODERS and Gst.ElementFactory.find(name)), None)
    if not name:
        print("no encoder: none of", ", ".join(wanted), "is installed and known here")
        # Test runners take this status for "skipped".
        sys.exit(77)
    try:
        encoder = Encoder(name, os.environ.get("SDL_URI", "sdl+builtin:default"), os.environ.get("NUM_BUFFERS", -1))
    except GLib.Error as error:
        sys.exit(f"{error.message}. Is GST_PLUGIN_PATH set?")
    problem = encoder.run()
    encoder.pipeline.set_state(Gst.State.NULL)
    sys.exit(problem)


if __name__ == "__main__":
    main()
