#!/usr/bin/python3
"""The least of a head unit: starts a session and its services for one app at a time, and forgets what it gets.

For benchmarks, where the reader must not be what is measured. Prints its port.
"""

import json
import socket
import struct

CONTROL, SINGLE = 0x50, 0x51
RPC, AUDIO, VIDEO = 0x07, 0x0A, 0x0B
START, ACKNOWLEDGED, END, ENDED = 1, 2, 4, 5
REGISTER, UNREGISTER, CAPABILITY, STATUS = 1, 2, 48, 0x8000


def bson(**members):
    body = b""
    for key, value in members.items():
        if isinstance(value, str):
            text = value.encode() + b"\0"
            body += b"\x02" + key.encode() + b"\0" + struct.pack("<i", len(text)) + text
        elif key == "mtu":
            body += b"\x12" + key.encode() + b"\0" + struct.pack("<q", value)
        else:
            body += b"\x10" + key.encode() + b"\0" + struct.pack("<i", value)
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def frame(kind, service, info, payload=b"", message=1):
    return struct.pack(">BBBBII", kind, service, info, 1, len(payload), message) + payload


def rpc(kind, function, correlation, **parameters):
    text = json.dumps(parameters).encode()
    return frame(SINGLE, RPC, 0, struct.pack(">III", kind << 28 | function, correlation, len(text)) + text)


def answer(function, correlation):
    """What to send for a request."""
    success = {"success": True, "resultCode": "SUCCESS"}
    if function == REGISTER:
        version = {"majorVersion": 8, "minorVersion": 0, "patchVersion": 0}
        return rpc(1, function, correlation, **success, syncMsgVersion=version,
                   hmiCapabilities={"videoStreaming": True}) + rpc(
            2, STATUS, 0, hmiLevel="FULL", audioStreamingState="AUDIBLE", systemContext="MAIN",
            videoStreamingState="STREAMABLE")
    if function == CAPABILITY:
        video = {"preferredResolution": {"resolutionWidth": 800, "resolutionHeight": 480}, "preferredFPS": 30,
                 "supportedFormats": [{"protocol": "RAW", "codec": "H264"}]}
        return rpc(1, function, correlation, **success, systemCapability={
            "systemCapabilityType": "VIDEO_STREAMING", "videoStreamingCapability": video})
    return rpc(1, function, correlation, **success)


class Reader:
    """Reads through one buffer of 1 MB, for all sizes of frames, as a plain reader would."""

    def __init__(self, connection):
        self.connection = connection
        self.memory = memoryview(bytearray(1 << 20))
        self.start = self.end = 0

    def take(self, count):
        """The next `count` bytes, which must be few; None at the end of the stream."""
        while self.end - self.start < count:
            rest = self.end - self.start
            self.memory[:rest] = bytes(self.memory[self.start:self.end])
            self.start, self.end = 0, rest
            received = self.connection.recv_into(self.memory[rest:])
            if not received:
                return None
            self.end += received
        self.start += count
        return bytes(self.memory[self.start - count:self.start])

    def discard(self, count):
        """Forgets the next `count` bytes."""
        while count > self.end - self.start:
            count -= self.end - self.start
            self.start, self.end = 0, self.connection.recv_into(self.memory)
            if not self.end:
                return
        self.start += count


def serve(connection):
    reader = Reader(connection)
    while (first := reader.take(8)) is not None:
        version, service, info, size = first[0] >> 4, first[1], first[2], struct.unpack(">I", first[4:])[0]
        if version > 1:
            reader.take(4)
        if service in (AUDIO, VIDEO) and first[0] & 7:
            reader.discard(size)
            continue
        payload = reader.take(size)
        if first[0] & 7:
            function, correlation = struct.unpack(">II", payload[:8])
            if function >> 28 == 0:
                connection.sendall(answer(function, correlation))
        elif info == START and service == RPC:
            connection.sendall(frame(CONTROL, RPC, ACKNOWLEDGED, bson(
                protocolVersion="5.4.0", hashId=65537, mtu=131072), 0))
        elif info == START:
            connection.sendall(frame(CONTROL, service, ACKNOWLEDGED, bson(mtu=131072), 0))
        elif info == END:
            connection.sendall(frame(CONTROL, service, ENDED, b"", 0))


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        connection, _ = listener.accept()
        with connection:
            try:
                serve(connection)
            except ConnectionError:
                pass


if __name__ == "__main__":
    main()
