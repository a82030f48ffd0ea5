#!/usr/bin/python3
"""A program in the car window, over loopback: from a pixel that it changes to the pixel that a decoder at the head unit has;
the first picture, a resize, and what a program costs that stands still."""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst

from bench import head_unit

CHANGES, RESIZES, STILL_TIME = 120, 20, 10
# In seconds; each change at another distance to the next frame.
CHANGE_INTERVAL = 0.313
# A window that is black and white in turn, and says when it became so.
FLIPPING_WINDOW = """
import ctypes, sys, time
x11 = ctypes.CDLL("libX11.so.6")
x11.XOpenDisplay.restype = ctypes.c_void_p
x11.XCreateSimpleWindow.restype = x11.XDefaultRootWindow.restype = ctypes.c_ulong
display = ctypes.c_void_p(x11.XOpenDisplay(None))
root = ctypes.c_ulong(x11.XDefaultRootWindow(display))
window = ctypes.c_ulong(x11.XCreateSimpleWindow(display, root, 0, 0, 800, 480, 0, 0, 0))
x11.XMapWindow(display, window)
is_white = False
while True:
    x11.XSetWindowBackground(display, window, ctypes.c_ulong(0xffffff if is_white else 0))
    x11.XClearWindow(display, window)
    x11.XSync(display, 0)
    with open(sys.argv[1], "a") as file:
        print(int(is_white), time.monotonic(), file=file)
    is_white = not is_white
    time.sleep(float(sys.argv[2]))
"""


class Car:
    """A head unit whose decoder says when a picture of another brightness, or another size, has come."""

    def __init__(self):
        self.pictures = []
        self.pipeline = Gst.parse_launch(
            "sdlheadunitsrc name=car port=0 ! h264parse ! avdec_h264 max-threads=1 ! fakesink name=screen sync=false "
            "signal-handoffs=true")
        screen = self.pipeline.get_by_name("screen")
        screen.connect("handoff", self.take)
        self.pad = screen.get_static_pad("sink")
        self.pipeline.set_state(Gst.State.PLAYING)
        self.car = self.pipeline.get_by_name("car")
        while not (port := self.car.get_property("current-port")):
            time.sleep(0.01)
        self.uri = f"sdl://127.0.0.1:{port}"

    def take(self, _sink, buffer, _pad):
        caps = self.pad.get_current_caps().get_structure(0)
        size = caps.get_value("width"), caps.get_value("height")
        # Beside the clock's hands.
        pixel = buffer.extract_dup(size[0] * (size[1] // 16) + size[0] // 16, 1)[0]
        self.pictures.append((time.monotonic(), size, pixel > 128))

    def wait(self, condition, timeout=20):
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            for picture in list(self.pictures):
                if condition(picture):
                    return picture
            time.sleep(0.005)
        sys.exit("no such picture has come")


def report(name, value, target, unit):
    print(f"  {name:44} {value:8.1f} {unit:3} target {target:g} {unit}   {'met' if value <= target else 'MISSED'}", flush=True)


def stream(car, command):
    pipeline = Gst.parse_launch(f"sdlcarwindowsrc name=window ! video/x-raw,framerate=30/1 ! sdlvideosink uri={car.uri}")
    pipeline.get_by_name("window").set_property("command", command)
    start = time.monotonic()
    pipeline.set_state(Gst.State.PLAYING)
    return pipeline, start


def latency(car, folder):
    program, drawn = os.path.join(folder, "flip.py"), os.path.join(folder, "drawn")
    with open(program, "w") as file:
        file.write(FLIPPING_WINDOW)
    pipeline, _ = stream(car, f"{sys.executable} {program} {drawn} {CHANGE_INTERVAL}")
    car.wait(lambda picture: picture[2])
    time.sleep(CHANGES * CHANGE_INTERVAL)
    pipeline.set_state(Gst.State.NULL)
    # The first ones may have come before the window was shown.
    with open(drawn) as file:
        draws = [(bool(int(white)), float(at)) for white, at in (line.split() for line in file)][10:-3]
    delays = []
    for white, at in draws:
        delays += [(came - at) * 1000 for came, _, is_white in car.pictures if came > at and is_white == white][:1]
    delays.sort()
    report(f"pixel to pixel, {len(delays)} changes: p50", statistics.median(delays), 45, "ms")
    print(f"  {'p95':44} {delays[int(len(delays) * 0.95)]:8.1f} ms")


def first_picture_and_resizes(car):
    car.pictures.clear()
    pipeline, start = stream(car, "xclock -update 1")
    came, *_ = car.wait(lambda picture: picture[2])
    report("xclock: PLAYING to the first picture", came - start, 1.5, "s")
    time.sleep(1)
    durations = []
    for count in range(RESIZES):
        size = ((480, 320), (800, 480))[count % 2]
        car.pictures.clear()
        start = time.monotonic()
        car.car.set_property("screen-size", f"{size[0]}x{size[1]}")
        came, *_ = car.wait(lambda picture: picture[1] == size and picture[2])
        durations.append((came - start) * 1000)
        time.sleep(0.5)
    report(f"a resize to the window in the new size, {RESIZES}: longest", max(durations), 500, "ms")
    pipeline.set_state(Gst.State.NULL)


def cpu_time(processes):
    """Of processes and all that they have started, in seconds."""
    parents, times = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rpartition(") ")[2].split()
        except OSError:
            continue
        parents[int(pid)] = int(fields[1])
        times[int(pid)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    family = set(processes)
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(times.get(pid, 0) for pid in family)


def still(tool):
    """Both sides in processes of their own."""
    with head_unit(tool) as port:
        app = subprocess.Popen(["gst-launch-1.0", "-q", "sdlcarwindowsrc", "command=xclock -update 3600", "!",
                                "sdlvideosink", f"uri=sdl://127.0.0.1:{port}"])
        time.sleep(5)
        # Our own process has nothing to do meanwhile, and has started both sides.
        before = cpu_time([os.getpid()])
        time.sleep(STILL_TIME)
        report(f"a program that stands still, {STILL_TIME} s: CPU of everything",
               (cpu_time([os.getpid()]) - before) / STILL_TIME * 100, 2, "%")
        app.terminate()
        app.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--head-unit", required=True, help="the sdl-head-unit program")
    options = parser.parse_args()
    Gst.init(None)
    with tempfile.TemporaryDirectory() as folder:
        car = Car()
        latency(car, folder)
        first_picture_and_resizes(car)
        car.pipeline.set_state(Gst.State.NULL)
        still(options.head_unit)


if __name__ == "__main__":
    main()
