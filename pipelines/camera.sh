#!/bin/sh
# Shows a camera on the head unit: camera.sh [DEVICE], /dev/video0 if not given.
# Expect "Registered with" and, on the head unit, the camera's picture; "no camera" where there is none.
# Needs gstreamer1.0-tools, -plugins-base and -good (v4l2src), and a camera. SDL_URI and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"
device=${1:-/dev/video0}

if [ ! -e "$device" ]; then
  echo "no camera: there is no $device"
  # Test runners take this status for "skipped".
  exit 77
fi

exec gst-launch-1.0 v4l2src device="$device" num-buffers="${NUM_BUFFERS:--1}" ! queue ! videoconvertscale ! \
  sdlvideosink uri="${SDL_URI:-sdl+builtin:default}"
