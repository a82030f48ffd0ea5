#!/usr/bin/python3
# Draws pictures in the size that the head unit asks for, and follows when it resizes the app: resizable.py [PICTURES [URI]].
# Expect "drawing 800x480", and another such line for each resize; Ctrl-C ends it.
# Needs python3-gi, gir1.2-gst-plugins-base-1.0, gir1.2-gstreamer-1.0 and the plugin in GST_PLUGIN_PATH.

import signal
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

PICTURES_PER_SECOND = 15
FORMAT = f"video/x-raw,format=GRAY8,framerate={PICTURES_PER_SECOND}/1"
# Drawn in if the sink accepts any size.
DEFAULT_SIZE = 800, 480
# The scaler can make any size, so the sink accepts the pictures that come between the resize and the first in the new size;
# those are scaled, all others pass.
PIPELINE = ("appsrc name=source format=time ! videoconvertscale"
            " ! sdlvideosink name=sink app-name=Resizable suspend-policy=drop")


class App:
    def __init__(self, pictures, uri):
        self.picture, self.pictures = 0, pictures
        # Set by the thread that brings events, cleared by the one that draws.
        self.is_size_outdated = True
        self.pipeline = Gst.parse_launch(PIPELINE)
        self.sink = self.pipeline.get_by_name("sink")
        self.sink.set_property("uri", uri)
        source = self.pipeline.get_by_name("source")
        source.get_static_pad("src").add_probe(Gst.PadProbeType.EVENT_UPSTREAM, self.on_event)
        source.connect("need-data", self.on_need_data)

    def on_event(self, _pad, info):
        """RECONFIGURE says that the sink wants other caps: the head unit has resized the app."""
        if info.get_event().type == Gst.EventType.RECONFIGURE:
            self.is_size_outdated = True
        return Gst.PadProbeReturn.OK

    def wanted_size(self):
        """Asks the sink itself, since a scaler accepts any size. Its first structure is what the head unit prefers."""
        structure = self.sink.get_static_pad("sink").query_caps(None).get_structure(0)
        (knows_width, width), (knows_height, height) = structure.get_int("width"), structure.get_int("height")
        return (width, height) if knows_width and knows_height else DEFAULT_SIZE

    def on_need_data(self, source, _length):
        if self.picture == self.pictures:
            source.emit("end-of-stream")
            return
        if self.is_size_outdated:
            # Before the question, so that a resize after the answer is not lost.
            self.is_size_outdated = False
            self.size = self.wanted_size()
            print(f"drawing {self.size[0]}x{self.size[1]}", flush=True)
            source.set_property("caps", Gst.Caps.from_string(f"{FORMAT},width={self.size[0]},height={self.size[1]}"))
        source.emit("push-buffer", self.draw(*self.size))
        self.picture += 1

    def draw(self, width, height):
        """A bar that moves from left to right. Rows of GRAY8 take a multiple of four bytes."""
        row = bytearray([64]) * ((width + 3) // 4 * 4)
        left = self.picture * 4 % width
        row[left:left + 8] = bytes([255]) * len(row[left:left + 8])
        buffer = Gst.Buffer.new_wrapped(bytes(row) * height)
        buffer.pts = self.picture * Gst.SECOND // PICTURES_PER_SECOND
        buffer.duration = Gst.SECOND // PICTURES_PER_SECOND
        return buffer

    def run(self):
        """Returns the text of an error, or None."""
        self.pipeline.set_state(Gst.State.PLAYING)
        message = self.pipeline.get_bus().timed_pop_filtered(
            Gst.CLOCK_TIME_NONE, Gst.MessageType.ERROR | Gst.MessageType.EOS)
        self.pipeline.set_state(Gst.State.NULL)
        return message.parse_error()[0].message if message.type == Gst.MessageType.ERROR else None


def main():
    # Python's own handler would have to wait until GStreamer returns.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    Gst.init(None)
    arguments = dict(enumerate(sys.argv))
    try:
        app = App(int(arguments.get(1, -1)), arguments.get(2, "sdl+builtin:default"))
    except GLib.Error as error:
        sys.exit(f"{error.message}. Is GST_PLUGIN_PATH set?")
    sys.exit(app.run())


if __name__ == "__main__":
    main()
