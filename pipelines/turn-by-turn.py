#!/usr/bin/python3
# Gives directions beside the map: turns and an alert on the head unit's own screens, with an icon that is sent to it.
# Expect a line for each request with its result; it ends by itself with exit status 0.
# Needs python3-gi, gir1.2-gstreamer-1.0, gstreamer1.0-plugins-base, -good and the plugin in GST_PLUGIN_PATH.

import argparse
import json
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

PICTURE = "videotestsrc is-live=true pattern=circular ! videoconvertscale ! sdlvideosink name=sink"
ICON = "videotestsrc num-buffers=1 pattern=blue ! video/x-raw,width=64,height=64 ! pngenc ! appsink name=icon"
LEFT = {"value": "left.png", "imageType": "DYNAMIC"}
REQUESTS = [
    ("UpdateTurnList", {"turnList": [{"navigationText": "Turn left", "turnIcon": LEFT},
                                     {"navigationText": "Arrive"}]}),
    ("ShowConstantTBT", {"navigationText1": "Turn left", "navigationText2": "Main Street", "turnIcon": LEFT,
                         "distanceToManeuver": 200, "distanceToManeuverScale": 1000, "eta": "12:30"}),
    ("AlertManeuver", {"ttsChunks": [{"text": "In 200 metres, turn left.", "type": "TEXT"}]}),
    ("ShowConstantTBT", {"navigationText1": "Arrive", "maneuverComplete": True}),
    ("Alert", {"alertText1": "You have arrived", "duration": 3000}),
]
TIMEOUT_SECONDS = 20


def icon():
    """A PNG, as GBytes."""
    pipeline = Gst.parse_launch(ICON)
    pipeline.set_state(Gst.State.PLAYING)
    buffer = pipeline.get_by_name("icon").emit("pull-sample").get_buffer()
    data = buffer.extract_dup(0, buffer.get_size())
    pipeline.set_state(Gst.State.NULL)
    return GLib.Bytes.new(data)


def wait_for(bus, name):
    """Returns the next element message of this name; an error ends the program."""
    while message := bus.timed_pop_filtered(
            TIMEOUT_SECONDS * Gst.SECOND, Gst.MessageType.ELEMENT | Gst.MessageType.ERROR):
        if message.type == Gst.MessageType.ERROR:
            sys.exit(message.parse_error()[0].message)
        if message.has_name(name):
            return message.get_structure()
    sys.exit(f"no {name}")


def main():
    parser = argparse.ArgumentParser(description="Gives directions on a head unit's own screens.")
    parser.add_argument("--uri", help="head unit, sdl://HOST[:PORT] (default: the built-in one)")
    arguments = parser.parse_args()

    Gst.init(None)
    try:
        pipeline = Gst.parse_launch(PICTURE)
        image = icon()
    except GLib.Error as error:
        sys.exit(f"{error.message}. Is GST_PLUGIN_PATH set?")
    sink = pipeline.get_by_name("sink")
    if arguments.uri:
        sink.set_property("uri", arguments.uri)
    bus = pipeline.get_bus()
    pipeline.set_state(Gst.State.PLAYING)
    # Head units let no app do this before the driver has opened it.
    wait_for(bus, "sdl-stream-started")
    waiting = {sink.emit("put-file", LEFT["value"], "GRAPHIC_PNG", image, False)}
    waiting |= {sink.emit("send-rpc", name, json.dumps(parameters)) for name, parameters in REQUESTS}
    if 0 in waiting:
        sys.exit("a request could not be sent")
    # Requests leave in their order; answers come when the head unit has done what was asked.
    are_done = True
    while waiting:
        answer = wait_for(bus, "sdl-rpc")
        waiting.remove(answer.get_value("correlation-id"))
        are_done = are_done and answer.get_value("success")
        print(f"{answer.get_value('name')}: {answer.get_value('result-code')}", flush=True)
    pipeline.set_state(Gst.State.NULL)
    sys.exit(0 if are_done else "a request was refused")


if __name__ == "__main__":
    main()
