#!/usr/bin/python3
"""How long a picture takes from the app's sink to the canvas of the head unit's page, and what the page costs the head unit.

Each picture has its number in its pixels. The page notes when it shows a number for the first time; the clock is this
machine's. So the delay has the app's encoder in it.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Pipelines", "Programs"))
from devtools import Browser, Page  # noqa: E402
from numbered_pictures import BITS, HEIGHT, SIDE, WIDTH, Gst, numbered, textures  # noqa: E402

SECONDS = 10
RATE = 30

# Looks at the blocks of numbered_pictures in every frame of the browser.
WATCH = f"""(() => {{
  window.seen = {{}}
  const video = document.getElementById('video')
  const pen = video.getContext('2d')
  const look = () => {{
    requestAnimationFrame(look)
    if (video.width !== {WIDTH}) return
    const {{ data }} = pen.getImageData(0, 0, {BITS * SIDE}, {2 * SIDE})
    let number = 0
    for (let index = 0; index < {BITS}; index++) {{
      const column = index * {SIDE} + {SIDE // 2}
      const green = (row) => data[4 * (row * {BITS * SIDE} + column) + 1]
      if (green({SIDE // 2}) > green({SIDE + SIDE // 2})) number |= 1 << index
    }}
    window.seen[number] ??= performance.timeOrigin + performance.now()
  }}
  look()
}})()"""


def cpu(process):
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class App:
    """Pictures of a film, 30 a second."""

    def __init__(self, port):
        self.pictures = textures(RATE)
        self.pipeline = Gst.parse_launch(
            f"appsrc name=source is-live=true format=time do-timestamp=true caps=video/x-raw,format=I420,width={WIDTH},"
            f"height={HEIGHT},framerate={RATE}/1 ! sdlvideosink sync=false bitrate=4000 uri=sdl://127.0.0.1:{port}")
        self.source = self.pipeline.get_by_name("source")
        self.sent = {}
        self.number = 0
        self.pipeline.set_state(Gst.State.PLAYING)

    def push(self, seconds):
        begin = time.monotonic()
        for index in range(seconds * RATE):
            time.sleep(max(0, begin + index / RATE - time.monotonic()))
            self.number += 1
            picture = numbered(self.pictures[self.number % RATE], self.number)
            self.sent[self.number] = time.time() * 1000
            self.source.emit("push-buffer", Gst.Buffer.new_wrapped(picture))

    def end(self):
        self.pipeline.set_state(Gst.State.NULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--head-unit", required=True)
    options = parser.parse_args()
    Gst.init(None)
    unit = subprocess.Popen(
        [options.head_unit, "--port", "0", "--web", "0", "--quiet"], stdout=subprocess.PIPE, text=True)
    try:
        lines = dict(unit.stdout.readline().split(maxsplit=1) for _ in range(2))
        app = App(lines["listening"].strip())
        app.push(2)
        before = cpu(unit)
        app.push(SECONDS)
        alone = cpu(unit) - before
        with Browser() as browser:
            page = Page(browser, lines["web"].strip())
            app.push(3)
            page.wait("document.querySelector('#video.shown') !== null")
            page.value(WATCH)
            first = app.number
            before = cpu(unit)
            app.push(SECONDS)
            shared = cpu(unit) - before
            time.sleep(0.5)
            seen = {int(number): then for number, then in page.value("window.seen").items()}
        app.end()
    finally:
        unit.terminate()
        unit.wait()
    delays = sorted(then - app.sent[number] for number, then in seen.items() if number > first and number in app.sent)
    if len(delays) < SECONDS * RATE / 4:
        sys.exit(f"only {len(delays)} of {SECONDS * RATE} pictures were seen")
    median = statistics.median(delays)
    print(f"  from the app's sink to the canvas, {len(delays)} of {SECONDS * RATE} pictures seen: p50 {median:.1f} ms"
          f"   target 80 ms   {'met' if median <= 80 else 'MISSED'}; p95 {delays[int(len(delays) * 0.95)]:.1f} ms")
    print(f"  CPU of the head unit in {SECONDS} s: {shared:.2f} s with the page open, {alone:.2f} s without")


if __name__ == "__main__":
    main()
