import SDLMessages

/// The keys of the car's buttons, by X's names (`XKeysymToString`), as video sinks with a window send them.
extension ButtonName {
  /// The key that stands for the button by default.
  var keyName: String {
    switch self {
    case .ok: "Return"
    case .playPause: "XF86AudioPlay"
    case .seekLeft: "XF86AudioPrev"
    case .seekRight: "XF86AudioNext"
    case .tuneUp: "Prior"
    case .tuneDown: "Next"
    case .preset0: "0"
    case .preset1: "1"
    case .preset2: "2"
    case .preset3: "3"
    case .preset4: "4"
    case .preset5: "5"
    case .preset6: "6"
    case .preset7: "7"
    case .preset8: "8"
    case .preset9: "9"
    case .search: "XF86Search"
    case .navCenterLocation: "Home"
    case .navZoomIn: "plus"
    case .navZoomOut: "minus"
    case .navPanUp: "Up"
    case .navPanUpRight: "KP_Prior"
    case .navPanRight: "Right"
    case .navPanDownRight: "KP_Next"
    case .navPanDown: "Down"
    case .navPanDownLeft: "KP_End"
    case .navPanLeft: "Left"
    case .navPanUpLeft: "KP_Home"
    case .navTiltToggle: "t"
    case .navRotateClockwise: "bracketright"
    case .navRotateCounterclockwise: "bracketleft"
    case .navHeadingToggle: "h"
    }
  }

  private static let byKeyName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.keyName, $0) })

  /// The button that a key of a window stands for; nil if it stands for none.
  init?(keyName: String) {
    guard let button = Self.byKeyName[keyName] else { return nil }
    self = button
  }
}
