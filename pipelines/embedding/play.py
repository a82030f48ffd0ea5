#!/usr/bin/python3
# Plays films on the car's screen with GStreamer's player library: play.py FILM... [--uri sdl://HOST].
# Expect each film's picture on the head unit and its sound here, one after the other, without the app leaving the car's screen.
# Needs python3-gi, gir1.2-gst-plugins-bad-1.0, gstreamer1.0-libav and the plugin in GST_PLUGIN_PATH.

import argparse
import pathlib
import signal
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstPlay", "1.0")
from gi.repository import GLib, Gst, GstPlay  # noqa: E402


class Player:
    def __init__(self, films, uri):
        self.films = films
        self.error = None
        self.loop = GLib.MainLoop()
        sink = Gst.ElementFactory.make("sdlvideosink")
        if sink is None:
            sys.exit("There is no sdlvideosink. Is GST_PLUGIN_PATH set?")
        sink.set_property("uri", uri)
        # The sink draws no window, so that there is no handle.
        self.play = GstPlay.Play.new(GstPlay.PlayVideoOverlayVideoRenderer.new_with_sink(None, sink))
        # Its signals come from the main loop. The request to pause while the driver looks at another app needs no code: GstPlay
        # follows it.
        self.signals = GstPlay.PlaySignalAdapter.new(self.play)
        self.signals.connect("end-of-stream", lambda _: self.play_next())
        self.signals.connect("error", self.on_error)
        self.signals.connect("warning", lambda _, warning, details: print("Warning:", warning.message, flush=True))
        self.signals.connect("state-changed", lambda _, state: print(state.value_nick, flush=True))

    def play_next(self):
        if not self.films:
            self.loop.quit()
            return
        film = self.films.pop(0)
        print(film, flush=True)
        # The app stays registered from film to film.
        self.play.set_uri(film)
        self.play.play()

    def on_error(self, _signals, error, _details):
        self.error = error.message
        self.loop.quit()

    def run(self):
        GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGINT, self.loop.quit)
        self.play_next()
        self.loop.run()
        self.play.stop()
        # Messages that are not taken hold a reference to the player, whose end has the app leave the head unit.
        self.play.get_message_bus().set_flushing(True)
        if self.error:
            sys.exit(self.error)


def main():
    parser = argparse.ArgumentParser(description="Plays films on the car's screen.")
    parser.add_argument("films", nargs="+", metavar="FILM", help="file or URI")
    parser.add_argument("--uri", help="head unit, sdl://HOST[:PORT] (default: the built-in one)")
    arguments = parser.parse_args()
    Gst.init(None)
    films = [film if Gst.uri_is_valid(film) else pathlib.Path(film).absolute().as_uri() for film in arguments.films]
    Player(films, arguments.uri).run()


if __name__ == "__main__":
    main()
