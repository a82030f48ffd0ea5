#!/usr/bin/python3
"""An app that sends sound to a head unit, in one utterance or several, and to a file what it has sent:
speak.py PORT FILE [UTTERANCES]
"""

import json
import socket
import struct
import sys

RPC, AUDIO = 0x07, 0x0A
CONTROL, SINGLE = 0, 1
START_SERVICE, START_SERVICE_ACK, END_SERVICE, END_SERVICE_ACK = 1, 2, 4, 5
# A frame of 20 ms in 16 kHz, 16 bits.
PIECE_BYTES = 640


class App:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.reader = self.socket.makefile("rb")
        self.session = 0
        self.message_id = 0

    def send(self, frame_type, service, info=0, payload=b"", version=4):
        self.message_id += 1
        header = bytes([version << 4 | frame_type, service, info, self.session]) + struct.pack(">I", len(payload))
        if version > 1:
            header += struct.pack(">I", self.message_id)
        self.socket.sendall(header + payload)

    def receive(self):
        """Type, service, info, session and payload of the next frame."""
        header = self.reader.read(8)
        if header[0] >> 4 > 1:
            self.reader.read(4)
        return header[0] & 7, header[1], header[2], header[3], self.reader.read(struct.unpack(">I", header[4:])[0])

    def wait_for(self, service, info):
        """The session of the control frame."""
        while True:
            frame_type, of, what, session, _ = self.receive()
            if (frame_type, of, what) == (CONTROL, service, info):
                return session

    def register(self):
        self.send(CONTROL, RPC, START_SERVICE, version=1)
        self.session = self.wait_for(RPC, START_SERVICE_ACK)
        parameters = json.dumps({
            "syncMsgVersion": {"majorVersion": 8, "minorVersion": 0, "patchVersion": 0}, "appName": "Speaker",
            "appID": "speaker", "languageDesired": "EN-US", "hmiDisplayLanguageDesired": "EN-US",
            "isMediaApplication": False, "appHMIType": ["NAVIGATION"],
        }).encode()
        # A request, RegisterAppInterface, number 1.
        self.send(SINGLE, RPC, payload=struct.pack(">III", 1, 1, len(parameters)) + parameters)
        while b'"hmiLevel":"FULL"' not in self.receive()[4]:
            pass

    def unregister(self):
        # A request, UnregisterAppInterface, number 2, and its answer.
        self.send(SINGLE, RPC, payload=struct.pack(">III", 2, 2, 2) + b"{}")
        while self.receive()[4][:4] != struct.pack(">I", 1 << 28 | 2):
            pass

    def speak(self, sound):
        self.send(CONTROL, AUDIO, START_SERVICE)
        self.wait_for(AUDIO, START_SERVICE_ACK)
        for start in range(0, len(sound), PIECE_BYTES):
            self.send(SINGLE, AUDIO, payload=sound[start:start + PIECE_BYTES])
        self.send(CONTROL, AUDIO, END_SERVICE)
        self.wait_for(AUDIO, END_SERVICE_ACK)


def main():
    app = App(int(sys.argv[1]))
    sound = struct.pack("<8000h", *(number * 7919 % 65536 - 32768 for number in range(8000)))
    with open(sys.argv[2], "wb") as file:
        file.write(sound)
    app.register()
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    for number in range(count):
        app.speak(sound[len(sound) // count * number:len(sound) // count * (number + 1)])
    app.unregister()
    app.socket.close()


if __name__ == "__main__":
    main()
