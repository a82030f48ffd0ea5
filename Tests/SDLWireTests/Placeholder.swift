// SDLWire
