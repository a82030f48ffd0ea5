import SDLHeadUnit

/// What the apps of a head unit mean for each other.
extension HeadUnitLoop {
  /// Runs again for every change that it causes, until there is none.
  func settleScreen() {
    let connected = apps.filter { !$0.connection.isOver }
    let now = clock.now
    for app in connected {
      // Looked at anew for each, because the one before may just have been opened.
      let summaries = connected.compactMap(\.summary)
      let isTaken = HeadUnitScreen.isTaken(for: app.id, among: summaries)
      app.perform { $0.setScreenTaken(isTaken, now: now) }
      let overlays = HeadUnitScreen.overlays(besidesThoseOf: app.id, among: summaries)
      app.perform { $0.setOverlaysOfOthers(overlays, now: now) }
      let samePhone = connected.filter { $0 !== app && $0.connection.device == app.connection.device }
      let others = samePhone.compactMap(\.identity)
      app.perform { session in
        session.setOtherApps(others)
        return []
      }
    }
    for action in screen.settle(connected.compactMap(\.summary)) {
      switch action {
      case .giveWay(let id, let role): recipients(.app(id)).first?.perform { $0.giveWay(to: role, now: now) }
      case .abortVideo(let id): recipients(.app(id)).first?.perform { $0.abortVideo(now: now) }
      }
    }
  }
}
