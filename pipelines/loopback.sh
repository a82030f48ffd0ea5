#!/bin/sh
# Shows app and head unit in one process, without a window: the pictures that arrive are written to files: loopback.sh [FOLDER].
# Expect "Registered with", and FOLDER (build/loopback if not given) to fill with the pictures of the last seconds, as JPEG.
# Needs gstreamer1.0-tools, -plugins-base, -good (jpegenc), -bad (h264parse) and -libav. SDL_PORT and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"
# A port that no other head unit is likely to use.
port=${SDL_PORT:-$((20000 + $$ % 10000))}
folder=${1:-$(dirname "$0")/../build/loopback}
pictures=${NUM_BUFFERS:--1}
mkdir -p "$folder"

# Nothing arrives before the app plays, so the file sink must not wait for a first picture (async=false), and the decoder
# is named, because decodebin would wait for data. The app makes two seconds of pictures more than should arrive, because
# those before the head unit takes video are dropped, and so are those that come late on a slow machine.
exec gst-launch-1.0 \
  sdlheadunitsrc port="$port" num-buffers="$pictures" ! h264parse ! avdec_h264 ! videoconvert ! jpegenc ! \
    multifilesink location="$folder/%05d.jpeg" max-files=75 async=false \
  videotestsrc pattern=ball num-buffers=$((pictures < 0 ? -1 : pictures + 30)) ! video/x-raw,framerate=15/1 ! \
    sdlvideosink uri="sdl://127.0.0.1:$port" max-lateness=-1
