"""Messages, property changes and statistics of the elements, with the seconds since the start."""

import time
from dataclasses import dataclass, field

# Each with the sink that has it, and the name of its property.
STATES = {
    "connection-state": ("sink", "connection-state"),
    "hmi-level": ("sink", "hmi-level"),
    "app-state": ("sink", "app-state"),
    "video": ("sink", "stream-state"),
    "sound": ("voice", "stream-state"),
}
# The transport of the video is told by messages.
ROWS = (*STATES, "transport")


def plain(value):
    """A field as text or number: enumerations by their nick."""
    return getattr(value, "value_nick", value)


def fields(structure):
    names = [structure.nth_field_name(index) for index in range(structure.n_fields())]
    return {name: plain(structure.get_value(name)) for name in names}


@dataclass
class Message:
    time: float
    name: str
    fields: dict


@dataclass
class Act:
    """Something that the script did, with the label for the picture."""
    time: float
    label: str


@dataclass
class Recording:
    sink: object
    voice: object
    states: dict = field(default_factory=lambda: {name: [] for name in ROWS})
    messages: list = field(default_factory=list)
    acts: list = field(default_factory=list)
    samples: list = field(default_factory=list)
    end: float = 0

    def __post_init__(self):
        self.started_at = time.monotonic()
        for owner, name in STATES.values():
            element = getattr(self, owner)
            self.note_state(element, name, element.get_property(name))
            element.add_property_notify_watch(name, True)
        self.note_value("transport", "none")
        self.sample()

    @property
    def now(self):
        return time.monotonic() - self.started_at

    def say(self, text):
        print(f"{self.now:6.2f} s  {text}", flush=True)

    def note_act(self, label):
        self.say(f"» {label}")
        self.acts.append(Act(self.now, label))

    def note_state(self, element, property_name, value):
        name = next(name for name, (owner, each) in STATES.items()
                    if getattr(self, owner) == element and each == property_name)
        self.note_value(name, value)

    def note_value(self, name, value):
        changes = self.states[name]
        if not changes or changes[-1][1] != plain(value):
            changes.append((self.now, plain(value)))
            self.say(f"{name} {plain(value)}")

    def note_message(self, structure):
        message = Message(self.now, structure.get_name(), fields(structure))
        self.messages.append(message)
        if message.fields.get("service") == "video" and message.name == "sdl-stream-started":
            self.note_value("transport", message.fields["transport"])
        elif message.fields.get("service") == "video" and message.name == "sdl-stream-stopped":
            self.note_value("transport", "none")
        details = (f"{name} {value}" for name, value in message.fields.items() if isinstance(value, (str, int)))
        self.say(f"{message.name}: {', '.join(details)}")

    def statistics(self):
        return fields(self.sink.get_property("sdl-stats"))

    def sample(self):
        self.samples.append((self.now, self.statistics()))

    def finish(self):
        self.sample()
        self.end = self.now

    def state(self, name):
        return self.states[name][-1][1]

    def bands(self, name):
        """The values of a state with their beginnings and ends."""
        changes = self.states[name]
        ends = [begin for begin, _ in changes[1:]] + [self.end]
        return [(begin, end, value) for (begin, value), end in zip(changes, ends)]

    @property
    def drop_reasons(self):
        return [name for name in self.samples[-1][1] if name.startswith("frames-dropped-")]

    def values(self, name):
        """What the statistics said, and when."""
        return [time_ for time_, _ in self.samples], [counters[name] for _, counters in self.samples]

    def rates(self, name, window):
        """Rates (1/s) of a counter over `window` seconds, each with the middle of its time."""
        times, rates = [], []
        first = 0
        for time_, counters in self.samples[1:]:
            while time_ - self.samples[first + 1][0] >= window:
                first += 1
            then, former = self.samples[first]
            times.append((then + time_) / 2)
            rates.append((counters[name] - former[name]) / (time_ - then))
        return times, rates
