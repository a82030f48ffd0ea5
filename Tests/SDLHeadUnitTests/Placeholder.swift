// SDLHeadUnit
