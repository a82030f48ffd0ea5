#!/bin/sh
# Shows video that moves between two connections to a head unit, as between Bluetooth and Wi-Fi in a car.
# Expect a stream on the second connection ("secondary"), which is cut after two seconds; then on the first, and again on the
# second. Needs gstreamer1.0-tools, -plugins-base, -libav and -x. SDL_PORT and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"
# A port that no other head unit is likely to use.
port=${SDL_PORT:-$((20000 + $$ % 10000))}
window="videoconvert ! autovideosink"
[ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || window=fakesink
script=$(mktemp)
cat > "$script" <<'END'
at 0: video-transports 2,1
at 0: secondary-transport on
on stream-started 1 after 2: cut secondary
END

gst-launch-1.0 sdlheadunitsrc script="$script" port="$port" ! decodebin ! $window &
head_unit=$!
trap 'kill "$head_unit" 2>/dev/null || :; wait; rm -f "$script"' EXIT
trap 'exit 130' INT TERM
gst-launch-1.0 -m videotestsrc is-live=true num-buffers="${NUM_BUFFERS:--1}" ! timeoverlay ! \
  sdlvideosink uri="sdl://127.0.0.1:$port" |
  sed -un '/sdl-transport-changed/p; /sdl-stream-/p; /WARN/p; /ERROR/p'
