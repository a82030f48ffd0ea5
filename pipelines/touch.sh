#!/bin/sh
# Shows where the driver's fingers are: navigationtest paints a square wherever the head unit's screen is touched.
# Expect squares under the fingers; .build/release/sdl-head-unit --commands takes "touch begin 0 100 200", "touch end 0 100 200".
# Needs gstreamer1.0-tools, -plugins-base and -plugins-good. SDL_URI and NUM_BUFFERS may be set.
set -eu
. "$(dirname "$0")/environment.sh"

exec gst-launch-1.0 -m videotestsrc pattern=white num-buffers="${NUM_BUFFERS:--1}" ! video/x-raw,format=I420 ! \
  navigationtest ! sdlvideosink ${SDL_URI:+uri="$SDL_URI"} gestures=true
