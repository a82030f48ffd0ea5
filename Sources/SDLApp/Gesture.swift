/// What fingers mean, after the touch manager of SDL's library for iOS. All in pixels of the app's pictures.
public enum Gesture: Equatable, Sendable {
  /// Where the finger was lifted. Known only when a second tap has not come in time.
  case tap(TouchPosition)
  /// Between the two taps.
  case doubleTap(TouchPosition)
  /// Where the finger had left the surroundings of where it came down.
  case panStart(TouchPosition)
  case pan(from: TouchPosition, to: TouchPosition)
  case panEnd(TouchPosition)
  /// Instead of the end.
  case panCancel(TouchPosition)
  /// Between the two fingers.
  case pinchStart(TouchPosition)
  /// The fingers' distance has changed by this factor since the last time.
  case pinch(center: TouchPosition, scale: Double)
  case pinchEnd(TouchPosition)
  /// Instead of the end.
  case pinchCancel(TouchPosition)
}
