#ifndef CPANGOCAIRO_SHIM_H
#define CPANGOCAIRO_SHIM_H

#include <dlfcn.h>
#include <stddef.h>

/* The functions of Pango, Cairo and GObject, declared by their stable ABI and looked up when the first notice is drawn:
 * their own headers come with linker flags, and loading the libraries with the plugin would double its load time and
 * memory, even if no notice is ever drawn. */

typedef struct _cairo cairo_t;
typedef struct _cairo_font_options cairo_font_options_t;
typedef struct _cairo_surface cairo_surface_t;
typedef struct _PangoContext PangoContext;
typedef struct _PangoFont PangoFont;
typedef struct _PangoFontDescription PangoFontDescription;
typedef struct _PangoFontMap PangoFontMap;
typedef struct _PangoLayout PangoLayout;

typedef struct {
  int x, y, width, height;
} PangoRectangle;

static const int CAIRO_ANTIALIAS_GRAY = 2;
static const int CAIRO_FORMAT_A8 = 2;
static const int CAIRO_HINT_METRICS_OFF = 1;
static const int CAIRO_HINT_STYLE_NONE = 1;
static const int CAIRO_STATUS_SUCCESS = 0;
static const int PANGO_SCALE = 1024;
static const int PANGO_WRAP_WORD = 0;
static const int PANGO_WRAP_WORD_CHAR = 2;

#define CPANGOCAIRO_FUNCTIONS(FUNCTION) \
  FUNCTION (cairo_t *, cairo_create, (cairo_surface_t *)) \
  FUNCTION (void, cairo_destroy, (cairo_t *)) \
  FUNCTION (cairo_font_options_t *, cairo_font_options_create, (void)) \
  FUNCTION (void, cairo_font_options_destroy, (cairo_font_options_t *)) \
  FUNCTION (void, cairo_font_options_set_antialias, (cairo_font_options_t *, int)) \
  FUNCTION (void, cairo_font_options_set_hint_metrics, (cairo_font_options_t *, int)) \
  FUNCTION (void, cairo_font_options_set_hint_style, (cairo_font_options_t *, int)) \
  FUNCTION (cairo_surface_t *, cairo_image_surface_create_for_data, (unsigned char *, int, int, int, int)) \
  FUNCTION (void, cairo_move_to, (cairo_t *, double, double)) \
  FUNCTION (void, cairo_set_source_rgba, (cairo_t *, double, double, double, double)) \
  FUNCTION (int, cairo_status, (cairo_t *)) \
  FUNCTION (void, cairo_surface_destroy, (cairo_surface_t *)) \
  FUNCTION (void, cairo_surface_finish, (cairo_surface_t *)) \
  FUNCTION (int, cairo_surface_status, (cairo_surface_t *)) \
  FUNCTION (void, g_object_unref, (void *)) \
  FUNCTION (void, pango_cairo_context_set_font_options, (PangoContext *, const cairo_font_options_t *)) \
  FUNCTION (PangoFontMap *, pango_cairo_font_map_new, (void)) \
  FUNCTION (void, pango_cairo_show_layout, (cairo_t *, PangoLayout *)) \
  FUNCTION (PangoFont *, pango_context_load_font, (PangoContext *, const PangoFontDescription *)) \
  FUNCTION (void, pango_context_set_round_glyph_positions, (PangoContext *, int)) \
  FUNCTION (void, pango_font_description_free, (PangoFontDescription *)) \
  FUNCTION (PangoFontDescription *, pango_font_description_from_string, (const char *)) \
  FUNCTION (void, pango_font_description_set_absolute_size, (PangoFontDescription *, double)) \
  FUNCTION (PangoContext *, pango_font_map_create_context, (PangoFontMap *)) \
  FUNCTION (void, pango_layout_get_extents, (PangoLayout *, PangoRectangle *, PangoRectangle *)) \
  FUNCTION (PangoLayout *, pango_layout_new, (PangoContext *)) \
  FUNCTION (void, pango_layout_set_font_description, (PangoLayout *, const PangoFontDescription *)) \
  FUNCTION (void, pango_layout_set_text, (PangoLayout *, const char *, int)) \
  FUNCTION (void, pango_layout_set_width, (PangoLayout *, int)) \
  FUNCTION (void, pango_layout_set_wrap, (PangoLayout *, int))

#define CPANGOCAIRO_MEMBER(type, name, parameters) type (*name) parameters;
typedef struct {
  CPANGOCAIRO_FUNCTIONS (CPANGOCAIRO_MEMBER)
} CPangoCairoFunctions;
#undef CPANGOCAIRO_MEMBER

/* Fills `functions`; false when a library is missing, or lacks one of them. It stays loaded. */
static inline _Bool
cpangocairo_load (CPangoCairoFunctions * functions)
{
  void *library = dlopen ("libpangocairo-1.0.so.0", RTLD_NOW | RTLD_LOCAL);
  _Bool is_complete = library != NULL;

#define CPANGOCAIRO_LOOK_UP(type, name, parameters) \
  functions->name = library ? (type (*) parameters) dlsym (library, #name) : NULL; \
  is_complete = is_complete && functions->name;
  CPANGOCAIRO_FUNCTIONS (CPANGOCAIRO_LOOK_UP)
#undef CPANGOCAIRO_LOOK_UP
  return is_complete;
}

#endif
