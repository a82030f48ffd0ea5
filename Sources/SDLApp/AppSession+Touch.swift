/// Touches on the pictures, from the head unit to the app.
extension AppSession {
  /// Touches count while there are pictures of the app that its user wants.
  mutating func receive(_ event: OnTouchEvent) {
    guard let videoGeometry, stream.summary == .streaming else { return }
    let actions = touches.receive(event, videoGeometry)
    if !actions.isEmpty { self.actions.append(.report(.touch(actions))) }
  }

  /// The pictures that were touched are no longer there, or elsewhere.
  mutating func interruptTouches() {
    if touches.interrupt() { actions.append(.report(.touchInterrupted)) }
  }
}
