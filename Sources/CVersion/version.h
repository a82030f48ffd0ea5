#ifndef GST_SMARTDEVICELINK_VERSION_H
#define GST_SMARTDEVICELINK_VERSION_H

/* The only place of the version: plugin, programs, Makefile and Meson read it here. */
#define GST_SMARTDEVICELINK_VERSION "0.3.0"

#endif
