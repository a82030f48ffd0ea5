#!/usr/bin/python3
"""A stand-in for Avahi on a private bus, with announcements that no network has.

Commands come on the standard input, one per line; what happens to it is told on the standard output, one JSON object per line:

    add NAME ADDRESS PORT   announces a head unit
    remove NAME             ends its announcements
    fail on|off             browsers fail from now on, or no more
    vanish NAME             ends its announcements as soon as its address is looked for
    refuse on|off           looks for no address from now on, or again
"""

from gi.repository import Gio, GLib
from stand_in import connect_to, pass_on, run, tell

AVAHI = "org.freedesktop.Avahi"
INTERFACES = f"""
<node>
  <interface name='{AVAHI}.Server'>
    <method name='ServiceBrowserNew'>
      <arg type='i' direction='in'/><arg type='i' direction='in'/><arg type='s' direction='in'/>
      <arg type='s' direction='in'/><arg type='u' direction='in'/><arg type='o' direction='out'/>
    </method>
    <method name='ServiceResolverNew'>
      <arg type='i' direction='in'/><arg type='i' direction='in'/><arg type='s' direction='in'/>
      <arg type='s' direction='in'/><arg type='s' direction='in'/><arg type='i' direction='in'/>
      <arg type='u' direction='in'/><arg type='o' direction='out'/>
    </method>
  </interface>
  <interface name='{AVAHI}.ServiceResolver'><method name='Free'/></interface>
</node>
"""
TYPE = "_smartdevicelink._tcp"
INTERFACE = 2


def protocol_of(address):
    """AVAHI_PROTO_INET6 or AVAHI_PROTO_INET."""
    return 1 if ":" in address else 0


class Avahi:
    def __init__(self, bus):
        self.bus = connect_to(bus)
        # Address and port, by the name and the protocol.
        self.announced = {}
        self.resolvers = {}
        self.count = 0
        self.fails = False
        self.refuses = False
        self.vanishing = set()
        self.is_browsed = False
        self.node = Gio.DBusNodeInfo.new_for_xml(INTERFACES)
        self.bus.register_object("/", self.node.lookup_interface(f"{AVAHI}.Server"), self.called, None, None)
        self.bus.call_sync(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
            GLib.Variant("(su)", (AVAHI, 0)), None, Gio.DBusCallFlags.NONE, -1, None)

    def called(self, bus, sender, path, interface, method, parameters, invocation):
        arguments = parameters.unpack()
        if method == "Free":
            tell("free", name=self.resolvers.pop(path))
            return invocation.return_value(None)
        if method == "ServiceResolverNew":
            tell("resolve", name=arguments[2])
            if self.refuses:
                return invocation.return_dbus_error(f"{AVAHI}.TooManyObjectsError", "refused by the test")
            if arguments[2] in self.vanishing:
                self.remove(arguments[2])
        self.count += 1
        new = f"/object{self.count}"
        invocation.return_value(GLib.Variant("(o)", (new,)))
        if method == "ServiceBrowserNew":
            tell("browse", type=arguments[2])
            self.is_browsed = True
            if self.fails:
                return self.signal("ServiceBrowser", "Failure", "(s)", "refused by the test")
            for name, protocol in self.announced:
                self.item("ItemNew", name, protocol)
            self.signal("ServiceBrowser", "AllForNow", "()")
        else:
            protocol, name = arguments[1:3]
            self.resolvers[new] = name
            self.bus.register_object(
                new, self.node.lookup_interface(f"{AVAHI}.ServiceResolver"), self.called, None, None)
            if (name, protocol) not in self.announced:
                return
            address, port = self.announced[(name, protocol)]
            self.signal(
                "ServiceResolver", "Found", "(iissssisqaayu)", INTERFACE, protocol, name, TYPE, "local", "host", protocol,
                address, port, [], 0)

    def signal(self, interface, name, signature, *arguments):
        self.bus.emit_signal(None, "/object", f"{AVAHI}.{interface}", name, GLib.Variant(signature, arguments))
        pass_on(self.bus)

    def item(self, signal, name, protocol):
        self.signal("ServiceBrowser", signal, "(iisssu)", INTERFACE, protocol, name, TYPE, "local", 0)

    def remove(self, removed):
        for name, protocol in [key for key in self.announced if key[0] == removed]:
            del self.announced[(name, protocol)]
            self.item("ItemRemove", name, protocol)

    def command(self, words):
        if words[0] == "add":
            name, address, port = words[1:]
            protocol = protocol_of(address)
            self.announced[(name, protocol)] = (address, int(port))
            if self.is_browsed:
                self.item("ItemNew", name, protocol)
        elif words[0] == "remove":
            self.remove(words[1])
        elif words[0] == "fail":
            self.fails = words[1] == "on"
        elif words[0] == "vanish":
            self.vanishing.add(words[1])
        elif words[0] == "refuse":
            self.refuses = words[1] == "on"
        tell("done", command=words[0])


run(Avahi)
