"""Pictures with a number in their pixels, which survives an encoder at its worst: moving texture under noise."""

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # noqa: E402,F401

WIDTH, HEIGHT = 800, 480
BITS, SIDE = 16, 32
BLACK, WHITE = b"\x10" * SIDE, b"\xeb" * SIDE


def textures(count):
    """I420 pictures of a moving pattern with noise on it, about as hard to encode as a film."""
    caps = f"video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate=30/1"
    pipeline = Gst.parse_launch(
        f"videotestsrc pattern=zone-plate kx2=6 ky2=6 kt=4 num-buffers={count} ! {caps} ! mix.sink_0 "
        f"videotestsrc pattern=snow num-buffers={count} ! {caps} ! mix.sink_1 "
        f"compositor name=mix sink_1::alpha=0.12 ! {caps} ! appsink name=sink sync=false")
    sink = pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    pictures = []
    for _ in range(count):
        sample = sink.emit("pull-sample")
        if sample is None:
            break
        buffer = sample.get_buffer()
        pictures.append(buffer.extract_dup(0, buffer.get_size()))
    pipeline.set_state(Gst.State.NULL)
    if not pictures:
        raise SystemExit("no test pictures: compositor and videotestsrc are needed")
    return pictures


def numbered(picture, number):
    """A picture with its number in two rows of blocks at the top, the second row inverted."""
    bits = [number >> index & 1 for index in range(BITS)]
    upper = b"".join(WHITE if bit else BLACK for bit in bits)
    lower = b"".join(BLACK if bit else WHITE for bit in bits)
    rows = []
    for row in range(2 * SIDE):
        rows.append(upper if row < SIDE else lower)
        rows.append(picture[row * WIDTH + BITS * SIDE:(row + 1) * WIDTH])
    return b"".join(rows) + picture[2 * SIDE * WIDTH:]


def number(luma, stride):
    """The number in a decoded picture; None if its blocks can't be read."""
    value = 0
    for index in range(BITS):
        column = index * SIDE + SIDE // 2
        upper = luma[SIDE // 2 * stride + column]
        lower = luma[(SIDE + SIDE // 2) * stride + column]
        if abs(int(upper) - int(lower)) < 60:
            return None
        value |= int(upper > lower) << index
    return value
