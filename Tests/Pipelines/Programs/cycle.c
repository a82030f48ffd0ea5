/* Goes from NULL to PLAYING and back, many times; threads and descriptors must not grow. Usage: cycle URI COUNT */

#include <gst/gst.h>
#include <stdlib.h>

static guint
count_entries (const gchar * path)
{
  GDir *dir = g_dir_open (path, 0, NULL);
  guint count = 0;

  while (g_dir_read_name (dir) != NULL)
    count++;
  g_dir_close (dir);
  return count;
}

/* A thread of a connection may end, and close what it has open, a moment after the pipeline; those of GLib's pool end
 * 15 s after their work. */
static guint
count_settled (const gchar * path, guint wanted)
{
  guint count = count_entries (path);

  for (guint attempt = 0; count > wanted && attempt < 3000; attempt++) {
    g_usleep (20000);
    count = count_entries (path);
  }
  return count;
}

static gboolean
cycle (GstElement * pipeline, GstBus * bus, gboolean waits_for_stream)
{
  gboolean is_good = TRUE;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (waits_for_stream) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 30 * GST_SECOND, GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR);

    is_good = message != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT;
    waits_for_stream = is_good && !gst_message_has_name (message, "sdl-stream-started");
    gst_clear_message (&message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return is_good;
}

int
main (int argc, char *argv[])
{
  GstElement *pipeline, *sink;
  GstBus *bus;
  guint descriptors = 0, threads = 0, settled_descriptors, settled_threads, count;
  gboolean is_good = TRUE;

  gst_init (&argc, &argv);
  if (argc != 3)
    return 2;
  count = atoi (argv[2]);
  pipeline = gst_parse_launch ("videotestsrc ! video/x-raw,width=800,height=480 ! sdlvideosink name=sink", NULL);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_object_set (sink, "uri", argv[1], NULL);
  gst_object_unref (sink);
  bus = gst_element_get_bus (pipeline);

  /* The first runs open what stays open. Every tenth run streams, the others end at any point of the start-up. */
  for (guint run = 0; run < count && is_good; run++) {
    is_good = cycle (pipeline, bus, run % 10 == 0);
    if (run == 10) {
      descriptors = count_entries ("/proc/self/fd");
      threads = count_entries ("/proc/self/task");
    }
  }
  settled_descriptors = count_settled ("/proc/self/fd", descriptors);
  settled_threads = count_settled ("/proc/self/task", threads);
  if (settled_descriptors > descriptors || settled_threads > threads) {
    g_printerr ("descriptors %u → %u, threads %u → %u\n", descriptors, settled_descriptors, threads, settled_threads);
    is_good = FALSE;
  }
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  gst_deinit ();
  return is_good ? 0 : 1;
}
