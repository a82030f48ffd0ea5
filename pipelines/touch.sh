#!/bin/sh
# Shows where the driver touches the screen: navigationtest paints a square there, and sdl-gesture says what it means.
# Expect a square and a message for each touch; sdl-head-unit --commands touches with "touch tap 100 200".
# Needs gstreamer1.0-tools, -plugins-base and -plugins-good. SDL_URI and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"

exec gst-launch-1.0 -m videotestsrc pattern=white num-buffers="${NUM_BUFFERS:--1}" ! \
  video/x-raw,format=I420,width=160,height=96 ! navigationtest ! videoconvertscale method=nearest-neighbour add-borders=false ! \
  sdlvideosink ${SDL_URI:+uri="$SDL_URI"} gestures=true
