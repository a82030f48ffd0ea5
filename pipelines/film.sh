#!/bin/sh
# Shows a film on the head unit, in a size that suits films, and plays its sound in the car: film.sh [FILE]. Without FILE it makes one.
# Expect "sdl-stream-started" twice: with width=480, height=320, the first size of SDL Core's head unit in these ranges; and with rate=16000.
# Needs gstreamer1.0-tools and -plugins-base, and a decoder for FILE. SDL_URI and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"
frames=${NUM_BUFFERS:-250}
file=${1:-$(dirname "$0")/../build/film-in-the-car-$frames.ogv}
uri=${SDL_URI:-sdl+builtin:core-listed}

if [ $# = 0 ] && [ ! -e "$file" ]; then
  mkdir -p "$(dirname "$file")"
  # 1920 samples at 48 kHz last as long as a picture, 1/25 s.
  gst-launch-1.0 --quiet oggmux name=muxer ! filesink location="$file.$$" \
    videotestsrc num-buffers="$frames" horizontal-speed=4 ! \
      video/x-raw,width=640,height=360,framerate=25/1 ! theoraenc ! queue ! muxer. \
    audiotestsrc wave=ticks num-buffers="$frames" samplesperbuffer=1920 ! audio/x-raw,rate=48000,channels=2 ! \
      audioconvert ! vorbisenc ! queue ! muxer.
  mv "$file.$$" "$file"
fi

# Both sinks are one app, because they have the same uri. playbin converts the sound, and does without it where there is none.
exec gst-launch-1.0 -m playbin uri="file://$(realpath "$file")" audio-sink="sdlaudiosink uri=$uri" \
  video-sink="videoconvertscale ! sdlrangefilter landscape::min-width=480 landscape::max-aspect-ratio=1.9 portrait::enabled=false ! sdlvideosink uri=$uri"
