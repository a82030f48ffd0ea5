#ifndef CGIO_H
#define CGIO_H

#include <gio/gio.h>
#include <gmodule.h>
#include "CLibraries.h"

/* Swift imports GLib's flags under names that depend on GLib's version. */
static inline GSignalMatchType cgio_signal_match_data (void) { return G_SIGNAL_MATCH_DATA; }
static inline GDBusCallFlags cgio_call_flags_none (void) { return G_DBUS_CALL_FLAGS_NONE; }
static inline GDBusCallFlags cgio_call_flags_no_auto_start (void) { return G_DBUS_CALL_FLAGS_NO_AUTO_START; }
static inline GDBusSignalFlags cgio_signal_flags_none (void) { return G_DBUS_SIGNAL_FLAGS_NONE; }

/* GIO for D-Bus, with the functions of GObject and GLib, to which it is linked. GStreamer does not load GIO.
 *
 * For Swift, GLib's declarations must come from one module only, this one; otherwise it loses sight of some of them. */

#define CGIO_FUNCTIONS(FUNCTION) \
  FUNCTION (g_cancellable_cancel) \
  FUNCTION (g_cancellable_is_cancelled) \
  FUNCTION (g_cancellable_new) \
  FUNCTION (g_dbus_address_get_for_bus_sync) \
  FUNCTION (g_dbus_connection_call) \
  FUNCTION (g_dbus_connection_call_finish) \
  FUNCTION (g_dbus_connection_close) \
  FUNCTION (g_dbus_connection_close_finish) \
  FUNCTION (g_dbus_connection_is_closed) \
  FUNCTION (g_dbus_connection_new_for_address) \
  FUNCTION (g_dbus_connection_new_for_address_finish) \
  FUNCTION (g_dbus_connection_register_object) \
  FUNCTION (g_dbus_connection_signal_subscribe) \
  FUNCTION (g_dbus_error_get_remote_error) \
  FUNCTION (g_dbus_error_strip_remote_error) \
  FUNCTION (g_dbus_is_name) \
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
  FUNCTION (g_unix_fd_list_get_length) \
  FUNCTION (g_variant_get_boolean) \
  FUNCTION (g_variant_get_child_value) \
  FUNCTION (g_variant_get_handle) \
  FUNCTION (g_variant_get_int32) \
  FUNCTION (g_variant_get_string) \
  FUNCTION (g_variant_get_type_string) \
  FUNCTION (g_variant_get_uint16) \
  FUNCTION (g_variant_get_uint32) \
  FUNCTION (g_variant_get_variant) \
  FUNCTION (g_variant_n_children) \
  FUNCTION (g_variant_is_object_path) \
  FUNCTION (g_variant_parse) \
  FUNCTION (g_variant_ref) \
  FUNCTION (g_variant_unref)

#define CGIO_LIBRARY "libgio-2.0.so.0"
LIBRARY_TABLE (CGIOFunctions, cgio_load, CGIO_FUNCTIONS, CGIO_LIBRARY)

static const GDBusConnectionFlags CGIO_CLIENT_OF_A_BUS =
    G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION;

#endif
