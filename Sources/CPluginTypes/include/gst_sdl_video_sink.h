#ifndef GST_SDL_VIDEO_SINK_H
#define GST_SDL_VIDEO_SINK_H

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
typedef struct _GstSdlVideoSink {
  GstBaseSink parent;
  gpointer _Nullable impl;
  /* With the stream lock: H.264 comes in, which may have to be decoded before it is shown; and frames are shown at their
   * presentation times. */
  gboolean takes_ahead;
  gboolean syncs_by_presentation;
  /* The base class's own. */
  GstPadChainFunction _Nonnull chain;
  GstPadChainListFunction _Nonnull chain_list;
} GstSdlVideoSink;

typedef struct _GstSdlVideoSinkClass {
  GstBaseSinkClass parent_class;
} GstSdlVideoSinkClass;

GType gst_sdl_video_sink_get_type (void);

/* The parent's functions, for chaining up. */
GstStateChangeReturn gst_sdl_video_sink_parent_change_state (GstElement * element, GstStateChange transition);
gboolean gst_sdl_video_sink_parent_send_event (GstElement * element, GstEvent * event);
gboolean gst_sdl_video_sink_parent_event (GstBaseSink * sink, GstEvent * event);
gboolean gst_sdl_video_sink_parent_query (GstBaseSink * sink, GstQuery * query);
GstFlowReturn gst_sdl_video_sink_parent_wait_event (GstBaseSink * sink, GstEvent * event);

/* Written in Swift. */
void gst_sdl_video_sink_install_properties (GObjectClass * object_class);
gpointer gst_sdl_video_sink_impl_new (GstSdlVideoSink * self);
void gst_sdl_video_sink_impl_free (gpointer impl);
void gst_sdl_video_sink_set_property (GObject * object, guint id, const GValue * value, GParamSpec * spec);
void gst_sdl_video_sink_get_property (GObject * object, guint id, GValue * value, GParamSpec * spec);
GstStateChangeReturn gst_sdl_video_sink_change_state (GstElement * element, GstStateChange transition);
gboolean gst_sdl_video_sink_send_event (GstElement * element, GstEvent * event);
void gst_sdl_video_sink_caps_arrive (GstSdlVideoSink * self, GstCaps * caps);
gboolean gst_sdl_video_sink_take_ahead (GstSdlVideoSink * self, GstBuffer * buffer, GstFlowReturn * result);
GstCaps * _Nullable gst_sdl_video_sink_get_caps (GstBaseSink * sink, GstCaps * _Nullable filter);
gboolean gst_sdl_video_sink_set_caps (GstBaseSink * sink, GstCaps * caps);
gboolean gst_sdl_video_sink_query (GstBaseSink * sink, GstQuery * query);
gboolean gst_sdl_video_sink_propose_allocation (GstBaseSink * sink, GstQuery * query);
gboolean gst_sdl_video_sink_event (GstBaseSink * sink, GstEvent * event);
GstFlowReturn gst_sdl_video_sink_wait_event (GstBaseSink * sink, GstEvent * event);
gboolean gst_sdl_video_sink_unlock (GstBaseSink * sink);
GstFlowReturn gst_sdl_video_sink_preroll (GstBaseSink * sink, GstBuffer * buffer);
gboolean gst_sdl_video_sink_wait_for_preroll (GstSdlVideoSink * self, GstFlowReturn * result);
gboolean gst_sdl_video_sink_unlock_stop (GstBaseSink * sink);
GstFlowReturn gst_sdl_video_sink_render (GstBaseSink * sink, GstBuffer * buffer);
gchar * _Nullable gst_sdl_video_sink_copy_uri (GstSdlVideoSink * self);
gboolean gst_sdl_video_sink_take_uri (GstSdlVideoSink * self, const gchar * uri, GError * _Nullable * _Nullable error);

#pragma clang assume_nonnull end

G_END_DECLS

#endif
