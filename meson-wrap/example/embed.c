/* Shows a test pattern on the built-in head unit and prints what the sink says. Usage: embed [FRAMES [URI]] */

#include <gst/gst.h>
#include <stdlib.h>

static gboolean stream_started = FALSE;

static void
print_element_message (GstMessage * message)
{
  const GstStructure *structure = gst_message_get_structure (message);
  gchar *text = gst_structure_to_string (structure);

  g_print ("%s\n", text);
  g_free (text);
  if (gst_structure_has_name (structure, "sdl-stream-started"))
    stream_started = TRUE;
}

/* Returns whether the stream came to its end without an error. */
static gboolean
wait_for_end (GstElement * pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  gboolean is_running = TRUE, is_good = FALSE;

  while (is_running) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
        GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR | GST_MESSAGE_EOS);

    switch (GST_MESSAGE_TYPE (message)) {
      case GST_MESSAGE_ELEMENT:
        print_element_message (message);
        break;
      case GST_MESSAGE_ERROR:{
        GError *error = NULL;

        gst_message_parse_error (message, &error, NULL);
        g_printerr ("%s\n", error->message);
        g_error_free (error);
        is_running = FALSE;
        break;
      }
      default:
        is_running = FALSE;
        is_good = TRUE;
    }
    gst_message_unref (message);
  }
  gst_object_unref (bus);
  return is_good;
}

int
main (int argc, char *argv[])
{
  GError *error = NULL;
  GstElement *pipeline;
  gchar *description;
  gboolean is_good;

  gst_init (&argc, &argv);
  description = g_strdup_printf ("videotestsrc pattern=ball num-buffers=%d ! sdlvideosink uri=%s",
      argc > 1 ? atoi (argv[1]) : 75, argc > 2 ? argv[2] : "sdl+builtin:default");
  pipeline = gst_parse_launch (description, &error);
  g_free (description);
  if (error != NULL) {
    g_printerr ("%s\n", error->message);
    g_error_free (error);
    return EXIT_FAILURE;
  }

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  is_good = wait_for_end (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return is_good && stream_started ? EXIT_SUCCESS : EXIT_FAILURE;
}
