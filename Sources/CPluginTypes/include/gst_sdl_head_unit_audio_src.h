#ifndef GST_SDL_HEAD_UNIT_AUDIO_SRC_H
#define GST_SDL_HEAD_UNIT_AUDIO_SRC_H

/* For Swift, GStreamer's declarations must come from one module only, lest it lose sight of some of them. */
#ifdef __swift__
#pragma clang module import CGStreamer
#else
#include <gst/gst.h>
#include <gst/base/gstpushsrc.h>
#endif

G_BEGIN_DECLS

#pragma clang assume_nonnull begin

/* The instance: the parent and the Swift object that does the work. */
typedef struct _GstSdlHeadUnitAudioSrc {
  GstPushSrc parent;
  gpointer _Nullable impl;
} GstSdlHeadUnitAudioSrc;

typedef struct _GstSdlHeadUnitAudioSrcClass {
  GstPushSrcClass parent_class;
} GstSdlHeadUnitAudioSrcClass;

GType gst_sdl_head_unit_audio_src_get_type (void);

/* The parent's functions, for chaining up. */
gboolean gst_sdl_head_unit_audio_src_parent_query (GstBaseSrc * src, GstQuery * query);

GstStateChangeReturn gst_sdl_head_unit_audio_src_parent_change_state (GstElement * element, GstStateChange transition);

/* Written in Swift. */
void gst_sdl_head_unit_audio_src_install_properties (GObjectClass * object_class);
gpointer gst_sdl_head_unit_audio_src_impl_new (GstSdlHeadUnitAudioSrc * self);
void gst_sdl_head_unit_audio_src_impl_free (gpointer impl);
void gst_sdl_head_unit_audio_src_set_property (GObject * object, guint id, const GValue * value, GParamSpec * spec);
void gst_sdl_head_unit_audio_src_get_property (GObject * object, guint id, GValue * value, GParamSpec * spec);
GstStateChangeReturn gst_sdl_head_unit_audio_src_change_state (GstElement * element, GstStateChange transition);
gboolean gst_sdl_head_unit_audio_src_start (GstBaseSrc * src);
gboolean gst_sdl_head_unit_audio_src_stop (GstBaseSrc * src);
gboolean gst_sdl_head_unit_audio_src_unlock (GstBaseSrc * src);
gboolean gst_sdl_head_unit_audio_src_unlock_stop (GstBaseSrc * src);
gboolean gst_sdl_head_unit_audio_src_query (GstBaseSrc * src, GstQuery * query);
GstFlowReturn gst_sdl_head_unit_audio_src_create (GstPushSrc * src, GstBuffer * _Nullable * _Nonnull buffer);

#pragma clang assume_nonnull end

G_END_DECLS

#endif
