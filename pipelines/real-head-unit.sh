#!/bin/sh
# Shows a moving test pattern with a clock on a real head unit: real-head-unit.sh HOST[:PORT]
# Expect "Registered with"; the picture comes when the driver opens the app "GStreamer" on the head unit's screen.
# Needs gstreamer1.0-tools, -plugins-base and -x, and a head unit in the network. SDL_URI and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"

if [ $# = 0 ] && [ -z "${SDL_URI:-}" ]; then
  cat >&2 <<EOF
usage: $0 HOST[:PORT]
  HOST  name or address of the head unit, or of the computer that runs SDL Core
  PORT  where it listens for apps, 12345 if left out
For example: $0 192.0.2.7
Without a head unit in the network, try pipelines/window.sh.
EOF
  exit 2
fi
uri=${SDL_URI:-sdl://$1}

exec gst-launch-1.0 videotestsrc is-live=true num-buffers="${NUM_BUFFERS:--1}" ! timeoverlay ! sdlvideosink uri="$uri"
