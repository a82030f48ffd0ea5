#ifndef GST_SDL_AUDIO_SINK_H
#define GST_SDL_AUDIO_SINK_H

/* For Swift, GStreamer's declarations must come from one module only, lest it lose sight of some of them. */
#ifdef __swift__
#pragma clang module import CGStreamer
#else
#include <gst/gst.h>
#include <gst/base/gstbasesink.h>
#endif

G_BEGIN_DECLS

#pragma clang assume_nonnull begin

/* The instance: the parent and the Swift object that does the work. */
typedef struct _GstSdlAudioSink {
  GstBaseSink parent;
  gpointer _Nullable impl;
} GstSdlAudioSink;

typedef struct _GstSdlAudioSinkClass {
  GstBaseSinkClass parent_class;
} GstSdlAudioSinkClass;

GType gst_sdl_audio_sink_get_type (void);

/* The parent's functions, for chaining up. */
GstStateChangeReturn gst_sdl_audio_sink_parent_change_state (GstElement * element, GstStateChange transition);
gboolean gst_sdl_audio_sink_parent_element_query (GstElement * element, GstQuery * query);
gboolean gst_sdl_audio_sink_parent_event (GstBaseSink * sink, GstEvent * event);
gboolean gst_sdl_audio_sink_parent_query (GstBaseSink * sink, GstQuery * query);
void gst_sdl_audio_sink_parent_get_times (GstBaseSink * sink, GstBuffer * buffer, GstClockTime * start,
    GstClockTime * end);
GstFlowReturn gst_sdl_audio_sink_parent_wait_event (GstBaseSink * sink, GstEvent * event);

/* Written in Swift. */
void gst_sdl_audio_sink_install_properties (GObjectClass * object_class);
gpointer gst_sdl_audio_sink_impl_new (GstSdlAudioSink * self);
void gst_sdl_audio_sink_impl_free (gpointer impl);
void gst_sdl_audio_sink_set_property (GObject * object, guint id, const GValue * value, GParamSpec * spec);
void gst_sdl_audio_sink_get_property (GObject * object, guint id, GValue * value, GParamSpec * spec);
GstStateChangeReturn gst_sdl_audio_sink_change_state (GstElement * element, GstStateChange transition);
gboolean gst_sdl_audio_sink_element_query (GstElement * element, GstQuery * query);
void gst_sdl_audio_sink_caps_arrive (GstSdlAudioSink * self, GstCaps * caps);
GstCaps * _Nullable gst_sdl_audio_sink_get_caps (GstBaseSink * sink, GstCaps * _Nullable filter);
gboolean gst_sdl_audio_sink_set_caps (GstBaseSink * sink, GstCaps * caps);
gboolean gst_sdl_audio_sink_query (GstBaseSink * sink, GstQuery * query);
gboolean gst_sdl_audio_sink_event (GstBaseSink * sink, GstEvent * event);
GstFlowReturn gst_sdl_audio_sink_wait_event (GstBaseSink * sink, GstEvent * event);
void gst_sdl_audio_sink_get_times (GstBaseSink * sink, GstBuffer * buffer, GstClockTime * start, GstClockTime * end);
gboolean gst_sdl_audio_sink_unlock (GstBaseSink * sink);
GstFlowReturn gst_sdl_audio_sink_preroll (GstBaseSink * sink, GstBuffer * buffer);
gboolean gst_sdl_audio_sink_wait_for_preroll (GstSdlAudioSink * self, GstFlowReturn * result);
gboolean gst_sdl_audio_sink_unlock_stop (GstBaseSink * sink);
GstFlowReturn gst_sdl_audio_sink_render (GstBaseSink * sink, GstBuffer * buffer);

#pragma clang assume_nonnull end

G_END_DECLS

#endif
