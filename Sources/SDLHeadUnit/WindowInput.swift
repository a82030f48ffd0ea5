/// An event of the mouse or of fingers in a window that shows the app's pictures (GstNavigation), in pixels of the pictures.
public enum WindowInput: Equatable, Sendable {
  /// The mouse's first button.
  case press(x: Double, y: Double)
  case move(x: Double, y: Double)
  case release(x: Double, y: Double)
  /// A finger, with the window's id for it.
  case down(UInt32, x: Double, y: Double)
  case motion(UInt32, x: Double, y: Double)
  case up(UInt32, x: Double, y: Double)
  /// The events since the last one belong together.
  case frame
  /// The touches of all fingers are cancelled.
  case cancel

  /// Whether the coordinates are finite numbers.
  var isFinite: Bool {
    switch self {
    case .press(let x, let y), .move(let x, let y), .release(let x, let y), .down(_, let x, let y),
      .motion(_, let x, let y), .up(_, let x, let y):
      x.isFinite && y.isFinite
    case .frame, .cancel: true
    }
  }
}
