import CarWindow

extension PointerEvent {
  /// The input for the program; nil for none.
  ///
  /// - Parameter onScreen: converts a position in the picture to one on the screen.
  func inputs(
    _ mode: CarWindowTouchMode, _ gestures: inout TouchGestures, _ onScreen: (Double, Double) -> (x: Double, y: Double)
  ) -> [ScreenInput]? {
    switch self {
    case .button(let number, let isDown, let x, let y):
      return [Self.moved(onScreen(x, y)), .button(number, isDown: isDown)]
    case .move(let x, let y): return [Self.moved(onScreen(x, y))]
    case .scroll(let x, let y, let right, let up):
      let steps = [(up, 4, 5), (right, 7, 6)].filter { $0.0 != 0 }.map { $0.0 > 0 ? $0.1 : $0.2 }
      return [Self.moved(onScreen(x, y))]
        + steps.flatMap { [ScreenInput.button($0, isDown: true), .button($0, isDown: false)] }
    case .down(let id, let x, let y):
      let place = onScreen(x, y)
      return gestures.down(id, x: place.x, y: place.y, turnsWheel: mode == .gestures)
    case .motion(let id, let x, let y):
      let place = onScreen(x, y)
      return gestures.move(id, x: place.x, y: place.y)
    case .up(let id, _, _): return gestures.up(id)
    case .frame: return nil
    case .cancel: return gestures.cancel()
    case .key(let name, let isDown): return [.key(name, isDown: isDown)]
    }
  }

  private static func moved(_ place: (x: Double, y: Double)) -> ScreenInput {
    .move(x: TouchGestures.pixel(place.x), y: TouchGestures.pixel(place.y))
  }
}
