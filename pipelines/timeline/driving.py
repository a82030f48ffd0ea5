"""Runs a script beside the pipeline: a generator that acts, then yields the condition that it waits for."""

import time

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

TICK_MILLISECONDS = 20
# A few times a second.
SAMPLE_MILLISECONDS = 200
# Long, because a busy machine makes fewer pictures, from which a rising bitrate is found out.
TIMEOUT_SECONDS = 30


class Drive:
    def __init__(self, pipeline, recording, head_unit):
        self.pipeline = pipeline
        self.recording = recording
        self.head_unit = head_unit
        self.sink = recording.sink
        self.problems = []
        self.loop = GLib.MainLoop()

    def run(self, script):
        """Plays until the script is over, then closes the connection in an orderly way."""
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message", self._on_message)
        GLib.timeout_add(SAMPLE_MILLISECONDS, self._sample)
        self.script = script
        self.awaited = None
        self.pipeline.set_state(Gst.State.PLAYING)
        GLib.timeout_add(TICK_MILLISECONDS, self._tick)
        self.loop.run()
        bus.remove_signal_watch()
        # The last messages come while the pipeline goes to NULL, which would flush the bus.
        self.pipeline.set_property("auto-flush-bus", False)
        self.pipeline.set_state(Gst.State.NULL)
        while message := bus.pop():
            self._on_message(bus, message)
        self.recording.finish()
        names = [message.name for message in self.recording.messages]
        self.check(names[-1:] == ["sdl-disconnected"], "the last message is no sdl-disconnected")

    # What a script does.

    def act(self, label, *commands, app_state=None):
        """Does something, and marks it in the picture. messages() and counted() count from here on."""
        self.recording.note_act(label)
        self.mark = len(self.recording.messages)
        self.counters = self.recording.statistics()
        for command in commands:
            self.head_unit.command(command)
        if app_state:
            self.sink.set_property("app-state", app_state)

    def counted(self, *names):
        """By how much counters have grown since the last act."""
        now = self.recording.statistics()
        return sum(now[name] - self.counters[name] for name in names)

    def now(self, name):
        """What the statistics say at this moment."""
        return self.recording.statistics()[name]

    def messages(self, name, **fields):
        """Messages since the last act whose fields have these values; "_" stands for "-". Those about streams are the video's
        unless `service` says otherwise."""
        if name.startswith("sdl-stream-"):
            fields = {"service": "video", **fields}
        wanted = {key.replace("_", "-"): value for key, value in fields.items()}
        return [message for message in self.recording.messages[self.mark:]
                if message.name == name and all(message.fields.get(key) == value for key, value in wanted.items())]

    def check(self, is_right, problem):
        if not is_right:
            self.report_problem(problem)

    def report_problem(self, problem):
        self.recording.say(f"wrong: {problem}")
        self.problems.append(problem)

    # What a script yields.

    def seconds(self, duration):
        deadline = time.monotonic() + duration
        return lambda: time.monotonic() >= deadline

    def until(self, what, condition):
        """Waits for a condition; without it, reports a problem after a while and goes on."""
        deadline = time.monotonic() + TIMEOUT_SECONDS

        def is_over():
            if condition():
                return True
            if time.monotonic() < deadline:
                return False
            self.report_problem(f"no {what}")
            return True

        return is_over

    def message(self, name, **fields):
        what = " ".join([name, *(f"{key}={value}" for key, value in fields.items())])
        return self.until(what, lambda: self.messages(name, **fields))

    def state(self, name, value):
        return self.until(f"{name} {value}", lambda: self.recording.state(name) == value)

    # The main loop.

    def _tick(self):
        try:
            while self.awaited is None or self.awaited():
                self.awaited = next(self.script)
        except StopIteration:
            self.loop.quit()
            return GLib.SOURCE_REMOVE
        except Exception as error:
            # GLib would print the exception and the loop would run on.
            self.report_problem(f"the script fails: {error!r}")
            self.loop.quit()
            return GLib.SOURCE_REMOVE
        return GLib.SOURCE_CONTINUE

    def _sample(self):
        self.recording.sample()
        return GLib.SOURCE_CONTINUE

    def _on_message(self, _bus, message):
        if message.type == Gst.MessageType.ERROR:
            error, details = message.parse_error()
            self.report_problem(f"{error.message} ({details})")
            self.loop.quit()
        elif message.type == Gst.MessageType.WARNING:
            self.recording.say(f"warning: {message.parse_warning()[0].message}")
        elif message.type == Gst.MessageType.PROPERTY_NOTIFY:
            element, name, value = message.parse_property_notify()
            self.recording.note_state(element, name, value)
        elif message.type == Gst.MessageType.ELEMENT and message.src in (self.sink, self.recording.voice):
            self.recording.note_message(message.get_structure())
