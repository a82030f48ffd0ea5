#ifndef CSOUP_SHIM_H
#define CSOUP_SHIM_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The functions of libsoup 3, GIO, GObject and GLib for fetching policies, declared by their stable ABI and looked up
 * for the first policy, as in GStreamer's souphttpsrc. */

typedef struct _CSoupBytes CSoupBytes;
typedef struct _CSoupCancellable CSoupCancellable;
typedef struct _CSoupMessage CSoupMessage;
typedef struct _CSoupSession CSoupSession;
/* GSocketAddress, GSocketConnection, GSocket */
typedef struct _CSoupAddress CSoupAddress;
typedef struct _CSoupConnection CSoupConnection;
typedef struct _CSoupSocket CSoupSocket;
typedef struct _CSoupStream CSoupStream;

/* GError */
typedef struct {
  uint32_t domain;
  int code;
  char *message;
} CSoupError;

/* The handler of SoupMessage::network-event; `event` is a GSocketClientEvent, and until the TLS handshake `connection`
 * is a GSocketConnection. */
typedef void (*CSoupNetworkEvent) (CSoupMessage *, int event, void *connection, void *data);
/* GClosureNotify */
typedef void (*CSoupDestroy) (void *data, void *closure);
/* GSocketClientEvent */
static const int CSOUP_CONNECTING = 2;
static const int CSOUP_CONNECTED = 3;

/* SOUP_MESSAGE_NO_REDIRECT */
static const unsigned CSOUP_NO_REDIRECT = 1 << 1;

#define CSOUP_FUNCTIONS(FUNCTION) \
  FUNCTION (CSoupBytes *, g_bytes_new, (const void *, size_t)) \
  FUNCTION (void, g_bytes_unref, (CSoupBytes *)) \
  FUNCTION (void, g_cancellable_cancel, (CSoupCancellable *)) \
  FUNCTION (CSoupCancellable *, g_cancellable_new, (void)) \
  FUNCTION (void, g_error_free, (CSoupError *)) \
  FUNCTION (ssize_t, g_input_stream_read, (CSoupStream *, void *, size_t, CSoupCancellable *, CSoupError **)) \
  FUNCTION (void *, g_object_ref, (void *)) \
  FUNCTION (void, g_object_unref, (void *)) \
  FUNCTION (unsigned long, g_signal_connect_data, \
            (void *, const char *, CSoupNetworkEvent, void *, CSoupDestroy, unsigned)) \
  FUNCTION (ssize_t, g_socket_address_get_native_size, (CSoupAddress *)) \
  FUNCTION (int, g_socket_address_to_native, (CSoupAddress *, void *, size_t, CSoupError **)) \
  FUNCTION (int, g_socket_close, (CSoupSocket *, CSoupError **)) \
  FUNCTION (CSoupAddress *, g_socket_connection_get_local_address, (CSoupConnection *, CSoupError **)) \
  FUNCTION (CSoupAddress *, g_socket_connection_get_remote_address, (CSoupConnection *, CSoupError **)) \
  FUNCTION (CSoupSocket *, g_socket_connection_get_socket, (CSoupConnection *)) \
  FUNCTION (unsigned, soup_message_get_status, (CSoupMessage *)) \
  FUNCTION (CSoupMessage *, soup_message_new, (const char *, const char *)) \
  FUNCTION (void, soup_message_set_flags, (CSoupMessage *, unsigned)) \
  FUNCTION (void, soup_message_set_request_body_from_bytes, (CSoupMessage *, const char *, CSoupBytes *)) \
  FUNCTION (CSoupSession *, soup_session_new, (void)) \
  FUNCTION (CSoupStream *, soup_session_send, (CSoupSession *, CSoupMessage *, CSoupCancellable *, CSoupError **)) \
  FUNCTION (void, soup_session_set_proxy_resolver, (CSoupSession *, void *)) \
  FUNCTION (void, soup_session_set_timeout, (CSoupSession *, unsigned))

#define CSOUP_MEMBER(result, name, arguments) result (*_Nonnull name) arguments;
typedef struct {
  CSOUP_FUNCTIONS (CSOUP_MEMBER)
} CSoupFunctions;
#undef CSOUP_MEMBER

#define CSOUP_LIBRARY "libsoup-3.0.so.0"
#define CSOUP_GMODULE_LIBRARY "libgmodule-2.0.so.0"

typedef void *(*CSoupModuleOpen) (const char *, unsigned);

/* G_MODULE_BIND_LOCAL */
static const unsigned CSOUP_BIND_LOCAL = 1 << 1;

/* Fills `functions`; false when the library is missing, or lacks one of them, or when the process has loaded libsoup 2,
 * in which case libsoup 3 would abort it. It stays loaded.
 *
 * GModule opens it: libsoup's constructor takes GModule's lock, which a thread that loads a GStreamer plugin holds when
 * it waits for the dynamic linker's. */
static inline _Bool
csoup_load (CSoupFunctions *_Nonnull functions)
{
  void *gmodule = dlopen (CSOUP_GMODULE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  CSoupModuleOpen module_open = gmodule ? (CSoupModuleOpen) dlsym (gmodule, "g_module_open") : NULL;
  void *library = NULL;
  _Bool is_complete;

  if (!dlopen ("libsoup-2.4.so.1", RTLD_NOW | RTLD_NOLOAD) && module_open
      && module_open (CSOUP_LIBRARY, CSOUP_BIND_LOCAL))
    library = dlopen (CSOUP_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
  is_complete = library != NULL;

#define CSOUP_LOOK_UP(result, name, arguments) \
  { \
    void *function = library ? dlsym (library, #name) : NULL; \
    is_complete = is_complete && function; \
    *(void **) &functions->name = function; \
  }
  CSOUP_FUNCTIONS (CSOUP_LOOK_UP)
#undef CSOUP_LOOK_UP
  return is_complete;
}

#endif
