"""A blue window that shows what reaches it: a red square where it is pressed, other colours for keys and the wheel.

Keys: g green, W (with Shift) white, d a yellow dialog of 80x60, q ends with the status 7; in a dialog: g green, d a white
one of 120x90, x closes it.
The wheel: white, with Ctrl cyan.
With the argument "busy" it changes its colour 50 times a second, with "hover" it is green while the pointer is in it (the
key h asks for a yellow dialog), and with "large" it is at least 640x480, until the key s, with a yellow square at its end.
"""

import itertools
import os
import sys

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk  # noqa: E402

SQUARE = 40


def paint(widget, color):
    provider = Gtk.CssProvider()
    provider.load_from_data(f"* {{ background: {color}; }}".encode())
    widget.get_style_context().add_provider(provider, Gtk.STYLE_PROVIDER_PRIORITY_USER)


class Canvas(Gtk.Window):
    def __init__(self):
        super().__init__()
        self.places = Gtk.Fixed()
        self.add(self.places)
        self.add_events(Gdk.EventMask.BUTTON_PRESS_MASK | Gdk.EventMask.SCROLL_MASK)
        self.connect("button-press-event", self.press)
        self.connect("scroll-event", self.scroll)
        self.connect("key-press-event", self.key)
        self.connect("destroy", Gtk.main_quit)
        paint(self, "#0000ff")
        if "busy" in sys.argv:
            colors = itertools.cycle(("#0000f0", "#0000ff"))
            GLib.timeout_add(20, lambda: paint(self, next(colors)) or True)
        if "hover" in sys.argv:
            self.add_events(Gdk.EventMask.ENTER_NOTIFY_MASK | Gdk.EventMask.LEAVE_NOTIFY_MASK)
            self.connect("enter-notify-event", self.cross, "#00ff00")
            self.connect("leave-notify-event", self.cross, "#0000ff")
        if "large" in sys.argv:
            self.square(620, 460, "#ffff00")
        self.set_default_size(200, 150)
        self.show_all()

    def square(self, x, y, color):
        square = Gtk.EventBox()
        square.set_size_request(SQUARE, SQUARE)
        paint(square, color)
        self.places.put(square, x - SQUARE // 2, y - SQUARE // 2)
        square.show()
        return square

    def press(self, _window, event):
        self.square(int(event.x), int(event.y), "#ff0000")

    def cross(self, _window, event, color):
        # To and from the squares it stays inside.
        if event.detail != Gdk.NotifyType.INFERIOR:
            paint(self, color)

    def scroll(self, _window, event):
        paint(self, "#00ffff" if event.state & Gdk.ModifierType.CONTROL_MASK else "#ffffff")

    def key(self, _window, event):
        name = Gdk.keyval_name(event.keyval)
        if name == "g":
            paint(self, "#00ff00")
        elif name == "W":
            paint(self, "#ffffff")
        elif name == "s":
            self.places.remove(self.places.get_children()[0])
        elif name in ("d", "h"):
            self.open(80, 60, "#ffff00")
        elif name == "q":
            # An exception in a handler would only be printed.
            os._exit(7)

    def open(self, width, height, color):
        dialog = Gtk.Window(transient_for=self, type_hint=Gdk.WindowTypeHint.DIALOG)
        dialog.set_default_size(width, height)
        dialog.connect("key-press-event", self.dialog_key)
        paint(dialog, color)
        dialog.show_all()

    def dialog_key(self, dialog, event):
        name = Gdk.keyval_name(event.keyval)
        if name == "g":
            paint(dialog, "#00ff00")
        elif name == "d":
            self.open(120, 90, "#ffffff")
        elif name == "x":
            dialog.destroy()


Canvas()
Gtk.main()
