#!/usr/bin/python3
# Shows the car's speed over the picture: vehicle data by the action signal send-rpc, and messages sdl-rpc.
# Expect a line for each speed that the head unit tells, and the speed in the picture; it ends by itself with exit status 0.
# Needs python3-gi, gir1.2-gstreamer-1.0, gstreamer1.0-plugins-base, the program sdl-head-unit (--head-unit) and the plugin in GST_PLUGIN_PATH.

import argparse
import json
import subprocess
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

SPEEDS = [0, 30, 50, 80, 130]
PICTURE = ("videotestsrc is-live=true pattern=smpte ! "
           "textoverlay name=text text=? font-desc=\"Sans 60\" valignment=center ! videoconvertscale ! "
           "sdlvideosink name=sink rpc-notifications=OnVehicleData")


class App:
    def __init__(self, uri, speeds, when_subscribed):
        self.loop = GLib.MainLoop()
        # Those that are still to come.
        self.speeds = set(speeds)
        self.when_subscribed = when_subscribed
        self.failure = None
        self.pipeline = Gst.parse_launch(PICTURE)
        self.sink = self.pipeline.get_by_name("sink")
        self.text = self.pipeline.get_by_name("text")
        if uri:
            self.sink.set_property("uri", uri)
        self.is_asked = False
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::element", self.on_element)
        bus.connect("message::error", lambda _, message: self.fail(message.parse_error()[0].message))

    def fail(self, text):
        self.failure = text
        self.loop.quit()

    def on_element(self, _bus, message):
        fields = message.get_structure()
        # Head units let no app ask for vehicle data before the driver has opened it.
        if fields.get_name() == "sdl-stream-started" and not self.is_asked:
            self.is_asked = self.sink.emit("send-rpc", "SubscribeVehicleData", json.dumps({"speed": True})) != 0
        elif fields.get_name() == "sdl-rpc":
            parameters = json.loads(fields.get_value("json"))
            if fields.get_value("type") == "notification":
                self.show(parameters["speed"])
            elif not fields.get_value("success"):
                self.fail(f"no vehicle data: {fields.get_value('result-code')}")
            else:
                print("subscribed", flush=True)
                self.when_subscribed()

    def show(self, speed):
        print(f"{speed} km/h", flush=True)
        self.text.set_property("text", f"{speed} km/h")
        self.speeds.discard(speed)
        if not self.speeds:
            GLib.timeout_add(1000, self.loop.quit)

    def run(self):
        self.pipeline.set_state(Gst.State.PLAYING)
        self.loop.run()
        self.pipeline.set_state(Gst.State.NULL)
        if self.failure:
            sys.exit(self.failure)


def drive(head_unit, speeds):
    """Lets the car go at one speed after the other."""
    def next_speed():
        if not speeds:
            return False
        head_unit.stdin.write(f"vehicle speed {speeds.pop(0)}\n")
        head_unit.stdin.flush()
        return True
    GLib.timeout_add(300, next_speed)


def main():
    parser = argparse.ArgumentParser(description="Shows the car's speed over the picture.")
    parser.add_argument("--uri", help="another head unit, which then tells the speeds (default: a program that is started)")
    parser.add_argument("--head-unit", default="sdl-head-unit", help="the program (default: %(default)s)")
    parser.add_argument("--record", help="file for the H.264 that the program gets")
    arguments = parser.parse_args()

    Gst.init(None)
    try:
        if arguments.uri:
            # It goes on until the first error, or Ctrl-C.
            App(arguments.uri, [None], lambda: None).run()
            return
        command = [arguments.head_unit, "--port", "0", "--quiet", "--commands"]
        command += ["--record", arguments.record] if arguments.record else []
        with subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as head_unit:
            try:
                port = int(head_unit.stdout.readline().split()[1])
                App(f"sdl://127.0.0.1:{port}", SPEEDS, lambda: drive(head_unit, list(SPEEDS))).run()
            finally:
                head_unit.terminate()
                head_unit.communicate()
        # Not 0 if the app has broken a rule.
        sys.exit(head_unit.returncode)
    except GLib.Error as error:
        sys.exit(f"{error.message}. Is GST_PLUGIN_PATH set?")


if __name__ == "__main__":
    main()
