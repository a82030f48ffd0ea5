#ifndef CGSTREAMER_SHIM_H
#define CGSTREAMER_SHIM_H

#include <sys/syscall.h>
#include <unistd.h>
/* For Swift, GLib's declarations must come from one module only: see there. */
#ifdef __swift__
#pragma clang module import CGIO
#endif
#include <gst/gst.h>
#include <gst/audio/streamvolume.h>
#include <gst/base/gstbasesink.h>
#include <gst/base/gstbasetransform.h>
#include <gst/base/gstpushsrc.h>
#include <gst/video/video.h>

/* What Swift can't import: macros that cast or compute, C globals, and varargs. Each line names what it stands for. */

/* G_PARAM_*, GST_PARAM_MUTABLE_*, G_SIGNAL_*: Swift imports GLib's own under names that depend on GLib's version. */
enum {
  CGST_PARAM_READABLE = G_PARAM_READABLE,
  CGST_PARAM_WRITABLE = G_PARAM_WRITABLE,
  CGST_PARAM_STATIC_STRINGS = G_PARAM_STATIC_STRINGS,
  CGST_PARAM_MUTABLE_READY = GST_PARAM_MUTABLE_READY,
  CGST_PARAM_MUTABLE_PLAYING = GST_PARAM_MUTABLE_PLAYING
};

static inline GParamFlags cgst_param_flags (guint flags) { return (GParamFlags) flags; }
static inline GSignalFlags cgst_signal_run_last (void) { return G_SIGNAL_RUN_LAST; }
static inline GSignalFlags cgst_signal_action (void) { return (GSignalFlags) (G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION); }

static inline gboolean
cgst_param_is_writable (const GParamSpec * specification)
{
  return (specification->flags & G_PARAM_WRITABLE) != 0;
}

/* G_TYPE_* and GST_TYPE_* */
static inline GType cgst_type_boolean (void) { return G_TYPE_BOOLEAN; }
static inline GType cgst_type_int (void) { return G_TYPE_INT; }
static inline GType cgst_type_uint (void) { return G_TYPE_UINT; }
static inline GType cgst_type_uint64 (void) { return G_TYPE_UINT64; }
static inline GType cgst_type_double (void) { return G_TYPE_DOUBLE; }
static inline GType cgst_type_none (void) { return G_TYPE_NONE; }
static inline GType cgst_type_enum (void) { return G_TYPE_ENUM; }
static inline GType cgst_type_flags (void) { return G_TYPE_FLAGS; }
static inline GType cgst_type_string (void) { return G_TYPE_STRING; }
static inline GType cgst_type_structure (void) { return GST_TYPE_STRUCTURE; }
static inline GType cgst_type_array (void) { return GST_TYPE_ARRAY; }
static inline GType cgst_type_list (void) { return GST_TYPE_LIST; }
static inline GType cgst_type_int_range (void) { return GST_TYPE_INT_RANGE; }

/* The threshold test of GST_CAT_LEVEL_LOG, before any message is built */
static inline gboolean
cgst_log_enabled (GstDebugCategory * category, GstDebugLevel level)
{
  return G_UNLIKELY (level <= _gst_debug_min) && level <= gst_debug_category_get_threshold (category);
}

/* GST_STATE */
static inline GstState cgst_element_state (GstElement * element) { return GST_STATE (element); }

/* GST_BASE_SINK_PAD */
static inline GstPad *cgst_base_sink_pad (gpointer sink) { return GST_BASE_SINK_PAD (sink); }

/* GST_BASE_SINK_PREROLL_LOCK and GST_BASE_SINK_PREROLL_UNLOCK */
static inline void cgst_base_sink_preroll_lock (GstBaseSink * sink) { GST_BASE_SINK_PREROLL_LOCK (sink); }
static inline void cgst_base_sink_preroll_unlock (GstBaseSink * sink) { GST_BASE_SINK_PREROLL_UNLOCK (sink); }

/* GST_BASE_SRC_PAD */
static inline GstPad *cgst_base_src_pad (gpointer src) { return GST_BASE_SRC_PAD (src); }

/* GST_BUFFER_FLAG_SET */
static inline void
cgst_buffer_set_flags (GstBuffer * buffer, guint flags)
{
  GST_BUFFER_FLAG_SET (buffer, flags);
}

/* GST_BASE_TRANSFORM_SRC_PAD */
static inline GstPad *cgst_base_transform_src_pad (gpointer transform) { return GST_BASE_TRANSFORM_SRC_PAD (transform); }
static inline GstPad *cgst_base_transform_sink_pad (gpointer transform) { return GST_BASE_TRANSFORM_SINK_PAD (transform); }

/* GST_BUFFER_FLAG_IS_SET */
static inline gboolean
cgst_buffer_has_flag (GstBuffer * buffer, GstBufferFlags flag)
{
  return GST_BUFFER_FLAG_IS_SET (buffer, flag);
}

/* GST_PAD_SET_ACCEPT_TEMPLATE */
static inline void cgst_pad_set_accept_template (GstPad * pad) { GST_PAD_SET_ACCEPT_TEMPLATE (pad); }

/* GST_PAD_IS_FLUSHING */
static inline gboolean cgst_pad_is_flushing (GstPad * pad) { return GST_PAD_IS_FLUSHING (pad); }

/* GST_VIDEO_INFO_FORMAT */
static inline GstVideoFormat cgst_video_info_format (const GstVideoInfo * info) { return GST_VIDEO_INFO_FORMAT (info); }

#endif
