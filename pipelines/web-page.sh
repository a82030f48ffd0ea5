#!/bin/sh
# Shows a web page on the car's screen, as large as that, and lets the driver touch it: web-page.sh [ADDRESS].
# Expect the page beside this script; where it is touched it changes its colour, and a white square stays.
# Needs gstreamer1.0-tools, -plugins-base and -wpe (the web engine WebKit). SDL_URI and NUM_BUFFERS may be set.
set -eu
. "$(dirname "$0")/environment.sh"
page=${1:-file://$(cd "$(dirname "$0")" && pwd)/web-page.html}

if ! gst-inspect-1.0 --exists wpesrc; then
  echo "no web engine: install gstreamer1.0-wpe for the element wpesrc"
  # What test runners take for "skipped".
  exit 77
fi

exec gst-launch-1.0 -m wpesrc location="$page" ! identity eos-after="${NUM_BUFFERS:--1}" ! videoconvert ! \
  sdlvideosink uri="${SDL_URI:-sdl+builtin:default}"
