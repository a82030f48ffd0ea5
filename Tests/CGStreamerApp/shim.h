#ifndef CGSTREAMERAPP_SHIM_H
#define CGSTREAMERAPP_SHIM_H

#include <gst/app/app.h>

#endif
