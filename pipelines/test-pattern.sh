#!/bin/sh
# Shows the smallest pipeline: a test pattern, streamed to the head unit that is built into the sink.
# Expect a notice that no uri is set, then "Registered with", and no window; Ctrl-C ends it.
# Needs gstreamer1.0-tools and gstreamer1.0-plugins-base. SDL_URI and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"

exec gst-launch-1.0 videotestsrc num-buffers="${NUM_BUFFERS:--1}" ! sdlvideosink ${SDL_URI:+uri="$SDL_URI"}
