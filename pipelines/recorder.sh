#!/bin/sh
# Records what an app shows on the car's screen, and says: recorder.sh [FILE], with an app beside it that shows a test pattern.
# Expect "Registered with", and FILE (build/recording.mkv if not given; an .mp4 file has no sound) to play when the app, or Ctrl-C, has ended it.
# Needs gstreamer1.0-tools, -plugins-base, -bad and -good, python3-gi, gir1.2-gstreamer-1.0. SDL_PORT and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"
# A port that no other head unit is likely to use.
port=${SDL_PORT:-$((20000 + $$ % 10000))}
file=${1:-$(dirname "$0")/../build/recording.mkv}
mkdir -p "$(dirname "$file")"

gst-launch-1.0 videotestsrc num-buffers="${NUM_BUFFERS:--1}" ! video/x-raw,framerate=15/1 ! timeoverlay ! \
  sdlvideosink uri="sdl://127.0.0.1:$port" &
app=$!
trap 'kill "$app" 2>/dev/null || :' EXIT
trap 'exit 130' INT TERM
# A file for each size: when the driver resizes the app, FILE-2 follows.
"$(dirname "$0")/recorder.py" "$file" port="$port"
wait "$app"
