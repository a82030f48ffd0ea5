#!/usr/bin/python3
"""Live pictures over a link that narrows, recovers and fails: what a driver sees of it.

The link is a pair of network interfaces between two network namespaces, with a token bucket (tc-tbf) on the way to the head
unit. Each picture has a number in its pixels; its delay is the time from the sink's chain function to the decoder's output.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time

from numbered_pictures import HEIGHT, WIDTH, Gst, numbered, textures

RATE = 30
WIDE, NARROW = "8mbit", "600kbit"
# A packet in ten seconds: what is sent stays on the way.
HELD = "1200bit"
APP, UNIT = "sdlapp0", "sdlunit0"


def command(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


class Link:
    """Ends of a cable: one in this network namespace, and one in that of a new head unit."""

    def __init__(self):
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "link_head_unit.py")
        self.unit = subprocess.Popen(["unshare", "--net", sys.executable, program], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)
        command("ip", "link", "add", APP, "type", "veth", "peer", "name", UNIT)
        while os.readlink(f"/proc/{self.unit.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
            time.sleep(0.01)
        command("ip", "link", "set", UNIT, "netns", str(self.unit.pid))
        command("ip", "address", "add", "10.77.0.1/24", "dev", APP)
        command("ip", "link", "set", APP, "up")
        self.in_unit("ip", "address", "add", "10.77.0.2/24", "dev", UNIT)
        self.in_unit("ip", "link", "set", UNIT, "up")
        self.set_rate(WIDE, "add")
        self.unit.stdin.write("\n")
        self.unit.stdin.flush()
        self.port = int(self.unit.stdout.readline())

    def in_unit(self, *words):
        command("nsenter", f"--net=/proc/{self.unit.pid}/ns/net", *words)

    def set_rate(self, rate, verb="change"):
        command("tc", "qdisc", verb, "dev", APP, "root", "tbf", "rate", rate, "burst", "8kb", "limit", "64kb")
        # What waits there is looked at again with the next packet.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.sendto(b"", ("10.77.0.2", 9))

    def pass_packets(self, passes, loses):
        """Whether anything gets through; what does not is lost, or held until it does."""
        if loses:
            self.in_unit("ip", "link", "set", UNIT, "up" if passes else "down")
        else:
            self.set_rate(WIDE if passes else HELD)

    def close(self):
        command("ip", "link", "delete", APP)
        self.unit.kill()
        self.unit.wait()


class Show:
    """A pipeline that streams numbered pictures, and what has become of them."""

    def __init__(self, link, pictures, sink):
        self.handed, self.shown, self.bitrates = {}, [], []
        self.pictures = pictures
        self.ends = False
        self.pipeline = Gst.parse_launch(
            f"appsrc name=source is-live=true format=time max-buffers=1 leaky-type=downstream"
            f" caps=video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate={RATE}/1"
            f" ! sdlvideosink name=sink uri=sdl://10.77.0.2:{link.port} speed-preset=superfast {sink}")
        self.sink = self.pipeline.get_by_name("sink")
        self.sink.get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, self.note_handed)
        self.pipeline.set_state(Gst.State.PLAYING)
        threads = [threading.Thread(target=each, args=arguments, daemon=True)
                   for each, arguments in ((self.push, ()), (self.read, (link.unit.stdout,)))]
        for thread in threads:
            thread.start()
        self.threads = threads
        deadline = time.monotonic() + 20
        while len(self.shown) < RATE:
            if time.monotonic() > deadline:
                message = self.pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
                sys.exit(f"no picture arrives: {message.parse_error()[0].message if message else 'no error'}")
            time.sleep(0.02)

    def note_handed(self, _pad, info):
        self.handed[info.get_buffer().offset & 0xFFFF] = time.monotonic()
        return Gst.PadProbeReturn.OK

    def push(self):
        source = self.pipeline.get_by_name("source")
        start, count = time.monotonic(), 0
        while not self.ends:
            wait = start + count / RATE - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            buffer = Gst.Buffer.new_wrapped(numbered(self.pictures[count % len(self.pictures)], count & 0xFFFF))
            buffer.offset = count
            buffer.pts = max(self.pipeline.get_clock().get_time() - self.pipeline.get_base_time(), 0)
            source.emit("push-buffer", buffer)
            count += 1

    def read(self, lines):
        for line in lines:
            arrival, number = line.split()
            self.shown.append((float(arrival), int(number)))

    def wait(self, seconds):
        """Lets time pass; the bitrate that is aimed at is noted ten times per second."""
        start = time.monotonic()
        while time.monotonic() < start + seconds:
            self.bitrates.append((time.monotonic(), self.target_bitrate))
            time.sleep(0.1)

    @property
    def target_bitrate(self):
        return self.sink.get_property("target-bitrate")

    def close(self):
        self.ends = True
        self.threads[0].join()
        self.pipeline.set_state(Gst.State.NULL)

    def delays(self, begin, end):
        """Seconds on the way, of the pictures that were shown in a time."""
        return [arrival - self.handed[number] for arrival, number in self.shown
                if begin <= arrival < end and number in self.handed]

    def longest_freeze(self, begin, end):
        times = [begin, *(arrival for arrival, _ in self.shown if begin <= arrival < end), end]
        return max(later - sooner for sooner, later in zip(times, times[1:]))


def narrows(pictures, sink):
    link = Link()
    show = Show(link, pictures, sink)
    show.wait(6)
    before = statistics.median(show.delays(time.monotonic() - 3, time.monotonic()))
    link.set_rate(NARROW)
    drop = time.monotonic()
    show.wait(12)
    link.set_rate(WIDE)
    recovery = time.monotonic()
    show.wait(15)
    show.close()
    link.close()
    delays = sorted(show.delays(drop + 2, recovery)) or [recovery - drop]
    back = next((when - recovery for when, bitrate in show.bitrates if when > recovery and bitrate >= 3600), None)
    after = show.delays(recovery + 5, recovery + 15) or [float("nan")]
    return {
        "before": before, "p50": statistics.median(delays), "p95": delays[int(len(delays) * 0.95)],
        "freeze": show.longest_freeze(drop - 0.1, recovery),
        "rate": len(show.delays(drop + 2, recovery)) / (recovery - drop - 2),
        "back": back, "after": statistics.median(after),
        "bitrates": [(round(when - drop, 1), rate) for when, rate in show.bitrates],
    }


def fails(pictures, sink, loses):
    """Nothing gets through for three seconds: packets are lost, or they are held."""
    link = Link()
    show = Show(link, pictures, sink)
    show.wait(5)
    link.pass_packets(False, loses)
    cut = time.monotonic()
    show.wait(3)
    link.pass_packets(True, loses)
    back = time.monotonic()
    show.wait(6)
    show.close()
    link.close()
    # What was sent before the cut is shown as well, but is not new.
    new = [arrival - back for arrival, number in show.shown
           if arrival > back and show.handed.get(number, 0) > back - 0.5]
    return {"first": new[0] if new else None, "freeze": show.longest_freeze(cut, back + 6)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sink", default="bitrate=4000", help="properties of sdlvideosink")
    parser.add_argument("--only", default="nhl", help="n: narrows, h: fails and packets are held, l: fails and they are lost")
    options = parser.parse_args()
    Gst.init(None)
    pictures = textures(60)
    result = {}
    if "n" in options.only:
        result["narrow"] = narrows(pictures, options.sink)
    if "h" in options.only:
        result["held"] = fails(pictures, options.sink, loses=False)
    if "l" in options.only:
        result["lost"] = fails(pictures, options.sink, loses=True)
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
