#!/usr/bin/python3
"""Runs pairs of a sender and a receiver in this one process, and prints as JSON what a process with so many costs."""

import argparse
import json
import os
import sys
import time

import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

PATIENCE = 30
CORES = 2
PICTURES = "videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=320,height=240,framerate=15/1"
SOUND = "audiotestsrc is-live=true samplesperbuffer=320 ! audio/x-raw,format=S16LE,rate=16000,channels=1"


class Pair:
    """Two pipelines, as two programs would have them: the receiver shows what the sender encodes."""

    def __init__(self, receiver, sender):
        self.receiver = Gst.parse_launch(receiver)
        self.receiver.set_state(Gst.State.PLAYING)
        port = self.receiver.get_by_name("from").get_property("current-port")
        self.sender = Gst.parse_launch(f"{PICTURES} ! {sender.format(port=port)}")
        self.sender.set_state(Gst.State.PLAYING)

    @property
    def shown(self):
        return self.receiver.get_by_name("shown").get_property("stats").get_value("rendered")

    @property
    def heard(self):
        """Samples of the app that the head unit has got."""
        element = self.receiver.get_by_name("heard-from")
        return element.get_property("sdl-stats").get_value("samples-in") if element else 0

    @property
    def dropped(self):
        """Frames and samples that either side has dropped, by reason; a plain TCP pair has no such counters."""
        counts = {}
        elements = ((self.receiver, ("from", "heard-from")), (self.sender, ("to", "voice")))
        for pipeline, name in ((pipeline, name) for pipeline, names in elements for name in names):
            element = pipeline.get_by_name(name)
            if element is None or element.find_property("sdl-stats") is None:
                continue
            fields = element.get_property("sdl-stats")
            for field in (fields.nth_field_name(index) for index in range(fields.n_fields())):
                if field.startswith(("frames-dropped-", "samples-dropped-")):
                    counts[f"{element.get_factory().get_name()} {field}"] = fields.get_value(field)
        return counts

    def check(self):
        for pipeline in (self.receiver, self.sender):
            message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
            if message:
                sys.exit(message.parse_error()[0].message)

    def stop(self):
        self.sender.set_state(Gst.State.NULL)
        self.receiver.set_state(Gst.State.NULL)


SHOWN = "fakesink name=shown sync=false async=false"
HEAD_UNIT = f"sdlheadunitsrc name=from port=0 screen-size=320x240 ! {SHOWN}"
APP = "sdlvideosink name=to max-framerate=15 bitrate=300 uri=sdl://127.0.0.1:{port}"
KINDS = {
    "sdl": (HEAD_UNIT, APP),
    "sdl-with-sound": (
        f"{HEAD_UNIT} sdlheadunitaudiosrc name=heard-from port=0 ! fakesink sync=false async=false",
        f"{APP} {SOUND} ! sdlaudiosink name=voice uri=sdl://127.0.0.1:{{port}}"),
    # The same settings, spelled out for x264enc.
    "tcp": (f"tcpserversrc name=from host=127.0.0.1 port=0 ! {SHOWN}",
            "x264enc name=to bitrate=300 speed-preset=superfast key-int-max=30 tune=zerolatency vbv-buf-capacity=1500 "
            "qp-min=22 aud=false threads=1 ! video/x-h264,profile=constrained-baseline,stream-format=byte-stream ! "
            "tcpclientsink host=127.0.0.1 port={port}"),
}


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def wait_until_all_show(pairs):
    deadline = time.monotonic() + PATIENCE
    while not all(pair.shown for pair in pairs):
        for pair in pairs:
            pair.check()
        if time.monotonic() > deadline:
            sys.exit(f"only {sum(pair.shown > 0 for pair in pairs)} of {len(pairs)} pairs stream")
        time.sleep(0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--pairs", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    Gst.init(None)
    pairs = [Pair(*KINDS[options.kind]) for _ in range(options.pairs)]
    wait_until_all_show(pairs)
    before = [(pair.dropped, pair.shown, pair.heard) for pair in pairs]
    start, cpu = time.monotonic(), time.process_time()
    time.sleep(options.seconds)
    duration, cpu = time.monotonic() - start, time.process_time() - cpu
    # What a live source brings before the head unit is ready is of no interest.
    dropped = {}
    for pair, (counts, _, _) in zip(pairs, before):
        for name, count in pair.dropped.items():
            dropped[name] = dropped.get(name, 0) + count - counts[name]
    print(json.dumps({
        "threads": len(os.listdir("/proc/self/task")), "resident": resident_bytes(), "cpu": cpu / duration,
        "rates": [(pair.shown - shown) / duration for pair, (_, shown, _) in zip(pairs, before)],
        "sample-rates": [(pair.heard - heard) / duration for pair, (_, _, heard) in zip(pairs, before)],
        "dropped": {name: count for name, count in dropped.items() if count}}))
    for pair in pairs:
        pair.check()
        pair.stop()


if __name__ == "__main__":
    main()
