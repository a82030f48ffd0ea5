#ifndef CGIO_SHIM_H
#define CGIO_SHIM_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

/* The functions of GIO, GObject and GLib for D-Bus, declared by their stable ABI and looked up when a bus is first
 * needed. GStreamer does not load GIO, whose 2 MB would otherwise be loaded with the plugin even without D-Bus; and
 * GLib's own headers, included in a second module, would hide CGStreamer's declarations. */

typedef struct _CGIOAsyncResult CGIOAsyncResult;
typedef struct _CGIOCancellable CGIOCancellable;
typedef struct _CGIOConnection CGIOConnection;
typedef struct _CGIOContext CGIOContext;
typedef struct _CGIODescriptorList CGIODescriptorList;
typedef struct _CGIOInterfaceInfo CGIOInterfaceInfo;
typedef struct _CGIOInvocation CGIOInvocation;
typedef struct _CGIOMessage CGIOMessage;
typedef struct _CGIOSource CGIOSource;
typedef struct _CGIOVariant CGIOVariant;

/* GError */
typedef struct {
  uint32_t domain;
  int code;
  char *message;
} CGIOError;

typedef void (*CGIOReadyCallback) (void *source, CGIOAsyncResult * result, void *data);
typedef void (*CGIODestroyNotify) (void *data);
typedef int (*CGIOSourceFunction) (void *data);
/* Of the signal "closed". */
typedef void (*CGIOClosedCallback) (void *connection, int vanished, CGIOError * error, void *data);
typedef void (*CGIOSignalCallback) (CGIOConnection * connection, const char *sender, const char *path,
    const char *interface, const char *signal, CGIOVariant * parameters, void *data);

/* GDBusInterfaceVTable */
typedef struct {
  void (*method_call) (CGIOConnection * connection, const char *sender, const char *path, const char *interface,
      const char *method, CGIOVariant * parameters, CGIOInvocation * invocation, void *data);
  void *get_property;
  void *set_property;
  void *padding[8];
} CGIOInterfaceVTable;

/* The beginning of GDBusNodeInfo */
typedef struct {
  int ref_count;
  char *path;
  CGIOInterfaceInfo **interfaces;
} CGIONodeInfo;

static const int CGIO_BUS_TYPE_SYSTEM = 1;
/* G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT, G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION */
static const int CGIO_CLIENT_OF_A_BUS = (1 << 0) | (1 << 3);
/* G_DBUS_CALL_FLAGS_NO_AUTO_START */
static const int CGIO_NO_AUTO_START = 1 << 0;
static const int CGIO_SIGNAL_MATCH_DATA = 1 << 4;

#define CGIO_FUNCTIONS(FUNCTION) \
  FUNCTION (void, g_cancellable_cancel, (CGIOCancellable *)) \
  FUNCTION (int, g_cancellable_is_cancelled, (CGIOCancellable *)) \
  FUNCTION (CGIOCancellable *, g_cancellable_new, (void)) \
  FUNCTION (char *, g_dbus_address_get_for_bus_sync, (int, CGIOCancellable *, CGIOError **)) \
  FUNCTION (void, g_dbus_connection_call, (CGIOConnection *, const char *, const char *, const char *, const char *, CGIOVariant *, const void *, int, int, CGIOCancellable *, CGIOReadyCallback, void *)) \
  FUNCTION (CGIOVariant *, g_dbus_connection_call_finish, (CGIOConnection *, CGIOAsyncResult *, CGIOError **)) \
  FUNCTION (void, g_dbus_connection_close, (CGIOConnection *, CGIOCancellable *, CGIOReadyCallback, void *)) \
  FUNCTION (int, g_dbus_connection_close_finish, (CGIOConnection *, CGIOAsyncResult *, CGIOError **)) \
  FUNCTION (int, g_dbus_connection_is_closed, (CGIOConnection *)) \
  FUNCTION (void, g_dbus_connection_new_for_address, (const char *, int, void *, CGIOCancellable *, CGIOReadyCallback, void *)) \
  FUNCTION (CGIOConnection *, g_dbus_connection_new_for_address_finish, (CGIOAsyncResult *, CGIOError **)) \
  FUNCTION (unsigned, g_dbus_connection_register_object, (CGIOConnection *, const char *, CGIOInterfaceInfo *, const CGIOInterfaceVTable *, void *, CGIODestroyNotify, CGIOError **)) \
  FUNCTION (unsigned, g_dbus_connection_signal_subscribe, (CGIOConnection *, const char *, const char *, const char *, const char *, const char *, int, CGIOSignalCallback, void *, CGIODestroyNotify)) \
  FUNCTION (char *, g_dbus_error_get_remote_error, (const CGIOError *)) \
  FUNCTION (int, g_dbus_error_strip_remote_error, (CGIOError *)) \
  FUNCTION (int, g_dbus_is_name, (const char *)) \
  FUNCTION (CGIODescriptorList *, g_dbus_message_get_unix_fd_list, (CGIOMessage *)) \
  FUNCTION (CGIOMessage *, g_dbus_method_invocation_get_message, (CGIOInvocation *)) \
  FUNCTION (const char *, g_dbus_method_invocation_get_method_name, (CGIOInvocation *)) \
  FUNCTION (CGIOVariant *, g_dbus_method_invocation_get_parameters, (CGIOInvocation *)) \
  FUNCTION (const char *, g_dbus_method_invocation_get_sender, (CGIOInvocation *)) \
  FUNCTION (void, g_dbus_method_invocation_return_dbus_error, (CGIOInvocation *, const char *, const char *)) \
  FUNCTION (void, g_dbus_method_invocation_return_value, (CGIOInvocation *, CGIOVariant *)) \
  FUNCTION (CGIONodeInfo *, g_dbus_node_info_new_for_xml, (const char *, CGIOError **)) \
  FUNCTION (void, g_dbus_node_info_unref, (CGIONodeInfo *)) \
  FUNCTION (void, g_error_free, (CGIOError *)) \
  FUNCTION (void, g_free, (void *)) \
  FUNCTION (int, g_main_context_iteration, (CGIOContext *, int)) \
  FUNCTION (CGIOContext *, g_main_context_new, (void)) \
  FUNCTION (void, g_main_context_pop_thread_default, (CGIOContext *)) \
  FUNCTION (void, g_main_context_push_thread_default, (CGIOContext *)) \
  FUNCTION (void, g_main_context_unref, (CGIOContext *)) \
  FUNCTION (void, g_main_context_wakeup, (CGIOContext *)) \
  FUNCTION (void, g_object_unref, (void *)) \
  FUNCTION (unsigned long, g_signal_connect_data, (void *, const char *, CGIOClosedCallback, void *, void *, int)) \
  FUNCTION (unsigned, g_signal_handlers_disconnect_matched, (void *, int, unsigned, unsigned, void *, void *, void *)) \
  FUNCTION (unsigned, g_source_attach, (CGIOSource *, CGIOContext *)) \
  FUNCTION (void, g_source_destroy, (CGIOSource *)) \
  FUNCTION (void, g_source_set_callback, (CGIOSource *, CGIOSourceFunction, void *, CGIODestroyNotify)) \
  FUNCTION (void, g_source_unref, (CGIOSource *)) \
  FUNCTION (CGIOSource *, g_timeout_source_new, (unsigned)) \
  FUNCTION (int, g_unix_fd_list_get, (CGIODescriptorList *, int, CGIOError **)) \
  FUNCTION (int, g_unix_fd_list_get_length, (CGIODescriptorList *)) \
  FUNCTION (int, g_variant_get_boolean, (CGIOVariant *)) \
  FUNCTION (CGIOVariant *, g_variant_get_child_value, (CGIOVariant *, size_t)) \
  FUNCTION (int, g_variant_get_handle, (CGIOVariant *)) \
  FUNCTION (int32_t, g_variant_get_int32, (CGIOVariant *)) \
  FUNCTION (const char *, g_variant_get_string, (CGIOVariant *, size_t *)) \
  FUNCTION (const char *, g_variant_get_type_string, (CGIOVariant *)) \
  FUNCTION (uint16_t, g_variant_get_uint16, (CGIOVariant *)) \
  FUNCTION (uint32_t, g_variant_get_uint32, (CGIOVariant *)) \
  FUNCTION (CGIOVariant *, g_variant_get_variant, (CGIOVariant *)) \
  FUNCTION (size_t, g_variant_n_children, (CGIOVariant *)) \
  FUNCTION (int, g_variant_is_object_path, (const char *)) \
  FUNCTION (CGIOVariant *, g_variant_parse, (const void *, const char *, const char *, const char **, CGIOError **)) \
  FUNCTION (CGIOVariant *, g_variant_ref, (CGIOVariant *)) \
  FUNCTION (void, g_variant_unref, (CGIOVariant *))

#define CGIO_MEMBER(result, name, arguments) result (*_Nonnull name) arguments;
typedef struct {
  CGIO_FUNCTIONS (CGIO_MEMBER)
} CGIOFunctions;
#undef CGIO_MEMBER

#define CGIO_LIBRARY "libgio-2.0.so.0"

/* Fills `functions`, including those of GLib and GObject, which GIO is linked to; false when the library is missing, or
 * lacks one of them. It stays loaded. */
static inline _Bool
cgio_load (CGIOFunctions *_Nonnull functions)
{
  void *library = dlopen (CGIO_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  _Bool is_complete = library != NULL;

#define CGIO_LOOK_UP(result, name, arguments) \
  { \
    void *function = library ? dlsym (library, #name) : NULL; \
    is_complete = is_complete && function; \
    *(void **) &functions->name = function; \
  }
  CGIO_FUNCTIONS (CGIO_LOOK_UP)
#undef CGIO_LOOK_UP
  return is_complete;
}

/* Its name, for messages. */
static inline const char *_Nonnull
cgio_library (void)
{
  return CGIO_LIBRARY;
}

#endif
