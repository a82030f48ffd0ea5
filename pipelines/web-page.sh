#!/bin/sh
# Shows a web page on the car's screen and lets the driver touch it: web-page.sh [ADDRESS [WIDTH HEIGHT]], 800 480 if not given.
# Expect the page beside this script; where it is touched it changes its colour, and a white square stays.
# Needs gstreamer1.0-tools, -plugins-base and -wpe (the web engine WebKit). SDL_URI and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"
page=${1:-file://$(cd "$(dirname "$0")" && pwd)/web-page.html}
width=${2:-800} height=${3:-480}

if ! gst-inspect-1.0 --exists wpesrc; then
  echo "no web engine: install gstreamer1.0-wpe for the element wpesrc"
  # Test runners take this status for "skipped".
  exit 77
fi

# Of a fixed size, because WebKit may crash if it is resized while it starts; the scaler moves the touches as well.
exec gst-launch-1.0 -m wpesrc location="$page" ! identity eos-after="${NUM_BUFFERS:--1}" ! \
  video/x-raw,width="$width",height="$height" ! videoconvertscale add-borders=false ! \
  sdlvideosink uri="${SDL_URI:-sdl+builtin:default}"
