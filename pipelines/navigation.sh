#!/bin/sh
# Shows navit, a navigation program, on the car's screen, with a map of a town that does not exist.
# Expect the map; a tap on it chooses the park as the destination, and the car drives there. Ctrl-C ends it.
# Needs gstreamer1.0-tools, -plugins-base, -good, xvfb, navit, maptool and python3. SDL_URI and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"

for program in navit maptool; do
  if ! command -v $program >/dev/null; then
    echo "no $program: install the package $program" >&2
    # Test runners take this status for "skipped".
    exit 77
  fi
done
source=$(cd "$(dirname "$0")/navigation" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
cd "$folder"
python3 "$source/town.py" >town.osm
maptool town.bin <town.osm >maptool.log 2>&1

NAVIT_USER_DATADIR=$folder gst-launch-1.0 -m sdlcarwindowsrc command="navit -c $source/navit.xml" ! \
  identity eos-after="${NUM_BUFFERS:--1}" ! sdlvideosink uri="${SDL_URI:-sdl+builtin:default}" app-name=navit
