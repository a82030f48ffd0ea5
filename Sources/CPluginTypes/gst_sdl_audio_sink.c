#include "gst_sdl_audio_sink.h"

#include <gst/audio/streamvolume.h>

G_DEFINE_TYPE_WITH_CODE (GstSdlAudioSink, gst_sdl_audio_sink, GST_TYPE_BASE_SINK,
    G_IMPLEMENT_INTERFACE (GST_TYPE_STREAM_VOLUME, NULL))

#define PARENT_SINK_CLASS GST_BASE_SINK_CLASS (gst_sdl_audio_sink_parent_class)

/* What SDL knows: the rates are those that SDL Core counts for 8KHZ, 16KHZ, 22KHZ and 44KHZ. */
static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("audio/x-raw, format = (string) { S16LE, U8 }, layout = (string) interleaved, "
        "rate = (int) { 8000, 16000, 22000, 44000 }, channels = (int) 1"));

GstStateChangeReturn
gst_sdl_audio_sink_parent_change_state (GstElement * element, GstStateChange transition)
{
  return GST_ELEMENT_CLASS (gst_sdl_audio_sink_parent_class)->change_state (element, transition);
}

gboolean
gst_sdl_audio_sink_parent_element_query (GstElement * element, GstQuery * query)
{
  return GST_ELEMENT_CLASS (gst_sdl_audio_sink_parent_class)->query (element, query);
}

gboolean
gst_sdl_audio_sink_parent_event (GstBaseSink * sink, GstEvent * event)
{
  return PARENT_SINK_CLASS->event (sink, event);
}

gboolean
gst_sdl_audio_sink_parent_query (GstBaseSink * sink, GstQuery * query)
{
  return PARENT_SINK_CLASS->query (sink, query);
}

void
gst_sdl_audio_sink_parent_get_times (GstBaseSink * sink, GstBuffer * buffer, GstClockTime * start, GstClockTime * end)
{
  PARENT_SINK_CLASS->get_times (sink, buffer, start, end);
}

GstFlowReturn
gst_sdl_audio_sink_parent_wait_event (GstBaseSink * sink, GstEvent * event)
{
  return PARENT_SINK_CLASS->wait_event (sink, event);
}

static void
gst_sdl_audio_sink_finalize (GObject * object)
{
  GstSdlAudioSink *self = (GstSdlAudioSink *) object;

  gst_sdl_audio_sink_impl_free (self->impl);
  G_OBJECT_CLASS (gst_sdl_audio_sink_parent_class)->finalize (object);
}

static void
gst_sdl_audio_sink_class_init (GstSdlAudioSinkClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);

  object_class->set_property = gst_sdl_audio_sink_set_property;
  object_class->get_property = gst_sdl_audio_sink_get_property;
  object_class->finalize = gst_sdl_audio_sink_finalize;
  gst_sdl_audio_sink_install_properties (object_class);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class,
      "SmartDeviceLink Audio Sink", "Sink/Audio/Network",
      "Plays sound in a car, whose head unit speaks SmartDeviceLink",
      "The gst-smartdevicelink authors");
  element_class->change_state = gst_sdl_audio_sink_change_state;
  element_class->query = gst_sdl_audio_sink_element_query;

  sink_class->get_caps = gst_sdl_audio_sink_get_caps;
  sink_class->set_caps = gst_sdl_audio_sink_set_caps;
  sink_class->query = gst_sdl_audio_sink_query;
  sink_class->event = gst_sdl_audio_sink_event;
  sink_class->wait_event = gst_sdl_audio_sink_wait_event;
  sink_class->get_times = gst_sdl_audio_sink_get_times;
  sink_class->unlock = gst_sdl_audio_sink_unlock;
  sink_class->preroll = gst_sdl_audio_sink_preroll;
  sink_class->unlock_stop = gst_sdl_audio_sink_unlock_stop;
  sink_class->render = gst_sdl_audio_sink_render;
}

/* The core refuses caps outside the template before the element hears of them; here it can say what is wrong. */
static GstPadProbeReturn
gst_sdl_audio_sink_see_event (GstPad * pad, GstPadProbeInfo * info, gpointer self)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    GstCaps *caps;

    gst_event_parse_caps (event, &caps);
    gst_sdl_audio_sink_caps_arrive (self, caps);
  }
  return GST_PAD_PROBE_OK;
}

/* The first buffer waits here until it could be heard, and not in the preroll function: a flush that ended that one would make the
 * base class give up the change of state. */
static gboolean
gst_sdl_audio_sink_may_preroll (GstSdlAudioSink * self, GstFlowReturn * result)
{
  GstBaseSink *sink = GST_BASE_SINK (self);
  gboolean prerolls;

  GST_BASE_SINK_PREROLL_LOCK (sink);
  prerolls = sink->need_preroll && !sink->flushing && !sink->eos;
  GST_BASE_SINK_PREROLL_UNLOCK (sink);
  return !prerolls || gst_sdl_audio_sink_wait_for_preroll (self, result);
}

static GstPadProbeReturn
gst_sdl_audio_sink_see_buffer (GstPad * pad, GstPadProbeInfo * info, gpointer self)
{
  GstFlowReturn result;

  if (gst_sdl_audio_sink_may_preroll (self, &result))
    return GST_PAD_PROBE_OK;
  gst_mini_object_unref (GST_PAD_PROBE_INFO_DATA (info));
  GST_PAD_PROBE_INFO_DATA (info) = NULL;
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = result;
  return GST_PAD_PROBE_HANDLED;
}

static void
gst_sdl_audio_sink_init (GstSdlAudioSink * self)
{
  self->impl = gst_sdl_audio_sink_impl_new (self);
  gst_pad_add_probe (GST_BASE_SINK_PAD (self), GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST,
      gst_sdl_audio_sink_see_buffer, self, NULL);
  gst_pad_add_probe (GST_BASE_SINK_PAD (self), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      gst_sdl_audio_sink_see_event, self, NULL);
}
