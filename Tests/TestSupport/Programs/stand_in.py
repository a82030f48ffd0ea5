"""What the stand-ins of bus services share: commands come on the standard input, one per line; what happens to them is told on
the standard output, one JSON object per line."""

import json
import os
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib


def tell(event, **details):
    print(json.dumps(dict(details, event=event)), flush=True)


def connect_to(bus):
    return Gio.DBusConnection.new_for_address_sync(
        bus, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION)


def pass_on(bus):
    """Returns when the bus has handled what was sent before."""
    name = "org.freedesktop.DBus"
    bus.call_sync(name, "/org/freedesktop/DBus", name, "GetId", None, None, Gio.DBusCallFlags.NONE, -1, None)


def run(make):
    """Calls `command` of what `make` makes for the bus, with the words of each line, until the input ends."""
    service = make(sys.argv[1])
    tell("ready")
    loop = GLib.MainLoop()

    def read(source, condition):
        # Unbuffered: what a buffer holds, the loop would not see.
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(0, 1)
            if not byte:
                loop.quit()
                return False
            line += byte
        service.command(line.decode().split())
        return True

    GLib.io_add_watch(0, GLib.IOCondition.IN | GLib.IOCondition.HUP, read)
    loop.run()
