#include "gst_sdl_head_unit_audio_src.h"

G_DEFINE_TYPE (GstSdlHeadUnitAudioSrc, gst_sdl_head_unit_audio_src, GST_TYPE_PUSH_SRC)

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("audio/x-raw, format = (string) { S16LE, U8 }, rate = (int) { 8000, 16000, 22000, 44000 }, "
        "channels = (int) 1, layout = (string) interleaved"));

gboolean
gst_sdl_head_unit_audio_src_parent_query (GstBaseSrc * src, GstQuery * query)
{
  return GST_BASE_SRC_CLASS (gst_sdl_head_unit_audio_src_parent_class)->query (src, query);
}

GstStateChangeReturn
gst_sdl_head_unit_audio_src_parent_change_state (GstElement * element, GstStateChange transition)
{
  return GST_ELEMENT_CLASS (gst_sdl_head_unit_audio_src_parent_class)->change_state (element, transition);
}

/* The caps are those of the head unit, which come with the first samples. */
static gboolean
gst_sdl_head_unit_audio_src_negotiate (GstBaseSrc * src)
{
  return TRUE;
}

static void
gst_sdl_head_unit_audio_src_finalize (GObject * object)
{
  gst_sdl_head_unit_audio_src_impl_free (((GstSdlHeadUnitAudioSrc *) object)->impl);
  G_OBJECT_CLASS (gst_sdl_head_unit_audio_src_parent_class)->finalize (object);
}

static void
gst_sdl_head_unit_audio_src_class_init (GstSdlHeadUnitAudioSrcClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *src_class = GST_BASE_SRC_CLASS (klass);

  object_class->set_property = gst_sdl_head_unit_audio_src_set_property;
  object_class->get_property = gst_sdl_head_unit_audio_src_get_property;
  object_class->finalize = gst_sdl_head_unit_audio_src_finalize;
  gst_sdl_head_unit_audio_src_install_properties (object_class);

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "SmartDeviceLink Head Unit Audio Source", "Source/Audio/Network",
      "Is a car's head unit for apps that speak SmartDeviceLink, and plays the sound that they send",
      "The gst-smartdevicelink authors");

  element_class->change_state = gst_sdl_head_unit_audio_src_change_state;
  src_class->negotiate = gst_sdl_head_unit_audio_src_negotiate;
  src_class->start = gst_sdl_head_unit_audio_src_start;
  src_class->stop = gst_sdl_head_unit_audio_src_stop;
  src_class->unlock = gst_sdl_head_unit_audio_src_unlock;
  src_class->unlock_stop = gst_sdl_head_unit_audio_src_unlock_stop;
  src_class->query = gst_sdl_head_unit_audio_src_query;
  GST_PUSH_SRC_CLASS (klass)->create = gst_sdl_head_unit_audio_src_create;
}

static void
gst_sdl_head_unit_audio_src_init (GstSdlHeadUnitAudioSrc * self)
{
  self->impl = gst_sdl_head_unit_audio_src_impl_new (self);
  gst_base_src_set_live (GST_BASE_SRC (self), TRUE);
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
}
