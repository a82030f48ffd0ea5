#!/usr/bin/python3
"""An app that registers at the head unit in SDL_PORT, shows a text with a button, and ends: show.py END [NAME [ID]]

END is one of unregisters, vanishes, stays, fails (before it registers), shows-odd, sends-a-file, subscribes (to the car's
position and speed, and stays), listens (to the car's microphone, and says what most of the sound is).
"""

import collections
import json
import os
import socket
import struct
import sys
import time

from register import RPC, receive

HYBRID = 0x0F


class App:
    """Requests and their answers over one connection."""

    def __init__(self, port):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.reader = self.connection.makefile("rb")
        self.number = 0
        self.heard = b""
        self.connection.sendall(bytes([0x10, RPC, 1, 0, 0, 0, 0, 0]))
        frame = receive(self.reader)
        while frame[:2] != (0, 2):
            frame = receive(self.reader)
        self.session = frame[2]

    def request(self, function, parameters, bulk=b""):
        """The members of the answer."""
        self.number += 1
        members = json.dumps(parameters).encode()
        payload = struct.pack(">III", function, self.number, len(members)) + members + bulk
        header = bytes([0x41, HYBRID if bulk else RPC, 0, self.session])
        self.connection.sendall(header + struct.pack(">II", len(payload), self.number) + payload)
        while True:
            frame = receive(self.reader)
            # A notification, OnAudioPassThru.
            if frame[0] == 1 and frame[3][:4] == struct.pack(">I", 2 << 28 | 0x8009):
                self.heard += frame[3][12 + struct.unpack(">I", frame[3][8:12])[0]:]
            if frame[0] == 1 and frame[3][:8] == struct.pack(">II", 1 << 28 | function, self.number):
                return json.loads(frame[3][12:])


def main():
    end = sys.argv[1]
    if end == "fails":
        sys.exit(9)
    name = sys.argv[2] if len(sys.argv) > 2 else "Map"
    app = App(int(os.environ["SDL_PORT"]))
    answer = app.request(1, {
        "syncMsgVersion": {"majorVersion": 8, "minorVersion": 0, "patchVersion": 0}, "appName": name,
        "appID": sys.argv[3] if len(sys.argv) > 3 else "1",
        "languageDesired": "EN-US", "hmiDisplayLanguageDesired": "EN-US", "isMediaApplication": False,
        "appHMIType": ["NAVIGATION"],
    })
    print(answer["resultCode"], flush=True)
    # Until the driver has opened it, an app may show nothing that matters.
    time.sleep(0.3)
    app.request(18, {"buttonName": "OK"})
    text = "\u0001<odd> & \"quoted\"" if end == "shows-odd" else "Hello SDL!"
    app.request(13, {
        "mainField1": text, "mainField2": "x" * 400,
        "softButtons": [{"type": "TEXT", "text": "ROCK", "softButtonID": 7, "systemAction": "DEFAULT_ACTION"}],
    })
    if end == "sends-a-file":
        data = bytes(range(256)) * 400
        app.request(32, {"syncFileName": "a.bin", "fileType": "BINARY", "length": len(data)}, data)
    if end == "subscribes":
        app.request(20, {"gps": True, "speed": True})
    if end == "listens":
        while not app.heard:
            time.sleep(0.1)
            app.request(16, {
                "samplingRate": "16KHZ", "bitsPerSample": "16_BIT", "audioType": "PCM", "maxDuration": 500})
        (sample, _), = collections.Counter(struct.unpack(f"<{len(app.heard) // 2}h", app.heard)).most_common(1)
        print("heard", sample, flush=True)
    if end in ("unregisters", "shows-odd", "stays", "subscribes"):
        # For what the test does meanwhile.
        time.sleep(60 if end in ("stays", "subscribes") else 1)
    if end != "vanishes":
        app.request(2, {})
    app.connection.close()


if __name__ == "__main__":
    main()
