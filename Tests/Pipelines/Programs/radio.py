#!/usr/bin/python3
"""A media app with everything that templates have, at the head unit in SDL_PORT, until the connection ends: radio.py

Its soft buttons show what can stand in front: 1 an alert, 2 a choice, 3 a message, 4 a slider, 5 a keyboard. What the
driver does is printed, and so are the answers to these requests.
"""

import json
import os
import struct
import sys
import zlib

from register import receive
from show import App

FUNCTIONS = {"Alert": 12, "PerformInteraction": 10, "ScrollableMessage": 25, "Slider": 26}
NOTIFICATIONS = {0x8003: "OnButtonPress", 0x8005: "OnCommand", 0x800C: "OnTouchEvent"}


def png(side, pixel):
    """A square picture; `pixel` gives the RGB at a position."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"".join(bytes(pixel(x, y)) for x in range(side)) for y in range(side))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def ring(x, y):
    distance = ((x - 64) ** 2 + (y - 64) ** 2) ** 0.5
    return (240, 120 + x // 2, 40) if 24 < distance < 58 else (30, 40 + y, 90)


def image(name):
    return {"value": name, "imageType": "DYNAMIC"}


def button(number, text, **more):
    return {"type": "TEXT", "text": text, "softButtonID": number, "systemAction": "DEFAULT_ACTION", **more}


OVERLAYS = {
    1: ("Alert", {
        "alertText1": "The signal is weak", "alertText2": "Another station is nearby.", "duration": 10_000,
        "ttsChunks": [{"type": "TEXT", "text": "The signal is weak"}],
        "softButtons": [button(11, "Change", isHighlighted=True), button(12, "Stay")]}),
    2: ("PerformInteraction", {
        "initialText": "Which station?", "interactionMode": "MANUAL_ONLY", "interactionChoiceSetIDList": [1],
        "interactionLayout": "LIST_ONLY", "timeout": 60_000}),
    3: ("ScrollableMessage", {
        "scrollableMessageBody": "About this song.\n\n" + "It was recorded in one night. " * 12, "timeout": 60_000,
        "softButtons": [button(13, "Close")]}),
    4: ("Slider", {
        "numTicks": 5, "position": 3, "sliderHeader": "Loudness",
        "sliderFooter": ["silent", "low", "medium", "loud", "full"], "timeout": 60_000}),
    5: ("PerformInteraction", {
        "initialText": "Search", "interactionMode": "MANUAL_ONLY", "interactionChoiceSetIDList": [],
        "interactionLayout": "KEYBOARD", "timeout": 60_000}),
}


def set_up(app):
    for name, picture in {"icon.png": ring, "cover.png": lambda x, y: (x * 2, y * 2, 160)}.items():
        data = png(128, picture)
        app.request(32, {"syncFileName": name, "fileType": "GRAPHIC_PNG", "length": len(data)}, data)
    app.request(35, {"syncFileName": "icon.png"})
    app.request(3, {"menuTitle": "Radio"})
    app.request(7, {"menuID": 1, "menuName": "Stations"})
    app.request(5, {"cmdID": 1, "menuParams": {"menuName": "Record"}})
    app.request(5, {"cmdID": 2, "menuParams": {"menuName": "Jazz", "parentID": 1}, "cmdIcon": image("icon.png")})
    app.request(5, {"cmdID": 3, "vrCommands": ["Louder"]})
    app.request(9, {"interactionChoiceSetID": 1, "choiceSet": [
        {"choiceID": number, "menuName": name, "image": image("icon.png"), "secondaryText": more}
        for number, name, more in [(1, "Jazz", "95.5 MHz"), (2, "News", "101.3 MHz"), (3, "Classic", "88.0 MHz")]]})
    app.request(18, {"buttonName": "PLAY_PAUSE"})
    app.request(13, {
        "mainField1": "Blue Train", "mainField2": "The Quartet", "mainField3": "<b onclick=alert(1)>1957</b>",
        "mediaTrack": "Jazz 95.5", "statusBar": "stereo", "graphic": image("cover.png"), "alignment": "LEFT_ALIGNED",
        "templateConfiguration": {"template": "MEDIA"},
        "softButtons": [
            button(1, "Signal"),
            {"type": "BOTH", "text": "Stations", "image": image("icon.png"), "softButtonID": 2,
             "systemAction": "DEFAULT_ACTION"},
            button(3, "About", isHighlighted=True), button(4, "Loudness"), button(5, "Search")]})
    app.request(15, {
        "updateMode": "COUNTUP", "startTime": {"hours": 0, "minutes": 1, "seconds": 5},
        "endTime": {"hours": 0, "minutes": 10, "seconds": 43}})


def main():
    app = App(int(os.environ["SDL_PORT"]))
    app.connection.settimeout(None)
    app.request(1, {
        "syncMsgVersion": {"majorVersion": 8, "minorVersion": 0, "patchVersion": 0}, "appName": "Radio",
        "appID": "radio", "languageDesired": "EN-US", "hmiDisplayLanguageDesired": "EN-US", "isMediaApplication": True,
        "appHMIType": ["MEDIA"],
    })
    # Until the driver has opened it, its screen may not be changed.
    while True:
        frame = receive(app.reader)
        if frame is None:
            sys.exit("The head unit has gone.")
        if b'"hmiLevel":"FULL"' in frame[3]:
            break
    set_up(app)
    print("ready", flush=True)
    waiting = {}
    while (frame := receive(app.reader)) is not None:
        if frame[0] != 1:
            continue
        function, number, length = struct.unpack(">III", frame[3][:12])
        members = json.loads(frame[3][12:12 + length] or b"{}")
        name = NOTIFICATIONS.get(function & 0xFFFF)
        if function >> 28 == 1 and number in waiting:
            print(waiting.pop(number) + "/response", json.dumps(members, sort_keys=True), flush=True)
        elif name:
            print(name, json.dumps(members, sort_keys=True), flush=True)
            if name == "OnButtonPress" and members.get("customButtonID") in OVERLAYS:
                request, parameters = OVERLAYS[members["customButtonID"]]
                app.number += 1
                waiting[app.number] = request
                payload = json.dumps(parameters).encode()
                payload = struct.pack(">III", FUNCTIONS[request], app.number, len(payload)) + payload
                app.connection.sendall(
                    bytes([0x41, 7, 0, app.session]) + struct.pack(">II", len(payload), app.number) + payload)


if __name__ == "__main__":
    main()
