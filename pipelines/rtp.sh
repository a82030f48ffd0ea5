#!/bin/sh
# Streams H.264 in RTP packets, which SDL Core's head unit accepts beside the plain byte stream that it lists first.
# Expect "sdl-stream-started" with protocol=RTP; Ctrl-C ends it.
# Needs gstreamer1.0-tools and gstreamer1.0-plugins-base. SDL_URI and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"

exec gst-launch-1.0 -m videotestsrc num-buffers="${NUM_BUFFERS:--1}" ! \
  sdlvideosink video-formats=rtp uri="${SDL_URI:-sdl+builtin:core-listed}"
