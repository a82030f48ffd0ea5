#!/usr/bin/python3
# Shows the app's picture on the head unit and, beside that, in a window here, which never waits for the car.
# Expect the window within a second, even if no head unit is there, or it hangs, or shows another app; Ctrl-C ends it.
# Needs python3-gi, gir1.2-gstreamer-1.0, gstreamer1.0-plugins-base, -x and the plugin in GST_PLUGIN_PATH.

import argparse
import os
import signal
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

SOURCE = "videotestsrc is-live=true horizontal-speed=4 ! video/x-raw,width=800,height=480 ! timeoverlay"
# The leaky queue drops pictures that the head unit does not read in time, so that they do not block the tee.
# suspend-policy=drop never asks for a pause, and the long connect-timeout waits for a head unit that comes later.
# The scaler is for the head unit only; the window keeps the picture's own size.
BRANCHES = """tee name=picture
  picture. ! queue ! videoconvert ! {window}
  picture. ! queue max-size-buffers=1 leaky=downstream ! videoconvertscale !
    sdlvideosink name=sink suspend-policy=drop connect-timeout=3600000"""


def on_message(_bus, message, loop, failures):
    if message.type == Gst.MessageType.EOS:
        loop.quit()
    elif message.type == Gst.MessageType.ERROR:
        failures.append(message.parse_error()[0].message)
        loop.quit()
    elif message.type == Gst.MessageType.WARNING:
        print("Warning:", message.parse_warning()[0].message, flush=True)
    elif message.type == Gst.MessageType.PROGRESS:
        # gst-launch-1.0 waits for the connection before PLAYING; this program does not.
        print(message.parse_progress()[2], flush=True)


def main():
    parser = argparse.ArgumentParser(description="Streams to a head unit, with a preview that does not wait for it.")
    parser.add_argument("--uri", help="head unit, sdl://HOST[:PORT] (default: the built-in one)")
    parser.add_argument("--source", default=SOURCE, help="pipeline in front of the tee (default: %(default)s)")
    arguments = parser.parse_args()

    Gst.init(None)
    has_display = "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
    try:
        branches = BRANCHES.format(window="autovideosink" if has_display else "fakesink sync=true")
        pipeline = Gst.parse_launch(f"{arguments.source} ! {branches}")
    except GLib.Error as error:
        sys.exit(f"{error.message}. Is GST_PLUGIN_PATH set?")
    if arguments.uri:
        pipeline.get_by_name("sink").set_property("uri", arguments.uri)

    loop, failures = GLib.MainLoop(), []
    bus = pipeline.get_bus()
    bus.add_signal_watch()
    bus.connect("message", on_message, loop, failures)
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGINT, loop.quit)
    pipeline.set_state(Gst.State.PLAYING)
    loop.run()
    pipeline.set_state(Gst.State.NULL)
    sys.exit(failures[0] if failures else 0)


if __name__ == "__main__":
    main()
