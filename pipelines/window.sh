#!/bin/sh
# Shows an app on a car's screen in a window; where that is clicked or touched, the app paints a square.
# Expect "Registered with", and squares under the pressed mouse; without a display the pictures are only decoded.
# Needs gstreamer1.0-tools, -plugins-base, -plugins-good, -libav and -x. SDL_PORT and NUM_BUFFERS may be set.
set -eu
. "$(dirname "$0")/environment.sh"
# By default none that another head unit is likely to have.
port=${SDL_PORT:-$((20000 + $$ % 10000))}
window="videoconvert ! autovideosink"
[ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || window=fakesink

gst-launch-1.0 -m videotestsrc pattern=white num-buffers="${NUM_BUFFERS:--1}" ! video/x-raw,format=I420 ! \
  navigationtest ! sdlvideosink uri="sdl://127.0.0.1:$port" &
app=$!
trap 'kill "$app" 2>/dev/null || :; wait' EXIT
trap 'exit 130' INT TERM
gst-launch-1.0 sdlheadunitsrc port="$port" eos-on-disconnect=true ! decodebin ! $window
wait "$app"
