/* Draws pictures for the car's screen, with a square where it was touched last, and prints the sink's messages.
 * For a third of the pictures the app is in the background, as if its user had switched to another app on the phone.
 * Usage: embed [PICTURES [URI]]; by default 150 pictures, 10 s, for the built-in head unit. */

#include <gst/app/gstappsrc.h>
#include <gst/video/navigation.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 400
#define HEIGHT 240
#define PICTURES_PER_SECOND 15

typedef struct
{
  GstElement *sink;
  guint picture, pictures;
  /* Touches come on a different thread from the one that draws. */
  GMutex lock;
  gint x, y;
} App;

static void
fill (guint8 * pixels, gint x, gint y, gint width, gint height, guint8 brightness)
{
  for (gint row = MAX (y, 0); row < MIN (y + height, HEIGHT); row++)
    for (gint column = MAX (x, 0); column < MIN (x + width, WIDTH); column++)
      pixels[row * WIDTH + column] = brightness;
}

static GstBuffer *
draw (App * app)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT, NULL);
  GstMapInfo map;
  gint x, y;

  g_mutex_lock (&app->lock);
  x = app->x;
  y = app->y;
  g_mutex_unlock (&app->lock);

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  memset (map.data, 64, map.size);
  fill (map.data, app->picture * 4 % WIDTH, 0, 8, HEIGHT, 128);
  fill (map.data, x - 10, y - 10, 20, 20, 255);
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
  if (app->picture == app->pictures / 3)
    gst_util_set_object_arg (G_OBJECT (app->sink), "app-state", "background");
  if (app->picture == app->pictures * 2 / 3)
    gst_util_set_object_arg (G_OBJECT (app->sink), "app-state", "foreground");
  gst_app_src_push_buffer (source, draw (app));
  app->picture++;
}

/* Touches come up the pipeline. Scalers on the way convert them, so that here they are in pixels of draw(). */
static GstPadProbeReturn
on_event (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  App *app = data;
  gdouble x, y;
  guint finger;

  (void) pad;
  if (gst_navigation_event_get_type (event) == GST_NAVIGATION_EVENT_TOUCH_DOWN
      && gst_navigation_event_parse_touch_event (event, &finger, &x, &y, NULL)) {
    g_print ("touch %u at %.0f %.0f\n", finger, x, y);
    g_mutex_lock (&app->lock);
    app->x = x;
    app->y = y;
    g_mutex_unlock (&app->lock);
  }
  return GST_PAD_PROBE_OK;
}

static void
print_element_message (GstMessage * message)
{
  const GstStructure *structure = gst_message_get_structure (message);
  const gchar *name = gst_structure_get_name (structure);
  gint width, height;

  /* Others come from GStreamer's own elements, or report events that no element handled. */
  if (!g_str_has_prefix (name, "sdl-"))
    return;
  if (gst_structure_get (structure, "width", G_TYPE_INT, &width, "height", G_TYPE_INT, &height, NULL))
    g_print ("%s %d %d\n", name, width, height);
  else if (gst_structure_has_field_typed (structure, "reason", G_TYPE_STRING))
    g_print ("%s %s\n", name, gst_structure_get_string (structure, "reason"));
  else
    g_print ("%s\n", name);
}

/* Returns whether the end of the stream came, and no error. */
static gboolean
print_messages (GstBus * bus)
{
  for (;;) {
    GstMessage *message = gst_bus_timed_pop (bus, GST_CLOCK_TIME_NONE);
    GstMessageType type = GST_MESSAGE_TYPE (message);

    if (type == GST_MESSAGE_ERROR) {
      GError *error = NULL;

      gst_message_parse_error (message, &error, NULL);
      g_printerr ("%s\n", error->message);
      g_error_free (error);
    } else if (type == GST_MESSAGE_ELEMENT) {
      print_element_message (message);
    }
    gst_message_unref (message);
    if (type == GST_MESSAGE_ERROR || type == GST_MESSAGE_EOS)
      return type == GST_MESSAGE_EOS;
  }
}

int
main (int argc, char *argv[])
{
  App app = {.x = -WIDTH };
  GError *error = NULL;
  GstElement *pipeline, *source;
  GstMessage *message;
  GstBus *bus;
  GstPad *pad;
  gboolean is_good;

  gst_init (&argc, &argv);
  app.pictures = argc > 1 ? atoi (argv[1]) : 10 * PICTURES_PER_SECOND;
  g_mutex_init (&app.lock);

  /* With suspend-policy=drop nobody is asked for a pause while the head unit does not show the app. */
  pipeline = gst_parse_launch ("appsrc name=source format=time caps=video/x-raw,format=GRAY8,width=" G_STRINGIFY (WIDTH)
      ",height=" G_STRINGIFY (HEIGHT) ",framerate=" G_STRINGIFY (PICTURES_PER_SECOND) "/1 ! "
      "videoconvertscale add-borders=false ! sdlvideosink name=sink app-name=Embedded suspend-policy=drop", &error);
  if (error != NULL) {
    g_printerr ("%s. Is GST_PLUGIN_PATH set?\n", error->message);
    return EXIT_FAILURE;
  }
  app.sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_object_set (app.sink, "uri", argc > 2 ? argv[2] : "sdl+builtin:default", NULL);
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_signal_connect (source, "need-data", G_CALLBACK (on_need_data), &app);
  pad = gst_element_get_static_pad (source, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, on_event, &app, NULL);
  bus = gst_element_get_bus (pipeline);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  is_good = print_messages (bus);
  /* The sink's last messages come while the pipeline goes to NULL, which would flush the bus. */
  g_object_set (pipeline, "auto-flush-bus", FALSE, NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT)) != NULL) {
    print_element_message (message);
    gst_message_unref (message);
  }

  gst_object_unref (bus);
  gst_object_unref (pad);
  gst_object_unref (source);
  gst_object_unref (app.sink);
  gst_object_unref (pipeline);
  return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
