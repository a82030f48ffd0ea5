/// A gesture of one or two fingers, with the rules of sdl_ios' touch manager. Positions are in pixels of the app's
/// pictures.
public enum Gesture: Equatable, Sendable {
  /// The position is where the finger was lifted. Reported when no second tap has come in time.
  case tap(TouchPosition)
  /// The position is the middle between the two taps.
  case doubleTap(TouchPosition)
  /// The position is where the finger was first farther than 8 pixels from where it came down.
  case panStart(TouchPosition)
  case pan(from: TouchPosition, to: TouchPosition)
  case panEnd(TouchPosition)
  /// Instead of the end.
  case panCancel(TouchPosition)
  /// The position is the middle between the two fingers.
  case pinchStart(TouchPosition)
  /// The fingers' distance has changed by this factor since the last time.
  case pinch(center: TouchPosition, scale: Double)
  case pinchEnd(TouchPosition)
  /// Instead of the end.
  case pinchCancel(TouchPosition)
}
