#!/bin/sh
# Speaks over a running picture, as navigation does: prompt.sh [TEXT]. Without the program espeak-ng it sounds two tones.
# Expect "sdl-stream-started" with service=video; with service=audio when it speaks, and then "sdl-stream-stopped" with reason=idle.
# Needs gstreamer1.0-tools, -plugins-base, -plugins-good (wavparse), and espeak-ng to speak. SDL_URI and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"
uri=${SDL_URI:-sdl+builtin:default}
prompt=$(mktemp)
trap 'rm -f "$prompt"' EXIT

"$(dirname "$0")/speech.sh" "$prompt" ${1:+"$1"}

# The sound's service is there only while it speaks, so that the radio is lowered only then.
gst-launch-1.0 -m videotestsrc is-live=true pattern=ball num-buffers="${NUM_BUFFERS:--1}" ! sdlvideosink uri="$uri" \
  filesrc location="$prompt" ! wavparse ! audioconvert ! audioresample ! \
  sdlaudiosink uri="$uri" start-on-data=true idle-timeout=500
