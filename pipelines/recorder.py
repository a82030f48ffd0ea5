#!/usr/bin/python3
# Records what apps show on the car's screen, a file for each size of the video: recorder.py FILE [PROPERTY=VALUE …].
# A FILE that ends with .mkv has the sound of the apps as well. Properties are those of sdlheadunitsrc.
# Expect a line for each file: FILE, and FILE-2, FILE-3, … after resizes. All play when the app, or Ctrl-C, has ended it.
# Needs python3-gi, gir1.2-gstreamer-1.0, gstreamer1.0-plugins-good (mp4mux, matroskamux), -bad (h264parse) and the plugin.

import pathlib
import signal
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

PULL_TIMEOUT = 100 * Gst.MSECOND
WITH_SOUND = ".mkv"


class File:
    """A file, which holds one size. Its time begins with its first picture."""

    def __init__(self, path, sample):
        self.caps = sample.get_caps()
        self.start = decoding_time(sample.get_buffer())
        has_sound = path.suffix == WITH_SOUND
        self.pipeline = Gst.parse_launch(
            f"appsrc name=in format=time ! video/x-h264 ! {'matroskamux' if has_sound else 'mp4mux'} name=muxer"
            " ! filesink name=out" + (" appsrc name=sound format=time ! audio/x-raw ! muxer." if has_sound else ""))
        self.pipeline.get_by_name("out").set_property("location", str(path))
        self.source = self.pipeline.get_by_name("in")
        self.source.set_property("caps", self.caps)
        self.sound = self.pipeline.get_by_name("sound")
        self.pipeline.set_state(Gst.State.PLAYING)
        size = self.caps.get_structure(0)
        print(f"{path}: {size.get_value('width')}×{size.get_value('height')}", flush=True)

    def add(self, buffer):
        buffer = buffer.copy()
        buffer.dts = decoding_time(buffer) - self.start
        if buffer.pts != Gst.CLOCK_TIME_NONE:
            buffer.pts -= self.start
        self.source.emit("push-buffer", buffer)

    def add_sound(self, sample):
        buffer = sample.get_buffer().copy()
        # What was heard before the first picture belongs to no file.
        if buffer.pts < self.start:
            return
        buffer.pts -= self.start
        self.sound.set_property("caps", sample.get_caps())
        self.sound.emit("push-buffer", buffer)

    def close(self):
        """A file needs its end."""
        for source in filter(None, (self.source, self.sound)):
            source.emit("end-of-stream")
        message = self.pipeline.get_bus().timed_pop_filtered(
            Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        self.pipeline.set_state(Gst.State.NULL)
        if message.type == Gst.MessageType.ERROR:
            raise message.parse_error()[0]


def decoding_time(buffer):
    return buffer.pts if buffer.dts == Gst.CLOCK_TIME_NONE else buffer.dts


def file_name(path, number):
    return path if number == 1 else path.with_stem(f"{path.stem}-{number}")


def check(pipeline):
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    if message:
        raise message.parse_error()[0]


def record_sound(out, file):
    while sample := out.emit("try-pull-sample", 0):
        if file:
            file.add_sound(sample)


def record(pipeline, path):
    out, sound, head_unit = map(pipeline.get_by_name, ("out", "sound", "head-unit"))
    if pipeline.set_state(Gst.State.PLAYING) == Gst.StateChangeReturn.FAILURE:
        check(pipeline)
    print(f"Listening on port {head_unit.get_property('current-port')}", flush=True)
    files = 0
    file = None
    while not out.get_property("eos"):
        sample = out.emit("try-pull-sample", PULL_TIMEOUT)
        if sound:
            record_sound(sound, file)
        if not sample:
            check(pipeline)
            continue
        # The header of a file describes one size.
        if file and not file.caps.is_equal(sample.get_caps()):
            file.close()
            file = None
        if not file:
            files += 1
            file = File(file_name(path, files), sample)
        file.add(sample.get_buffer())
    if file:
        file.close()


def description(path, properties):
    # The sinks don't wait for each other: an app may speak before it shows anything.
    text = (f"sdlheadunitsrc name=head-unit eos-on-disconnect=true {' '.join(properties)}"
            " ! h264parse ! video/x-h264,stream-format=avc,alignment=au ! appsink name=out sync=false async=false")
    if path.suffix == WITH_SOUND:
        # The same head unit: at the same place.
        place = " ".join(each for each in properties if each.startswith(("address=", "port=")))
        # No one hears it, so late sound may keep its place.
        text += f" sdlheadunitaudiosrc {place} latency=300 ! appsink name=sound sync=false async=false"
    return text


def main(name, *properties):
    Gst.init(None)
    path = pathlib.Path(name)
    pipeline = Gst.parse_launch(description(path, properties))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: pipeline.send_event(Gst.Event.new_eos()))
    try:
        record(pipeline, path)
    except GLib.Error as error:
        sys.exit(error.message)
    finally:
        pipeline.set_state(Gst.State.NULL)


if len(sys.argv) < 2:
    sys.exit(f"usage: {sys.argv[0]} FILE [PROPERTY=VALUE …]")
main(*sys.argv[1:])
