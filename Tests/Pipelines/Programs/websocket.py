#!/usr/bin/python3
"""A web app, by hand with the standard library: registers over the WebSocket at a port of this machine, in messages of
one byte, and prints the result: websocket.py PORT [ORIGIN]

With an origin it is a browser's page, and prints the status of the answer.
"""

import base64
import hashlib
import json
import os
import socket
import struct
import sys

KEY = base64.b64encode(os.urandom(16)).decode()


class Client:
    def __init__(self, port, origin=None):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.reader = self.connection.makefile("rb")
        lines = ["GET / HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket", "Connection: Upgrade",
                 f"Sec-WebSocket-Key: {KEY}", "Sec-WebSocket-Version: 13",
                 "Sec-WebSocket-Extensions: permessage-deflate"]
        if origin:
            lines.append(f"Origin: {origin}")
        self.connection.sendall("\r\n".join(lines + ["", ""]).encode())
        self.status = self.reader.readline().split()[1].decode()
        self.fields = {}
        while line := self.reader.readline().strip().decode():
            name, value = line.split(": ", 1)
            self.fields[name.lower()] = value

    def send(self, opcode, payload):
        mask = os.urandom(4)
        header = bytes([0x80 | opcode])
        header += bytes([0x80 | len(payload)]) if len(payload) < 126 else struct.pack(">BH", 0x80 | 126, len(payload))
        self.connection.sendall(header + mask + bytes(byte ^ mask[i & 3] for i, byte in enumerate(payload)))

    def receive(self):
        first, second = self.reader.read(2)
        assert first & 0x70 == 0 and second & 0x80 == 0, "no extension, no mask"
        length = second & 0x7F
        if length > 125:
            length = int.from_bytes(self.reader.read(2 if length == 126 else 8), "big")
        return first, self.reader.read(length)


def message(client):
    """The next binary message, which has to be one SDL frame."""
    first, payload = client.receive()
    assert first == 0x82, first
    size = (8 if payload[0] >> 4 == 1 else 12) + int.from_bytes(payload[4:8], "big")
    assert size == len(payload), "one frame in each message"
    return payload


def main():
    client = Client(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
    if len(sys.argv) > 2:
        print(client.status)
        return
    assert client.status == "101" and "sec-websocket-extensions" not in client.fields, client.fields
    accept = hashlib.sha1((KEY + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
    assert client.fields["sec-websocket-accept"] == base64.b64encode(accept).decode()
    client.send(9, b"ping")
    assert client.receive() == (0x8A, b"ping")
    client.send(1, b"SDL has no text")
    for byte in bytes([0x10, 7, 1, 0, 0, 0, 0, 0]):
        client.send(2, bytes([byte]))
    session = message(client)[3]
    members = json.dumps({
        "syncMsgVersion": {"majorVersion": 8, "minorVersion": 0, "patchVersion": 0}, "appName": "Web", "appID": "web",
        "languageDesired": "EN-US", "hmiDisplayLanguageDesired": "EN-US", "isMediaApplication": False,
        "appHMIType": ["NAVIGATION"],
    }).encode()
    request = struct.pack(">III", 1, 1, len(members)) + members
    client.send(2, bytes([0x41, 7, 0, session]) + struct.pack(">II", len(request), 1) + request)
    while True:
        frame = message(client)
        if frame[12:20] == struct.pack(">II", 1 << 28 | 1, 1):
            print(json.loads(frame[24:])["resultCode"])
            break
    client.send(8, struct.pack(">H", 1000))
    frame = client.receive()
    while frame[0] == 0x82:
        frame = client.receive()
    assert frame == (0x88, struct.pack(">H", 1000)), frame
    assert client.reader.read(1) == b"", "the head unit closes the connection"


if __name__ == "__main__":
    main()
