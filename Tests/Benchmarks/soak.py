#!/usr/bin/python3
"""Streams encrypted pictures and sound to a head unit whose driver does something every few seconds, and watches the memory,
the threads and the descriptors of both processes.

Fits a line through the memory of each, after a fifth of the time. A run of an hour or more fails if it grows: by more than its
error, and by more than a megabyte per hour. In a shorter one the heap is still finding its size.
"""

import argparse
import csv
import os
import pathlib
import random
import re
import subprocess
import sys
import time

SOURCES = pathlib.Path(__file__).resolve().parent.parent.parent
# What the driver does, and what brings the picture back.
ACTIONS = [
    ("level none", "level full"), ("level background", "level full"), ("level limited", "level full"),
    ("phone-call on", "phone-call off"), ("embedded-navi on", "embedded-navi off"), ("touch tap 100 100", None),
    ("touch swipe 10 10 300 200", None), ("press OK", None), ("resize 480x320", "resize 800x480"),
    ("framerate 15", "framerate 30"), ("max-bitrate 500", "max-bitrate 10000"), ("end-video", None), ("end-audio", None),
    ("audio-streaming attenuated", "audio-streaming audible"), ("stall 2", None), ("cut", None),
]
BLOCKS = 20
WARM_UP = 0.2
TOLERATED_GROWTH = 1.0
# In seconds, less the pauses in which nothing is sampled.
SHORTEST_JUDGED = 3500


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)([smh]?)", text).groups()
    return int(number) * {"": 1, "s": 1, "m": 60, "h": 3600}[unit]


class Watched:
    """A process, and what it takes."""

    def __init__(self, name, pid):
        self.name, self.pid, self.samples = name, pid, []

    def sample(self, now):
        folder = f"/proc/{self.pid}"
        memory = int(pathlib.Path(f"{folder}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
        self.samples.append((now, memory, len(os.listdir(f"{folder}/task")), len(os.listdir(f"{folder}/fd"))))

    def growth(self):
        """Megabytes per hour, and twice its standard error, of the means of blocks: samples follow each other too closely."""
        end = self.samples[-1][0]
        kept = [(now, memory) for now, memory, *_ in self.samples if now >= end * WARM_UP]
        size = max(len(kept) // BLOCKS, 1)
        blocks = [kept[start:start + size] for start in range(0, len(kept) - size + 1, size)]
        points = [(sum(t for t, _ in block) / len(block) / 3600, sum(m for _, m in block) / len(block)) for block in blocks]
        middle = sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)
        spread = sum((x - middle[0]) ** 2 for x, _ in points)
        slope = sum((x - middle[0]) * (y - middle[1]) for x, y in points) / spread
        residue = sum((y - middle[1] - slope * (x - middle[0])) ** 2 for x, y in points)
        return slope, 2 * (residue / max(len(points) - 2, 1) / spread) ** 0.5

    def problems(self):
        slope, error = self.growth()
        memory = [sample[1] for sample in self.samples]
        print(f"{self.name}: {min(memory):.1f} to {max(memory):.1f} MB, growth {slope:+.2f} ± {error:.2f} MB per hour")
        if self.samples[-1][0] >= SHORTEST_JUDGED and slope - error > 0 and slope > TOLERATED_GROWTH:
            yield f"the memory of the {self.name} grows"
        half = len(self.samples) // 2
        for index, what in ((2, "threads"), (3, "descriptors")):
            before, after = (max(sample[index] for sample in part) for part in (self.samples[:half], self.samples[half:]))
            print(f"{self.name}: {what} {before} in the first half at most, {after} in the second")
            # A connection that is made anew overlaps with the one before.
            if after > before + 2:
                yield f"the {self.name} has more {what}"


def draw(processes, path):
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("svg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(3, 1, sharex=True, figsize=(9, 7))
    for index, what in enumerate(("memory (MB)", "threads", "descriptors")):
        for process in processes:
            axes[index].plot([s[0] / 60 for s in process.samples], [s[index + 1] for s in process.samples], label=process.name)
        axes[index].set_ylabel(what)
    axes[0].legend()
    axes[2].set_xlabel("minutes")
    figure.savefig(path)
    print(f"curves: {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--head-unit", required=True, help="the program sdl-head-unit")
    parser.add_argument("--time", type=seconds, default=600, help="such as 90, 10m or 8h (default: 10m)")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32), help="of what the driver does")
    parser.add_argument("--folder", type=pathlib.Path, default=SOURCES / "build/soak", help="for what is written")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    options.folder.mkdir(parents=True, exist_ok=True)
    keys = options.folder / "certificates"
    subprocess.run([SOURCES / "scripts/make-certificates", keys], check=True, stdout=subprocess.DEVNULL)

    head_unit = subprocess.Popen(
        [options.head_unit, "--port", "0", "--commands", "--quiet", "--encryption", "require", "--ca-certificates",
         keys / "authority.pem"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    uri = f"uri=sdl://127.0.0.1:{int(head_unit.stdout.readline().split()[1])}"
    tls = f"encryption=authenticate-and-encrypt certificate={keys}/app.pem private-key={keys}/app-key.pem"
    with open(options.folder / "head-unit.log", "w") as log:
        reader = subprocess.Popen(["cat"], stdin=head_unit.stdout, stdout=log)
    with open(options.folder / "app.log", "w") as log:
        app = subprocess.Popen(
            ["gst-launch-1.0", *f"videotestsrc is-live=true pattern=ball ! video/x-raw,framerate=30/1 !"
             f" sdlvideosink {uri} {tls} suspend-policy=drop audiotestsrc is-live=true ! audioconvert ! audioresample !"
             f" sdlaudiosink {uri} {tls}".split()], stdout=log, stderr=log)
    processes = [Watched("app", app.pid), Watched("head unit", head_unit.pid)]
    generator = random.Random(options.seed)
    began = time.monotonic()
    pending, due, count = None, 5.0, 0
    failures = []
    try:
        while (now := time.monotonic() - began) < options.time:
            if app.poll() is not None or head_unit.poll() is not None:
                failures.append(f"the {'app' if app.poll() is not None else 'head unit'} has ended")
                break
            if now >= 1:
                for process in processes:
                    process.sample(now)
            if now >= due:
                action, pending = (pending, None) if pending else generator.choice(ACTIONS)
                head_unit.stdin.write(action + "\n")
                head_unit.stdin.flush()
                count += 1
                due = now + generator.uniform(1, 6)
            time.sleep(1)
    finally:
        app.terminate()
        app.wait()
        head_unit.terminate()
        head_unit.wait()
        reader.wait()
    with open(options.folder / "samples.csv", "w") as file:
        writer = csv.writer(file)
        writer.writerow(["process", "seconds", "megabytes", "threads", "descriptors"])
        for process in processes:
            writer.writerows([process.name, *sample] for sample in process.samples)
    summary = [line for line in (options.folder / "head-unit.log").read_text().splitlines() if line.startswith("summary")]
    print(f"{count} actions of the driver in {time.monotonic() - began:.0f} s; {' '.join(summary[-1:])}")
    for process in processes:
        if len(process.samples) > BLOCKS:
            failures += process.problems()
    if not summary or re.search(r"pictures=0\b", summary[-1]):
        failures.append("no picture arrived")
    draw(processes, options.folder / "curves.svg")
    sys.exit("\n".join(failures) or None)


if __name__ == "__main__":
    main()
