#!/bin/sh
# Shows how an app limits the sizes that it supports: of the seven that SDL Core's head unit offers, three fit these ranges.
# Expect "sdl-stream-started" with width=800, height=380; Ctrl-C ends it.
# Needs gstreamer1.0-tools and gstreamer1.0-plugins-base. SDL_URI and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"

exec gst-launch-1.0 -m videotestsrc num-buffers="${NUM_BUFFERS:--1}" ! \
  sdlrangefilter landscape::min-width=500 landscape::min-height=200 landscape::max-width=800 landscape::max-height=400 \
    portrait::enabled=false ! \
  sdlvideosink uri="${SDL_URI:-sdl+builtin:core-listed}"
