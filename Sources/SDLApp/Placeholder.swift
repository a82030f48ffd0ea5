// SDLApp
