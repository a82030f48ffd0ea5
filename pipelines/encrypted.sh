#!/bin/sh
# Shows encrypted video, app and head unit in one process: encrypted.sh [FOLDER]. Makes what FOLDER (build/certificates) lacks.
# Expect "encryption-state" with video-encrypted=true, and the end after NUM_BUFFERS pictures (75 if not given).
# Needs openssl, gstreamer1.0-tools, -plugins-base, -bad (h264parse) and -libav. SDL_PORT and NUM_BUFFERS may be set.
set -eu
folder=$(dirname "$0")
. "$folder/environment.sh"
certificates=${1:-$folder/../build/certificates}
"$folder/../scripts/make-certificates" "$certificates"
# A port that no other head unit is likely to use.
port=${SDL_PORT:-$((20000 + $$ % 10000))}
pictures=${NUM_BUFFERS:-75}

# encryption=require refuses apps that stream in clear, and ca-certificates those whose certificate is not of this authority.
# The app checks the head unit's certificate in the same way. For the number of pictures see loopback.sh.
exec gst-launch-1.0 -v \
  sdlheadunitsrc port="$port" num-buffers="$pictures" encryption=require ca-certificates="$certificates/authority.pem" \
    certificate="$certificates/head-unit.pem" private-key="$certificates/head-unit-key.pem" ! \
    h264parse ! avdec_h264 ! fakesink async=false \
  videotestsrc pattern=ball num-buffers=$((pictures < 0 ? -1 : pictures + 30)) ! video/x-raw,framerate=15/1 ! \
    sdlvideosink uri="sdl://127.0.0.1:$port" max-lateness=-1 encryption=authenticate-and-encrypt \
    certificate="$certificates/app.pem" private-key="$certificates/app-key.pem" \
    ca-certificates="$certificates/authority.pem"
