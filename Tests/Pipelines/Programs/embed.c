/* Streams 30 pictures to a head unit, and prints what the sink says. Usage: embed URI */

#include <gst/gst.h>

static void
print_message (GstMessage * message)
{
  const GstStructure *structure = gst_message_get_structure (message);
  const gchar *name = gst_structure_get_name (structure);
  gint width, height;

  if (gst_structure_get (structure, "width", G_TYPE_INT, &width, "height", G_TYPE_INT, &height, NULL))
    g_print ("%s %d %d\n", name, width, height);
  else if (g_str_equal (name, "sdl-stream-stopped"))
    g_print ("%s %s\n", name, gst_structure_get_string (structure, "reason"));
  else
    g_print ("%s\n", name);
}

static gboolean
add_dropped (GQuark field, const GValue * value, gpointer sum)
{
  if (g_str_has_prefix (g_quark_to_string (field), "frames-dropped-"))
    *(guint64 *) sum += g_value_get_uint64 (value);
  return TRUE;
}

static void
print_statistics (GstElement * sink)
{
  GstStructure *statistics = NULL;
  guint64 in = 0, sent = 0, dropped = 0, queued = 0;

  g_object_get (sink, "sdl-stats", &statistics, NULL);
  gst_structure_get (statistics, "frames-in", G_TYPE_UINT64, &in, "frames-sent", G_TYPE_UINT64, &sent,
      "frames-queued", G_TYPE_UINT64, &queued, NULL);
  gst_structure_foreach (statistics, add_dropped, &dropped);
  g_print ("in %" G_GUINT64_FORMAT " sent %" G_GUINT64_FORMAT " dropped %" G_GUINT64_FORMAT " queued %"
      G_GUINT64_FORMAT "\n", in, sent, dropped, queued);
  gst_structure_free (statistics);
}

int
main (int argc, char *argv[])
{
  GstElement *pipeline, *sink;
  GstBus *bus;
  GstMessage *message;
  gboolean is_good = FALSE;

  gst_init (&argc, &argv);
  if (argc != 2)
    return 2;
  pipeline = gst_parse_launch ("videotestsrc num-buffers=30 ! video/x-raw,width=800,height=480 ! "
      "sdlvideosink name=sink sync=false", NULL);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_object_set (sink, "uri", argv[1], "app-name", "Embedded", "bitrate", 800, NULL);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);

  do {
    message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR |
        GST_MESSAGE_EOS);
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT) {
      print_message (message);
      gst_clear_message (&message);
    }
  } while (message == NULL);
  is_good = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
  gst_message_unref (message);

  /* In READY the bus keeps what the sink says last. */
  gst_element_set_state (pipeline, GST_STATE_READY);
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT)) != NULL) {
    print_message (message);
    gst_message_unref (message);
  }
  print_statistics (sink);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return is_good ? 0 : 1;
}
