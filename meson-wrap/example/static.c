/* A program with the plugin inside: a few pictures go to the built-in head unit. */
#include <gst/gst.h>

GST_PLUGIN_STATIC_DECLARE (smartdevicelink);

int
main (int argc, char **argv)
{
  GError *error = NULL;
  GstElement *pipeline;
  GstMessage *message;
  gboolean has_ended;

  gst_init (&argc, &argv);
  GST_PLUGIN_STATIC_REGISTER (smartdevicelink);

  pipeline = gst_parse_launch ("videotestsrc num-buffers=30 ! sdlvideosink", &error);
  if (!pipeline) {
    g_printerr ("%s\n", error->message);
    g_clear_error (&error);
    return 1;
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline), 30 * GST_SECOND,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  has_ended = message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
  g_clear_pointer (&message, gst_message_unref);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return has_ended ? 0 : 1;
}
