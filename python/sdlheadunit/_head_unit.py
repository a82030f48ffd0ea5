"""The program sdl-head-unit, driven by its standard input and its log."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from types import TracebackType
from typing import Any, Iterable, Mapping, Optional, Sequence, Type, Union

from ._events import Event, EventLog, Expectation, ExpectationFailed, HeadUnitEnded, Wanted, Watcher

# RPCs that show soft buttons.
# Commands whose effect depends on what the app shows or has subscribed to.
_DRIVER_INPUTS = ("press", "menu", "choose", "slider", "keyboard")
# As sdl-head-unit reads them, in bytes.
_LONGEST_COMMAND = 4096
_SHOWING_BUTTONS = ("Show", "Alert", "SubtleAlert", "ScrollableMessage", "ShowConstantTBT", "UpdateTurnList", "AlertManeuver")


def _quoted(path: Union[str, "os.PathLike[str]"]) -> str:
    """As an argument of a command."""
    text = os.fspath(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


class CommandFailed(Exception):
    """The head unit has not understood a command, or it has no effect."""


class HeadUnit:
    """A head unit that listens on a free port of this machine, for as long as the context lasts.

    `app` is a command that is started when the head unit listens, with its address in SDL_URI and SDL_PORT, and ended with
    it. `options` are further options of sdl-head-unit, such as "--preset", "core". The program is found in the variable
    SDL_HEAD_UNIT or in PATH.
    """

    def __init__(
        self, *options: str, app: Optional[Sequence[str]] = None, program: Optional[str] = None, timeout: float = 10,
        env: Optional[Mapping[str, str]] = None,
    ) -> None:
        if isinstance(app, str):
            raise TypeError("app is a list: the program and its arguments")
        self._program = program or os.environ.get("SDL_HEAD_UNIT") or shutil.which("sdl-head-unit") or "sdl-head-unit"
        self._arguments = ["--port", "0", *options, "--commands", "--log", "-", *(["--", *app] if app else [])]
        self._environment = dict(os.environ, **(env or {}))
        self.timeout = timeout
        """How long expectations wait unless they say so, in seconds."""
        self.lines: list[Mapping[str, Any]] = []
        """Everything in the log, as it came."""
        self.port = 0
        self.uri = ""
        """For the property `uri` of sdlvideosink."""
        self.summary: Mapping[str, Any] = {}
        """The totals, once it has ended."""
        self._log = EventLog()
        self._watcher = Watcher(self._log, None)
        self._apps = 0
        self._process: Optional[subprocess.Popen[str]] = None
        self._errors = ""
        self._names: frozenset[str] = frozenset()

    def __enter__(self) -> "HeadUnit":
        if self._process is not None:
            raise RuntimeError("a HeadUnit is used once: make another one")
        try:
            process = subprocess.Popen(
                [self._program, *self._arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True, encoding="utf-8", env=self._environment)
        except OSError as error:
            raise HeadUnitEnded(f"{self._program} can't be started: {error}. Is the package sdl-head-unit installed?") from error
        self._process = process
        self._reader = threading.Thread(target=self._read, args=(process,), daemon=True)
        self._reader.start()
        if self._log.wait(lambda event: event.name == "listening", 0, 30) is None:
            self.close()
            raise HeadUnitEnded(self._errors.strip() or "sdl-head-unit does not listen")
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def close(self) -> int:
        """Ends the head unit and its app; returns the exit status."""
        process = self._process
        if process is None:
            return 0
        if process.poll() is None:
            process.terminate()
        try:
            status = process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        self._reader.join()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None and not stream.closed:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass
        return status

    def _read(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None and process.stderr is not None
        try:
            for text in process.stdout:
                self._take(text)
            self._errors = process.stderr.read()
        finally:
            self._log.end(f"sdl-head-unit has ended{': ' + self._errors.strip() if self._errors else ''}")

    def _take(self, text: str) -> None:
        try:
            line = json.loads(text)
        except ValueError:
            # Of an option such as --help.
            self._errors += text
            return
        self.lines.append(line)
        if line.get("type") == "listening":
            self.port, self.uri, self._names = line["port"], line["uri"], frozenset(line["events"])
        if line.get("type") == "summary":
            self.summary = line
        event = Event.of(line)
        if event is not None:
            self._log.append(event)

    def _expectation(self, name: str, members: Mapping[str, Wanted]) -> Expectation:
        if self._names and name.removesuffix("/response") not in self._names:
            raise ValueError(f"there is no event and no RPC {name!r}")
        return Expectation(name, members)

    # The driver

    def command(self, text: str) -> None:
        """Gives the head unit a command, as `sdl-head-unit --commands` takes them, such as "level none"."""
        process = self._process
        start = len(self._log)
        if process is None or process.stdin is None or self._log.ended:
            raise HeadUnitEnded(self._log.ended or "the head unit has not been started")
        if "\n" in text or not text.strip() or len(text.encode()) > _LONGEST_COMMAND:
            raise CommandFailed(f"a command is one line of at most {_LONGEST_COMMAND} bytes")
        try:
            process.stdin.write(text + "\n")
            process.stdin.flush()
        except BrokenPipeError as error:
            raise HeadUnitEnded("sdl-head-unit has ended") from error
        found = self._log.wait(lambda event: event.name == "command" and event.line["text"] == text, start, 30)
        if found is None:
            raise HeadUnitEnded(self._log.ended or "sdl-head-unit does not take commands")
        answer = self._log.events(found)[0].line
        if answer["result"] != "done":
            raise CommandFailed(answer["cause"])
        if text.split()[0] in _DRIVER_INPUTS:
            found = self._log.wait(lambda event: event.name in ("driver-input", "no-effect"), start, 30)
            effect = None if found is None else self._log.events(found)[0]
            if effect is not None and effect.name == "no-effect":
                raise CommandFailed(f"{text}: {effect['reason']}")

    def vehicle(self, **readings: Any) -> None:
        """Sets the car's readings, such as speed=120, prndl="DRIVE"."""
        for name, value in readings.items():
            self.command(f"vehicle {name} {value if isinstance(value, str) else json.dumps(value)}")

    def cut(self) -> None:
        """Closes the connection of the app on the screen without a message."""
        self.command("cut")

    def screenshot(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the picture that the app on the screen shows to a file, as PNG. Needs GStreamer's tools."""
        self._perform(f"screenshot {_quoted(path)}")

    def _perform(self, text: str) -> None:
        """Gives a command of tests, and waits for its end."""
        start = len(self._log)
        self.command(text)
        found = self._log.wait(lambda event: event.name == "tested" and event.line["text"] == text, start, 60)
        if found is None:
            raise HeadUnitEnded(self._log.ended or "sdl-head-unit does not answer")
        outcome = self._log.events(found)[0].line
        if outcome["result"] != "met":
            raise ExpectationFailed(f"{text}: {outcome['cause']}")

    # Expectations

    def expect_picture(self, path: Union[str, "os.PathLike[str]"], *, psnr: float = 30, within: Optional[float] = None) -> None:
        """Waits until the app on the screen shows the picture in a file, with this PSNR at least, in decibels."""
        self._perform(f"expect picture {_quoted(path)} psnr {psnr} within {self.timeout if within is None else within}")

    def expect(self, name: str, /, *, within: Optional[float] = None, **members: Wanted) -> Event:
        """Waits for an event of any app: each call looks behind the event that the one before has found."""
        return self._watcher.expect(self._expectation(name, members), self.timeout if within is None else within)

    def never(self, name: str, /, *, seconds: float, **members: Wanted) -> None:
        """Fails if such an event comes from now on, for so long."""
        self._watcher.never(self._expectation(name, members), seconds)

    def expect_app(self, name: Optional[str] = None, *, within: Optional[float] = None) -> "App":
        """Waits until an app is registered, of this name if one is given: the first call for the first app, and so on."""
        expectation = Expectation("registered", {} if name is None else {"name": name})
        watcher = Watcher(self._log, None, self._apps)
        event = watcher.expect(expectation, self.timeout if within is None else within)
        self._apps = watcher._next
        return App(self, self._log, event, watcher._next)

    @property
    def violations(self) -> list[str]:
        """The rules of SDL that apps have broken, in words."""
        return [event["text"] for event in self._log.events() if event.name == "violation"]

    @property
    def output(self) -> str:
        """What the app's program has written."""
        return "".join(line["text"] + "\n" for line in list(self.lines) if line["kind"] == "output")


class App:
    """An app that is registered."""

    def __init__(self, head_unit: HeadUnit, log: EventLog, registered: Event, start: int) -> None:
        assert registered.session is not None
        self._head_unit = head_unit
        self._log = log
        self.session: int = registered.session
        """Its number, as in the log."""
        self.name: str = registered["name"]
        self.id: str = registered["id"]
        self._watcher = Watcher(log, self.session, start)

    def expect(self, name: str, /, *, within: Optional[float] = None, **members: Wanted) -> Event:
        """Waits for an event or an RPC of this app, such as `expect("Show", mainField1="Hello SDL!")`.

        Events from before the call count as well, from the one on that was found last. Members are compared with values,
        searched for compiled regular expressions, or given to functions; `softButtons__0__text` is a path.
        """
        return self._watcher.expect(self._head_unit._expectation(name, members), self._head_unit.timeout if within is None else within)

    def never(self, name: str, /, *, seconds: float, **members: Wanted) -> None:
        """Fails if such an event of this app comes from now on, for so long."""
        self._watcher.never(self._head_unit._expectation(name, members), seconds)

    def events(self, name: Optional[str] = None) -> list[Event]:
        """What has come so far."""
        return [event for event in self._log.events() if event.session == self.session and name in (None, event.name)]

    def soft_button(self, text: str) -> "SoftButton":
        """The button with this text that the app has shown last."""
        texts: list[str] = []
        for event in reversed(self.events()):
            if event.name not in _SHOWING_BUTTONS:
                continue
            buttons: Iterable[Mapping[str, Any]] = event.members.get("softButtons") or []
            for button in buttons:
                if button.get("text") == text:
                    return SoftButton(self, button["softButtonID"])
                texts.append(str(button.get("text")))
        shown = f"the app has shown {', '.join(texts)}" if texts else "the app has shown none"
        raise ExpectationFailed(f"there is no soft button {text!r}: {shown}")

    def activate(self) -> None:
        """Brings the app to the screen."""
        self._head_unit.command(f"activate {self.session}")
        self.expect("hmi-full")

    def _command(self, text: str) -> None:
        """A command for the app on the screen, which has to be this one."""
        levels = {}
        for event in self._log.events():
            if event.session is not None and (event.name.startswith("hmi-") or event.name == "unregistered"):
                levels[event.session] = event.name
        other = [session for session, level in levels.items() if level == "hmi-full" and session != self.session]
        if other and levels.get(self.session) != "hmi-full":
            raise CommandFailed(f"{self.name} is not on the screen, but app {other[0]} is: activate() it first")
        self._head_unit.command(text)

    def press(self, button: str, press: str = "short") -> None:
        """Presses a button of the car, such as "OK", to which the app has subscribed."""
        self._command(f"press {button} {press}")

    def menu(self, command: Union[int, str]) -> None:
        """Chooses a command of the app's menu, by its cmdID or its name."""
        self._command(f"menu {command}")

    def tap(self, x: int, y: int) -> None:
        """Touches the app's picture."""
        self._command(f"touch tap {x} {y}")

    def level(self, level: str) -> None:
        """Gives the app another HMI level: full, limited, background or none."""
        self._command(f"level {level.lower()}")


class SoftButton:
    """A button that an app shows."""

    def __init__(self, app: App, identifier: int) -> None:
        self._app = app
        self.id = identifier
        """Its softButtonID."""

    def press(self) -> None:
        self._app._command(f"press soft-button {self.id}")
