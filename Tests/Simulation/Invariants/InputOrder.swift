import SDLApp

/// Fingers and keys as an application hears of them: none goes up that is not down, and none stays down that the driver
/// can't lift any more.
struct InputOrder {
  /// A key whose release is lost is released after so long (page of `sdlvideosink`, "Keys").
  private static let longestHold = Duration.seconds(10)

  private var fingers: Set<Int> = []
  private var keys: [ButtonName: Duration] = [:]

  mutating func take(_ actions: [TouchAction]) -> String? {
    for action in actions {
      switch action {
      case .down(let touch):
        guard fingers.insert(touch.id).inserted else { return "finger \(touch.id) is down twice" }
      case .motion(let touch):
        guard fingers.contains(touch.id) else { return "finger \(touch.id) moves, and is not down" }
      case .up(let touch):
        guard fingers.remove(touch.id) != nil else { return "finger \(touch.id) goes up, and is not down" }
      case .cancel: fingers = []
      case .frame: break
      }
    }
    return nil
  }

  mutating func interrupted() -> String? {
    defer { fingers = [] }
    return fingers.isEmpty ? "touches are interrupted, and there are none" : nil
  }

  mutating func take(_ actions: [KeyAction], now: Duration) -> String? {
    for action in actions {
      switch action {
      case .press(let key): keys[key] = keys[key] ?? now
      case .release(let key):
        guard keys.removeValue(forKey: key) != nil else { return "\(key) is released, and is not pressed" }
      }
    }
    return nil
  }

  /// The level of the app has changed, and the head unit may not report the release of keys any more.
  func levelChanged() -> String? { keys.isEmpty ? nil : "\(keys.keys) stay pressed while the level changes" }

  /// What is wrong in this state of the app.
  ///
  /// - Parameter standstill: how long its machine has done nothing of late.
  func fault(_ status: AppSession.Status, now: Duration, standstill: Duration) -> String? {
    let isShown = status.video.state == .streaming && status.hmi?.level == .full
    if !fingers.isEmpty, !isShown { return "fingers \(fingers.sorted()) are down, and no picture is in front" }
    if !keys.isEmpty, status.headUnit == nil { return "\(keys.keys) are pressed without a head unit" }
    let latest = Self.longestHold + standstill + .seconds(1)
    if let key = keys.first(where: { now - $0.value > latest }) { return "\(key.key) is pressed for too long" }
    return nil
  }
}
