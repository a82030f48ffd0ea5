#include "gst_sdl_apps.h"

GType
gst_sdl_apps_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type)) {
    GType registered =
        g_boxed_type_register_static (g_intern_static_string ("GstSdlApps"), gst_sdl_apps_ref, gst_sdl_apps_unref);

    g_once_init_leave (&type, registered);
  }
  return type;
}
