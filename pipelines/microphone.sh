#!/bin/sh
# Plays a microphone in the car: microphone.sh. AUDIO_SOURCE names another source, such as "audiotestsrc is-live=true".
# Expect "sdl-stream-started" with service=audio; Ctrl-C ends it.
# Needs gstreamer1.0-tools, -plugins-base, -plugins-good (autoaudiosrc), and a microphone. SDL_URI and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"

if [ -z "${AUDIO_SOURCE:-}" ] && [ ! -d /dev/snd ] && [ -z "${PULSE_SERVER:-}" ]; then
  echo "no microphone: this computer has no sound card; set AUDIO_SOURCE to use another source"
  # Test runners take this status for "skipped".
  exit 77
fi

# shellcheck disable=SC2086
exec gst-launch-1.0 -m ${AUDIO_SOURCE:-autoaudiosrc} ! queue ! audioconvert ! audioresample ! \
  identity eos-after="${NUM_BUFFERS:--1}" ! sdlaudiosink name=sink uri="${SDL_URI:-sdl+builtin:default}"
