#!/usr/bin/python3
# Draws three quarters of a minute in which everything happens: states of the elements, frames sent or dropped, bitrate and delay.
# Expect a line for each event, demo/timeline.svg, and exit status 0 if everything happened as it should.
# Needs python3-gi, python3-matplotlib, the program sdl-head-unit and the plugin in GST_PLUGIN_PATH (`make timeline`).

import argparse
import os
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

from driving import Drive  # noqa: E402
from head_unit import HeadUnit  # noqa: E402
from painting import paint  # noqa: E402
from recording import Recording  # noqa: E402
from script import script  # noqa: E402

# Noise needs the whole bitrate, so that frames are dropped soon after the head unit hangs: the kernel buffers half a megabyte.
SOURCE = ("videotestsrc is-live=true pattern=snow ! video/x-raw,width=800,height=480,framerate=30/1"
          " ! videoconvertscale")
BITRATE_KILOBITS = 8000
SOUND = "audiotestsrc is-live=true wave=ticks ! audioconvert ! audioresample ! sdlaudiosink name=voice"


def main():
    parser = argparse.ArgumentParser(description="Drives for three quarters of a minute and draws what happened.")
    parser.add_argument("--head-unit", required=True, help="the program sdl-head-unit")
    parser.add_argument("--output", default="demo/timeline.svg", help="picture to write (default: %(default)s)")
    parser.add_argument("--source", default=SOURCE, help="pipeline in front of the sink (default: %(default)s)")
    arguments = parser.parse_args()
    folder = os.path.dirname(arguments.output) or "."
    os.makedirs(folder, exist_ok=True)

    Gst.init(None)
    head_unit = HeadUnit(arguments.head_unit, log=os.path.join(folder, "timeline-head-unit.log"))
    try:
        uri = f"uri=sdl://127.0.0.1:{head_unit.port}"
        pipeline = Gst.parse_launch(
            f"{arguments.source} ! sdlvideosink name=sink {uri} bitrate={BITRATE_KILOBITS} {SOUND} {uri}")
        recording = Recording(pipeline.get_by_name("sink"), pipeline.get_by_name("voice"))
        drive = Drive(pipeline, recording, head_unit)
        drive.run(script(drive))
        if not head_unit.stop():
            drive.report_problem(f"the head unit reports broken rules; see {head_unit.log}")
    except GLib.Error as error:
        sys.exit(f"{error.message}. Is GST_PLUGIN_PATH set?")
    finally:
        head_unit.kill()

    paint(recording, arguments.output)
    print(f"{arguments.output} shows the drive.")
    for problem in drive.problems:
        print(f"Wrong: {problem}")
    sys.exit(1 if drive.problems else 0)


if __name__ == "__main__":
    main()
