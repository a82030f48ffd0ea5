#!/usr/bin/python3
"""Looks at the page of a head unit (`--web`) with a browser, and uses it: web.py HEAD-UNIT CASE

CASE is one of template, video, words, restart, origin, readers, element. Says "ok" at the end.
"""

import functools
import http.client
import http.server
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from devtools import Browser, Page
from show import App

FOLDER = os.path.dirname(os.path.abspath(__file__))
TOKEN = "let me/in"
BARS = [(191, 191, 191), (191, 191, 0), (0, 191, 191), (0, 191, 0), (191, 0, 191), (191, 0, 0), (0, 0, 191)]


class Car:
    """A head unit, and the app that it starts."""

    def __init__(self, head_unit, *program, port="0", options=()):
        self.process = subprocess.Popen(
            [head_unit, "--port", "0", "--web", port, "--control-token", TOKEN, *options,
             *(["--", *program] if program else [])],
            stdout=subprocess.PIPE, text=True)
        self.lines = []
        for line in self.process.stdout:
            if line.startswith("listening "):
                self.head_unit_port = int(line.split()[1])
            if line.startswith("web "):
                self.url = line.split()[1]
                break
        assert self.url.endswith("/#let%20me%2Fin"), self.url
        self.port = int(self.url.split(":")[2].split("/")[0])
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Its program is ended with it.
        self.process.terminate()
        self.process.wait(30)

    def wait(self, text):
        """Until it has printed that."""
        deadline = time.monotonic() + 60
        while not any(text in line for line in self.lines):
            assert time.monotonic() < deadline, f"{text} is missing: {''.join(self.lines[-30:])}"
            time.sleep(0.02)

    def ask(self, method, path, body=None, token=TOKEN, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        if token:
            headers["Authorization"] = f"Bearer {token}"
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response, response.read()


def radio(head_unit, **more):
    return Car(head_unit, sys.executable, os.path.join(FOLDER, "radio.py"), **more)


def check_names(page):
    """A screen reader has a name for everything that can be used."""
    roles = {"button", "textbox", "checkbox", "slider", "combobox", "searchbox", "spinbutton", "dialog", "image", "region"}
    for node in page.ask("Accessibility.getFullAXTree")["nodes"]:
        if not node["ignored"] and node["role"]["value"] in roles:
            assert node.get("name", {}).get("value"), node


def check_template(head_unit):
    """What the app shows is there, and what is clicked reaches it."""
    with radio(head_unit) as car, Browser() as browser:
        page = Page(browser, car.url)
        page.wait("document.querySelector('.first')?.textContent === 'Blue Train'")
        page.wait("document.images.length > 3 && [...document.images].every((one) => one.naturalWidth === 128)")
        shown = page.value("document.getElementById('template').innerText")
        assert "<b onclick=alert(1)>1957</b>" in shown and "0:10:43" in shown, shown
        assert TOKEN not in page.value("location.href")
        page.value("document.querySelectorAll('main details:not(.line)').forEach((one) => (one.open = true))")
        # Nothing moves once the list of commands is there.
        page.wait("document.querySelector('#help pre').textContent.includes('touch tap X Y')")
        check_names(page)
        page.click("#template .soft-buttons button", "Signal")
        car.wait('"customButtonID": 1')
        page.wait("document.getElementById('speech').textContent.includes('The signal is weak')")
        check_names(page)
        page.click("#overlay button", "Change")
        car.wait("Alert/response")
        page.click("#template .soft-buttons button", "Stations")
        page.click("#overlay .choices button", "News")
        car.wait('PerformInteraction/response {"choiceID": 2')
        page.click("#template .soft-buttons button", "Loudness")
        page.wait("document.querySelector('#overlay input[type=range]')?.value === '3'")
        page.value("document.querySelector('#overlay input').value = 5")
        page.click("#overlay button", "Set")
        car.wait('"sliderPosition": 5')
        page.click("#template .soft-buttons button", "Search")
        page.wait("document.querySelector('#overlay .keyboard input') !== null")
        page.value("document.querySelector('#overlay .keyboard input').value = 'swing'")
        page.click("#overlay .keyboard button", "Enter")
        car.wait('"manualTextEntry": "swing"')
        page.click("#template .soft-buttons button", "About")
        page.click("#overlay button", "Close")
        car.wait("ScrollableMessage/response")
        # What the app asks is closed without an answer.
        page.click("#template .soft-buttons button", "Search")
        page.click("#overlay .dialog-title .close")
        car.wait('PerformInteraction/response {"resultCode": "ABORTED"')
        page.click("#template [data-key=menu]")
        page.click("#overlay .choices button", "Stations")
        page.click("#overlay .choices button", "Jazz")
        car.wait('OnCommand {"cmdID": 2')
        page.click("#keys button", "play pause")
        car.wait('"buttonName": "PLAY_PAUSE"')
        page.click("#pause")
        page.click("#lines summary", "SetMediaClockTimer")
        page.wait("document.querySelector('.line[open]')?.innerText.includes('updateMode')")
        page.click("#levels button", "none")
        page.wait("document.getElementById('template').innerText.includes('No app is on the screen')")
        page.click("#apps .open", "Radio")
        page.wait("document.querySelector('.first')?.textContent === 'Blue Train'")
        page.click("#apps .close")
        page.wait("document.getElementById('template').innerText.includes('No app is on the screen')")
        assert page.errors() == [], page.errors()


def check_video(head_unit):
    """Two pages show what the app has sent; a tap in one of them reaches it at the same pixel."""
    stream = "exec gst-launch-1.0 -q videotestsrc pattern=smpte75 is-live=true ! sdlvideosink uri=$SDL_URI"
    with Car(head_unit, "sh", "-c", stream) as car, Browser() as browser:
        pages = [Page(browser, car.url), Page(browser, car.url, width=400)]
        for page in pages:
            page.wait("document.querySelector('#video.shown') !== null")
            # An encoder's first picture is coarse.
            colours = json.dumps(BARS)
            page.wait(f"""(() => {{
              const video = document.getElementById('video')
              const near = (bar, index) => {{
                const {{ data }} = video.getContext('2d').getImageData(20 + 114 * index, 40, 60, 60)
                const sums = [0, 0, 0]
                data.forEach((sample, at) => at % 4 < 3 && (sums[at % 4] += sample))
                return bar.every((level, at) => Math.abs(level - sums[at] / 3600) < 8)
              }}
              return video.width === 800 && video.height === 480 && {colours}.every(near)
            }})()""")
            box = page.value(
                "(() => { const { x, y, width, height } = document.getElementById('video').getBoundingClientRect();"
                " return [x, y, width, height] })()")
            assert abs(box[2] / box[3] - 800 / 480) < 0.01, box
        # The middle of the pixel, on a page that is narrower than the picture.
        x, y, width, height = pages[0].value(
            "(() => { const { x, y, width, height } = document.getElementById('video').getBoundingClientRect();"
            " return [x, y, width, height] })()")
        pages[0].mouse(x + width * 123.5 / 800, y + height * 234.5 / 480)
        car.wait("touch BEGIN #0 (123, 234)")
        car.wait("touch END #0 (123, 234)")
        # Two fingers, one of which moves.
        def touch(kind, *places):
            pages[0].ask("Input.dispatchTouchEvent", type=kind, touchPoints=[
                {"x": x + width * (px + 0.5) / 800, "y": y + height * (py + 0.5) / 480, "id": number}
                for number, (px, py) in enumerate(places)])

        touch("touchStart", (100, 100), (700, 400))
        touch("touchMove", (100, 100), (600, 400))
        car.wait("touch BEGIN #0 (100, 100)")
        car.wait("touch BEGIN #1 (700, 400)")
        car.wait("touch MOVE #1 (600, 400)")
        touch("touchEnd")
        car.wait("touch END #0 (100, 100)")
        car.wait("touch END #1 (600, 400)")
        for page in pages:
            assert page.errors() == [], page.errors()


def check_element(_):
    """`sdlheadunitsrc` serves the same page, whose address and token it tells, and pictures, and takes the same commands."""
    pipeline = ["sdlheadunitsrc", "port=0", "web=127.0.0.1:0", "!", "fakesink"]
    source = subprocess.Popen(["gst-launch-1.0", *pipeline], stdout=subprocess.PIPE, text=True)
    uri, url = None, None
    for line in source.stdout:
        if "uri=sdl://" in line:
            uri = line.strip().split("uri=")[1]
        if "http://" in line:
            url = line.strip()[line.index("http://"):]
            break
    threading.Thread(target=source.stdout.read, daemon=True).start()
    stream = f"exec gst-launch-1.0 -q videotestsrc pattern=smpte75 is-live=true ! sdlvideosink uri={uri}"
    app = subprocess.Popen(["sh", "-c", stream])
    address, token = url.split("/#")

    def ask(path, body=None, **headers):
        connection = http.client.HTTPConnection(address.split("/")[2], timeout=60)
        connection.request("POST" if body else "GET", path, body, headers)
        response = connection.getresponse()
        return response.status, response.read()

    known = {"Authorization": f"Bearer {token}"}
    try:
        assert b"<title>Head unit" in ask("/")[1] and ask("/state")[0] == 401
        with Browser() as browser:
            page = Page(browser, url)
            page.wait("document.querySelector('#video.shown') !== null")
            page.click("#video")
            page.click("#apps .close")
            page.wait("document.getElementById('template').innerText.includes('No app is on the screen')")
            assert page.errors() == [], page.errors()
        (state,) = json.loads(ask("/state", **known)[1])["apps"]
        assert state["name"] == "GStreamer" and state["level"] == "NONE", state
        log = ask("/log", **known)[1]
        assert b"OnTouchEvent" in log and f"close {state['session']}".encode() in log
        assert ask("/command", f"activate {state['session']}", **known)[0] == 200
        for _ in range(600):
            status, picture = ask("/screenshot.png", **known)
            if status == 200:
                break
            time.sleep(0.05)
        assert picture[1:4] == b"PNG", picture[:200]
        # As in a script: the end of the stream, and of the port.
        assert ask("/command", "quit", **known)[0] == 200
        assert source.wait(60) == 0
        with socket.socket() as free:
            # The server has closed connections.
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind(("127.0.0.1", int(address.split(":")[2])))
    finally:
        for process in (app, source):
            process.send_signal(signal.SIGINT)
            process.wait(60)


def check_restart(head_unit):
    """The page finds the next head unit on the same port."""
    with Browser() as browser:
        with radio(head_unit) as car:
            page = Page(browser, car.url)
            page.wait("document.querySelector('.first')?.textContent === 'Blue Train'")
        page.wait("document.getElementById('connection').className === 'lost'")
        page.wait("document.getElementById('apps').innerText.includes('No app')")
        with radio(head_unit, port=str(car.port)):
            page.wait("document.getElementById('connection').className === 'connected'")
            page.wait("document.querySelector('.first')?.textContent === 'Blue Train'")
            # Without the token it is asked for.
            other = Page(browser, f"http://127.0.0.1:{car.port}/")
            other.wait("!document.getElementById('welcome').hidden")
            other.value(f"document.getElementById('token').value = {json.dumps(TOKEN)}")
            other.click("#welcome button")
            other.wait("document.querySelector('.first')?.textContent === 'Blue Train'")


def check_origin(head_unit):
    """The page is there for all, and nothing else; a page from elsewhere gets nothing, even with the token."""
    with radio(head_unit) as car:
        response, body = car.ask("GET", "/", token=None)
        assert response.status == 200 and b"<title>" in body
        policy = response.getheader("Content-Security-Policy")
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy, policy
        assert response.getheader("X-Content-Type-Options") == "nosniff"
        paths = [part.split(b'"')[1].decode() for part in body.split(b"src=")[1:] + body.split(b"href=")[1:]]
        assert "main.js" in paths and "style.css" in paths, paths
        for path in paths:
            assert car.ask("GET", f"/{path}", token=None)[0].status == 200, path
        for path in ("/state", "/log", "/video?follow", "/file?number=1", "/screenshot.png"):
            assert car.ask("GET", path, token=None)[0].status == 401, path
            assert car.ask("GET", path, Origin="http://evil.invalid")[0].status == 403, path
        assert car.ask("GET", "/", token=None, Origin="http://evil.invalid")[0].status == 403
        assert car.ask("POST", "/", token=None)[0].status == 401
        assert car.ask("GET", "/file?number=0")[0].status == 404
        car.wait("program: ready")
        folder = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(http.server.SimpleHTTPRequestHandler, directory=FOLDER))
        threading.Thread(target=folder.serve_forever, daemon=True).start()
        with Browser() as browser:
            page = Page(browser, f"http://127.0.0.1:{folder.server_port}/")
            page.wait("document.readyState === 'complete' && location.protocol === 'http:'")
            results = page.value(f"""(async () => {{
              const there = 'http://127.0.0.1:{car.port}'
              const headers = {{ Authorization: 'Bearer {TOKEN}' }}
              const got = async (path, options) => {{
                try {{
                  return (await (await fetch(there + path, options)).text()).length
                }} catch (error) {{
                  return error.name
                }}
              }}
              const frame = document.createElement('iframe')
              frame.src = there
              document.body.append(frame)
              await new Promise((resolve) => frame.addEventListener('load', resolve))
              return [
                await got('/', {{}}), await got('/state', {{ headers }}), await got('/main.js', {{ mode: 'no-cors' }}),
                await got('/command', {{ method: 'POST', headers, body: 'vehicle speed 99' }}),
                await got('/command', {{ method: 'POST', mode: 'no-cors', body: 'vehicle speed 99' }}),
                frame.contentDocument === null,
              ]
            }})()""")
            assert results[:4] == ["TypeError"] * 4 and results[4] in (0, "TypeError") and results[5], results
        folder.shutdown()
        assert b"vehicle speed 99" not in car.ask("GET", "/log")[1]


# The parameter sets of 320x240 pixels, in the baseline profile.
SETS = bytes.fromhex("000000016742c015da0507ec05a830303528000003000800000301e478b175" "0000000168ce3c80")
KEY_FRAME, FRAME = bytes.fromhex("000000016588"), bytes.fromhex("00000001419a")


def start_navigation(car):
    """An app whose video has started."""
    app = App(car.head_unit_port)
    app.request(1, {
        "syncMsgVersion": {"majorVersion": 8, "minorVersion": 0, "patchVersion": 0}, "appName": "Map", "appID": "1",
        "languageDesired": "EN-US", "hmiDisplayLanguageDesired": "EN-US", "isMediaApplication": False,
        "appHMIType": ["NAVIGATION"],
    })
    for _ in range(600):
        if b'"level":"FULL"' in car.ask("GET", "/state")[1]:
            break
        time.sleep(0.05)
    app.connection.sendall(bytes([0x40, 11, 1, app.session]) + bytes(8))
    return app


def check_words(head_unit):
    """Video that can't be decoded is said in words; touchable rectangles are where the app has them; the window gets
    another size; what was refused is not shown."""
    with Car(head_unit, options=["--no-checks"]) as car, Browser() as browser:
        app = start_navigation(car)
        app.request(49, {"hapticRectData": [{"id": 4, "rect": {"x": 80, "y": 48, "width": 160, "height": 96}}]})
        assert app.request(13, {"mainField1": "accepted"})["success"]
        assert not app.request(13, {"mainField1": "refused", "alignment": {"toString": 1}})["success"]
        page = Page(browser, car.url)
        page.wait("document.getElementById('problem').innerText.includes('waiting for a key frame')")
        page.wait("document.querySelector('#template .first')?.textContent === 'accepted'")
        for unit in (SETS + KEY_FRAME + bytes(range(1, 200)), FRAME + b"end"):
            app.connection.sendall(bytes([0x41, 11, 0, app.session]) + struct.pack(">II", len(unit), 1) + unit)
        page.wait("document.getElementById('problem').innerText.includes('can\\'t decode the video (avc1.42c015)')")
        page.click("#haptics")
        rectangle = "document.querySelector('#rectangles div')"
        page.wait(f"{rectangle}.textContent === '4'")
        styles = page.value(f"(({{ left, top, width, height }}) => [left, top, width, height])({rectangle}.style)")
        assert styles == ["10%", "10%", "20%", "20%"], styles
        page.value("[width, height, scale].forEach((one, at) => (one.value = [400, 240, 1.5][at]))")
        page.click("#resize button")
        page.wait("document.getElementById('message').textContent === 'resize 400x240 scale 1.5: done'")
        app.connection.close()


def units(connection):
    """Number, flags, and length of each access unit. The answer begins with the first one."""
    reader = http.client.HTTPResponse(connection)
    reader.begin()
    assert reader.status == 200
    while header := reader.read(24):
        length, number, _, flags = struct.unpack(">IIBB", header[:10])
        reader.read(length)
        yield number, flags, length


def check_readers(head_unit):
    """One that reads nothing keeps nobody waiting, costs no memory, and goes on with a key frame; one that comes late
    begins with the last one."""
    with Car(head_unit, options=["--no-checks", "--quiet"]) as car:
        app = start_navigation(car)

        def send(unit):
            app.connection.sendall(bytes([0x41, 11, 0, app.session]) + struct.pack(">II", len(unit), 1) + unit)

        def follow():
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.settimeout(60)
            connection.connect(("127.0.0.1", car.port))
            connection.sendall(f"GET /video?follow HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
            return connection, units(connection)

        slow, slow_units = follow()
        quick, quick_units = follow()
        count = 1500
        # Some 130 MB, with a key frame every 50 pictures.
        for number in range(count):
            body = bytes([number % 251 + 1]) * 90_000
            send(SETS + KEY_FRAME + body if number % 50 == 0 else FRAME + body)
        # One more, which ends the last one.
        send(SETS + KEY_FRAME + b"end")
        send(FRAME + b"end")
        numbers = []
        for number, flags, length in quick_units:
            assert not numbers or number == numbers[-1] + 1 or flags == 1, (number, numbers[-1])
            numbers.append(number)
            if number > count:
                break
        with open(f"/proc/{car.process.pid}/status") as status:
            memory = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
        assert memory < 120_000, f"{memory} kB"
        print(f"{memory} kB")
        gaps, former = 0, 0
        for number, flags, length in slow_units:
            if number != former + 1:
                gaps += 1
                assert flags == 1, f"{number} after {former} is no key frame"
            former = number
            if number > count:
                break
        assert gaps > 0, "nothing was left out"
        late, late_units = follow()
        assert next(late_units)[:2] == (count + 1, 1)
        for connection in (slow, quick, late, app.connection):
            connection.close()


def main():
    head_unit, case = sys.argv[1:]
    globals()[f"check_{case}"](head_unit)
    print("ok")


if __name__ == "__main__":
    main()
