/* Plays films on the car's screen with GStreamer's player library: play URI-OF-HEAD-UNIT FILM...
 * Expect each film's picture on the head unit and its sound here, without the app leaving the car's screen in between.
 * Needs libgstreamer-plugins-bad1.0-dev, gstreamer1.0-libav and the plugin in GST_PLUGIN_PATH. Build it with
 *   cc play.c -o play $(pkg-config --cflags --libs gstreamer-play-1.0) */

#include <gst/gst.h>
#include <gst/play/play.h>

typedef struct
{
  GstPlay *play;
  GMainLoop *loop;
  gchar **next;
  gboolean failed;
} Player;

static void
play_next (Player * player)
{
  GError *error = NULL;
  gchar *film = *player->next;
  gchar *uri;

  if (film == NULL) {
    g_main_loop_quit (player->loop);
    return;
  }
  player->next++;
  uri = gst_uri_is_valid (film) ? g_strdup (film) : gst_filename_to_uri (film, &error);
  if (uri == NULL) {
    g_printerr ("%s: %s\n", film, error->message);
    g_clear_error (&error);
    player->failed = TRUE;
    g_main_loop_quit (player->loop);
    return;
  }
  g_print ("%s\n", uri);
  /* The app stays registered from film to film. */
  gst_play_set_uri (player->play, uri);
  gst_play_play (player->play);
  g_free (uri);
}

static void
on_end (G_GNUC_UNUSED GstPlaySignalAdapter * signals, Player * player)
{
  play_next (player);
}

static void
on_error (G_GNUC_UNUSED GstPlaySignalAdapter * signals, GError * error,
    G_GNUC_UNUSED GstStructure * details, Player * player)
{
  g_printerr ("%s\n", error->message);
  player->failed = TRUE;
  g_main_loop_quit (player->loop);
}

int
main (int argc, char **argv)
{
  Player player = { NULL };
  GstElement *sink;
  GstPlaySignalAdapter *signals;
  GstBus *bus;

  gst_init (&argc, &argv);
  if (argc < 3) {
    g_printerr ("Usage: %s URI-OF-HEAD-UNIT FILM...\n", argv[0]);
    return 2;
  }
  sink = gst_element_factory_make ("sdlvideosink", NULL);
  if (sink == NULL) {
    g_printerr ("There is no sdlvideosink. Is GST_PLUGIN_PATH set?\n");
    return 1;
  }
  g_object_set (sink, "uri", argv[1], NULL);

  /* The sink draws no window, so that there is no handle. */
  player.play = gst_play_new (gst_play_video_overlay_video_renderer_new_with_sink (NULL, sink));
  player.loop = g_main_loop_new (NULL, FALSE);
  player.next = argv + 2;
  /* Signals come from the main loop. The request to pause while the driver looks at another app needs no code: GstPlay
   * follows it. */
  signals = gst_play_signal_adapter_new (player.play);
  g_signal_connect (signals, "end-of-stream", G_CALLBACK (on_end), &player);
  g_signal_connect (signals, "error", G_CALLBACK (on_error), &player);

  play_next (&player);
  g_main_loop_run (player.loop);

  gst_play_stop (player.play);
  g_object_unref (signals);
  /* Messages that are not taken hold a reference to the player, whose end has the app leave the head unit. */
  bus = gst_play_get_message_bus (player.play);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  gst_object_unref (player.play);
  g_main_loop_unref (player.loop);
  return player.failed ? 1 : 0;
}
