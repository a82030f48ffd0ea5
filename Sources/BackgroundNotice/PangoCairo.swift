import CPangoCairo

/// Pango and Cairo, loaded when they are asked for first.
enum PangoCairo {
  /// Nil when they are not installed.
  static let functions: CPangoCairoFunctions? = {
    var functions = CPangoCairoFunctions()
    return cpangocairo_load(&functions) ? functions : nil
  }()
}
