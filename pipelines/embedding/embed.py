#!/usr/bin/python3
# Shows an app that draws its own pictures, with a square where it was touched last: embed.py [PICTURES [URI]].
# Expect the sink's messages, and a pause from a third to two thirds of the pictures (150), while it is in the background.
# Needs python3-gi, gir1.2-gst-plugins-base-1.0, gir1.2-gstreamer-1.0 and the plugin in GST_PLUGIN_PATH.

import signal
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import GLib, Gst, GstVideo  # noqa: E402

WIDTH, HEIGHT, PICTURES_PER_SECOND = 400, 240, 15
# With suspend-policy=drop nobody is asked for a pause while the head unit does not show the app.
PIPELINE = (
    "appsrc name=source format=time"
    f" caps=video/x-raw,format=GRAY8,width={WIDTH},height={HEIGHT},framerate={PICTURES_PER_SECOND}/1"
    " ! videoconvertscale add-borders=false ! sdlvideosink name=sink app-name=Embedded suspend-policy=drop")


def fill(pixels, x, y, width, height, brightness):
    left, right = max(x, 0), min(x + width, WIDTH)
    for row in range(max(y, 0), min(y + height, HEIGHT)):
        pixels[row * WIDTH + left:row * WIDTH + right] = bytes([brightness]) * (right - left)


class App:
    def __init__(self, pictures, uri):
        self.picture, self.pictures = 0, pictures
        self.touched = None
        self.pipeline = Gst.parse_launch(PIPELINE)
        self.sink = self.pipeline.get_by_name("sink")
        self.sink.set_property("uri", uri)
        source = self.pipeline.get_by_name("source")
        source.connect("need-data", self.on_need_data)
        source.get_static_pad("src").add_probe(Gst.PadProbeType.EVENT_UPSTREAM, self.on_event)

    def draw(self):
        pixels = bytearray([64]) * (WIDTH * HEIGHT)
        fill(pixels, self.picture * 4 % WIDTH, 0, 8, HEIGHT, 128)
        if self.touched:
            x, y = self.touched
            fill(pixels, x - 10, y - 10, 20, 20, 255)
        buffer = Gst.Buffer.new_wrapped(bytes(pixels))
        buffer.pts = self.picture * Gst.SECOND // PICTURES_PER_SECOND
        buffer.duration = Gst.SECOND // PICTURES_PER_SECOND
        return buffer

    def on_need_data(self, source, _length):
        """The sink has shown the last picture and asks for the next one."""
        if self.picture == self.pictures:
            source.emit("end-of-stream")
            return
        if self.picture == self.pictures // 3:
            self.sink.set_property("app-state", "background")
        if self.picture == self.pictures * 2 // 3:
            self.sink.set_property("app-state", "foreground")
        source.emit("push-buffer", self.draw())
        self.picture += 1

    def on_event(self, _pad, info):
        """Touches come up the pipeline. Scalers on the way convert them, so that here they are in pixels of draw()."""
        event = info.get_event()
        if GstVideo.Navigation.event_get_type(event) == GstVideo.NavigationEventType.TOUCH_DOWN:
            _, finger, x, y, _ = GstVideo.Navigation.event_parse_touch_event(event)
            print(f"touch {finger} at {x:.0f} {y:.0f}", flush=True)
            self.touched = int(x), int(y)
        return Gst.PadProbeReturn.OK

    def run(self):
        """Returns whether the end of the stream came, and no error."""
        bus = self.pipeline.get_bus()
        self.pipeline.set_state(Gst.State.PLAYING)
        wanted = Gst.MessageType.ELEMENT | Gst.MessageType.ERROR | Gst.MessageType.EOS
        while (message := bus.timed_pop_filtered(Gst.CLOCK_TIME_NONE, wanted)).type == Gst.MessageType.ELEMENT:
            print_element_message(message.get_structure())
        if message.type == Gst.MessageType.ERROR:
            print(message.parse_error()[0].message, file=sys.stderr)
        # The sink's last messages come while the pipeline goes to NULL, which would flush the bus.
        self.pipeline.set_property("auto-flush-bus", False)
        self.pipeline.set_state(Gst.State.NULL)
        while last := bus.pop_filtered(Gst.MessageType.ELEMENT):
            print_element_message(last.get_structure())
        return message.type == Gst.MessageType.EOS


def print_element_message(structure):
    name = structure.get_name()
    # Others come from GStreamer's own elements, or report events that no element handled.
    if not name.startswith("sdl-"):
        return
    if structure.has_field("width"):
        print(name, structure.get_value("width"), structure.get_value("height"), flush=True)
    elif structure.has_field("reason"):
        print(name, structure.get_value("reason"), flush=True)
    else:
        print(name, flush=True)


def main():
    # Python's own handler would have to wait until GStreamer returns.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    Gst.init(None)
    arguments = dict(enumerate(sys.argv))
    try:
        app = App(int(arguments.get(1, 10 * PICTURES_PER_SECOND)), arguments.get(2, "sdl+builtin:default"))
    except GLib.Error as error:
        sys.exit(f"{error.message}. Is GST_PLUGIN_PATH set?")
    sys.exit(0 if app.run() else 1)


if __name__ == "__main__":
    main()
