#!/usr/bin/python3
# Shows a small app: a map that it draws itself, with a flag wherever the driver taps on it.
# Expect the map on the head unit, and a line with the place of each tap; Ctrl-C ends it.
# Needs python3-gi, gir1.2-gstreamer-1.0, gstreamer1.0-plugins-bad (rsvgoverlay), -x and the plugin in GST_PLUGIN_PATH.

import argparse
import os
import signal
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

# rsvgoverlay draws over pictures in BGRA.
PIPELINE = """videotestsrc is-live=true pattern=black ! video/x-raw,format=BGRA,framerate=15/1 !
  rsvgoverlay name=map fit-to-frame=true ! videoconvert !
  clockoverlay time-format=%H:%M halignment=right valignment=top ypad=6 font-desc="Sans Bold 22" shaded-background=false !
  sdlvideosink name=sink app-name=Map gestures=true"""
# Size of the drawing in map.svg.
WIDTH, HEIGHT = 800, 480
MAP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "map.svg")
FLAG = """<g transform="translate({x} {y})"><circle r="26" fill="#e0452c" opacity="0.25"/>
  <path d="M0 0 C-5 -16 -18 -22 -18 -36 A18 18 0 0 1 18 -36 C18 -22 5 -16 0 0 Z" fill="#e0452c"/>
  <circle cy="-36" r="7" fill="#ffffff"/></g>"""


class Map:
    def __init__(self, uri):
        self.pipeline = Gst.parse_launch(PIPELINE)
        self.sink = self.pipeline.get_by_name("sink")
        if uri:
            self.sink.set_property("uri", uri)
        with open(MAP, encoding="utf-8") as file:
            self.drawing = file.read()
        self.loop = GLib.MainLoop()
        self.error = None
        self.draw()

    def draw(self, flag=""):
        self.pipeline.get_by_name("map").set_property("data", self.drawing.replace("</svg>", f"{flag}</svg>"))

    def on_message(self, _bus, message):
        structure = message.get_structure()
        if message.type == Gst.MessageType.ERROR:
            self.error = message.parse_error()[0].message
            self.loop.quit()
        elif message.type == Gst.MessageType.EOS:
            self.loop.quit()
        elif message.has_name("sdl-gesture") and structure.get_value("type") == "tap":
            self.on_tap(structure.get_value("x"), structure.get_value("y"))

    def on_tap(self, x, y):
        """Takes the place in pixels of the stream, whose size the head unit has chosen."""
        picture = self.sink.get_static_pad("sink").get_current_caps().get_structure(0)
        print(f"tap at ({x:.0f}, {y:.0f})", flush=True)
        self.draw(FLAG.format(x=x * WIDTH / picture.get_value("width"), y=y * HEIGHT / picture.get_value("height")))

    def run(self):
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message", self.on_message)
        GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGINT, self.loop.quit)
        self.pipeline.set_state(Gst.State.PLAYING)
        self.loop.run()
        self.pipeline.set_state(Gst.State.NULL)
        return self.error


def main():
    parser = argparse.ArgumentParser(description="A map on the head unit, with a flag where the driver taps.")
    parser.add_argument("--uri", help="head unit, sdl://HOST[:PORT] (default: the built-in one)")
    arguments = parser.parse_args()

    Gst.init(None)
    try:
        app = Map(arguments.uri)
    except GLib.Error as error:
        sys.exit(f"{error.message}. Is GST_PLUGIN_PATH set?")
    sys.exit(app.run())


if __name__ == "__main__":
    main()
