// SDLMessages
