#!/bin/sh
# Shows an app on a head unit that follows a behaviour script: scripted.sh [SCRIPT], scripts/suspend.txt if not given.
# Expect the messages of both sides, such as sdl-hmi-status and sdl-stream-stopped, and with a display a window.
# Needs gstreamer1.0-tools, -plugins-base, -libav and -x. SDL_PORT and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"
script=${1:-$folder/scripts/suspend.txt}
# A port that no other head unit is likely to use.
port=${SDL_PORT:-$((20000 + $$ % 10000))}
window="videoconvert ! autovideosink"
[ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || window=fakesink

# preset=core-listed offers several sizes and formats, so that an app whose first choice is refused can make another, and
# sends touches.
gst-launch-1.0 -m sdlheadunitsrc script="$script" preset=core-listed port="$port" ! decodebin ! $window &
head_unit=$!
trap 'kill "$head_unit" 2>/dev/null || :; wait' EXIT
trap 'exit 130' INT TERM
# With a mistake in the script the head unit ends at once and names the line.
sleep 1
kill -0 "$head_unit" 2>/dev/null || wait "$head_unit"
gst-launch-1.0 -m videotestsrc is-live=true num-buffers="${NUM_BUFFERS:--1}" ! timeoverlay ! \
  sdlvideosink uri="sdl://127.0.0.1:$port"
