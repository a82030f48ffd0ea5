#!/usr/bin/python3
# Shows a head unit that resizes the app's window while it streams, to several sizes in turn.
# Expect a line for each with both sizes, the time to the first new frame and the frames that were lost; then exit status 0.
# Needs python3-gi, gir1.2-gstreamer-1.0, the program sdl-head-unit (--head-unit) and the plugin in GST_PLUGIN_PATH.

import argparse
import subprocess
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

SIZES = ["480x320", "320x480", "1280x720", "800x480"]
SOURCE = "videotestsrc is-live=true pattern=ball ! video/x-raw,framerate=30/1"
TIMEOUT_SECONDS = 10


def wait_for(bus, name):
    """Returns the next element message of this name; an error ends the program."""
    while message := bus.timed_pop_filtered(
            TIMEOUT_SECONDS * Gst.SECOND, Gst.MessageType.ELEMENT | Gst.MessageType.ERROR):
        if message.type == Gst.MessageType.ERROR:
            sys.exit(message.parse_error()[0].message)
        if message.has_name(name):
            return message.get_structure()
    sys.exit(f"no {name}")


def show(resized):
    size = {name: resized.get_value(name) for name in ("old-width", "old-height", "width", "height")}
    print(f"{size['old-width']}×{size['old-height']} to {size['width']}×{size['height']}:"
          f" first frame after {resized.get_value('duration') / Gst.MSECOND:.1f} ms,"
          f" {resized.get_value('dropped-frames')} lost", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Lets a head unit resize a stream.")
    parser.add_argument("--head-unit", default="sdl-head-unit", help="the program (default: %(default)s)")
    parser.add_argument("--source", default=SOURCE, help="pipeline in front of the sink (default: %(default)s)")
    parser.add_argument("--pause", type=float, default=1, help="seconds between the resizes (default: %(default)s)")
    parser.add_argument("sizes", nargs="*", default=SIZES, help="sizes (default: %(default)s)")
    arguments = parser.parse_args()

    Gst.init(None)
    head_unit = subprocess.Popen([arguments.head_unit, "--port", "0", "--quiet", "--commands"], text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        port = int(head_unit.stdout.readline().split()[1])
        pipeline = Gst.parse_launch(f"{arguments.source} ! sdlvideosink uri=sdl://127.0.0.1:{port}")
        bus = pipeline.get_bus()
        pipeline.set_state(Gst.State.PLAYING)
        wait_for(bus, "sdl-stream-started")
        for size in arguments.sizes:
            GLib.usleep(int(arguments.pause * 1e6))
            head_unit.stdin.write(f"resize {size} scale 1\n")
            head_unit.stdin.flush()
            show(wait_for(bus, "sdl-resized"))
        pipeline.set_state(Gst.State.NULL)
    except GLib.Error as error:
        sys.exit(f"{error.message}. Is GST_PLUGIN_PATH set?")
    finally:
        head_unit.terminate()
        head_unit.communicate()
    # Not 0 if the stream has broken a rule.
    sys.exit(head_unit.returncode)


if __name__ == "__main__":
    main()
