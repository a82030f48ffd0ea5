/// What mouse and fingers do in a window that shows the app's pictures (GstNavigation). Places are in pixels of the pictures.
public enum WindowInput: Equatable, Sendable {
  /// The mouse's first button.
  case press(x: Double, y: Double)
  case move(x: Double, y: Double)
  case release(x: Double, y: Double)
  /// A finger, by the window's own name for it.
  case down(UInt32, x: Double, y: Double)
  case motion(UInt32, x: Double, y: Double)
  case up(UInt32, x: Double, y: Double)
  /// All since the last one happened at the same time.
  case frame
  /// The fingers that are down do not count any more.
  case cancel

  /// False if it is nowhere.
  var isFinite: Bool {
    switch self {
    case .press(let x, let y), .move(let x, let y), .release(let x, let y), .down(_, let x, let y),
      .motion(_, let x, let y), .up(_, let x, let y):
      x.isFinite && y.isFinite
    case .frame, .cancel: true
    }
  }
}
