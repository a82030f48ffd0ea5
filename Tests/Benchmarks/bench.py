#!/usr/bin/python3
"""Compares sdlvideosink with what GStreamer has for the job, in one run, alternating, and prints ratios."""

import argparse
import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROUNDS = 11
SIZE = "width=800,height=480"


class Run:
    """What a finished child process has cost."""

    def __init__(self, wall, usage, memory):
        self.wall = wall
        self.cpu = usage.ru_utime + usage.ru_stime
        self.memory = memory / 1024


def run(command, **environment):
    """Runs a command to its end; CPU time and memory are its own, not those of its peers."""
    with tempfile.NamedTemporaryFile("r") as memory:
        # time(1) stands between, because the peak that the kernel tells of a child includes its parent's at the fork.
        timed = ["time", "--format=%M", f"--output={memory.name}", *command]
        start = time.monotonic()
        child = subprocess.Popen(timed, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                 env={**os.environ, **environment})
        errors = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"{' '.join(command)}\nfailed: {errors.decode()}")
        return Run(time.monotonic() - start, usage, int(memory.read()))


def launch(description):
    return ["gst-launch-1.0", "-q", *description.split()]


@contextlib.contextmanager
def head_unit(program, *options):
    """A head unit in a process of its own; yields its port."""
    process = subprocess.Popen([program, "--port", "0", "--quiet", *options], stdout=subprocess.PIPE, text=True)
    try:
        yield int(process.stdout.readline().split()[1])
    finally:
        process.terminate()
        process.communicate()


DISCARD = """
import socket, sys
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
memory = bytearray(1 << 20)
while True:
    connection, _ = listener.accept()
    while connection.recv_into(memory):
        pass
"""


@contextlib.contextmanager
def discarding_reader(*program):
    """A server in a process of its own that reads and forgets; yields its port."""
    process = subprocess.Popen([sys.executable, *program], stdout=subprocess.PIPE, text=True)
    try:
        yield int(process.stdout.readline())
    finally:
        process.terminate()
        process.communicate()


def discarding_pair():
    """A head unit and a plain TCP server, both of which only read."""
    folder = os.path.dirname(os.path.abspath(__file__))
    return (discarding_reader(os.path.join(folder, "discarding_head_unit.py")), discarding_reader("-c", DISCARD))


def compare(title, ours, theirs, targets, rounds=ROUNDS):
    """Runs both commands in turn and prints the medians and their ratios."""
    run(ours), run(theirs)
    runs = [(run(ours), run(theirs)) for _ in range(rounds)]
    print(f"\n{title}")
    for name, unit, value in (("CPU", "s", lambda r: r.cpu), ("wall", "s", lambda r: r.wall),
                              ("peak memory", "MB", lambda r: r.memory)):
        if name not in targets:
            continue
        mine = statistics.median(value(a) for a, _ in runs)
        other = statistics.median(value(b) for _, b in runs)
        ratio = statistics.median(value(a) / value(b) for a, b in runs)
        target = targets[name]
        met = mine - other <= target if unit == "MB" else ratio <= target
        wanted = f"+{target} MB" if unit == "MB" else f"{target:.2f}x"
        difference = f"{mine - other:+.1f} MB" if unit == "MB" else f"{ratio:.2f}x"
        print(f"  {name:12} {mine:8.3f} {unit} against {other:8.3f} {unit}: {difference:>8}"
              f"   target {wanted:>7}   {'met' if met else 'MISSED'}")


def raw():
    source = f"videotestsrc pattern=ball num-buffers=900 ! video/x-raw,format=I420,{SIZE},framerate=30/1"
    encoder = "bitrate=600 speed-preset=superfast key-int-max=60 threads=1"
    # What sdlvideosink sets for head units, spelled out for x264enc.
    same = "tune=zerolatency vbv-buf-capacity=1500 qp-min=22 aud=false"
    ours, theirs = discarding_pair()
    with ours as port, theirs as other:
        compare(
            "a. Raw video, 900 pictures of 800x480: encode and send",
            launch(f"{source} ! sdlvideosink sync=false {encoder} uri=sdl://127.0.0.1:{port}"),
            launch(f"{source} ! x264enc {encoder} {same} ! "
                   "video/x-h264,profile=constrained-baseline,stream-format=byte-stream ! "
                   f"tcpclientsink sync=false host=127.0.0.1 port={other}"),
            {"CPU": 1.0})


def encoder_elements():
    """Other encoders inside of the sink, against the same in front of a TCP sink, and openh264enc against libx264."""
    source = f"videotestsrc pattern=ball num-buffers=900 ! video/x-raw,format=I420,{SIZE},framerate=30/1"
    # What the sink sets.
    elements = {
        "x264enc": "bitrate=600 key-int-max=60 tune=zerolatency speed-preset=superfast vbv-buf-capacity=1500 qp-min=22 "
                   "aud=false",
        "openh264enc": "bitrate=600000 gop-size=60 rate-control=bitrate complexity=low qp-min=22 "
                       "scene-change-detection=false background-detection=false",
    }
    ours, theirs = discarding_pair()
    with ours as port, theirs as other:
        def sink(encoder):
            return launch(f"{source} ! sdlvideosink sync=false bitrate=600 key-int-max=60 skip-unchanged=false "
                          f"encoder={encoder} uri=sdl://127.0.0.1:{port}")

        for element, settings in elements.items():
            compare(
                f"o. Raw video, 900 pictures of 800x480: encoder={element}",
                sink(element),
                launch(f"{source} ! {element} {settings} ! "
                       "video/x-h264,profile=constrained-baseline,stream-format=byte-stream ! "
                       f"tcpclientsink sync=false host=127.0.0.1 port={other}"),
                {"CPU": 1.05})
        compare("o. The same, encoder=openh264enc against x264", sink("openh264enc"), sink("x264"), {"CPU": 2.0})


def still(folder):
    size = f"{SIZE},framerate=30/1"
    picture = f"videotestsrc num-buffers=1 ! video/x-raw,format=I420,{size}"
    file = os.path.join(folder, "picture.i420")
    run(launch(f"{picture} ! filesink location={file}"))
    cases = (
        ("the same memory", f"{picture} ! imagefreeze num-buffers=900", 0.1),
        # Each is read anew, which costs less than anything else that gives a picture memory of its own.
        ("equal pictures in new memory",
         f"multifilesrc location={file} loop=true num-buffers=900"
         " ! rawvideoparse format=i420 width=800 height=480 framerate=30/1", 0.2),
        ("a map that changes once a second",
         f"videotestsrc pattern=ball num-buffers=31 ! video/x-raw,format=I420,{SIZE},framerate=1/1"
         " ! videorate ! video/x-raw,framerate=30/1", 0.25),
    )
    encoder = "bitrate=600 speed-preset=superfast key-int-max=60 threads=1"
    same = "tune=zerolatency vbv-buf-capacity=1500 qp-min=22 aud=false"
    ours, theirs = discarding_pair()
    with ours as port, theirs as other:
        for name, source, target in cases:
            compare(
                f"f. Still pictures, 900 of 800x480, {name}",
                launch(f"{source} ! sdlvideosink sync=false {encoder} uri=sdl://127.0.0.1:{port}"),
                launch(f"{source} ! x264enc {encoder} {same} ! "
                       "video/x-h264,profile=constrained-baseline,stream-format=byte-stream ! "
                       f"tcpclientsink sync=false host=127.0.0.1 port={other}"),
                {"CPU": target})


def make_stream(path, size):
    """Writes an H.264 file of at least `size` bytes by repeating one that begins and ends at a key frame."""
    part = path + ".part"
    run(launch(f"videotestsrc pattern=snow num-buffers=300 ! video/x-raw,{SIZE},framerate=30/1 ! "
               "x264enc tune=zerolatency speed-preset=ultrafast bitrate=20000 key-int-max=60 ! "
               "video/x-h264,profile=constrained-baseline,stream-format=byte-stream ! "
               f"filesink location={part}"))
    with open(part, "rb") as file:
        content = file.read()
    os.unlink(part)
    with open(path, "wb") as file:
        for _ in range(size // len(content) + 1):
            file.write(content)


def passthrough(folder):
    path = os.path.join(folder, "stream.h264")
    make_stream(path, 500_000_000)
    source = f"filesrc location={path} ! h264parse ! video/x-h264,stream-format=byte-stream,alignment=au"
    ours, theirs = discarding_pair()
    with ours as port, theirs as other:
        compare(
            f"b. H.264 passed through, {os.path.getsize(path) / 1e6:.0f} MB",
            launch(f"{source} ! sdlvideosink sync=false uri=sdl://127.0.0.1:{port}"),
            launch(f"{source} ! tcpclientsink sync=false host=127.0.0.1 port={other}"),
            {"CPU": 1.0, "wall": 1.0})
    os.unlink(path)


def log(tool, folder):
    """What the head unit's log costs, beside a stream of 60 pictures a second for 20 s: of the app's CPU and the head unit's."""
    def cpu(*options):
        unit = subprocess.Popen([tool, "--port", "0", "--quiet", "--no-checks", "--app-exits", *options],
                                stdout=subprocess.PIPE, text=True)
        port = unit.stdout.readline().split()[1]
        app = run(launch("videotestsrc is-live=true pattern=ball num-buffers=1200 ! "
                         f"video/x-raw,format=I420,{SIZE},framerate=60/1 ! sdlvideosink uri=sdl://127.0.0.1:{port}"))
        unit.stdout.read()
        usage = os.wait4(unit.pid, 0)[2]
        unit.returncode = 0
        return app.cpu, usage.ru_utime + usage.ru_stime
    rounds = [(cpu("--log", os.path.join(folder, "log.jsonl")), cpu()) for _ in range(3)]
    with_log, without = (statistics.median(values[1] for values in side) for side in zip(*rounds))
    stream = statistics.median(sum(without) for _, without in rounds)
    share = (with_log - without) / stream
    print(f"\ng. The head unit's log, 20 s of 60 pictures a second\n  CPU of the head unit {with_log:.3f} s against {without:.3f} s:"
          f" {100 * share:+.1f} % of the stream's {stream:.2f} s   target +5 %   {'met' if share <= 0.05 else 'MISSED'}")


def sound():
    """In buffers of 1024 samples, as decoders make them. tcpclientsink leaves TCP_NODELAY off, so the kernel sends less often."""
    source = "audiotestsrc wave=square num-buffers=100000 samplesperbuffer=1024 ! audio/x-raw,format=S16LE,rate=16000,channels=1"
    ours, theirs = discarding_pair()
    with ours as port, theirs as other:
        compare(
            "u. Sound, 1 h 47 min of 16 kHz, without waiting for its time",
            launch(f"{source} ! sdlaudiosink sync=false uri=sdl://127.0.0.1:{port}"),
            launch(f"{source} ! tcpclientsink sync=false host=127.0.0.1 port={other}"),
            {"CPU": 1.1})


def flash_and_beep(folder):
    """Through pipelines/film.sh, to a car that shows and plays what comes, when it comes: the times of its sound are those
    at which it would be heard, and sound that comes too late leaves a gap."""
    import array
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
    Gst.init(None)
    seconds, frame_rate, rate, tolerance = 20, 25, 48000, 40
    film = os.path.join(folder, "flash-and-beep.mkv")
    # A white picture and a beep, each 1/25 s long, at the same moment of each second.
    making = Gst.parse_launch(
        f"matroskamux name=muxer ! filesink location={film} "
        f"appsrc name=picture format=time caps=video/x-raw,format=I420,width=640,height=360,framerate={frame_rate}/1 ! "
        "x264enc tune=zerolatency speed-preset=superfast ! muxer. "
        f"appsrc name=sound format=time caps=audio/x-raw,format=S16LE,layout=interleaved,channels=1,rate={rate} ! audio/x-raw ! muxer.")
    picture, sound_source = making.get_by_name("picture"), making.get_by_name("sound")
    making.set_state(Gst.State.PLAYING)
    samples, pixels = rate // frame_rate, 640 * 360
    for number in range(seconds * frame_rate):
        is_flash = number % frame_rate == frame_rate // 2
        beep = array.array("h", (20000 if at // 24 % 2 else -20000 for at in range(samples))) if is_flash else bytes(samples * 2)
        for source, data in ((picture, bytes([235 if is_flash else 16]) * pixels + bytes([128]) * (pixels // 2)),
                             (sound_source, bytes(beep))):
            buffer = Gst.Buffer.new_wrapped(data)
            buffer.pts, buffer.duration = number * Gst.SECOND // frame_rate, Gst.SECOND // frame_rate
            source.emit("push-buffer", buffer)
    picture.emit("end-of-stream"), sound_source.emit("end-of-stream")
    end = making.get_bus().timed_pop_filtered(60 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    making.set_state(Gst.State.NULL)
    if end is None or end.type == Gst.MessageType.ERROR:
        sys.exit(f"no film: {end and end.parse_error()}")

    head_unit_side = Gst.parse_launch(
        "sdlheadunitsrc name=source port=0 eos-on-disconnect=true ! avdec_h264 ! video/x-raw,format=I420 ! "
        "appsink name=seen sync=false async=false "
        "sdlheadunitaudiosrc name=sound latency=0 port=0 eos-on-disconnect=true ! "
        "appsink name=heard sync=false async=false")
    head_unit_side.set_state(Gst.State.PLAYING)
    port = head_unit_side.get_by_name("source").get_property("current-port")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../pipelines/film.sh")
    player = subprocess.Popen([script, film], stdout=subprocess.DEVNULL, env={**os.environ, "SDL_URI": f"sdl://127.0.0.1:{port}"})
    times = {"seen": [], "heard": []}
    seen, heard = (head_unit_side.get_by_name(name) for name in times)

    def note(name, is_there, at):
        # Those of one moment are one.
        if is_there and (not times[name] or at - times[name][-1] > 0.5):
            times[name].append(at)

    deadline = time.monotonic() + seconds + 30
    while not (seen.get_property("eos") and heard.get_property("eos")):
        if player.poll() or time.monotonic() > deadline:
            player.kill()
            sys.exit("film.sh failed")
        while sample := seen.emit("try-pull-sample", 10 * Gst.MSECOND):
            buffer = sample.get_buffer()
            # In the middle of the I420 picture, which has black bars above and below.
            note("seen", buffer.extract_dup(buffer.get_size() // 3 + 100, 1)[0] > 128, buffer.pts / Gst.SECOND)
        while sample := heard.emit("try-pull-sample", 0):
            buffer = sample.get_buffer()
            sounding = array.array("h", buffer.extract_dup(0, buffer.get_size()))
            first = next((at for at, value in enumerate(sounding) if abs(value) > 5000), None)
            note("heard", first is not None, buffer.pts / Gst.SECOND + (first or 0) / 16000)
    player.wait()
    gaps = head_unit_side.get_by_name("sound").get_property("sdl-stats").get_value("gaps")
    head_unit_side.set_state(Gst.State.NULL)
    pairs = list(zip(times["seen"], times["heard"]))
    if len(times["seen"]) != len(times["heard"]) or len(pairs) < seconds - 1:
        sys.exit(f"of {seconds} flashes {len(times['seen'])} were seen, and {len(times['heard'])} beeps heard")
    offsets = [(flash - beep) * 1000 for flash, beep in pairs]
    met = all(abs(offset) <= tolerance for offset in offsets) and not gaps
    print(f"\nv. Flash and beep through film.sh, {len(offsets)} of them: the picture is shown"
          f" {statistics.median(offsets):+.1f} ms after the sound is heard ({min(offsets):+.1f} to {max(offsets):+.1f}), {gaps} gaps in the sound"
          f"   target ±{tolerance} ms, 0   {'met' if met else 'MISSED'}")


def loading():
    run(["gst-inspect-1.0"])
    compare("c. Loading: gst-inspect-1.0 sdlvideosink against tcpclientsink",
            ["gst-inspect-1.0", "sdlvideosink"], ["gst-inspect-1.0", "tcpclientsink"],
            {"CPU": 2.0, "peak memory": 5}, rounds=25)


def times_to_first_byte(tool, folder, options=(), properties=""):
    """From PLAYING to the first byte of video at a head unit, in seconds, several times."""
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
    Gst.init(None)
    times = []
    for _ in range(11):
        fifo = os.path.join(folder, "video")
        os.mkfifo(fifo)
        arrival = []

        def wait():
            with open(fifo, "rb", buffering=0) as file:
                file.read(1)
                arrival.append(time.monotonic())
                while file.read(1 << 16):
                    pass

        reader = threading.Thread(target=wait)
        reader.start()
        with head_unit(tool, "--record", fifo, *options) as port:
            pipeline = Gst.parse_launch(f"videotestsrc ! sdlvideosink uri=sdl://127.0.0.1:{port} {properties}")
            start = time.monotonic()
            pipeline.set_state(Gst.State.PLAYING)
            while not arrival and time.monotonic() - start < 10:
                time.sleep(0.001)
            pipeline.set_state(Gst.State.NULL)
        reader.join()
        os.unlink(fifo)
        times.append(arrival[0] - start)
    return times


def first_byte(tool, folder):
    times = times_to_first_byte(tool, folder)
    print(f"\nd. From PLAYING to the first video byte at the head unit, on loopback: "
          f"{statistics.median(times) * 1000:.0f} ms (the head unit shows the app 100 ms after its registration)")


def encryption(folder):
    """Properties of an app that encrypts, and options of a head unit that accepts that."""
    certificates = os.path.join(folder, "certificates")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/make-certificates")
    subprocess.run([script, certificates], check=True, stdout=subprocess.DEVNULL)
    return (f"encryption=authenticate-and-encrypt certificate={certificates}/app.pem "
            f"private-key={certificates}/app-key.pem",
            ["--encryption", "accept", "--ca-certificates", f"{certificates}/authority.pem"])


def encrypted(tool, folder):
    asking, options = encryption(folder)
    path = os.path.join(folder, "stream.h264")
    make_stream(path, 500_000_000)
    source = f"filesrc location={path} ! h264parse ! video/x-h264,stream-format=byte-stream,alignment=au"
    with head_unit(tool, "--no-checks", *options) as port:
        sink = f"sdlvideosink sync=false uri=sdl://127.0.0.1:{port}"
        compare(
            f"t. H.264 passed through, {os.path.getsize(path) / 1e6:.0f} MB, encrypted against in clear",
            launch(f"{source} ! {sink} {asking}"), launch(f"{source} ! {sink}"), {"CPU": 1.35})
    os.unlink(path)
    handshake = statistics.median(times_to_first_byte(tool, folder, options, asking))
    clear = statistics.median(times_to_first_byte(tool, folder, options))
    print(f"   From PLAYING to the first video byte: {handshake * 1000:.0f} ms encrypted, {clear * 1000:.0f} ms in clear")


def allocations(tool, folder):
    counter = os.path.join(folder, "counter.so")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "allocation_counter.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", counter, source, "-ldl"], check=True)
    report = os.path.join(folder, "allocations")
    print("   Heap allocations per frame or buffer in steady state, made by the plugin itself:")
    stream = os.path.join(folder, "part.h264")
    make_stream(stream, 1)
    doubled = os.path.join(folder, "twice.h264")
    with open(stream, "rb") as one, open(doubled, "wb") as two:
        content = one.read()
        two.write(content + content)
    video = f"video/x-raw,format=I420,{SIZE},framerate=30/1"
    sound = "samplesperbuffer=320 ! audio/x-raw,rate=16000"
    asking, options = encryption(folder)
    files = [f"filesrc location={path} ! h264parse" for path in (stream, doubled)]
    cases = {
        "H.264 passed through": ("sdlvideosink", files),
        "the same, encrypted": (f"sdlvideosink {asking}", files),
        "raw video": ("sdlvideosink", [f"videotestsrc num-buffers={count} ! {video}" for count in (300, 600)]),
        "sound": ("sdlaudiosink", [f"audiotestsrc num-buffers={count} {sound}" for count in (300, 600)]),
    }
    for name, (sink, sources) in cases.items():
        counts = []
        for description in sources:
            with head_unit(tool, "--no-checks", *options) as port:
                run(launch(f"{description} ! {sink} sync=false uri=sdl://127.0.0.1:{port}"),
                    LD_PRELOAD=counter, COUNTED_LIBRARY="libgstsmartdevicelink", ALLOCATION_REPORT=report)
            with open(report) as file:
                counts.append(int(re.split(r"\s", file.read())[1]))
        print(f"   {name:22} {(counts[1] - counts[0]) / 300:.2f}   target 0")


def instructions(filter_description, count):
    """Instructions of a pipeline of so many buffers, as valgrind counts them."""
    description = f"videotestsrc pattern=black num-buffers={count} ! video/x-raw,width=16,height=16 ! {filter_description}"
    result = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                             *launch(f"{description} ! fakesink")], capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", result.stderr)
    if not found:
        sys.exit(f"valgrind failed: {result.stderr}")
    return int(found[1])


def range_filter(folder):
    if shutil.which("valgrind") is None:
        print("\ne. skipped: there is no valgrind")
        return
    # valgrind can't read Swift's debug information.
    library = "libgstsmartdevicelink.so"
    subprocess.run(["strip", "-g", "-o", os.path.join(folder, library),
                    os.path.join(os.environ["GST_PLUGIN_PATH"].split(":")[0], library)], check=True)
    former = {name: os.environ.get(name) for name in ("GST_PLUGIN_PATH", "GST_REGISTRY")}
    os.environ.update(GST_PLUGIN_PATH=folder, GST_REGISTRY=os.path.join(folder, "registry.bin"))
    run(["gst-inspect-1.0", "sdlrangefilter"])
    few, many = 200, 2200
    ours, theirs = ((instructions(each, many) - instructions(each, few)) // (many - few)
                    for each in ("sdlrangefilter landscape::min-width=10", "capsfilter caps=video/x-raw,width=16"))
    for name, value in former.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})
    print("\ne. sdlrangefilter against capsfilter, instructions per buffer of videotestsrc ! capsfilter ! … ! fakesink")
    print(f"  {ours} against {theirs}: {ours / theirs:8.2f}x   target   1.00x   {'met' if ours <= theirs else 'MISSED'}")


def path_delay(tool):
    """The streaming thread encodes a picture and writes it to the socket, so a push into the sink's pad takes as long as a
    picture is on its way to the kernel."""
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
    Gst.init(None)
    caps = Gst.Caps.from_string(f"video/x-raw,format=I420,{SIZE},framerate=30/1")
    source = Gst.parse_launch(f"videotestsrc pattern=ball num-buffers=60 ! {caps.to_string()} ! appsink name=sink")
    source.set_state(Gst.State.PLAYING)
    pictures = [source.get_by_name("sink").emit("pull-sample").get_buffer() for _ in range(60)]
    source.set_state(Gst.State.NULL)
    added, waiting, count = [], 0, 300
    with head_unit(tool) as port:
        sink = Gst.parse_launch(f"sdlvideosink sync=false speed-preset=superfast threads=1 uri=sdl://127.0.0.1:{port}")
        pad = Gst.Pad.new("src", Gst.PadDirection.SRC)
        pad.link(sink.get_static_pad("sink"))
        pad.set_active(True)
        sink.set_state(Gst.State.PLAYING)
        segment = Gst.Segment()
        segment.init(Gst.Format.TIME)
        for event in (Gst.Event.new_stream_start("bench"), Gst.Event.new_caps(caps), Gst.Event.new_segment(segment)):
            pad.push_event(event)

        def encode_time():
            stats = sink.get_property("sdl-stats")
            return (stats.get_value("encode-time-average-ns") * stats.get_value("frames-encoded"),
                    stats.get_value("queue-frames"))

        for number in range(count):
            buffer = pictures[number % len(pictures)].copy()
            buffer.pts = number * Gst.SECOND // 30
            before, _ = encode_time()
            start = time.monotonic_ns()
            pad.push(buffer)
            end = time.monotonic_ns()
            after, queued = encode_time()
            # The first ones wait for the stream to start.
            if number >= 30:
                added.append((end - start - (after - before)) / 1e6)
                waiting += queued
            time.sleep(1 / 60)
        sink.set_state(Gst.State.NULL)
    added.sort()
    print(f"\np. What the sink adds to the encoder's time until a picture is in the kernel, {len(added)} pictures of 800x480"
          f"{f', {waiting} not there yet' if waiting else ''}")
    for name, value, target in (("p50", statistics.median(added), 0.3), ("p99", added[int(len(added) * 0.99)], 1.0)):
        met = value <= target and not waiting
        print(f"  {name:12} {value:8.3f} ms   target {target:.1f} ms   {'met' if met else 'MISSED'}")


def link():
    """In a network namespace of its own, where a link can be narrowed without privileges and without harm to others."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "link.py")
    probe = "ip link add sdlprobe0 type veth peer name sdlprobe1 && tc qdisc add dev sdlprobe0 root tbf rate 1mbit burst 8kb limit 64kb"
    space = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    if subprocess.run([*space, "sh", "-c", probe], capture_output=True).returncode != 0:
        print("\nl. skipped: this machine makes no network namespaces with a narrow link (unshare, ip, tc)")
        return
    result = subprocess.run([*space, sys.executable, program], stdout=subprocess.PIPE)
    if result.returncode != 0:
        sys.exit("the link bench failed")
    found = json.loads(result.stdout)
    narrow = found["narrow"]
    print("\nl. A live picture of 800x480 at 30 frames per second and 4000 kbit/s, over a link of 8, then 0.6, then 8 Mbit/s")
    rows = (
        ("delay before the drop, p50", narrow["before"] * 1000, "ms", None),
        ("delay from 2 s after the drop, p50", narrow["p50"] * 1000, "ms", 150),
        ("  p95", narrow["p95"] * 1000, "ms", 350),
        ("longest freeze", narrow["freeze"] * 1000, "ms", 600),
        ("pictures per second on the narrow link", narrow["rate"], "", -15),
        ("back to 90 % of the bitrate after", narrow["back"], "s", 8),
        ("delay when that is over, p50", narrow["after"] * 1000, "ms", None),
        ("nothing gets through for 3 s: first new picture after", found["held"]["first"] * 1000, "ms", 500),
        ("  the same, and packets are lost", found["lost"]["first"] * 1000, "ms", 500),
    )
    for name, value, unit, target in rows:
        if value is None:
            print(f"  {name:55} never   target {abs(target)}   MISSED")
            continue
        met = target is None or (value >= -target if target < 0 else value <= target)
        wanted = "" if target is None else f"   target {abs(target):>4} {unit:2}   {'met' if met else 'MISSED'}"
        print(f"  {name:55} {value:8.1f} {unit:2}{wanted}")


def resizes(tool):
    """Loopback and a live source of 30 frames per second; the head unit resizes at any moment between two frames. What
    passes between the question to upstream and upstream's first picture of the new size is not our own."""
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
    Gst.init(None)
    interval, sizes = 1 / 30, ("480x320", "800x480")
    process = subprocess.Popen([tool, "--port", "0", "--quiet", "--commands"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    port = int(process.stdout.readline().split()[1])
    print("\nr. From a resize of the head unit to the first key frame of the new size, in frame intervals, 60 resizes")
    for name, encoding in (("raw video", ""), ("H.264", " ! x264enc tune=zerolatency speed-preset=superfast"
                                              " ! video/x-h264,profile=constrained-baseline")):
        pipeline = Gst.parse_launch(f"videotestsrc is-live=true ! video/x-raw,framerate=30/1{encoding}"
                                    f" ! sdlvideosink name=sink sync=false uri=sdl://127.0.0.1:{port}")
        bus = pipeline.get_bus()
        asked, changed, arrived = [], [], []

        def pass_event(_, info):
            event = info.get_event()
            if event.type == Gst.EventType.RECONFIGURE:
                asked.append(time.monotonic())
            elif event.type == Gst.EventType.CAPS:
                changed.append(time.monotonic())
            return Gst.PadProbeReturn.OK

        def pass_buffer(_pad, _info):
            if changed and not arrived:
                arrived.append(time.monotonic())
            return Gst.PadProbeReturn.OK

        pad = pipeline.get_by_name("sink").get_static_pad("sink")
        pad.add_probe(Gst.PadProbeType.EVENT_UPSTREAM | Gst.PadProbeType.EVENT_DOWNSTREAM, pass_event)
        pad.add_probe(Gst.PadProbeType.BUFFER, pass_buffer)

        def wait_for(message_name):
            while message := bus.timed_pop_filtered(10 * Gst.SECOND, Gst.MessageType.ELEMENT | Gst.MessageType.ERROR):
                if message.type == Gst.MessageType.ERROR:
                    sys.exit(message.parse_error()[0].message)
                if message.has_name(message_name):
                    return message.get_structure()
            sys.exit(f"no {message_name}")

        pipeline.set_state(Gst.State.PLAYING)
        wait_for("sdl-stream-started")
        # The stream may start before upstream has changed.
        time.sleep(1)
        durations, own, lost = [], [], 0
        for count in range(60):
            # Each at another distance to the next frame.
            time.sleep(0.2 + interval * count / 60)
            asked.clear(), changed.clear(), arrived.clear()
            process.stdin.write(f"resize {sizes[count % 2]} scale 1\n")
            process.stdin.flush()
            resized = wait_for("sdl-resized")
            durations.append(resized.get_value("duration") / Gst.SECOND / interval)
            own.append(durations[-1] - (arrived[0] - asked[0]) / interval)
            lost += resized.get_value("dropped-frames")
        pipeline.set_state(Gst.State.NULL)
        # Other processes may take the machine away for an interval.
        most = statistics.quantiles(own, n=20)[-1]
        print(f"  {name:10} in all {statistics.median(durations):.2f}, longest {max(durations):.2f}, {lost / 60:.2f} frames lost"
              f"; of our own {statistics.median(own):.2f}, 19 of 20 within {most:.2f}, longest {max(own):.2f}"
              f"   target 2.00   {'met' if most <= 2 else 'MISSED'}")
    process.terminate()
    process.communicate()


def loopback_pairs():
    """Apps and head units in one process, against encoders and TCP elements that do the same without a protocol."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "loopback_pairs.py")
    count, rate = 32, 15

    def measure(kind, pairs, seconds):
        command = [sys.executable, program, f"--kind={kind}", f"--pairs={pairs}", f"--seconds={seconds}"]
        result = subprocess.run(command, stdout=subprocess.PIPE)
        if result.returncode != 0:
            sys.exit(f"{' '.join(command)} failed")
        return json.loads(result.stdout)

    one, many = ({kind: measure(kind, pairs, seconds) for kind in ("sdl", "tcp")}
                 for pairs, seconds in ((1, 5), (count, 20)))
    ours, theirs = (
        {"threads": (many[kind]["threads"] - one[kind]["threads"]) / (count - 1),
         "memory": (many[kind]["resident"] - one[kind]["resident"]) / (count - 1) / 1e6,
         "CPU": many[kind]["cpu"]} for kind in ("sdl", "tcp"))
    print(f"\ns. {count} pairs of sdlvideosink and sdlheadunitsrc in one process, 320x240, {rate} frames per second,"
          " on 2 cores for 20 s, against x264enc ! tcpclientsink and tcpserversrc")
    dropped, slowest = many["sdl"]["dropped"], min(many["sdl"]["rates"])
    met = not dropped and slowest > 0.95 * rate
    print(f"  dropped      {sum(dropped.values()):8} {dropped or ''}, slowest pair {slowest:.2f} frames per second"
          f"   target 0   {'met' if met else 'MISSED'}")
    for name, unit in (("threads", "per pair"), ("memory", "MB per pair"), ("CPU", "cores in all")):
        print(f"  {name:12} {ours[name]:8.2f} {unit} against {theirs[name]:.2f}")


    apps = 64
    with_sound = measure("sdl-with-sound", apps, 20)
    dropped, slowest, quietest = with_sound["dropped"], min(with_sound["rates"]), min(with_sound["sample-rates"])
    met = not dropped and slowest > 0.95 * rate and quietest > 0.95 * 16000
    print(f"   {apps} pairs with sound as well: dropped {sum(dropped.values())} {dropped or ''}, slowest pair {slowest:.2f} frames"
          f" and {quietest:.0f} samples per second, {with_sound['cpu']:.2f} cores   target 0   {'met' if met else 'MISSED'}")


def quality(tool):
    """PSNR of the first pictures, with each bitrate policy."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "quality.py")
    if subprocess.run([sys.executable, "-c", "import numpy"], capture_output=True).returncode != 0:
        print("\nq. skipped: the comparison of pictures needs python3-numpy")
        return
    print("\nq. The first pictures of 800x480 at 15 frames per second, against their source", flush=True)
    if subprocess.run([sys.executable, program, "--head-unit", tool]).returncode != 0:
        sys.exit("the quality bench failed")


def car_window(tool):
    """A program in the window, from the pixel that it draws to the pixel that a head unit decodes."""
    missing = [program for program in ("Xvfb", "xclock") if not shutil.which(program)]
    if missing:
        print(f"\nw. skipped: no {', '.join(missing)}")
        return
    print("\nw. A program in the car window, 30 frames per second, over loopback", flush=True)
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "car_window.py")
    if subprocess.run([sys.executable, program, "--head-unit", tool]).returncode != 0:
        sys.exit("the bench of the car window failed")


def browser(tool):
    """The page of the head unit, from a picture's way into the sink to the browser's canvas."""
    if not shutil.which("chromium"):
        print("\nx. skipped: no chromium")
        return
    print("\nx. The head unit's page in a browser, 30 pictures of 800x480 a second", flush=True)
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "browser.py")
    if subprocess.run([sys.executable, program, "--head-unit", tool]).returncode != 0:
        sys.exit("the bench of the page failed")


def websocket(tool, folder):
    """The same stream over WebSocket and over TCP, to the same head unit."""
    path = os.path.join(folder, "stream.h264")
    make_stream(path, 100_000_000)
    source = f"filesrc location={path} ! h264parse ! video/x-h264,stream-format=byte-stream,alignment=au,framerate=30/1"
    unit = subprocess.Popen([tool, "--port", "0", "--websocket", "0", "--quiet", "--no-checks"],
                            stdout=subprocess.PIPE, text=True)
    try:
        ports = dict(unit.stdout.readline().split()[:2] for _ in range(2))
        uris = f"sdl+ws://127.0.0.1:{ports['websocket']}", f"sdl://127.0.0.1:{ports['listening']}"
        compare(f"y. H.264 passed through over WebSocket against TCP, {os.path.getsize(path) / 1e6:.0f} MB",
                *(launch(f"{source} ! sdlvideosink sync=false uri={uri}") for uri in uris), {"CPU": 1.5})
    finally:
        unit.terminate()
        unit.communicate()
    os.unlink(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--head-unit", required=True, help="the sdl-head-unit program")
    parser.add_argument("--only", default="abcdefglopqrstuvwxy",
                        help="which of a, b, c, d, e, f, g, l, o, p, q, r, s, t, u, v, w, x, y to run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if "a" in options.only:
            raw()
        if "b" in options.only:
            passthrough(folder)
        if "c" in options.only:
            loading()
        if "d" in options.only:
            first_byte(options.head_unit, folder)
            allocations(options.head_unit, folder)
        if "e" in options.only:
            range_filter(folder)
        if "f" in options.only:
            still(folder)
        if "g" in options.only:
            log(options.head_unit, folder)
        if "l" in options.only:
            link()
        if "o" in options.only:
            encoder_elements()
        if "p" in options.only:
            path_delay(options.head_unit)
        if "q" in options.only:
            quality(options.head_unit)
        if "r" in options.only:
            resizes(options.head_unit)
        if "s" in options.only:
            loopback_pairs()
        if "t" in options.only:
            encrypted(options.head_unit, folder)
        if "u" in options.only:
            sound()
        if "v" in options.only:
            flash_and_beep(folder)
        if "w" in options.only:
            car_window(options.head_unit)
        if "x" in options.only:
            browser(options.head_unit)
        if "y" in options.only:
            websocket(options.head_unit, folder)


if __name__ == "__main__":
    main()
