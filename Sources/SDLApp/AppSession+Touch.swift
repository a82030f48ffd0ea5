/// Touches on the pictures, from the head unit to the app.
extension AppSession {
  /// Reports touches while the app streams; while it is suspended, its pictures are not on the screen.
  mutating func receive(_ event: OnTouchEvent) {
    guard let videoGeometry, stream.summary == .streaming else { return }
    let actions = touches.receive(event, videoGeometry)
    budget.charge(InputBudget.touch * actions.count, now: now)
    if !actions.isEmpty { self.actions.append(.report(.touch(actions))) }
  }

  /// Ends the touches under way, because the pictures are gone or shown in another place.
  mutating func interruptTouches() {
    if touches.interrupt() { actions.append(.report(.touchInterrupted)) }
  }
}
