#ifndef CSOUP_H
#define CSOUP_H

#include "CGIO.h"

/* libsoup 3, without its headers; with functions of GIO, GObject and GLib, to which it is linked. */

typedef struct _SoupMessage SoupMessage;
typedef struct _SoupSession SoupSession;

/* SOUP_MESSAGE_NO_REDIRECT */
static const unsigned CSOUP_NO_REDIRECT = 1 << 1;

#define CSOUP_PROTOTYPES(FUNCTION) \
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
  FUNCTION (g_bytes_new) \
  FUNCTION (g_bytes_unref) \
  FUNCTION (g_cancellable_cancel) \
  FUNCTION (g_cancellable_new) \
  FUNCTION (g_error_free) \
  FUNCTION (g_input_stream_read) \
  FUNCTION (g_object_ref) \
  FUNCTION (g_object_unref) \
  FUNCTION (g_signal_connect_data) \
  FUNCTION (g_socket_address_get_native_size) \
  FUNCTION (g_socket_address_to_native) \
  FUNCTION (g_socket_close) \
  FUNCTION (g_socket_connection_get_local_address) \
  FUNCTION (g_socket_connection_get_remote_address) \
  FUNCTION (g_socket_connection_get_socket)

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
