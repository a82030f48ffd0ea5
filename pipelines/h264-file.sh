#!/bin/sh
# Shows an H.264 file as it is, without encoding it again: h264-file.sh [FILE]. Without FILE it makes a short one.
# Expect "Registered with" and the file at its own speed; its size must be one that the head unit accepts.
# Needs gstreamer1.0-tools, -plugins-base, -bad and, to make a file, -ugly. SDL_URI and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"
frames=${NUM_BUFFERS:-75}
file=${1:-$(dirname "$0")/../build/drive-$frames.h264}

if [ $# = 0 ] && [ ! -e "$file" ]; then
  mkdir -p "$(dirname "$file")"
  gst-launch-1.0 --quiet videotestsrc pattern=ball num-buffers="$frames" ! video/x-raw,width=800,height=480,framerate=15/1 ! \
    x264enc tune=zerolatency bitrate=600 key-int-max=30 ! video/x-h264,stream-format=byte-stream,profile=constrained-baseline ! \
    filesink location="$file.$$"
  mv "$file.$$" "$file"
fi

exec gst-launch-1.0 filesrc location="$file" ! h264parse ! sdlvideosink uri="${SDL_URI:-sdl+builtin:default}"
