import GStreamerKit
import SDLApp

/// The properties of the children `landscape` and `portrait`; raw values are GObject's ids.
///
/// The types allow any number, so that one that could never be meant gets an answer in words.
enum VideoRangeProperty: UInt32, PropertyTable {
  case enabled = 1
  case minimumWidth
  case minimumHeight
  case maximumWidth
  case maximumHeight
  case minimumDiagonal
  case minimumAspectRatio
  case maximumAspectRatio

  private static let side = PropertySpecification.Kind.integer(minimum: .min, maximum: .max, default: 0)
  private static let number = PropertySpecification.Kind.double(
    minimum: -.infinity, maximum: .infinity, default: 0)

  var specification: PropertySpecification {
    switch self {
    case .enabled:
      .init(
        "enabled", "Enabled", "Whether the app supports this orientation at all", .boolean(default: true),
        .mutablePlaying)
    case .minimumWidth:
      .init(
        "min-width", "Minimum width", "Least width of the pictures, in pixels; 0 is no bound", Self.side,
        .mutablePlaying)
    case .minimumHeight:
      .init(
        "min-height", "Minimum height", "Least height of the pictures, in pixels; 0 is no bound", Self.side,
        .mutablePlaying)
    case .maximumWidth:
      .init(
        "max-width", "Maximum width", "Largest width of the pictures, in pixels; 0 is no bound", Self.side,
        .mutablePlaying)
    case .maximumHeight:
      .init(
        "max-height", "Maximum height", "Largest height of the pictures, in pixels; 0 is no bound", Self.side,
        .mutablePlaying)
    case .minimumDiagonal:
      .init(
        "min-diagonal", "Minimum diagonal",
        "Least diagonal of the display, in inches; 0 is no bound. A head unit that does not tell its diagonal passes",
        Self.number, .mutablePlaying)
    case .minimumAspectRatio:
      .init(
        "min-aspect-ratio", "Minimum aspect ratio",
        "Least longer side ÷ shorter side of the display, from 1 on; 0 is no bound", Self.number, .mutablePlaying)
    case .maximumAspectRatio:
      .init(
        "max-aspect-ratio", "Maximum aspect ratio",
        "Largest longer side ÷ shorter side of the display, from 1 on; 0 is no bound", Self.number, .mutablePlaying)
    }
  }
}
