#!/bin/sh
# Shows an app on a head unit that does what a behaviour script says: scripted.sh [SCRIPT], scripts/suspend.txt if not given.
# Expect what head unit and app tell of it, such as sdl-hmi-status and sdl-stream-stopped, and with a display a window.
# Needs gstreamer1.0-tools, -plugins-base, -libav and -x. SDL_PORT and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"
script=${1:-$folder/scripts/suspend.txt}
# By default none that another head unit is likely to have.
port=${SDL_PORT:-$((20000 + $$ % 10000))}
window="videoconvert ! autovideosink"
[ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || window=fakesink

# The sizes and formats of SDL Core's head unit, among which an app can choose when some are refused.
gst-launch-1.0 -m sdlheadunitsrc script="$script" preset=core port="$port" ! decodebin ! $window &
head_unit=$!
trap 'kill "$head_unit" 2>/dev/null || :; wait' EXIT
trap 'exit 130' INT TERM
# A script with a mistake ends it at once, and says which.
sleep 1
kill -0 "$head_unit" 2>/dev/null || wait "$head_unit"
gst-launch-1.0 -m videotestsrc is-live=true num-buffers="${NUM_BUFFERS:--1}" ! timeoverlay ! \
  sdlvideosink uri="sdl://127.0.0.1:$port"
