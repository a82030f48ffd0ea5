#ifndef GST_SDL_RANGE_FILTER_H
#define GST_SDL_RANGE_FILTER_H

/* For Swift, GStreamer's declarations must come from one module only, lest it lose sight of some of them. */
#ifdef __swift__
#pragma clang module import CGStreamer
#else
#include <gst/gst.h>
#include <gst/base/gstbasetransform.h>
#endif

G_BEGIN_DECLS

#pragma clang assume_nonnull begin

/* The bounds of one orientation, a child of the filter: its name is landscape or portrait. */
typedef struct _GstSdlVideoRange {
  GstObject parent;
  gpointer _Nullable impl;
} GstSdlVideoRange;

typedef struct _GstSdlVideoRangeClass {
  GstObjectClass parent_class;
} GstSdlVideoRangeClass;

/* The instance: the parent, the children, and the Swift object that does the work. */
typedef struct _GstSdlRangeFilter {
  GstBaseTransform parent;
  GstSdlVideoRange *_Nullable landscape;
  GstSdlVideoRange *_Nullable portrait;
  gpointer _Nullable impl;
} GstSdlRangeFilter;

typedef struct _GstSdlRangeFilterClass {
  GstBaseTransformClass parent_class;
} GstSdlRangeFilterClass;

GType gst_sdl_video_range_get_type (void);
GType gst_sdl_range_filter_get_type (void);

/* The parent's functions, for chaining up. */
gboolean gst_sdl_range_filter_parent_query (GstBaseTransform * transform, GstPadDirection direction, GstQuery * query);

/* Written in Swift: the children. */
void gst_sdl_video_range_install_properties (GObjectClass * object_class);
gpointer gst_sdl_video_range_impl_new (GstSdlVideoRange * self);
void gst_sdl_video_range_impl_free (gpointer impl);
void gst_sdl_video_range_set_property (GObject * object, guint id, const GValue * value, GParamSpec * spec);
void gst_sdl_video_range_get_property (GObject * object, guint id, GValue * value, GParamSpec * spec);

/* Written in Swift: the filter. */
void gst_sdl_range_filter_prepare_class (void);
gpointer gst_sdl_range_filter_impl_new (GstSdlRangeFilter * self, GstSdlVideoRange * landscape,
    GstSdlVideoRange * portrait);
void gst_sdl_range_filter_impl_free (gpointer impl);
gboolean gst_sdl_range_filter_start (GstBaseTransform * transform);
gboolean gst_sdl_range_filter_stop (GstBaseTransform * transform);
GstCaps * _Nullable gst_sdl_range_filter_transform_caps (GstBaseTransform * transform, GstPadDirection direction,
    GstCaps * caps, GstCaps * _Nullable filter);
gboolean gst_sdl_range_filter_accept_caps (GstBaseTransform * transform, GstPadDirection direction, GstCaps * caps);
gboolean gst_sdl_range_filter_set_caps (GstBaseTransform * transform, GstCaps * input, GstCaps * output);
gboolean gst_sdl_range_filter_query (GstBaseTransform * transform, GstPadDirection direction, GstQuery * query);

#pragma clang assume_nonnull end

G_END_DECLS

#endif
