#!/usr/bin/python3
# Shows two apps on one head unit: one has the screen, the other is registered and waits at NONE until the first has gone.
# Expect the head unit's messages about each: the second goes from NONE to FULL, and streams, when the first is unregistered.
# Needs python3-gi, gir1.2-gstreamer-1.0, gstreamer1.0-libav and the plugin in GST_PLUGIN_PATH.

import os
import signal
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

PATTERNS = {"Map": "ball", "Radio": "smpte"}
# Of each app; two seconds, unless the machine is busy.
PICTURES = 30
TIMEOUT_SECONDS = 20


def start_head_unit():
    window = "autovideosink" if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") else "fakesink"
    # This pipeline is the head unit. It runs on while apps come and go.
    pipeline = Gst.parse_launch(f"sdlheadunitsrc name=head-unit port=0 ! decodebin ! videoconvert ! {window}")
    pipeline.set_state(Gst.State.PLAYING)
    return pipeline


def start_app(name, port):
    pipeline = Gst.parse_launch(
        f"videotestsrc is-live=true pattern={PATTERNS[name]} ! video/x-raw,framerate=15/1"
        f" ! sdlvideosink app-name={name} app-id={name.lower()} uri=sdl://127.0.0.1:{port}")
    pipeline.set_state(Gst.State.PLAYING)
    return pipeline


def wait_for(pipeline, message_name, app):
    """Prints all messages of the head unit until this one about this app; returns that one."""
    bus = pipeline.get_bus()
    while message := bus.timed_pop_filtered(
            TIMEOUT_SECONDS * Gst.SECOND, Gst.MessageType.ELEMENT | Gst.MessageType.ERROR):
        if message.type == Gst.MessageType.ERROR:
            sys.exit(message.parse_error()[0].message)
        structure = message.get_structure()
        if structure.get_name().startswith("sdl-"):
            show(structure)
        if structure.has_name(message_name) and structure.get_value("name") == app:
            return structure
    sys.exit(f"{app}: no {message_name}")


def wait_for_pictures(pipeline):
    """Returns when the head unit has shown PICTURES more."""
    head_unit = pipeline.get_by_name("head-unit")

    def shown():
        return head_unit.get_property("sdl-stats").get_value("frames-out")

    enough, deadline = shown() + PICTURES, GLib.get_monotonic_time() + TIMEOUT_SECONDS * 1_000_000
    while shown() < enough:
        if GLib.get_monotonic_time() > deadline:
            sys.exit(f"no {PICTURES} pictures")
        GLib.usleep(50_000)


def show(structure):
    name, detail = structure.get_name().removeprefix("sdl-"), ""
    if name == "hmi-status":
        detail = structure.get_string("level").upper()
    elif name == "stream-started":
        detail = f"{structure.get_value('width')}×{structure.get_value('height')}"
    elif name == "stream-stopped":
        detail = f"{structure.get_value('frames-out')} pictures in all"
    # What apps call themselves may contain anything.
    app = "".join(letter if letter.isprintable() else "?" for letter in structure.get_value("name"))
    print(f"{app:8}{name:18}{detail}".rstrip(), flush=True)


def main():
    # Python's own handler would have to wait until GStreamer returns.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    Gst.init(None)
    try:
        screen = start_head_unit()
        port = screen.get_by_name("head-unit").get_property("current-port")
        first = start_app("Map", port)
        wait_for(screen, "sdl-stream-started", "Map")
        second = start_app("Radio", port)
        wait_for(screen, "sdl-hmi-status", "Radio")

        wait_for_pictures(screen)
        first.set_state(Gst.State.NULL)
        wait_for(screen, "sdl-stream-started", "Radio")

        wait_for_pictures(screen)
        second.set_state(Gst.State.NULL)
        wait_for(screen, "sdl-app-unregistered", "Radio")
        screen.set_state(Gst.State.NULL)
    except GLib.Error as error:
        sys.exit(f"{error.message}. Is GST_PLUGIN_PATH set?")


if __name__ == "__main__":
    main()
