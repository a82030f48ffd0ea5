#ifndef CGIO_SHIM_H
#define CGIO_SHIM_H

#include <dlfcn.h>
#include <gio/gio.h>

/* What is used of GIO, GObject and GLib for Bluetooth, with the types of their own headers, and looked up when a car is first
 * waited for: GStreamer does not load GIO, whose 2 MB would otherwise come with the plugin also where no Bluetooth is used. */

/* Of gio-unix-2.0, whose linker flags would link GIO. */
gint g_unix_fd_list_get (GUnixFDList * list, gint index, GError ** error);

#define CGIO_FUNCTIONS(FUNCTION) \
  FUNCTION (g_cancellable_cancel) \
  FUNCTION (g_cancellable_new) \
  FUNCTION (g_dbus_address_get_for_bus_sync) \
  FUNCTION (g_dbus_connection_call) \
  FUNCTION (g_dbus_connection_call_finish) \
  FUNCTION (g_dbus_connection_close) \
  FUNCTION (g_dbus_connection_close_finish) \
  FUNCTION (g_dbus_connection_new_for_address) \
  FUNCTION (g_dbus_connection_new_for_address_finish) \
  FUNCTION (g_dbus_connection_register_object) \
  FUNCTION (g_dbus_connection_signal_subscribe) \
  FUNCTION (g_dbus_error_get_remote_error) \
  FUNCTION (g_dbus_error_strip_remote_error) \
  FUNCTION (g_dbus_message_get_unix_fd_list) \
  FUNCTION (g_dbus_method_invocation_get_message) \
  FUNCTION (g_dbus_method_invocation_get_method_name) \
  FUNCTION (g_dbus_method_invocation_get_parameters) \
  FUNCTION (g_dbus_method_invocation_get_sender) \
  FUNCTION (g_dbus_method_invocation_return_dbus_error) \
  FUNCTION (g_dbus_method_invocation_return_value) \
  FUNCTION (g_dbus_node_info_new_for_xml) \
  FUNCTION (g_dbus_node_info_unref) \
  FUNCTION (g_error_free) \
  FUNCTION (g_free) \
  FUNCTION (g_main_context_iteration) \
  FUNCTION (g_main_context_new) \
  FUNCTION (g_main_context_pop_thread_default) \
  FUNCTION (g_main_context_push_thread_default) \
  FUNCTION (g_main_context_unref) \
  FUNCTION (g_main_context_wakeup) \
  FUNCTION (g_object_unref) \
  FUNCTION (g_signal_connect_data) \
  FUNCTION (g_signal_handlers_disconnect_matched) \
  FUNCTION (g_source_attach) \
  FUNCTION (g_source_destroy) \
  FUNCTION (g_source_set_callback) \
  FUNCTION (g_source_unref) \
  FUNCTION (g_timeout_source_new) \
  FUNCTION (g_unix_fd_list_get) \
  FUNCTION (g_variant_get_boolean) \
  FUNCTION (g_variant_get_child_value) \
  FUNCTION (g_variant_get_handle) \
  FUNCTION (g_variant_get_string) \
  FUNCTION (g_variant_get_type_string) \
  FUNCTION (g_variant_get_variant) \
  FUNCTION (g_variant_n_children) \
  FUNCTION (g_variant_parse) \
  FUNCTION (g_variant_ref) \
  FUNCTION (g_variant_unref)

#define CGIO_MEMBER(name) __typeof__ (name) *_Nonnull name;
typedef struct {
  CGIO_FUNCTIONS (CGIO_MEMBER)
} CGIOFunctions;
#undef CGIO_MEMBER

#define CGIO_LIBRARY "libgio-2.0.so.0"

/* Fills `functions`, those of GLib and GObject as well, which GIO is linked to; false when the library is not there, or lacks one
 * of them. It stays loaded. */
static inline _Bool
cgio_load (CGIOFunctions *_Nonnull functions)
{
  void *library = dlopen (CGIO_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  _Bool is_complete = library != NULL;

#define CGIO_LOOK_UP(name) \
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
