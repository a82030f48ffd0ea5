#ifndef CXCB_SHIM_H
#define CXCB_SHIM_H

#include <dlfcn.h>
#include <stdint.h>
#include <xcb/damage.h>
#include <xcb/randr.h>
#include <xcb/shm.h>
#include <xcb/xcb.h>
#include <xcb/xfixes.h>
#include <xcb/xtest.h>

/* The functions of XCB, with the types of its own headers, looked up when the first display is opened: GStreamer loads
 * the plugin on machines without X, too. */

#define CXCB_LIBRARIES(LIBRARY) \
  LIBRARY ("libxcb.so.1") \
  LIBRARY ("libxcb-damage.so.0") \
  LIBRARY ("libxcb-randr.so.0") \
  LIBRARY ("libxcb-shm.so.0") \
  LIBRARY ("libxcb-xfixes.so.0") \
  LIBRARY ("libxcb-xtest.so.0")

#define CXCB_FUNCTIONS(FUNCTION) \
  FUNCTION (xcb_change_property) \
  FUNCTION (xcb_change_window_attributes) \
  FUNCTION (xcb_change_window_attributes_checked) \
  FUNCTION (xcb_configure_window) \
  FUNCTION (xcb_connect_to_display_with_auth_info) \
  FUNCTION (xcb_connection_has_error) \
  FUNCTION (xcb_create_window) \
  FUNCTION (xcb_damage_create) \
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
  FUNCTION (xcb_test_fake_input) \
  FUNCTION (xcb_test_grab_control) \
  FUNCTION (xcb_ungrab_server) \
  FUNCTION (xcb_xfixes_get_cursor_image) \
  FUNCTION (xcb_xfixes_get_cursor_image_cursor_image) \
  FUNCTION (xcb_xfixes_get_cursor_image_cursor_image_length) \
  FUNCTION (xcb_xfixes_get_cursor_image_reply) \
  FUNCTION (xcb_xfixes_query_version) \
  FUNCTION (xcb_xfixes_query_version_reply) \
  FUNCTION (xcb_xfixes_select_cursor_input)

/* Each is a member that does not become NULL: cxcb_load fills all or fails. */
#define CXCB_MEMBER(name) __typeof__ (name) *_Nonnull name;
typedef struct {
  CXCB_FUNCTIONS (CXCB_MEMBER)
  xcb_extension_t *_Nonnull damage;
  xcb_extension_t *_Nonnull randr;
  xcb_extension_t *_Nonnull shm;
  xcb_extension_t *_Nonnull test;
  xcb_extension_t *_Nonnull xfixes;
} CXCBFunctions;
#undef CXCB_MEMBER

/* Looks a name up in all libraries, since a later version may have moved it. */
static inline void *_Nullable
cxcb_symbol (const char *_Nonnull name)
{
  void *symbol = NULL;
#define CXCB_LOOK_UP(file) \
  if (!symbol) { \
    void *library = dlopen (file, RTLD_NOW | RTLD_LOCAL); \
    symbol = library ? dlsym (library, name) : NULL; \
  }
  CXCB_LIBRARIES (CXCB_LOOK_UP)
#undef CXCB_LOOK_UP
  return symbol;
}

/* Fills `functions`; returns NULL, or the first name that is missing. The libraries stay loaded. */
static inline const char *_Nullable
cxcb_load (CXCBFunctions *_Nonnull functions)
{
#define CXCB_FILL(member, name) \
  *(void **) &functions->member = cxcb_symbol (name); \
  if (!functions->member) \
    return name;
#define CXCB_FILL_FUNCTION(name) CXCB_FILL (name, #name)
  CXCB_FUNCTIONS (CXCB_FILL_FUNCTION)
  CXCB_FILL (damage, "xcb_damage_id")
  CXCB_FILL (randr, "xcb_randr_id")
  CXCB_FILL (shm, "xcb_shm_id")
  CXCB_FILL (test, "xcb_test_id")
  CXCB_FILL (xfixes, "xcb_xfixes_id")
#undef CXCB_FILL_FUNCTION
#undef CXCB_FILL
  return NULL;
}

/* xkb_keysym_from_name of libxkbcommon; 0 for a name that it does not know, and without it. */
static inline uint32_t
cxcb_keysym (const char *_Nonnull name)
{
  static uint32_t (*find) (const char *, int);
  if (!find) {
    void *library = dlopen ("libxkbcommon.so.0", RTLD_NOW | RTLD_LOCAL);
    *(void **) &find = library ? dlsym (library, "xkb_keysym_from_name") : NULL;
  }
  return find ? find (name, 0) : 0;
}

#endif
