#!/usr/bin/python3
"""An app that only registers, tells the answer, and stays until its input ends: register.py PORT NAME ID

With a further argument it does not unregister at its end.
"""

import json
import socket
import struct
import sys

RPC = 0x07


def receive(reader):
    """Frame type, info, session and payload of the next frame; None at the end."""
    header = reader.read(8)
    if len(header) < 8:
        return None
    if header[0] >> 4 > 1:
        reader.read(4)
    return header[0] & 7, header[2], header[3], reader.read(struct.unpack(">I", header[4:])[0])


def request(connection, session, function, parameters):
    payload = struct.pack(">III", function, function, len(parameters)) + parameters
    connection.sendall(bytes([0x41, RPC, 0, session]) + struct.pack(">II", len(payload), function) + payload)


def main():
    connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=20)
    reader = connection.makefile("rb")
    # StartService, and its acknowledgement.
    connection.sendall(bytes([0x10, RPC, 1, 0, 0, 0, 0, 0]))
    frame = receive(reader)
    while frame[:2] != (0, 2):
        frame = receive(reader)
    parameters = json.dumps({
        "syncMsgVersion": {"majorVersion": 8, "minorVersion": 0, "patchVersion": 0}, "appName": sys.argv[2],
        "appID": sys.argv[3], "languageDesired": "EN-US", "hmiDisplayLanguageDesired": "EN-US",
        "isMediaApplication": False, "appHMIType": ["NAVIGATION"],
    }).encode()
    # A request, RegisterAppInterface, number 1.
    session = frame[2]
    request(connection, session, 1, parameters)
    while b'"resultCode"' not in frame[3]:
        frame = receive(reader)
    result = json.loads(frame[3][12:])["resultCode"]
    print(result, flush=True)
    sys.stdin.read()
    if result == "SUCCESS" and len(sys.argv) < 5:
        # UnregisterAppInterface, and its answer, unless the head unit has gone before.
        try:
            request(connection, session, 2, b"{}")
            while frame is not None and frame[3][:4] != struct.pack(">I", 1 << 28 | 2):
                frame = receive(reader)
        except OSError:
            pass
    connection.close()


if __name__ == "__main__":
    main()
