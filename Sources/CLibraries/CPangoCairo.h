#ifndef CPANGOCAIRO_H
#define CPANGOCAIRO_H

#include "CGIO.h"

/* Pango and Cairo, without their headers; with a function of GObject, to which they are linked. */

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

#define CPANGOCAIRO_PROTOTYPES(FUNCTION) \
  FUNCTION (cairo_create, cairo_t *, (cairo_surface_t *)) \
  FUNCTION (cairo_destroy, void, (cairo_t *)) \
  FUNCTION (cairo_font_options_create, cairo_font_options_t *, (void)) \
  FUNCTION (cairo_font_options_destroy, void, (cairo_font_options_t *)) \
  FUNCTION (cairo_font_options_set_antialias, void, (cairo_font_options_t *, int)) \
  FUNCTION (cairo_font_options_set_hint_metrics, void, (cairo_font_options_t *, int)) \
  FUNCTION (cairo_font_options_set_hint_style, void, (cairo_font_options_t *, int)) \
  FUNCTION (cairo_image_surface_create_for_data, cairo_surface_t *, (unsigned char *, int, int, int, int)) \
  FUNCTION (cairo_move_to, void, (cairo_t *, double, double)) \
  FUNCTION (cairo_status, int, (cairo_t *)) \
  FUNCTION (cairo_surface_destroy, void, (cairo_surface_t *)) \
  FUNCTION (cairo_surface_finish, void, (cairo_surface_t *)) \
  FUNCTION (cairo_surface_status, int, (cairo_surface_t *)) \
  FUNCTION (pango_cairo_context_set_font_options, void, (PangoContext *, const cairo_font_options_t *)) \
  FUNCTION (pango_cairo_font_map_new, PangoFontMap *, (void)) \
  FUNCTION (pango_cairo_show_layout, void, (cairo_t *, PangoLayout *)) \
  FUNCTION (pango_context_load_font, PangoFont *, (PangoContext *, const PangoFontDescription *)) \
  FUNCTION (pango_context_set_round_glyph_positions, void, (PangoContext *, int)) \
  FUNCTION (pango_font_description_free, void, (PangoFontDescription *)) \
  FUNCTION (pango_font_description_from_string, PangoFontDescription *, (const char *)) \
  FUNCTION (pango_font_description_set_absolute_size, void, (PangoFontDescription *, double)) \
  FUNCTION (pango_font_map_create_context, PangoContext *, (PangoFontMap *)) \
  FUNCTION (pango_layout_get_extents, void, (PangoLayout *, PangoRectangle *, PangoRectangle *)) \
  FUNCTION (pango_layout_new, PangoLayout *, (PangoContext *)) \
  FUNCTION (pango_layout_set_font_description, void, (PangoLayout *, const PangoFontDescription *)) \
  FUNCTION (pango_layout_set_text, void, (PangoLayout *, const char *, int)) \
  FUNCTION (pango_layout_set_width, void, (PangoLayout *, int)) \
  FUNCTION (pango_layout_set_wrap, void, (PangoLayout *, int))

CPANGOCAIRO_PROTOTYPES (LIBRARY_PROTOTYPE)

#define CPANGOCAIRO_FUNCTIONS(FUNCTION) \
  CPANGOCAIRO_PROTOTYPES (FUNCTION) \
  FUNCTION (g_object_unref)

LIBRARY_TABLE (CPangoCairoFunctions, cpangocairo_load, CPANGOCAIRO_FUNCTIONS, "libpangocairo-1.0.so.0")

#endif
