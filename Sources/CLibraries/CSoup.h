#ifndef CSOUP_H
#define CSOUP_H

#include "CGIO.h"

/* libsoup 3, without its headers; with functions of GIO, GObject and GLib, to which it is linked. */

typedef struct _SoupMessage SoupMessage;
typedef struct _SoupMessageBody SoupMessageBody;
typedef struct _SoupMessageHeaders SoupMessageHeaders;
typedef struct _SoupServer SoupServer;
typedef struct _SoupServerMessage SoupServerMessage;
typedef struct _SoupSession SoupSession;
typedef void (*SoupServerCallback) (SoupServer *, SoupServerMessage *, const char *, GHashTable *, gpointer);

/* SOUP_MESSAGE_NO_REDIRECT */
static const unsigned CSOUP_NO_REDIRECT = 1 << 1;
/* SOUP_MEMORY_COPY */
static const unsigned CSOUP_COPY = 2;
/* SOUP_ENCODING_CONTENT_LENGTH, SOUP_ENCODING_CHUNKED, of SoupEncoding */
static const unsigned CSOUP_CONTENT_LENGTH = 2;
static const unsigned CSOUP_CHUNKED = 4;

#define CSOUP_PROTOTYPES(FUNCTION) \
  FUNCTION (soup_message_body_append_bytes, void, (SoupMessageBody *, GBytes *)) \
  FUNCTION (soup_message_body_complete, void, (SoupMessageBody *)) \
  FUNCTION (soup_message_body_flatten, GBytes *, (SoupMessageBody *)) \
  FUNCTION (soup_message_body_set_accumulate, void, (SoupMessageBody *, gboolean)) \
  FUNCTION (soup_message_headers_get_content_length, gint64, (SoupMessageHeaders *)) \
  FUNCTION (soup_message_headers_get_encoding, unsigned, (SoupMessageHeaders *)) \
  FUNCTION (soup_message_headers_get_one, const char *, (SoupMessageHeaders *, const char *)) \
  FUNCTION (soup_message_headers_replace, void, (SoupMessageHeaders *, const char *, const char *)) \
  FUNCTION (soup_message_headers_set_encoding, void, (SoupMessageHeaders *, unsigned)) \
  FUNCTION (soup_server_accept_iostream, gboolean, (SoupServer *, void *, GSocketAddress *, GSocketAddress *, GError **)) \
  FUNCTION (soup_server_add_early_handler, void, (SoupServer *, const char *, SoupServerCallback, gpointer, GDestroyNotify)) \
  FUNCTION (soup_server_add_handler, void, (SoupServer *, const char *, SoupServerCallback, gpointer, GDestroyNotify)) \
  FUNCTION (soup_server_disconnect, void, (SoupServer *)) \
  FUNCTION (soup_server_get_type, GType, (void)) \
  FUNCTION (soup_server_message_get_method, const char *, (SoupServerMessage *)) \
  FUNCTION (soup_server_message_get_remote_address, GSocketAddress *, (SoupServerMessage *)) \
  FUNCTION (soup_server_message_get_request_body, SoupMessageBody *, (SoupServerMessage *)) \
  FUNCTION (soup_server_message_get_request_headers, SoupMessageHeaders *, (SoupServerMessage *)) \
  FUNCTION (soup_server_message_get_response_body, SoupMessageBody *, (SoupServerMessage *)) \
  FUNCTION (soup_server_message_get_response_headers, SoupMessageHeaders *, (SoupServerMessage *)) \
  FUNCTION (soup_server_message_get_uri, GUri *, (SoupServerMessage *)) \
  FUNCTION (soup_server_message_set_response, void, (SoupServerMessage *, const char *, unsigned, const char *, gsize)) \
  FUNCTION (soup_server_message_set_status, void, (SoupServerMessage *, unsigned, const char *)) \
  FUNCTION (soup_server_pause_message, void, (SoupServer *, SoupServerMessage *)) \
  FUNCTION (soup_server_unpause_message, void, (SoupServer *, SoupServerMessage *)) \
  FUNCTION (soup_message_get_status, unsigned, (SoupMessage *)) \
  FUNCTION (soup_message_new, SoupMessage *, (const char *, const char *)) \
  FUNCTION (soup_message_set_flags, void, (SoupMessage *, unsigned)) \
  FUNCTION (soup_message_set_request_body_from_bytes, void, (SoupMessage *, const char *, GBytes *)) \
  FUNCTION (soup_session_new, SoupSession *, (void)) \
  FUNCTION (soup_session_send, GInputStream *, (SoupSession *, SoupMessage *, GCancellable *, GError **)) \
  FUNCTION (soup_session_set_proxy_resolver, void, (SoupSession *, void *)) \
  FUNCTION (soup_session_set_timeout, void, (SoupSession *, unsigned))

CSOUP_PROTOTYPES (LIBRARY_PROTOTYPE)

#define CSOUP_FUNCTIONS(FUNCTION) \
  CSOUP_PROTOTYPES (FUNCTION) \
  FUNCTION (g_bytes_get_data) \
  FUNCTION (g_bytes_new) \
  FUNCTION (g_bytes_unref) \
  FUNCTION (g_cancellable_cancel) \
  FUNCTION (g_cancellable_new) \
  FUNCTION (g_error_free) \
  FUNCTION (g_idle_source_new) \
  FUNCTION (g_input_stream_read) \
  FUNCTION (g_main_context_new) \
  FUNCTION (g_main_context_push_thread_default) \
  FUNCTION (g_main_context_pop_thread_default) \
  FUNCTION (g_main_context_unref) \
  FUNCTION (g_main_loop_new) \
  FUNCTION (g_main_loop_quit) \
  FUNCTION (g_main_loop_run) \
  FUNCTION (g_main_loop_unref) \
  FUNCTION (g_object_new_with_properties) \
  FUNCTION (g_object_ref) \
  FUNCTION (g_object_unref) \
  FUNCTION (g_object_weak_ref) \
  FUNCTION (g_signal_connect_data) \
  FUNCTION (g_socket_accept) \
  FUNCTION (g_socket_address_get_native_size) \
  FUNCTION (g_socket_address_to_native) \
  FUNCTION (g_socket_close) \
  FUNCTION (g_socket_connection_factory_create_connection) \
  FUNCTION (g_socket_connection_get_local_address) \
  FUNCTION (g_socket_connection_get_remote_address) \
  FUNCTION (g_socket_connection_get_socket) \
  FUNCTION (g_socket_create_source) \
  FUNCTION (g_socket_get_local_address) \
  FUNCTION (g_socket_get_remote_address) \
  FUNCTION (g_socket_new_from_fd) \
  FUNCTION (g_socket_set_blocking) \
  FUNCTION (g_socket_set_timeout) \
  FUNCTION (g_socket_shutdown) \
  FUNCTION (g_source_attach) \
  FUNCTION (g_source_destroy) \
  FUNCTION (g_source_set_callback) \
  FUNCTION (g_source_set_priority) \
  FUNCTION (g_source_unref) \
  FUNCTION (g_timeout_source_new) \
  FUNCTION (g_uri_get_path) \
  FUNCTION (g_uri_get_query) \
  FUNCTION (g_uri_unref)

#define CSOUP_LIBRARY "libsoup-3.0.so.0"
LIBRARY_TABLE (CSoupFunctions, csoup_look_up, CSOUP_FUNCTIONS, CSOUP_LIBRARY)

/* NULL also when the process has loaded libsoup 2, in which case libsoup 3 would abort it.
 *
 * GModule opens it: libsoup's constructor takes GModule's lock, which a thread that loads a GStreamer plugin holds when
 * it waits for the dynamic linker's. */
static inline const CSoupFunctions *_Nullable
csoup_load (void)
{
  void *gmodule = dlopen ("libgmodule-2.0.so.0", RTLD_NOW | RTLD_LOCAL);
  __typeof__ (g_module_open) *module_open = gmodule ? dlsym (gmodule, "g_module_open") : NULL;

  if (dlopen ("libsoup-2.4.so.1", RTLD_NOW | RTLD_NOLOAD) || !module_open
      || !module_open (CSOUP_LIBRARY, G_MODULE_BIND_LOCAL))
    return NULL;
  return csoup_look_up (NULL);
}

#endif
