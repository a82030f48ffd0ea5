#include "gst_sdl_types.h"
