#include "gst_sdl_range_filter.h"

#include <gst/video/video.h>

/* The children. */

G_DEFINE_TYPE (GstSdlVideoRange, gst_sdl_video_range, GST_TYPE_OBJECT)

static void
gst_sdl_video_range_finalize (GObject * object)
{
  gst_sdl_video_range_impl_free (((GstSdlVideoRange *) object)->impl);
  G_OBJECT_CLASS (gst_sdl_video_range_parent_class)->finalize (object);
}

static void
gst_sdl_video_range_class_init (GstSdlVideoRangeClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = gst_sdl_video_range_set_property;
  object_class->get_property = gst_sdl_video_range_get_property;
  object_class->finalize = gst_sdl_video_range_finalize;
  gst_sdl_video_range_install_properties (object_class);
}

static void
gst_sdl_video_range_init (GstSdlVideoRange * self)
{
  self->impl = gst_sdl_video_range_impl_new (self);
}

/* The filter. */

static void gst_sdl_range_filter_child_proxy_init (gpointer iface, gpointer data);

G_DEFINE_TYPE_WITH_CODE (GstSdlRangeFilter, gst_sdl_range_filter, GST_TYPE_BASE_TRANSFORM,
    G_IMPLEMENT_INTERFACE (GST_TYPE_CHILD_PROXY, gst_sdl_range_filter_child_proxy_init))

/* What has a size and may come to a head unit, wherever its memory is. */
#define CAPS GST_STATIC_CAPS ("video/x-raw(ANY); video/x-h264")

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, CAPS);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, CAPS);

gboolean
gst_sdl_range_filter_parent_query (GstBaseTransform * transform, GstPadDirection direction, GstQuery * query)
{
  return GST_BASE_TRANSFORM_CLASS (gst_sdl_range_filter_parent_class)->query (transform, direction, query);
}

static void
gst_sdl_range_filter_dispose (GObject * object)
{
  GstSdlRangeFilter *self = (GstSdlRangeFilter *) object;

  g_clear_pointer ((GstObject **) & self->landscape, gst_object_unparent);
  g_clear_pointer ((GstObject **) & self->portrait, gst_object_unparent);
  G_OBJECT_CLASS (gst_sdl_range_filter_parent_class)->dispose (object);
}

static void
gst_sdl_range_filter_finalize (GObject * object)
{
  gst_sdl_range_filter_impl_free (((GstSdlRangeFilter *) object)->impl);
  G_OBJECT_CLASS (gst_sdl_range_filter_parent_class)->finalize (object);
}

static void
gst_sdl_range_filter_class_init (GstSdlRangeFilterClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *transform_class = GST_BASE_TRANSFORM_CLASS (klass);

  object_class->dispose = gst_sdl_range_filter_dispose;
  object_class->finalize = gst_sdl_range_filter_finalize;
  gst_sdl_range_filter_prepare_class ();

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "SmartDeviceLink Range Filter", "Filter/Video",
      "Passes video of those sizes, ratios and diagonals that an app for SmartDeviceLink head units supports; "
      "they are set on its children, as in landscape::max-width=800 portrait::enabled=false",
      "The gst-smartdevicelink authors");
  /* gst-inspect shows neither children nor their properties, but it does show every key of the metadata. */
  gst_element_class_add_static_metadata (element_class, "children",
      "landscape and portrait; properties of each: enabled, min-width, min-height, max-width, max-height, "
      "min-diagonal, min-aspect-ratio, max-aspect-ratio");
  gst_type_mark_as_plugin_api (gst_sdl_video_range_get_type (), 0);

  transform_class->start = gst_sdl_range_filter_start;
  transform_class->stop = gst_sdl_range_filter_stop;
  transform_class->transform_caps = gst_sdl_range_filter_transform_caps;
  transform_class->accept_caps = gst_sdl_range_filter_accept_caps;
  transform_class->set_caps = gst_sdl_range_filter_set_caps;
  transform_class->query = gst_sdl_range_filter_query;
}

static GstSdlVideoRange *
gst_sdl_range_filter_new_child (GstSdlRangeFilter * self, const gchar * name)
{
  GstSdlVideoRange *child = g_object_new (gst_sdl_video_range_get_type (), "name", name, NULL);

  gst_object_set_parent (GST_OBJECT (child), GST_OBJECT (self));
  return child;
}

static void
gst_sdl_range_filter_init (GstSdlRangeFilter * self)
{
  GstBaseTransform *transform = GST_BASE_TRANSFORM (self);

  self->landscape = gst_sdl_range_filter_new_child (self, "landscape");
  self->portrait = gst_sdl_range_filter_new_child (self, "portrait");
  self->impl = gst_sdl_range_filter_impl_new (self, self->landscape, self->portrait);

  /* In passthrough mode the base class costs what it costs in a capsfilter: some 0.1 us per buffer more than a chain
   * function that only pushes. */
  gst_base_transform_set_passthrough (transform, TRUE);
  gst_base_transform_set_gap_aware (transform, TRUE);
  /* As capsfilter: what downstream prefers counts, not what flows now. */
  gst_base_transform_set_prefer_passthrough (transform, FALSE);
}

static guint
gst_sdl_range_filter_get_children_count (GstChildProxy * proxy)
{
  return 2;
}

static GObject *
gst_sdl_range_filter_get_child_by_index (GstChildProxy * proxy, guint index)
{
  GstSdlRangeFilter *self = (GstSdlRangeFilter *) proxy;
  GstSdlVideoRange *child = index == 0 ? self->landscape : index == 1 ? self->portrait : NULL;

  return child ? g_object_ref (G_OBJECT (child)) : NULL;
}

static void
gst_sdl_range_filter_child_proxy_init (gpointer iface, gpointer data)
{
  GstChildProxyInterface *proxy = iface;

  proxy->get_children_count = gst_sdl_range_filter_get_children_count;
  proxy->get_child_by_index = gst_sdl_range_filter_get_child_by_index;
}
