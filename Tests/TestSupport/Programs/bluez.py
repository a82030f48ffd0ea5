#!/usr/bin/python3
"""A stand-in for BlueZ on a private bus: it hands out sockets instead of RFCOMM connections.

Commands come on the standard input, one per line; what happens to it is told on the standard output, one JSON object per line.
"""

import socket
import time

from gi.repository import Gio, GLib
from stand_in import connect_to, pass_on, run, tell

INTERFACES = """
<node>
  <interface name='org.bluez.ProfileManager1'>
    <method name='RegisterProfile'>
      <arg type='o' direction='in'/><arg type='s' direction='in'/><arg type='a{sv}' direction='in'/>
    </method>
    <method name='UnregisterProfile'><arg type='o' direction='in'/></method>
  </interface>
  <interface name='org.bluez.Device1'>
    <method name='ConnectProfile'><arg type='s' direction='in'/></method>
  </interface>
  <interface name='org.freedesktop.DBus.ObjectManager'>
    <method name='GetManagedObjects'><arg type='a{oa{sa{sv}}}' direction='out'/></method>
  </interface>
</node>
"""
ADAPTER = "/org/bluez/hci0"


def device_path(address):
    return f"{ADAPTER}/dev_{address.replace(':', '_')}"


class BlueZ:
    def __init__(self, bus):
        self.address = bus
        self.bus = connect_to(bus)
        # To unregister a profile; a program may wait for that for half a second.
        self.is_slow = False
        self.powered = True
        self.devices = []
        self.registrations = {}
        # More of a device than its address.
        self.properties = {}
        self.profile = None
        # An error's name, for the next registrations; and the phone's listening socket, for ConnectProfile.
        self.refusal = None
        self.phone = None
        # Calls that get no answer, if there are to be such.
        self.held = None
        node = Gio.DBusNodeInfo.new_for_xml(INTERFACES)
        for path, name in [("/org/bluez", "org.bluez.ProfileManager1"), ("/", "org.freedesktop.DBus.ObjectManager")]:
            self.bus.register_object(path, node.lookup_interface(name), self.called, None, None)
        self.device_interface = node.lookup_interface("org.bluez.Device1")

    def call_bus(self, method, signature, *arguments):
        return self.bus.call_sync(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", method,
            GLib.Variant(signature, arguments), None, Gio.DBusCallFlags.NONE, -1, None)

    def called(self, bus, sender, path, interface, method, parameters, invocation):
        arguments = parameters.unpack()
        if method == "RegisterProfile":
            profile, uuid, options = arguments
            types = {key: parameters.get_child_value(2).lookup_value(key, None).get_type_string() for key in options}
            tell("register", path=profile, uuid=uuid, options=options, types=types)
            if self.refusal:
                return invocation.return_dbus_error(self.refusal, "refused by the test")
            self.profile = (sender, profile)
        elif method == "UnregisterProfile":
            # Before the answer, which the program may wait for.
            if self.is_slow:
                time.sleep(0.05)
            is_there, = self.call_bus("NameHasOwner", "(s)", sender).unpack()
            tell("unregister", path=arguments[0], isThere=is_there)
            self.profile = None
        elif method == "GetManagedObjects":
            tell("list-objects")
            if self.held is not None:
                return self.held.append(invocation)
            return invocation.return_value(GLib.Variant("(a{oa{sa{sv}}})", (self.objects(),)))
        elif method == "ConnectProfile":
            tell("connect-profile", path=path, uuid=arguments[0])
            return self.connect_profile(path, invocation)
        invocation.return_value(None)

    def objects(self):
        if self.powered is None:
            return {}
        objects = {ADAPTER: {"org.bluez.Adapter1": {"Powered": GLib.Variant("b", self.powered)}}}
        for address in self.devices:
            properties = {"Address": GLib.Variant("s", address), **self.properties.get(address, {})}
            objects[device_path(address)] = {"org.bluez.Device1": properties}
        return objects

    def call_profile(self, method, parameters, descriptors=None, done=None, bus=None):
        if self.profile is None:
            return tell("no-profile")

        def finished(bus, result):
            try:
                bus.call_with_unix_fd_list_finish(result)
                error = None
            except GLib.Error as failure:
                error = Gio.DBusError.get_remote_error(failure) or failure.message
            tell("answer", method=method, error=error)
            if done:
                done(error)

        owner, path = self.profile
        (bus or self.bus).call_with_unix_fd_list(
            owner, path, "org.bluez.Profile1", method, parameters, None, Gio.DBusCallFlags.NONE, -1, descriptors, None,
            finished)

    def hand_over(self, device, target, done=None):
        """Gives the profile a connection to `target`, the path of a listening socket."""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(target)
        descriptors = Gio.UnixFDList.new()
        handle = descriptors.append(connection.fileno())
        connection.close()
        self.call_profile("NewConnection", GLib.Variant("(oha{sv})", (device, handle, {})), descriptors, done)

    def connect_profile(self, path, invocation):
        def done(error):
            if error:
                invocation.return_dbus_error("org.bluez.Error.Failed", error)
            else:
                invocation.return_value(None)

        if self.phone is None:
            return invocation.return_dbus_error("org.bluez.Error.NotAvailable", "br-connection-profile-unavailable")
        self.hand_over(path, self.phone, done)

    def signal(self, path, interface, name, signature, *arguments):
        self.bus.emit_signal(None, path, interface, name, GLib.Variant(signature, arguments))
        pass_on(self.bus)

    def command(self, words):
        name, *arguments = words
        if name == "own":
            self.call_bus("RequestName", "(su)", "org.bluez", 0)
        elif name == "slow":
            self.is_slow = True
        elif name == "leave":
            self.profile = None
            self.call_bus("ReleaseName", "(s)", "org.bluez")
        elif name == "refuse":
            self.refusal = arguments[0] if arguments else None
        elif name == "hold":
            self.held = []
        elif name == "power":
            self.powered = arguments[0] == "on"
            self.signal(
                ADAPTER, "org.freedesktop.DBus.Properties", "PropertiesChanged", "(sa{sv}as)", "org.bluez.Adapter1",
                {"Powered": GLib.Variant("b", self.powered)}, [])
        elif name == "unplug":
            self.powered = None
            self.signal(
                "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved", "(oas)", ADAPTER, ["org.bluez.Adapter1"])
        elif name == "plug":
            self.powered = True
            self.signal(
                "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", "(oa{sa{sv}})", ADAPTER,
                self.objects()[ADAPTER])
        elif name == "pair":
            path = device_path(arguments[0])
            self.devices.append(arguments[0])
            self.registrations[path] = self.bus.register_object(path, self.device_interface, self.called, None, None)
            self.signal(
                "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", "(oa{sa{sv}})", path,
                self.objects()[path])
        elif name == "describe":
            address, properties = arguments[0], GLib.Variant.parse(GLib.VariantType("a{sv}"), " ".join(arguments[1:]))
            self.properties[address] = {
                entry.get_child_value(0).get_string(): entry.get_child_value(1).get_variant()
                for entry in map(properties.get_child_value, range(properties.n_children()))}
            self.signal(
                device_path(address), "org.freedesktop.DBus.Properties", "PropertiesChanged", "(sa{sv}as)",
                "org.bluez.Device1", self.properties[address], [])
        elif name == "remove":
            path = device_path(arguments[0])
            self.devices.remove(arguments[0])
            self.bus.unregister_object(self.registrations.pop(path))
            self.signal(
                "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved", "(oas)", path, ["org.bluez.Device1"])
        elif name == "phone":
            self.phone = arguments[0] if arguments else None
        elif name == "connect":
            self.hand_over(device_path(arguments[0]), arguments[1])
        elif name == "connect-without-descriptor":
            self.call_profile("NewConnection", GLib.Variant("(oha{sv})", (device_path(arguments[0]), 0, {})))
        elif name == "connect-with-descriptor-number":
            descriptors = Gio.UnixFDList.new()
            descriptors.append(0)
            handle = int(arguments[1])
            self.call_profile(
                "NewConnection", GLib.Variant("(oha{sv})", (device_path(arguments[0]), handle, {})), descriptors)
        elif name == "request-disconnection":
            self.call_profile("RequestDisconnection", GLib.Variant("(o)", (device_path(arguments[0]),)))
        elif name == "release-as-another-program":
            self.call_profile("Release", None, bus=connect_to(self.address))
        elif name in ["release", "cancel"]:
            self.call_profile(name.capitalize(), None)
        tell("done", command=name)


run(BlueZ)
