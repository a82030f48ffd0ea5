"""A browser without a window, by the DevTools protocol over a pipe."""

import base64
import fcntl
import json
import os
import subprocess
import tempfile
import time

TIMEOUT_SECONDS = 60


class Browser:
    """Chromium, until the end of a `with` block."""

    def __init__(self, program="chromium"):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        # Away from 3 and 4, where the browser looks for them.
        there, self.commands = os.pipe()
        self.answers, back = os.pipe()
        there, back = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (there, back))

        def connect():
            os.dup2(there, 3)
            os.dup2(back, 4)

        self.log = open(os.path.join(self.folder.name, "log"), "w+b")
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--mute-audio",
             "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}/profile", "about:blank"],
            # What it keeps elsewhere it leaves behind when it is killed.
            env=dict(os.environ, TMPDIR=self.folder.name),
            preexec_fn=connect, pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        os.close(there)
        os.close(back)
        os.set_blocking(self.answers, True)
        self.rest = b""
        self.number = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        self.log.close()
        self.folder.cleanup()

    def _receive(self):
        while b"\0" not in self.rest:
            data = os.read(self.answers, 1 << 20)
            if not data:
                self.log.seek(0)
                raise AssertionError(f"the browser has ended: {self.log.read()[-2000:]}")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, session=None, **parameters):
        """The result; events that come before it are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self.number:
                assert "result" in answer, (method, answer)
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)


class Page:
    """A window of its own."""

    def __init__(self, browser, url="about:blank", width=1280, height=900, scheme="light"):
        self.browser = browser
        target = browser.ask("Target.createTarget", url="about:blank", newWindow=True)["targetId"]
        self.session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setScrollbarsHidden", hidden=True)
        self.appear(width, height, scheme)
        if url != "about:blank":
            self.ask("Page.navigate", url=url)

    def ask(self, method, **parameters):
        return self.browser.ask(method, self.session, **parameters)

    def appear(self, width, height, scheme):
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.ask(
            "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def value(self, expression):
        answer = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, expression):
        """Until it is true; what it is then. The page need not be there yet."""
        found = f"const found = {expression}; return found instanceof Node || found"
        expression = f"(() => {{ try {{ {found} }} catch {{ return null }} }})()"
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not (value := self.value(expression)):
            shown = self.value("document.body?.innerText.slice(0, 1500)")
            assert time.monotonic() < deadline, f"{expression} does not become true: {shown}"
            time.sleep(0.05)
        return value

    def click(self, selector, text=""):
        """Waits for the element, with this text in it, at rest and with nothing in front of it, and clicks it with the
        mouse."""
        find = (f"[...document.querySelectorAll({json.dumps(selector)})]"
                f".find((one) => one.textContent.includes({json.dumps(text)}) && one.getClientRects().length > 0)")
        # It may move, or be replaced, meanwhile; then the mouse aims again.
        place = (f"(() => {{ const one = {find}; if (!one) return null; one.scrollIntoView({{block: 'center'}});"
                 " const {x, y, width, height} = one.getBoundingClientRect();"
                 " const place = [x + width / 2, y + height / 2];"
                 " const isAtRest = String(place) === window.formerPlace; window.formerPlace = String(place);"
                 " if (!isAtRest || !one.contains(document.elementFromPoint(...place))) return null;"
                 " window.isHit = false;"
                 " one.addEventListener('click', () => (window.isHit = true), { once: true, capture: true });"
                 " return place })()")
        while True:
            self.mouse(*self.wait(place))
            if self.value("window.isHit"):
                return

    def mouse(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, path):
        """As its ending says: PNG or WebP."""
        data = self.ask("Page.captureScreenshot", format=path.rsplit(".", 1)[1], quality=85)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def errors(self):
        """What the page has complained about."""
        self.value("0")
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            parameters = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"])
            if event["method"] == "Runtime.consoleAPICalled" and parameters["type"] == "error":
                found.append(parameters["args"])
            if event["method"] == "Log.entryAdded" and parameters["entry"]["level"] == "error":
                found.append(parameters["entry"])
        return found
