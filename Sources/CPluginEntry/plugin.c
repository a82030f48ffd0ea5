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
GType gst_sdl_video_sink_get_type (void);
GType gst_sdl_audio_sink_get_type (void);
GType gst_sdl_range_filter_get_type (void);
GType gst_sdl_head_unit_src_get_type (void);
GType gst_sdl_head_unit_audio_src_get_type (void);
GType gst_sdl_car_window_src_get_type (void);
GType gst_sdl_device_provider_get_type (void);

GST_ELEMENT_REGISTER_DEFINE (sdlvideosink, "sdlvideosink", GST_RANK_NONE, gst_sdl_video_sink_get_type ())
GST_ELEMENT_REGISTER_DEFINE (sdlaudiosink, "sdlaudiosink", GST_RANK_NONE, gst_sdl_audio_sink_get_type ())
GST_ELEMENT_REGISTER_DEFINE (sdlrangefilter, "sdlrangefilter", GST_RANK_NONE, gst_sdl_range_filter_get_type ())
GST_ELEMENT_REGISTER_DEFINE (sdlheadunitsrc, "sdlheadunitsrc", GST_RANK_NONE, gst_sdl_head_unit_src_get_type ())
GST_ELEMENT_REGISTER_DEFINE (sdlheadunitaudiosrc, "sdlheadunitaudiosrc", GST_RANK_NONE,
    gst_sdl_head_unit_audio_src_get_type ())
GST_ELEMENT_REGISTER_DEFINE (sdlcarwindowsrc, "sdlcarwindowsrc", GST_RANK_NONE, gst_sdl_car_window_src_get_type ())
/* GstDeviceMonitor asks no provider of a lower rank. */
GST_DEVICE_PROVIDER_REGISTER_DEFINE (sdldeviceprovider, "sdldeviceprovider", GST_RANK_MARGINAL,
    gst_sdl_device_provider_get_type ())

static gboolean
plugin_init (GstPlugin * plugin)
{
  return GST_ELEMENT_REGISTER (sdlvideosink, plugin)
      && GST_ELEMENT_REGISTER (sdlaudiosink, plugin)
      && GST_ELEMENT_REGISTER (sdlrangefilter, plugin)
      && GST_ELEMENT_REGISTER (sdlheadunitsrc, plugin)
      && GST_ELEMENT_REGISTER (sdlheadunitaudiosrc, plugin)
      && GST_ELEMENT_REGISTER (sdlcarwindowsrc, plugin)
      && GST_DEVICE_PROVIDER_REGISTER (sdldeviceprovider, plugin);
}

/* GPL if libx264 is linked in; the sources themselves are LGPL. */
#ifdef WITHOUT_X264
#define LICENSE "LGPL"
#else
#define LICENSE "GPL"
#endif

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, smartdevicelink,
    "Video and sound for car head units that speak SmartDeviceLink", plugin_init,
    GST_SMARTDEVICELINK_VERSION, LICENSE, PACKAGE_NAME, PACKAGE_ORIGIN)
