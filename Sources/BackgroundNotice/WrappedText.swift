import CPangoCairo

/// A text in the system font, wrapped into lines of a given width. Lengths are in pixels.
///
/// It has a font map of its own, because Pango can be used by several threads at once only if they share no font map.
/// Fontconfig and Cairo have locks.
struct WrappedText: ~Copyable {
  /// Where a line may end.
  enum Wrap {
    /// Between words. A word that is wider than the line sticks out.
    case words
    /// Between words, and inside a word that is wider than the line.
    case wordsAndCharacters
  }

  private let library: CPangoCairoFunctions
  private let layout: OpaquePointer
  private let font: OpaquePointer
  private let lineWidth: Int32

  /// Nil when there is no font.
  init?(_ text: String, lineWidth: Double, library: CPangoCairoFunctions) {
    guard let map = library.pango_cairo_font_map_new() else { return nil }
    defer { library.g_object_unref(UnsafeMutableRawPointer(map)) }
    guard let context = library.pango_font_map_create_context(map) else { return nil }
    defer { library.g_object_unref(UnsafeMutableRawPointer(context)) }
    Self.setScalable(context, library)
    guard let font = library.pango_font_description_from_string("Sans") else { return nil }
    library.pango_font_description_set_absolute_size(font, Double(PANGO_SCALE))
    // Without this check, Pango would print a warning when there is no font.
    guard let loaded = library.pango_context_load_font(context, font), let layout = library.pango_layout_new(context)
    else {
      library.pango_font_description_free(font)
      return nil
    }
    library.g_object_unref(UnsafeMutableRawPointer(loaded))
    library.pango_layout_set_text(layout, text, -1)
    self.library = library
    self.layout = layout
    self.font = font
    self.lineWidth = Int32(clamping: Int(lineWidth * Double(PANGO_SCALE)))
    library.pango_layout_set_width(layout, self.lineWidth)
  }

  deinit {
    library.pango_font_description_free(font)
    library.g_object_unref(UnsafeMutableRawPointer(layout))
  }

  /// Switches hinting off: all lengths are then proportional to the font size, and the user's settings for sharper text
  /// on a screen do not change the picture.
  private static func setScalable(_ context: OpaquePointer, _ library: CPangoCairoFunctions) {
    let options = library.cairo_font_options_create()
    library.cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE)
    library.cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF)
    library.cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY)
    library.pango_cairo_context_set_font_options(context, options)
    library.cairo_font_options_destroy(options)
    library.pango_context_set_round_glyph_positions(context, 0)
  }

  /// Lays the text out again.
  func set(fontSize: Int, wrap: Wrap) {
    library.pango_font_description_set_absolute_size(font, Double(fontSize) * Double(PANGO_SCALE))
    library.pango_layout_set_font_description(layout, font)
    library.pango_layout_set_wrap(layout, wrap == .words ? PANGO_WRAP_WORD : PANGO_WRAP_WORD_CHAR)
  }

  var height: Double {
    Double(extents.height) / Double(PANGO_SCALE)
  }

  /// Whether no line is wider than it should be.
  var keepsLineWidth: Bool {
    extents.width <= lineWidth
  }

  private var extents: PangoRectangle {
    var logical = PangoRectangle()
    library.pango_layout_get_extents(layout, nil, &logical)
    return logical
  }

  /// Draws the text with its upper left corner at (`left`, `top`).
  func draw(in cairo: OpaquePointer, left: Double, top: Double) {
    library.cairo_move_to(cairo, left, top)
    library.pango_cairo_show_layout(cairo, layout)
  }
}

/// The largest font size with which a wrapped text fits into the height, and its lines into the width.
struct FontSize {
  /// In pixels.
  static let range = 1...300

  /// Words are broken only if that makes the font more than this many times larger: a name that is a little too long is
  /// set smaller, but a web address must not make the whole text illegible.
  static let gainThatBreaksWords = 3

  let pixels: Int
  let wrap: WrappedText.Wrap

  /// Nil when the text does not even fit with the smallest font.
  init?(for text: borrowing WrappedText, heightLimit: Double) {
    let broken = Self.largest { size in
      text.fits(fontSize: size, wrap: .wordsAndCharacters, heightLimit: heightLimit)
    }
    guard let broken else { return nil }
    let whole = Self.largest(upTo: broken) { size in
      text.fits(fontSize: size, wrap: .words, heightLimit: heightLimit)
    }
    if let whole, broken / Self.gainThatBreaksWords < whole {
      (pixels, wrap) = (whole, .words)
    } else {
      (pixels, wrap) = (broken, .wordsAndCharacters)
    }
  }

  /// The largest size that fits, found by bisection: apart from a few kerned pairs, a text that fits also fits with a
  /// smaller font.
  static func largest(upTo limit: Int = range.upperBound, where fits: (Int) -> Bool) -> Int? {
    guard !fits(limit) else { return limit }
    // Below `low` everything fits, and nothing from `high` on.
    var (low, high) = (range.lowerBound - 1, limit)
    while high - low > 1 {
      let middle = (low + high) / 2
      if fits(middle) { low = middle } else { high = middle }
    }
    return low < range.lowerBound ? nil : low
  }
}

extension WrappedText {
  fileprivate borrowing func fits(fontSize: Int, wrap: Wrap, heightLimit: Double) -> Bool {
    set(fontSize: fontSize, wrap: wrap)
    return height <= heightLimit && keepsLineWidth
  }
}

/// Pango and Cairo, loaded on first use.
enum PangoCairo {
  /// Nil when they are not installed.
  nonisolated(unsafe) static let functions = cpangocairo_load(nil)
}
