#ifndef GST_SDL_APPS_H
#define GST_SDL_APPS_H

/* For Swift, GStreamer's declarations must come from one module only, lest it lose sight of some of them. */
#ifdef __swift__
#pragma clang module import CGStreamer
#else
#include <gst/gst.h>
#endif

G_BEGIN_DECLS

#pragma clang assume_nonnull begin

/* A boxed type: the Swift object with the apps that elements share, which a GstContext carries. */
GType gst_sdl_apps_get_type (void);

/* Written in Swift. */
gpointer gst_sdl_apps_ref (gpointer apps);
void gst_sdl_apps_unref (gpointer apps);

#pragma clang assume_nonnull end

G_END_DECLS

#endif
