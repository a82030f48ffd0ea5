#!/usr/bin/python3
"""Streams 30 pictures to a head unit, and prints what the sink says. Usage: embed.py URI"""

import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402


def print_message(message):
    structure = message.get_structure()
    name = structure.get_name()
    if structure.has_field("width"):
        print(name, structure.get_value("width"), structure.get_value("height"))
    elif name == "sdl-stream-stopped":
        print(name, structure.get_value("reason"))
    else:
        print(name)


def main():
    Gst.init(None)
    pipeline = Gst.parse_launch(
        "videotestsrc num-buffers=30 ! video/x-raw,width=800,height=480 ! sdlvideosink name=sink sync=false"
    )
    sink = pipeline.get_by_name("sink")
    sink.set_property("uri", sys.argv[1])
    sink.set_property("app-name", "Embedded")
    states = []
    sink.connect("notify::connection-state", lambda sink, _: states.append(sink.get_property("connection-state")))
    bus = pipeline.get_bus()
    pipeline.set_state(Gst.State.PLAYING)
    wanted = Gst.MessageType.ELEMENT | Gst.MessageType.ERROR | Gst.MessageType.EOS
    while (message := bus.timed_pop_filtered(Gst.CLOCK_TIME_NONE, wanted)).type == Gst.MessageType.ELEMENT:
        print_message(message)
    # In READY the bus keeps what the sink says last.
    pipeline.set_state(Gst.State.READY)
    while last := bus.pop_filtered(Gst.MessageType.ELEMENT):
        print_message(last)

    statistics = sink.get_property("sdl-stats")
    names = [statistics.nth_field_name(index) for index in range(statistics.n_fields())]
    dropped = sum(statistics.get_value(name) for name in names if name.startswith("frames-dropped-"))
    sent, queued = statistics.get_value("frames-sent"), statistics.get_value("frames-queued")
    print(f"in {statistics.get_value('frames-in')} sent {sent} dropped {dropped} queued {queued}")
    pipeline.set_state(Gst.State.NULL)
    nicks = [state.value_nick for state in states]
    return 0 if message.type == Gst.MessageType.EOS and "streaming" in nicks else 1


sys.exit(main())
