#!/bin/sh
# Shows a film on the head unit and plays its sound here, on this computer: film-with-sound.sh [FILE]. Without FILE it makes one.
# Expect a tick each second, in time with the clock in the picture; when the driver leaves the app, both pause.
# Needs gstreamer1.0-tools, -plugins-base, -plugins-good, and a decoder for FILE. SDL_URI and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"
frames=${NUM_BUFFERS:-250}
file=${1:-$(dirname "$0")/../build/film-with-sound-$frames.ogv}

if [ $# = 0 ] && [ ! -e "$file" ]; then
  mkdir -p "$(dirname "$file")"
  # 1920 samples at 48 kHz last as long as a picture, 1/25 s.
  gst-launch-1.0 --quiet oggmux name=muxer ! filesink location="$file.$$" \
    videotestsrc pattern=ball num-buffers="$frames" ! timeoverlay ! \
      video/x-raw,width=640,height=360,framerate=25/1 ! theoraenc ! queue ! muxer. \
    audiotestsrc wave=ticks num-buffers="$frames" samplesperbuffer=1920 ! audio/x-raw,rate=48000,channels=2 ! \
      audioconvert ! vorbisenc ! queue ! muxer.
  mv "$file.$$" "$file"
fi

# playbin takes one element as its sink for pictures, so the two are written as a bin.
exec gst-launch-1.0 playbin uri="file://$(realpath "$file")" \
  video-sink="videoconvertscale ! sdlvideosink uri=${SDL_URI:-sdl+builtin:default}"
