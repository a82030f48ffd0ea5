#!/bin/sh
# Tells a head unit with a knob instead of a touch screen what can be selected: two buttons, in pixels of the picture.
# Expect "sdl-stream-started"; the head unit in another terminal, build/sdl-head-unit, prints "2 haptic rectangles".
# Needs gstreamer1.0-tools and gstreamer1.0-plugins-base. SDL_URI and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"

exec gst-launch-1.0 -m videotestsrc pattern=smpte num-buffers="${NUM_BUFFERS:--1}" ! \
  sdlvideosink ${SDL_URI:+uri="$SDL_URI"} haptic-rectangles="<<40,40,160,80>,<40,160,160,80>>"
