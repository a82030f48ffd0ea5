import CPangoCairo

/// Pango and Cairo, loaded on first use.
enum PangoCairo {
  /// Nil when they are not installed.
  static let functions: CPangoCairoFunctions? = {
    var functions = CPangoCairoFunctions()
    return cpangocairo_load(&functions) ? functions : nil
  }()
}
