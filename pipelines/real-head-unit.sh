#!/bin/sh
# Shows a moving test pattern with a clock on a real head unit: real-head-unit.sh HOST[:PORT]
# Expect the connection's progress; the picture comes when the driver opens the app "GStreamer" on the screen.
# Needs gstreamer1.0-tools, -plugins-base and -x, and a head unit in the network. SDL_URI and NUM_BUFFERS may be set.
set -eu
. "$(dirname "$0")/environment.sh"
uri=${SDL_URI:-sdl://${1:?usage: $0 HOST[:PORT]}}

exec gst-launch-1.0 videotestsrc is-live=true num-buffers="${NUM_BUFFERS:--1}" ! timeoverlay ! sdlvideosink uri="$uri"
