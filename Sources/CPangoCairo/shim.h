#ifndef CPANGOCAIRO_SHIM_H
#define CPANGOCAIRO_SHIM_H

/* For Swift, GLib's declarations must come from one module only, lest it lose sight of some of them. */
#ifdef __swift__
#pragma clang module import CGLib
#endif
#include <pango/pangocairo.h>

#endif
