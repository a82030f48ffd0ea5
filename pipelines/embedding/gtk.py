#!/usr/bin/python3
# Shows one picture in a GTK window and on the car's screen, each at its own pace: gtk.py [--uri sdl://HOST].
# Expect the window soon, whether or not the car is there; the buttons hide the app from the car's screen and show it again.
# Needs python3-gi, gir1.2-gtk-3.0, gstreamer1.0-gtk3 and the plugin in GST_PLUGIN_PATH.

import argparse
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gst, Gtk  # noqa: E402

# Each branch has a queue, and so a thread of its own. The leaky one drops pictures that the head unit does not take in time,
# and suspend-policy=drop never asks for a pause of the window. connect-timeout waits for a head unit that comes later.
PIPELINE = """videotestsrc is-live=true pattern=ball ! video/x-raw,width=800,height=480,framerate=30/1 ! tee name=picture
  picture. ! queue ! videoconvert ! gtksink name=window
  picture. ! queue max-size-buffers=1 leaky=downstream ! videoconvertscale !
    sdlvideosink name=car app-name=Both suspend-policy=drop connect-timeout=3600000"""


class App:
    def __init__(self, uri):
        self.pipeline = Gst.parse_launch(PIPELINE)
        self.car = self.pipeline.get_by_name("car")
        self.car.set_property("uri", uri)
        self.status = Gtk.Label(label="Waiting for the car")
        self.error = None

        visible = Gtk.CheckButton(label="Show in the car", active=True)
        visible.connect("toggled", self.on_toggled)
        bar = Gtk.Box(spacing=12, margin=6)
        bar.pack_start(visible, False, False, 0)
        bar.pack_start(self.status, False, False, 0)
        column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        column.pack_start(self.pipeline.get_by_name("window").get_property("widget"), True, True, 0)
        column.pack_start(bar, False, False, 0)
        window = Gtk.Window(title="In the window and in the car", default_width=800, default_height=520)
        window.connect("destroy", lambda _: Gtk.main_quit())
        window.add(column)
        window.show_all()

        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::error", self.on_error)
        # The property is notified on the connection's thread; GTK belongs to the main one.
        self.car.connect("notify::stream-state", lambda *_: GLib.idle_add(self.show_status))

    def on_toggled(self, button):
        self.car.set_property("app-state", "foreground" if button.get_active() else "background")

    def show_status(self):
        text = f"Car: {self.car.get_property('stream-state').value_nick}"
        print(text, flush=True)
        self.status.set_text(text)
        return GLib.SOURCE_REMOVE

    def on_error(self, _bus, message):
        self.error = message.parse_error()[0].message
        Gtk.main_quit()

    def run(self):
        self.pipeline.set_state(Gst.State.PLAYING)
        Gtk.main()
        self.pipeline.set_state(Gst.State.NULL)
        if self.error:
            sys.exit(self.error)


def main():
    parser = argparse.ArgumentParser(description="One picture in a GTK window and on the car's screen.")
    parser.add_argument("--uri", help="head unit, sdl://HOST[:PORT] (default: the built-in one)")
    arguments = parser.parse_args()
    Gst.init(None)
    try:
        App(arguments.uri).run()
    except GLib.Error as error:
        sys.exit(f"{error.message}. Is GST_PLUGIN_PATH set?")


if __name__ == "__main__":
    main()
