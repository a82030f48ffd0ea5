#!/bin/sh
# Shows app and head unit in one process, without a window: the pictures that arrive are written to files: loopback.sh [FOLDER].
# Expect "Registered with", and FOLDER (build/loopback if not given) to fill with the pictures of the last seconds, as JPEG.
# Needs gstreamer1.0-tools, -plugins-base, -good (jpegenc), -bad (h264parse) and -libav. SDL_PORT and NUM_BUFFERS may be set.
set -eu
. "$(dirname "$0")/environment.sh"
# By default none that another head unit is likely to have.
port=${SDL_PORT:-$((20000 + $$ % 10000))}
folder=${1:-$(dirname "$0")/../build/loopback}
pictures=${NUM_BUFFERS:--1}
mkdir -p "$folder"

# Two things let the pipeline start, although nothing arrives before the app plays: async=false, and no decodebin.
# The app makes some pictures more than shall arrive, since it makes the first before it knows the head unit's size.
exec gst-launch-1.0 \
  sdlheadunitsrc port="$port" num-buffers="$pictures" ! h264parse ! avdec_h264 ! videoconvert ! jpegenc ! \
    multifilesink location="$folder/%05d.jpeg" max-files=75 async=false \
  videotestsrc pattern=ball num-buffers=$((pictures < 0 ? -1 : pictures + 5)) ! video/x-raw,framerate=15/1 ! \
    sdlvideosink uri="sdl://127.0.0.1:$port"
