#include <gst/gst.h>

#include "gst_sdl_audio_sink.h"
#include "gst_sdl_head_unit_audio_src.h"
#include "gst_sdl_head_unit_src.h"
#include "gst_sdl_range_filter.h"
#include "gst_sdl_video_sink.h"

#define PACKAGE "gst-smartdevicelink"
/* Whoever packages the plugin sets both; these are GStreamer's own words for a build that nobody has packaged. */
#ifndef PACKAGE_NAME
#define PACKAGE_NAME "gst-smartdevicelink source build"
#endif
#ifndef PACKAGE_ORIGIN
#define PACKAGE_ORIGIN "Unknown package origin"
#endif

static gboolean
plugin_init (GstPlugin * plugin)
{
  return gst_element_register (plugin, "sdlvideosink", GST_RANK_NONE, gst_sdl_video_sink_get_type ())
      && gst_element_register (plugin, "sdlaudiosink", GST_RANK_NONE, gst_sdl_audio_sink_get_type ())
      && gst_element_register (plugin, "sdlrangefilter", GST_RANK_NONE, gst_sdl_range_filter_get_type ())
      && gst_element_register (plugin, "sdlheadunitsrc", GST_RANK_NONE, gst_sdl_head_unit_src_get_type ())
      && gst_element_register (plugin, "sdlheadunitaudiosrc", GST_RANK_NONE, gst_sdl_head_unit_audio_src_get_type ());
}

/* GPL, because libx264 is linked in; the sources themselves are LGPL. */
GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, smartdevicelink,
    "Video and sound for car head units that speak SmartDeviceLink", plugin_init, "0.1.0", "GPL",
    PACKAGE_NAME, PACKAGE_ORIGIN)
