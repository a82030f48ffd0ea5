#!/usr/bin/python3
"""How good the first pictures are, of a map that moves and of a film: PSNR of the luma of what a head unit has recorded."""

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time

import numpy

from numbered_pictures import HEIGHT, WIDTH, Gst, number, numbered, textures

RATE = 15
COUNT = 60
MAP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../pipelines/map.svg")


def samples(description):
    """The memory of all buffers."""
    pipeline = Gst.parse_launch(description + " ! appsink name=sink sync=false")
    sink = pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    while sample := sink.emit("pull-sample"):
        buffer = sample.get_buffer()
        yield buffer.extract_dup(0, buffer.get_size())
    pipeline.set_state(Gst.State.NULL)


def map_pictures():
    """A map that moves by two pixels a picture, as on a slow drive."""
    width, height = WIDTH + 2 * COUNT, HEIGHT + 2 * COUNT
    drawing = next(samples(f"filesrc location={MAP} ! rsvgdec ! videoconvertscale"
                           f" ! video/x-raw,format=I420,width={width},height={height},pixel-aspect-ratio=1/1"))
    drawing = numpy.frombuffer(drawing, numpy.uint8)
    luma = drawing[:width * height].reshape(height, width)
    chroma = drawing[width * height:].reshape(2, height // 2, width // 2)
    for index in range(COUNT):
        part = luma[2 * index:2 * index + HEIGHT, 2 * index:2 * index + WIDTH].tobytes()
        part += chroma[:, index:index + HEIGHT // 2, index:index + WIDTH // 2].tobytes()
        yield numbered(part, index + 1)


def record(tool, pictures, properties, path):
    """Streams the pictures in real time."""
    unit = subprocess.Popen([tool, "--port", "0", "--quiet", "--app-exits", "--record", path],
                            stdout=subprocess.PIPE, text=True)
    port = int(unit.stdout.readline().split()[1])
    pipeline = Gst.parse_launch(
        f"appsrc name=source is-live=true format=time"
        f" caps=video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate={RATE}/1"
        f" ! sdlvideosink name=sink uri=sdl://127.0.0.1:{port} {properties}")
    source, sink = pipeline.get_by_name("source"), pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    while sink.get_property("stream-state").value_nick != "streaming":
        source.emit("push-buffer", timed(pictures[0], pipeline))
        time.sleep(1 / RATE)
    for picture in pictures:
        source.emit("push-buffer", timed(picture, pipeline))
        time.sleep(1 / RATE)
    source.emit("end-of-stream")
    pipeline.get_bus().timed_pop_filtered(10 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    unit.wait()


def timed(picture, pipeline):
    buffer = Gst.Buffer.new_wrapped(picture)
    buffer.pts = pipeline.get_clock().get_time() - pipeline.get_base_time() if pipeline.get_clock() else 0
    return buffer


def psnr(first, second):
    difference = first.astype(float) - second
    return 10 * math.log10(255 ** 2 / max((difference ** 2).mean(), 1e-3))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--head-unit", required=True, help="the sdl-head-unit program")
    options = parser.parse_args()
    Gst.init(None)
    film = [numbered(picture, index + 1) for index, picture in enumerate(textures(COUNT))]
    for content, pictures in ("map", list(map_pictures())), ("film", film):
        for policy in "default-capped", "head-unit-maximum":
            found = measure(options.head_unit, pictures, policy)
            print(f"  {content}, {policy:17}: first {found[0]:.1f} dB, 30th {found[29]:.1f} dB")


def measure(tool, pictures, policy):
    lumas = [numpy.frombuffer(picture[:WIDTH * HEIGHT], numpy.uint8) for picture in pictures]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "video.h264")
        record(tool, pictures, f"bitrate-policy={policy}", path)
        for picture in samples(f"filesrc location={path} ! h264parse ! avdec_h264"):
            luma = numpy.frombuffer(picture[:WIDTH * HEIGHT], numpy.uint8)
            place = number(luma, WIDTH)
            if place and place <= COUNT:
                found.append(psnr(luma, lumas[place - 1]))
    if len(found) < 30:
        sys.exit(f"only {len(found)} pictures were shown")
    return found


if __name__ == "__main__":
    main()
