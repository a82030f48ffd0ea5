#!/bin/sh
# Writes a navigation prompt to a WAV file: speech.sh FILE [TEXT]. Without the program espeak-ng it is two tones.
# Expect FILE, about two seconds long. prompt.sh and drive.py --prompt play such a file in the car.
# Needs espeak-ng, or gstreamer1.0-tools, -plugins-base and -plugins-good (wavenc).
set -eu
[ $# -ge 1 ] || { echo "usage: $0 FILE [TEXT]" >&2; exit 2; }
text=${2:-In 200 metres, turn left.}

if command -v espeak-ng > /dev/null; then
  exec espeak-ng -w "$1" "$text"
fi
exec gst-launch-1.0 --quiet concat name=tones ! audioconvert ! audio/x-raw,format=S16LE,channels=1 ! wavenc ! filesink location="$1" \
  audiotestsrc freq=880 volume=0.3 num-buffers=20 ! tones. audiotestsrc freq=660 volume=0.3 num-buffers=30 ! tones.
