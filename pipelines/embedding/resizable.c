/* Draws pictures in the size that the head unit asks for, and follows when it resizes the app.
 * Usage: resizable [PICTURES [URI]]; by default it draws until Ctrl-C, for the built-in head unit. */

#include <gst/app/gstappsrc.h>
#include <stdlib.h>
#include <string.h>

#define PICTURES_PER_SECOND 15
#define FORMAT "video/x-raw,format=GRAY8,framerate=" G_STRINGIFY (PICTURES_PER_SECOND) "/1"

typedef struct
{
  GstPad *sink_pad;
  guint picture, pictures;
  gint width, height;
  /* Set by the thread that brings events, cleared by the one that draws. */
  gint is_size_outdated;
} App;

/* RECONFIGURE says that the sink wants other caps: the head unit has resized the app. */
static GstPadProbeReturn
on_event (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  (void) pad;
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_RECONFIGURE)
    g_atomic_int_set (&((App *) data)->is_size_outdated, TRUE);
  return GST_PAD_PROBE_OK;
}

/* Asks the sink itself for a size, since a scaler accepts any, and draws in it from now on. */
static void
follow_size (App * app, GstAppSrc * source)
{
  GstCaps *wanted = gst_pad_query_caps (app->sink_pad, NULL);
  GstCaps *caps = gst_caps_from_string (FORMAT);

  /* The first structure is what the head unit prefers; without integers in it any size will do. */
  app->width = 800;
  app->height = 480;
  if (!gst_caps_is_empty (wanted))
    gst_structure_get (gst_caps_get_structure (wanted, 0), "width", G_TYPE_INT, &app->width, "height", G_TYPE_INT,
        &app->height, NULL);
  g_print ("drawing %dx%d\n", app->width, app->height);
  gst_caps_set_simple (caps, "width", G_TYPE_INT, app->width, "height", G_TYPE_INT, app->height, NULL);
  gst_app_src_set_caps (source, caps);
  gst_caps_unref (caps);
  gst_caps_unref (wanted);
}

/* A bar that moves from left to right. Rows of GRAY8 take a multiple of four bytes. */
static GstBuffer *
draw (const App * app)
{
  gsize stride = GST_ROUND_UP_4 (app->width);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, stride * app->height, NULL);
  gint left = app->picture * 4 % app->width;
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  memset (map.data, 64, map.size);
  for (gint row = 0; row < app->height; row++)
    memset (map.data + row * stride + left, 255, MIN (8, app->width - left));
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = gst_util_uint64_scale (app->picture, GST_SECOND, PICTURES_PER_SECOND);
  GST_BUFFER_DURATION (buffer) = GST_SECOND / PICTURES_PER_SECOND;
  return buffer;
}

/* The sink has shown the last picture and asks for the next one. */
static void
on_need_data (GstAppSrc * source, guint length, gpointer data)
{
  App *app = data;

  (void) length;
  if (app->picture == app->pictures) {
    gst_app_src_end_of_stream (source);
    return;
  }
  if (g_atomic_int_compare_and_exchange (&app->is_size_outdated, TRUE, FALSE))
    follow_size (app, source);
  gst_app_src_push_buffer (source, draw (app));
  app->picture++;
}

int
main (int argc, char *argv[])
{
  App app = {.is_size_outdated = TRUE };
  GError *error = NULL;
  GstElement *pipeline, *source, *sink;
  GstMessage *message;
  GstBus *bus;
  GstPad *pad;

  gst_init (&argc, &argv);
  app.pictures = argc > 1 ? (guint) atoi (argv[1]) : G_MAXUINT;
  /* The scaler can make any size, so the sink accepts the pictures that come between the resize and the first in the new
   * size; those are scaled, all others pass. */
  pipeline = gst_parse_launch ("appsrc name=source format=time ! videoconvertscale ! "
      "sdlvideosink name=sink app-name=Resizable suspend-policy=drop", &error);
  if (error != NULL) {
    g_printerr ("%s. Is GST_PLUGIN_PATH set?\n", error->message);
    return EXIT_FAILURE;
  }
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_object_set (sink, "uri", argc > 2 ? argv[2] : "sdl+builtin:default", NULL);
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  app.sink_pad = gst_element_get_static_pad (sink, "sink");
  pad = gst_element_get_static_pad (source, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, on_event, &app, NULL);
  g_signal_connect (source, "need-data", G_CALLBACK (on_need_data), &app);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  bus = gst_element_get_bus (pipeline);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    g_printerr ("%s\n", error->message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);

  gst_message_unref (message);
  gst_object_unref (bus);
  gst_object_unref (pad);
  gst_object_unref (app.sink_pad);
  gst_object_unref (source);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return error == NULL ? EXIT_SUCCESS : EXIT_FAILURE;
}
