#!/usr/bin/python3
"""An app with a second connection from another address, 127.0.0.2, to the head unit in SDL_PORT.

Says whether the head unit takes it as the app's secondary transport.
"""

import os
import socket
import struct

from register import RPC, receive

REGISTER, ACCEPTED, REFUSED, EVENT_UPDATE = 7, 8, 9, 0xFD


def bson(name, text):
    value = text.encode() + b"\0"
    element = b"\x02" + name.encode() + b"\0" + struct.pack("<i", len(value)) + value
    return struct.pack("<i", len(element) + 5) + element + b"\0"


def main():
    primary = socket.create_connection(("127.0.0.1", int(os.environ["SDL_PORT"])), timeout=20)
    reader = primary.makefile("rb")
    version = bson("protocolVersion", "5.4.0")
    primary.sendall(bytes([0x10, RPC, 1, 0]) + struct.pack(">I", len(version)) + version)
    frame = receive(reader)
    while frame[:2] != (0, 2):
        frame = receive(reader)
    session = frame[2]
    while frame[1] != EVENT_UPDATE or b"tcpPort" not in frame[3]:
        frame = receive(reader)
    place = frame[3].index(b"tcpPort\0") + 8
    port = struct.unpack("<i", frame[3][place:place + 4])[0]
    secondary = socket.create_connection(("127.0.0.1", port), timeout=20, source_address=("127.0.0.2", 0))
    secondary.sendall(bytes([0x50, RPC, REGISTER, session]) + struct.pack(">II", 0, 1))
    answer = receive(secondary.makefile("rb"))
    print({ACCEPTED: "accepted", REFUSED: "refused"}[answer[1]], flush=True)


if __name__ == "__main__":
    main()
