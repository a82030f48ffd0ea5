#include "gst_sdl_head_unit_src.h"

static void gst_sdl_head_unit_src_uri_handler_init (gpointer iface, gpointer data);

G_DEFINE_TYPE_WITH_CODE (GstSdlHeadUnitSrc, gst_sdl_head_unit_src, GST_TYPE_PUSH_SRC,
    G_IMPLEMENT_INTERFACE (GST_TYPE_URI_HANDLER, gst_sdl_head_unit_src_uri_handler_init))

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("video/x-h264, stream-format = (string) byte-stream, alignment = (string) au"));

gboolean
gst_sdl_head_unit_src_parent_event (GstBaseSrc * src, GstEvent * event)
{
  return GST_BASE_SRC_CLASS (gst_sdl_head_unit_src_parent_class)->event (src, event);
}

gboolean
gst_sdl_head_unit_src_parent_query (GstBaseSrc * src, GstQuery * query)
{
  return GST_BASE_SRC_CLASS (gst_sdl_head_unit_src_parent_class)->query (src, query);
}

GstStateChangeReturn
gst_sdl_head_unit_src_parent_change_state (GstElement * element, GstStateChange transition)
{
  return GST_ELEMENT_CLASS (gst_sdl_head_unit_src_parent_class)->change_state (element, transition);
}

/* The caps come with the first picture, when its size is known. */
static gboolean
gst_sdl_head_unit_src_negotiate (GstBaseSrc * src)
{
  return TRUE;
}

static void
gst_sdl_head_unit_src_finalize (GObject * object)
{
  gst_sdl_head_unit_src_impl_free (((GstSdlHeadUnitSrc *) object)->impl);
  G_OBJECT_CLASS (gst_sdl_head_unit_src_parent_class)->finalize (object);
}

static void
gst_sdl_head_unit_src_class_init (GstSdlHeadUnitSrcClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *src_class = GST_BASE_SRC_CLASS (klass);

  object_class->set_property = gst_sdl_head_unit_src_set_property;
  object_class->get_property = gst_sdl_head_unit_src_get_property;
  object_class->finalize = gst_sdl_head_unit_src_finalize;
  gst_sdl_head_unit_src_install_properties (object_class);

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "SmartDeviceLink Head Unit Source", "Source/Video/Network",
      "Is a car's head unit for apps that speak SmartDeviceLink, and shows the video that they send",
      "The gst-smartdevicelink authors");

  element_class->change_state = gst_sdl_head_unit_src_change_state;
  src_class->negotiate = gst_sdl_head_unit_src_negotiate;
  src_class->start = gst_sdl_head_unit_src_start;
  src_class->stop = gst_sdl_head_unit_src_stop;
  src_class->unlock = gst_sdl_head_unit_src_unlock;
  src_class->unlock_stop = gst_sdl_head_unit_src_unlock_stop;
  src_class->event = gst_sdl_head_unit_src_event;
  src_class->query = gst_sdl_head_unit_src_query;
  GST_PUSH_SRC_CLASS (klass)->create = gst_sdl_head_unit_src_create;
}

static void
gst_sdl_head_unit_src_init (GstSdlHeadUnitSrc * self)
{
  self->impl = gst_sdl_head_unit_src_impl_new (self);
  gst_base_src_set_live (GST_BASE_SRC (self), TRUE);
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
}

static GstURIType
gst_sdl_head_unit_src_uri_get_type (GType type)
{
  return GST_URI_SRC;
}

static const gchar *const *
gst_sdl_head_unit_src_uri_get_protocols (GType type)
{
  static const gchar *protocols[] = { "sdl+headunit", NULL };

  return protocols;
}

static gchar *
gst_sdl_head_unit_src_uri_get_uri (GstURIHandler * handler)
{
  return gst_sdl_head_unit_src_copy_uri ((GstSdlHeadUnitSrc *) handler);
}

static gboolean
gst_sdl_head_unit_src_uri_set_uri (GstURIHandler * handler, const gchar * uri, GError ** error)
{
  return gst_sdl_head_unit_src_take_uri ((GstSdlHeadUnitSrc *) handler, uri, error);
}

static void
gst_sdl_head_unit_src_uri_handler_init (gpointer iface, gpointer data)
{
  GstURIHandlerInterface *handler = iface;

  handler->get_type = gst_sdl_head_unit_src_uri_get_type;
  handler->get_protocols = gst_sdl_head_unit_src_uri_get_protocols;
  handler->get_uri = gst_sdl_head_unit_src_uri_get_uri;
  handler->set_uri = gst_sdl_head_unit_src_uri_set_uri;
}
