#ifndef CXCB_H
#define CXCB_H

#include <stdint.h>
#include <xcb/damage.h>
#include <xcb/randr.h>
#include <xcb/shm.h>
#include <xcb/xcb.h>
#include <xcb/xfixes.h>
#include <xcb/xtest.h>
#include "CLibraries.h"

/* The names of extensions (…_id) are variables. */
#define CXCB_FUNCTIONS(FUNCTION) \
  FUNCTION (xcb_change_property) \
  FUNCTION (xcb_change_window_attributes) \
  FUNCTION (xcb_change_window_attributes_checked) \
  FUNCTION (xcb_configure_window) \
  FUNCTION (xcb_connect_to_display_with_auth_info) \
  FUNCTION (xcb_connection_has_error) \
  FUNCTION (xcb_create_window) \
  FUNCTION (xcb_damage_create) \
  FUNCTION (xcb_damage_id) \
  FUNCTION (xcb_damage_query_version) \
  FUNCTION (xcb_damage_query_version_reply) \
  FUNCTION (xcb_damage_subtract) \
  FUNCTION (xcb_disconnect) \
  FUNCTION (xcb_flush) \
  FUNCTION (xcb_generate_id) \
  FUNCTION (xcb_get_extension_data) \
  FUNCTION (xcb_get_file_descriptor) \
  FUNCTION (xcb_get_geometry) \
  FUNCTION (xcb_get_geometry_reply) \
  FUNCTION (xcb_get_keyboard_mapping) \
  FUNCTION (xcb_get_keyboard_mapping_keysyms) \
  FUNCTION (xcb_get_keyboard_mapping_keysyms_length) \
  FUNCTION (xcb_get_keyboard_mapping_reply) \
  FUNCTION (xcb_get_property) \
  FUNCTION (xcb_get_property_reply) \
  FUNCTION (xcb_get_property_value) \
  FUNCTION (xcb_get_property_value_length) \
  FUNCTION (xcb_get_setup) \
  FUNCTION (xcb_grab_server) \
  FUNCTION (xcb_intern_atom) \
  FUNCTION (xcb_intern_atom_reply) \
  FUNCTION (xcb_map_window) \
  FUNCTION (xcb_poll_for_event) \
  FUNCTION (xcb_randr_add_output_mode) \
  FUNCTION (xcb_randr_create_mode) \
  FUNCTION (xcb_randr_create_mode_reply) \
  FUNCTION (xcb_randr_delete_output_mode) \
  FUNCTION (xcb_randr_destroy_mode) \
  FUNCTION (xcb_randr_get_screen_resources_current) \
  FUNCTION (xcb_randr_get_screen_resources_current_crtcs) \
  FUNCTION (xcb_randr_get_screen_resources_current_outputs) \
  FUNCTION (xcb_randr_get_screen_resources_current_reply) \
  FUNCTION (xcb_randr_id) \
  FUNCTION (xcb_randr_set_crtc_config) \
  FUNCTION (xcb_randr_set_crtc_config_reply) \
  FUNCTION (xcb_randr_set_screen_size_checked) \
  FUNCTION (xcb_request_check) \
  FUNCTION (xcb_send_event) \
  FUNCTION (xcb_set_input_focus) \
  FUNCTION (xcb_setup_roots_iterator) \
  FUNCTION (xcb_shm_attach_checked) \
  FUNCTION (xcb_shm_detach) \
  FUNCTION (xcb_shm_get_image) \
  FUNCTION (xcb_shm_get_image_reply) \
  FUNCTION (xcb_shm_id) \
  FUNCTION (xcb_test_fake_input) \
  FUNCTION (xcb_test_grab_control) \
  FUNCTION (xcb_test_id) \
  FUNCTION (xcb_ungrab_server) \
  FUNCTION (xcb_xfixes_get_cursor_image) \
  FUNCTION (xcb_xfixes_get_cursor_image_cursor_image) \
  FUNCTION (xcb_xfixes_get_cursor_image_cursor_image_length) \
  FUNCTION (xcb_xfixes_get_cursor_image_reply) \
  FUNCTION (xcb_xfixes_id) \
  FUNCTION (xcb_xfixes_query_version) \
  FUNCTION (xcb_xfixes_query_version_reply) \
  FUNCTION (xcb_xfixes_select_cursor_input)

LIBRARY_TABLE (CXCBFunctions, cxcb_load, CXCB_FUNCTIONS, "libxcb.so.1", "libxcb-damage.so.0", "libxcb-randr.so.0",
    "libxcb-shm.so.0", "libxcb-xfixes.so.0", "libxcb-xtest.so.0")

#define CXKB_FUNCTIONS(FUNCTION) FUNCTION (xkb_keysym_from_name, uint32_t, (const char *, int))
CXKB_FUNCTIONS (LIBRARY_PROTOTYPE)
LIBRARY_TABLE (CXKBFunctions, cxkb_load, CXKB_FUNCTIONS, "libxkbcommon.so.0")

#endif
