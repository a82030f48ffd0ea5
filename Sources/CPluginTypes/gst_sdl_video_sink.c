#include "gst_sdl_video_sink.h"

#include <gst/video/video.h>

static void gst_sdl_video_sink_uri_handler_init (gpointer iface, gpointer data);

G_DEFINE_TYPE_WITH_CODE (GstSdlVideoSink, gst_sdl_video_sink, GST_TYPE_BASE_SINK,
    G_IMPLEMENT_INTERFACE (GST_TYPE_URI_HANDLER, gst_sdl_video_sink_uri_handler_init))

#define PARENT_SINK_CLASS GST_BASE_SINK_CLASS (gst_sdl_video_sink_parent_class)

/* At least 16×16, because of the encoder and the macroblocks of the head unit. Sides must also be even, but ranges with steps
 * end the process in gst_caps_simplify, which other elements call. */
#define SIZE "width = (int) [ 16, 8192 ], height = (int) [ 16, 8192 ], framerate = (fraction) [ 0, MAX ]"

/* 8 bits, 4:2:0: head units decode nothing else. */
#define PROFILE "profile = (string) { constrained-baseline, baseline, main, constrained-high, progressive-high, high }"

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("video/x-raw, format = (string) { I420, YV12, NV12, NV21 }, " SIZE "; "
        "video/x-h264, stream-format = (string) byte-stream, alignment = (string) au, " PROFILE "; "
        "video/x-h264, stream-format = (string) { avc, avc3 }, alignment = (string) au, " PROFILE));

GstStateChangeReturn
gst_sdl_video_sink_parent_change_state (GstElement * element, GstStateChange transition)
{
  return GST_ELEMENT_CLASS (gst_sdl_video_sink_parent_class)->change_state (element, transition);
}

gboolean
gst_sdl_video_sink_parent_send_event (GstElement * element, GstEvent * event)
{
  return GST_ELEMENT_CLASS (gst_sdl_video_sink_parent_class)->send_event (element, event);
}

gboolean
gst_sdl_video_sink_parent_event (GstBaseSink * sink, GstEvent * event)
{
  return PARENT_SINK_CLASS->event (sink, event);
}

gboolean
gst_sdl_video_sink_parent_query (GstBaseSink * sink, GstQuery * query)
{
  return PARENT_SINK_CLASS->query (sink, query);
}

GstFlowReturn
gst_sdl_video_sink_parent_wait_event (GstBaseSink * sink, GstEvent * event)
{
  return PARENT_SINK_CLASS->wait_event (sink, event);
}

static void
gst_sdl_video_sink_finalize (GObject * object)
{
  GstSdlVideoSink *self = (GstSdlVideoSink *) object;

  gst_sdl_video_sink_impl_free (self->impl);
  G_OBJECT_CLASS (gst_sdl_video_sink_parent_class)->finalize (object);
}

/* The base class waits for the decoding time, if there is one, since a decoder has to have pictures in time that others depend
 * on. */
static void
gst_sdl_video_sink_get_times (GstBaseSink * sink, GstBuffer * buffer, GstClockTime * start, GstClockTime * end)
{
  if (!((GstSdlVideoSink *) sink)->syncs_by_presentation || !GST_BUFFER_PTS_IS_VALID (buffer)) {
    PARENT_SINK_CLASS->get_times (sink, buffer, start, end);
    return;
  }
  *start = GST_BUFFER_PTS (buffer);
  if (GST_BUFFER_DURATION_IS_VALID (buffer))
    *end = *start + GST_BUFFER_DURATION (buffer);
}

static void
gst_sdl_video_sink_class_init (GstSdlVideoSinkClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);

  object_class->set_property = gst_sdl_video_sink_set_property;
  object_class->get_property = gst_sdl_video_sink_get_property;
  object_class->finalize = gst_sdl_video_sink_finalize;
  gst_sdl_video_sink_install_properties (object_class);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class,
      "SmartDeviceLink Video Sink", "Sink/Video/Network",
      "Shows video on a car's screen, whose head unit speaks SmartDeviceLink",
      "The gst-smartdevicelink authors");
  element_class->change_state = gst_sdl_video_sink_change_state;
  element_class->send_event = gst_sdl_video_sink_send_event;

  sink_class->get_times = gst_sdl_video_sink_get_times;
  sink_class->get_caps = gst_sdl_video_sink_get_caps;
  sink_class->set_caps = gst_sdl_video_sink_set_caps;
  sink_class->query = gst_sdl_video_sink_query;
  sink_class->propose_allocation = gst_sdl_video_sink_propose_allocation;
  sink_class->event = gst_sdl_video_sink_event;
  sink_class->wait_event = gst_sdl_video_sink_wait_event;
  sink_class->unlock = gst_sdl_video_sink_unlock;
  sink_class->preroll = gst_sdl_video_sink_preroll;
  sink_class->unlock_stop = gst_sdl_video_sink_unlock_stop;
  sink_class->render = gst_sdl_video_sink_render;
}

/* The core refuses caps outside the template before the element hears of them; here it can say what is wrong. */
static GstPadProbeReturn
gst_sdl_video_sink_see_event (GstPad * pad, GstPadProbeInfo * info, gpointer self)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    GstCaps *caps;

    gst_event_parse_caps (event, &caps);
    gst_sdl_video_sink_caps_arrive (self, caps);
  }
  return GST_PAD_PROBE_OK;
}

/* The first buffer waits here until it could be shown, and not in the preroll function: a flush that ended that one would make the
 * base class give up the change of state. Whether it prerolls is looked at without the lock first: who starts the pad or ends a
 * flush has set it before the next buffer comes, and who pauses does not wait for the buffer at hand. */
static gboolean
gst_sdl_video_sink_may_preroll (GstSdlVideoSink * self, GstFlowReturn * result)
{
  GstBaseSink *sink = GST_BASE_SINK (self);
  gboolean prerolls;

  if (!g_atomic_int_get (&sink->need_preroll))
    return TRUE;
  GST_BASE_SINK_PREROLL_LOCK (sink);
  prerolls = sink->need_preroll && !sink->flushing && !sink->eos;
  GST_BASE_SINK_PREROLL_UNLOCK (sink);
  return !prerolls || gst_sdl_video_sink_wait_for_preroll (self, result);
}

/* H.264 that comes before what a seek has asked for has to be decoded. The base class drops it, or prerolls with it, so it
 * is taken before. */
static GstFlowReturn
gst_sdl_video_sink_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstSdlVideoSink *self = (GstSdlVideoSink *) parent;
  GstFlowReturn result = GST_FLOW_OK;

  if (gst_sdl_video_sink_may_preroll (self, &result)
      && !(self->takes_ahead && gst_sdl_video_sink_take_ahead (self, buffer, &result)))
    return self->chain (pad, parent, buffer);
  gst_buffer_unref (buffer);
  return result;
}

typedef struct {
  GstSdlVideoSink *self;
  GstFlowReturn result;
} TakenList;

static gboolean
gst_sdl_video_sink_take_of_list (GstBuffer ** buffer, guint index, gpointer data)
{
  TakenList *list = data;

  if (gst_sdl_video_sink_take_ahead (list->self, *buffer, &list->result))
    gst_clear_buffer (buffer);
  return list->result == GST_FLOW_OK;
}

static GstFlowReturn
gst_sdl_video_sink_chain_list (GstPad * pad, GstObject * parent, GstBufferList * buffers)
{
  GstSdlVideoSink *self = (GstSdlVideoSink *) parent;
  TakenList list = { self, GST_FLOW_OK };

  if (gst_sdl_video_sink_may_preroll (self, &list.result)) {
    if (!self->takes_ahead)
      return self->chain_list (pad, parent, buffers);
    buffers = gst_buffer_list_make_writable (buffers);
    gst_buffer_list_foreach (buffers, gst_sdl_video_sink_take_of_list, &list);
    if (list.result == GST_FLOW_OK && gst_buffer_list_length (buffers) > 0)
      return self->chain_list (pad, parent, buffers);
  }
  gst_buffer_list_unref (buffers);
  return list.result;
}

static void
gst_sdl_video_sink_init (GstSdlVideoSink * self)
{
  GstPad *pad = GST_BASE_SINK_PAD (self);

  self->impl = gst_sdl_video_sink_impl_new (self);
  self->chain = GST_PAD_CHAINFUNC (pad);
  self->chain_list = GST_PAD_CHAINLISTFUNC (pad);
  gst_pad_set_chain_function (pad, gst_sdl_video_sink_chain);
  gst_pad_set_chain_list_function (pad, gst_sdl_video_sink_chain_list);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, gst_sdl_video_sink_see_event, self, NULL);
}

static GstURIType
gst_sdl_video_sink_uri_get_type (GType type)
{
  return GST_URI_SINK;
}

static const gchar *const *
gst_sdl_video_sink_uri_get_protocols (GType type)
{
  static const gchar *protocols[] = { "sdl", "sdl+bluetooth", "sdl+builtin", "sdl+fd", NULL };

  return protocols;
}

static gchar *
gst_sdl_video_sink_uri_get_uri (GstURIHandler * handler)
{
  return gst_sdl_video_sink_copy_uri ((GstSdlVideoSink *) handler);
}

static gboolean
gst_sdl_video_sink_uri_set_uri (GstURIHandler * handler, const gchar * uri, GError ** error)
{
  return gst_sdl_video_sink_take_uri ((GstSdlVideoSink *) handler, uri, error);
}

static void
gst_sdl_video_sink_uri_handler_init (gpointer iface, gpointer data)
{
  GstURIHandlerInterface *handler = iface;

  handler->get_type = gst_sdl_video_sink_uri_get_type;
  handler->get_protocols = gst_sdl_video_sink_uri_get_protocols;
  handler->get_uri = gst_sdl_video_sink_uri_get_uri;
  handler->set_uri = gst_sdl_video_sink_uri_set_uri;
}
