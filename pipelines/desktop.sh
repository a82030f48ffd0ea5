#!/bin/sh
# Shows this computer's desktop on the head unit, scaled to its screen.
# Expect "Registered with" and, on the head unit, your desktop as it changes; Ctrl-C ends it.
# Needs gstreamer1.0-tools, -plugins-base, -good; xvfb if there is no display. SDL_URI and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"

if [ -z "${DISPLAY:-}" ] && command -v xvfb-run >/dev/null; then
  exec xvfb-run --auto-servernum --server-args="-screen 0 1280x800x24" "$0" "$@"
fi

exec gst-launch-1.0 ximagesrc use-damage=false num-buffers="${NUM_BUFFERS:--1}" ! queue ! videoconvertscale ! \
  sdlvideosink uri="${SDL_URI:-sdl+builtin:default}"
