// SDLLink
