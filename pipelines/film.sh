#!/bin/sh
# Shows a film on the head unit, in a size that suits films, without its sound: film.sh [FILE]. Without FILE it makes one.
# Expect "sdl-stream-started" with width=480, height=320, the first size of SDL Core's head unit in these ranges.
# Needs gstreamer1.0-tools and -plugins-base, and whatever decodes FILE. SDL_URI and NUM_BUFFERS may be set.
set -eu
. "$(dirname "$0")/environment.sh"
frames=${NUM_BUFFERS:-250}
file=${1:-$(dirname "$0")/../build/film-$frames.ogv}

if [ $# = 0 ] && [ ! -e "$file" ]; then
  mkdir -p "$(dirname "$file")"
  gst-launch-1.0 --quiet videotestsrc num-buffers="$frames" horizontal-speed=4 ! \
    video/x-raw,width=640,height=360,framerate=25/1 ! theoraenc ! oggmux ! filesink location="$file.$$"
  mv "$file.$$" "$file"
fi

exec gst-launch-1.0 -m filesrc location="$file" ! decodebin ! videoconvertscale ! \
  sdlrangefilter landscape::min-width=480 landscape::max-aspect-ratio=1.9 portrait::enabled=false ! \
  sdlvideosink uri="${SDL_URI:-sdl+builtin:core}"
