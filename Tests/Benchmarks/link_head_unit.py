#!/usr/bin/python3
"""A head unit that decodes what it gets, and says when which numbered picture was shown: "TIME NUMBER" lines."""

import sys
import time

from numbered_pictures import Gst, number


def main():
    # The way to the app exists once something is written here.
    sys.stdin.readline()
    Gst.init(None)
    pipeline = Gst.parse_launch(
        "sdlheadunitsrc name=source address=* port=0 ! avdec_h264 max-threads=1 ! video/x-raw,format=I420"
        " ! appsink name=sink sync=false emit-signals=true")
    source, sink = (pipeline.get_by_name(name) for name in ("source", "sink"))

    def show(_):
        sample = sink.emit("pull-sample")
        arrival = time.monotonic()
        buffer, caps = sample.get_buffer(), sample.get_caps().get_structure(0)
        result, mapped = buffer.map(Gst.MapFlags.READ)
        if result:
            stride = (caps.get_value("width") + 3) // 4 * 4
            value = number(mapped.data, stride)
            buffer.unmap(mapped)
            if value is not None:
                print(f"{arrival:.6f} {value}", flush=True)
        return Gst.FlowReturn.OK

    sink.connect("new-sample", show)
    pipeline.set_state(Gst.State.PLAYING)
    print(source.get_property("current-port"), flush=True)
    bus = pipeline.get_bus()
    message = bus.timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.ERROR)
    sys.exit(message.parse_error()[0].message)


if __name__ == "__main__":
    main()
