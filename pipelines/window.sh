#!/bin/sh
# Shows an app on a car's screen in a window; where that is clicked or touched, the app paints a square.
# Expect "Registered with", and a square of 20 pixels where you press; without a display the pictures are only decoded.
# Needs gstreamer1.0-tools, -plugins-base, -plugins-good, -libav and -x. SDL_PORT and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"
# A port that no other head unit is likely to use.
port=${SDL_PORT:-$((20000 + $$ % 10000))}
window="videoconvert ! autovideosink"
[ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || window=fakesink

# navigationtest paints 4 pixels, which the pointer hides, so the picture is painted small and enlarged.
gst-launch-1.0 -m videotestsrc pattern=white num-buffers="${NUM_BUFFERS:--1}" ! \
  video/x-raw,format=I420,width=160,height=96 ! navigationtest ! videoconvertscale method=nearest-neighbour add-borders=false ! \
  sdlvideosink uri="sdl://127.0.0.1:$port" &
app=$!
trap 'kill "$app" 2>/dev/null || :; wait' EXIT
trap 'exit 130' INT TERM
gst-launch-1.0 sdlheadunitsrc port="$port" eos-on-disconnect=true ! decodebin ! $window
wait "$app"
