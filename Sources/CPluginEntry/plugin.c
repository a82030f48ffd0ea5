#include <gst/gst.h>

#include "../CVersion/version.h"

#define PACKAGE "gst-smartdevicelink"
/* Set by those who package the plugin; these are GStreamer's own words for a build that is not packaged. */
#ifndef PACKAGE_NAME
#define PACKAGE_NAME "gst-smartdevicelink source build"
#endif
#ifndef PACKAGE_ORIGIN
#define PACKAGE_ORIGIN "Unknown package origin"
#endif

/* Written in Swift. */
gboolean gst_sdl_register_elements (GstPlugin * plugin);

/* GPL if libx264 is linked in; the sources themselves are LGPL. */
#ifdef WITHOUT_X264
#define LICENSE "LGPL"
#else
#define LICENSE "GPL"
#endif

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, smartdevicelink,
    "Video and sound for car head units that speak SmartDeviceLink", gst_sdl_register_elements,
    GST_SMARTDEVICELINK_VERSION, LICENSE, PACKAGE_NAME, PACKAGE_ORIGIN)
