"""The head unit: the program sdl-head-unit, which takes commands, behind a link that can be narrow."""

import subprocess
import sys
import time

from link import Link

START_SECONDS = 10
STOP_SECONDS = 5


class HeadUnit:
    def __init__(self, program, log):
        self.log = log
        with open(log, "w") as file:
            self.process = subprocess.Popen(
                # The app is opened by the script.
                [program, "--port", "0", "--commands", "--no-activation", "--secondary-transport", "0"],
                stdin=subprocess.PIPE, stdout=file, text=True)
        # Video moves to the second connection when that is offered.
        self.process.stdin.write("video-transports 2,1\n")
        self.process.stdin.flush()
        self.link = Link(self._listening_port())
        self.port = self.link.port

    def _listening_port(self):
        """The port that the head unit writes as the first line of its log."""
        deadline = time.monotonic() + START_SECONDS
        while self.process.poll() is None and time.monotonic() < deadline:
            with open(self.log) as log:
                first = log.readline()
            if first.endswith("\n"):
                return int(first.removeprefix("listening "))
            time.sleep(0.02)
        self.kill()
        sys.exit(f"The head unit does not listen; see {self.log}")

    def command(self, line):
        if line.startswith("refuse-connections"):
            self.link.refuse(line.endswith("on"))
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def stop(self):
        """Stops the program; returns whether no app has broken a rule."""
        self.process.terminate()
        return self.process.wait(STOP_SECONDS) == 0

    def kill(self):
        self.process.kill()
