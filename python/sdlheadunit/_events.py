"""The log of a head unit as events, and what is expected of them."""

from __future__ import annotations

import json
import re
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Optional, Pattern, Union

# What a member is compared with: a value, a regular expression that is searched in its text, or a function.
Wanted = Union[Pattern[str], Callable[[Any], bool], Any]


class HeadUnitEnded(Exception):
    """The program has ended, or could not be started."""


class ExpectationFailed(AssertionError):
    """What was expected did not come, or what must not come came. The text has what came instead."""


@dataclass(frozen=True)
class Event:
    """A line of the log."""

    name: str
    """An event of behaviour scripts, such as "registered", an RPC, such as "Show", or its response, "Show/response"."""
    members: Mapping[str, Any]
    session: Optional[int]
    """The number of the app's session; None for what belongs to none."""
    time: float
    """Seconds since the head unit began."""
    line: Mapping[str, Any] = field(repr=False, compare=False)
    """Everything that the log says of it."""

    def __getitem__(self, path: str) -> Any:
        """A member, by a path such as "softButtons.0.text"; KeyError if it is absent."""
        value: Any = self.members
        for key in path.split("."):
            try:
                value = value[int(key)] if isinstance(value, list) else value[key]
            except (IndexError, KeyError, TypeError, ValueError):
                raise KeyError(path) from None
        return value

    @staticmethod
    def of(line: Mapping[str, Any]) -> Optional["Event"]:
        """None for lines that are no event, such as frames."""
        if line["kind"] == "rpc":
            name = line["function"] + ("/response" if line["type"] == "response" else "")
        elif line["kind"] in ("event", "state", "violation") and "type" in line:
            name = line["type"]
        elif line["kind"] == "expect":
            name = "tested"
        else:
            return None
        return Event(name, line.get("params", {}), line.get("session"), line["t"], line)


@dataclass(frozen=True)
class Expectation:
    """A name, and what the members have to be."""

    name: str
    members: Mapping[str, Wanted]

    def differences(self, event: Event) -> list[str]:
        """How an event of this name differs; nothing if it is the expected one."""
        found = []
        for path, wanted in self.members.items():
            # A double underscore stands for the dot of a path, which no keyword can have.
            path = path.replace("__", ".")
            try:
                value = event[path]
            except KeyError:
                found.append(f"{path} was absent")
                continue
            if isinstance(wanted, re.Pattern):
                text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), sort_keys=True)
                is_met = wanted.search(text) is not None
            elif callable(wanted):
                is_met = wanted(value)
            else:
                is_met = value == wanted
            if not is_met:
                found.append(f"{path} was {value!r}")
        return found

    def __str__(self) -> str:
        members = (f"{path}={wanted.pattern if isinstance(wanted, re.Pattern) else wanted!r}"
                   for path, wanted in self.members.items())
        return " ".join([self.name, *members])


class EventLog:
    """The events so far, to which one thread adds, and which others wait for."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._events: list[Event] = []
        self._end: Optional[str] = None

    def append(self, event: Event) -> None:
        with self._condition:
            self._events.append(event)
            self._condition.notify_all()

    def end(self, reason: str) -> None:
        """No more events come."""
        with self._condition:
            self._end = reason
            self._condition.notify_all()

    @property
    def ended(self) -> Optional[str]:
        """Why no more events come; None while they do."""
        with self._condition:
            return self._end

    def __len__(self) -> int:
        with self._condition:
            return len(self._events)

    def events(self, start: int = 0) -> list[Event]:
        with self._condition:
            return self._events[start:]

    def wait(self, predicate: Callable[[Event], bool], start: int, seconds: float) -> Optional[int]:
        """The index of the first such event from `start` on; None if none comes in time."""
        deadline = time.monotonic() + seconds
        index = start
        with self._condition:
            while True:
                while index < len(self._events):
                    if predicate(self._events[index]):
                        return index
                    index += 1
                rest = deadline - time.monotonic()
                if self._end is not None or rest <= 0:
                    return None
                self._condition.wait(rest)


class Watcher:
    """Expects events one after the other: each is looked for behind the one that was found last."""

    def __init__(self, log: EventLog, session: Optional[int], start: int = 0) -> None:
        self._log = log
        self._session = session
        self._next = start

    def _concerns(self, event: Event) -> bool:
        return self._session is None or event.session == self._session

    def expect(self, expectation: Expectation, within: float) -> Event:
        start = self._next
        found = self._log.wait(
            lambda event: self._concerns(event) and event.name == expectation.name and not expectation.differences(event),
            start, within)
        if found is None:
            raise ExpectationFailed(f"expected {expectation} within {within} s{self._instead(expectation, start)}")
        self._next = found + 1
        return self._log.events(found)[0]

    def never(self, expectation: Expectation, seconds: float) -> None:
        """From now on, for so long."""
        found = self._log.wait(
            lambda event: self._concerns(event) and event.name == expectation.name and not expectation.differences(event),
            len(self._log), seconds)
        if found is None and self._log.ended:
            raise HeadUnitEnded(f"{expectation} could not be watched for {seconds} s: {self._log.ended}")
        if found is not None:
            event = self._log.events(found)[0]
            raise ExpectationFailed(f"{expectation} must not come for {seconds} s, but came: {dict(event.members)}")

    def _instead(self, expectation: Expectation, start: int) -> str:
        events = [event for event in self._log.events(start) if self._concerns(event)]
        differing = [", ".join(expectation.differences(event)) for event in events if event.name == expectation.name]
        if differing:
            times = "once" if len(differing) == 1 else f"{len(differing)} times"
            text = f", but {expectation.name} came {times}: {'; '.join(differing[-3:])}"
        elif events:
            text = f"; instead came {', '.join(event.name for event in events[-10:])}"
        else:
            text = "; nothing came"
        return text + (f" ({self._log.ended})" if self._log.ended else "")
