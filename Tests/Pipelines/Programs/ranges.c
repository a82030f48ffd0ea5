/* Plays to a head unit, and changes the filter's ranges meanwhile, as often as asked for. */

#include <gst/gst.h>
#include <stdlib.h>

/* Waits for the start of a stream; its width, or 0 after an error. */
static int
wait_for_stream (GstBus * bus)
{
  int width = 0;

  while (width == 0) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);

    if (!message)
      return 0;
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
      width = -1;
    else if (gst_message_has_name (message, "sdl-stream-started"))
      gst_structure_get_int (gst_message_get_structure (message), "width", &width);
    gst_message_unref (message);
  }
  return width < 0 ? 0 : width;
}

int
main (int argc, char **argv)
{
  int i;

  gst_init (&argc, &argv);
  for (i = 0; i < atoi (argv[1]); i++) {
    GstElement *pipeline = gst_parse_launch ("videotestsrc is-live=true ! sdlrangefilter name=filter ! "
        "sdlvideosink uri=sdl+builtin:core-listed", NULL);
    GstElement *filter = gst_bin_get_by_name (GST_BIN (pipeline), "filter");
    GstBus *bus = gst_element_get_bus (pipeline);
    int first, second;

    gst_child_proxy_set (GST_CHILD_PROXY (filter), "portrait::enabled", FALSE, "landscape::min-diagonal", 3.0,
        "landscape::min-width", 100, NULL);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    first = wait_for_stream (bus);
    gst_child_proxy_set (GST_CHILD_PROXY (filter), "landscape::max-width", 480, NULL);
    second = wait_for_stream (bus);
    g_print ("%d %d\n", first, second);

    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (bus);
    gst_object_unref (filter);
    gst_object_unref (pipeline);
  }
  gst_deinit ();
  return 0;
}
