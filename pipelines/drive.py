#!/usr/bin/python3
# Shows a drive from the app's side: connection, registration, HMI level, stream, and each second what was delivered.
# Expect a line for each event with the seconds since the start; the exit status is 0 if pictures were delivered.
# Needs python3-gi, gir1.2-gstreamer-1.0 and the plugin in GST_PLUGIN_PATH; for the default picture also gstreamer1.0-x.

import argparse
import signal
import sys
import time

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

DEFAULT_SOURCE = "videotestsrc is-live=true horizontal-speed=4 ! timeoverlay font-desc='Sans 32'"
# The sound's service is there only while there is something to hear, so that the radio is lowered only then.
PROMPT = "filesrc name=prompt ! decodebin ! audioconvert ! audioresample ! sdlaudiosink name=voice start-on-data=true idle-timeout=500"
PROMPT_AT = 2 * Gst.SECOND


class Drive:
    def __init__(self, source, uri, prompt):
        self.pipeline = Gst.parse_launch(f"{source} ! sdlvideosink name=sink" + (f" {PROMPT}" if prompt else ""))
        self.sink = self.pipeline.get_by_name("sink")
        self.voice = self.pipeline.get_by_name("voice")
        if prompt:
            self.pipeline.get_by_name("prompt").set_property("location", prompt)
            self.voice.set_property("ts-offset", PROMPT_AT)
        # With the same uri, both are one app.
        for sink in filter(None, (self.sink, self.voice)):
            if uri:
                sink.set_property("uri", uri)
        # PROGRESS tells of the connection.
        self.sink.add_property_notify_watch("hmi-level", True)
        self.loop = GLib.MainLoop()
        self.started_at = time.monotonic()
        self.last_statistics = None
        self.has_failed = False

    def run(self, duration):
        """Plays for `duration` seconds, or until the source ends; returns the number of frames that were sent."""
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message", self.on_message)
        GLib.timeout_add(1000, self.report_delivery)
        if duration:
            GLib.timeout_add(int(duration * 1000), self.end)
        GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGINT, self.end)

        if self.pipeline.set_state(Gst.State.PLAYING) == Gst.StateChangeReturn.FAILURE:
            self.has_failed = True
            self.on_message(bus, bus.pop_filtered(Gst.MessageType.ERROR))
        else:
            self.loop.run()
        # The last messages come while the pipeline goes to NULL, which would flush the bus.
        self.pipeline.set_property("auto-flush-bus", False)
        self.pipeline.set_state(Gst.State.NULL)
        while message := bus.pop():
            self.on_message(bus, message)
        return self.report_total()

    def end(self):
        self.pipeline.send_event(Gst.Event.new_eos())
        # The sinks may need a moment for what they have, and in PAUSED no end of stream passes.
        GLib.timeout_add_seconds(3, self.loop.quit)
        return GLib.SOURCE_REMOVE

    def say(self, text):
        print(f"{time.monotonic() - self.started_at:6.2f} s  {text}", flush=True)

    def on_message(self, _bus, message):
        if message is None:
            return
        if message.type == Gst.MessageType.EOS:
            self.loop.quit()
        elif message.type == Gst.MessageType.ERROR:
            error, details = message.parse_error()
            self.say(f"error: {error.message} ({details})")
            self.has_failed = True
            self.loop.quit()
        elif message.type == Gst.MessageType.WARNING:
            self.say(f"warning: {message.parse_warning()[0].message}")
        elif message.type == Gst.MessageType.INFO:
            self.say(message.parse_info()[0].message)
        elif message.type == Gst.MessageType.PROGRESS:
            kind, _, text = message.parse_progress()
            # sdl-connected says more about a completed connection, and the first line has named the URI, with its host.
            repeats = kind == Gst.ProgressType.CONTINUE and text.split()[-1] in (self.sink.get_property("uri") or "")
            if kind != Gst.ProgressType.COMPLETE and not repeats:
                self.say(text)
        elif message.type == Gst.MessageType.PROPERTY_NOTIFY:
            value = message.parse_property_notify()[2]
            self.say(f"HMI level {value.value_nick.upper()}")
        elif message.type == Gst.MessageType.ELEMENT and message.src in (self.sink, self.voice):
            self.on_element_message(message.get_structure())

    def on_element_message(self, structure):
        name = structure.get_name()
        if name == "sdl-connected":
            unit = " ".join(filter(None, (structure.get_value(field) for field in ("make", "model", "model-year"))))
            self.say(f"connected to {unit or 'a head unit'} at {structure.get_value('peer')}")
            versions = f"protocol {structure.get_value('protocol-version')}, RPC {structure.get_value('rpc-version')}"
            self.say(f"registered: {versions}")
        elif name.startswith("sdl-stream-") and structure.get_value("service") == "audio":
            rate = f": {structure.get_value('rate')} Hz" if name == "sdl-stream-started" else ""
            self.say(f"sound {name[11:]} ({structure.get_value('reason')}){rate}")
        elif name == "sdl-stream-started":
            size = f"{structure.get_value('width')}×{structure.get_value('height')}"
            self.say(f"stream started ({structure.get_value('reason')}): {size}{self.frame_rate()}")
        elif name.startswith("sdl-stream-"):
            self.say(f"{name[4:].replace('-', ' ')} ({structure.get_value('reason')})")
        elif name == "sdl-disconnected":
            self.say(f"disconnected ({structure.get_value('reason')})")

    def frame_rate(self):
        caps = self.sink.get_static_pad("sink").get_current_caps()
        known, numerator, denominator = caps.get_structure(0).get_fraction("framerate") if caps else (False, 0, 1)
        return f" at {numerator / denominator:g} fps" if known and numerator else ""

    def statistics(self, sink=None):
        structure = (sink or self.sink).get_property("sdl-stats")
        return {structure.nth_field_name(n): structure.get_value(structure.nth_field_name(n))
                for n in range(structure.n_fields())}

    def report_delivery(self):
        """What was sent since the last report."""
        now, current = time.monotonic(), self.statistics()
        then, former = self.last_statistics or (self.started_at, dict.fromkeys(current, 0))
        self.last_statistics = now, current
        frames = current["frames-sent"] - former["frames-sent"]
        kilobits = (current["bytes-sent"] - former["bytes-sent"]) * 8 / 1000 / (now - then)
        self.say(f"{current['frames-sent']} frames delivered, {frames / (now - then):.1f} fps, {kilobits:.0f} kbit/s")
        return GLib.SOURCE_CONTINUE

    def report_total(self):
        total = self.statistics()
        dropped = [f"{count} {name.removeprefix('frames-dropped-').replace('-', ' ')}"
                   for name, count in total.items() if name.startswith("frames-dropped-") and count]
        self.say(f"{total['frames-in']} frames in, {total['frames-sent']} delivered ({total['bytes-sent']} bytes)"
                 f", {total['frames-unchanged']} unchanged"
                 f", dropped: {', '.join(dropped) or 'none'}")
        if self.voice:
            self.say(f"{self.statistics(self.voice)['samples-sent']} samples of sound delivered")
        return total["frames-sent"]


def main():
    parser = argparse.ArgumentParser(description="Streams a moving picture to a head unit and prints what happens.")
    parser.add_argument("--uri", help="head unit, sdl://HOST[:PORT] (default: the built-in one)")
    parser.add_argument("--duration", type=float, default=0, help="seconds (default: until the source ends or Ctrl-C)")
    parser.add_argument("--source", default=DEFAULT_SOURCE, help="pipeline in front of the sink (default: %(default)s)")
    parser.add_argument("--prompt", help="sound file to play in the car, two seconds after the start")
    arguments = parser.parse_args()

    Gst.init(None)
    try:
        drive = Drive(arguments.source, arguments.uri, arguments.prompt)
    except GLib.Error as error:
        sys.exit(f"{error.message}. Is GST_PLUGIN_PATH set?")
    frames = drive.run(arguments.duration)
    sys.exit(1 if drive.has_failed or not frames else 0)


if __name__ == "__main__":
    main()
