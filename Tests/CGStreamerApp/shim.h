#ifndef CGSTREAMERAPP_SHIM_H
#define CGSTREAMERAPP_SHIM_H

/* For Swift, GStreamer's declarations must come from one module only; otherwise it loses sight of some of them. */
#ifdef __swift__
#pragma clang module import CGStreamer
#endif
#include <gst/app/app.h>
#include <gst/check/gstharness.h>

#endif
