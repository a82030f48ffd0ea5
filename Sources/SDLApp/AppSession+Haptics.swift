/// Touchable rectangles, for head units that want to know of them.
extension AppSession {
  /// What can be touched in the pictures from now on; nil leaves the head unit as it is, an empty list clears.
  public mutating func setHapticRectangles(_ list: HapticRectangleList?, now: Duration) -> [Action] {
    guard haptics.list != list else { return [] }
    return perform(at: now) { $0.haptics.list = list }
  }

  /// Head units take the request in FULL only, and only the pictures tell where the rectangles are.
  mutating func sendHapticRectangles() {
    let geometry = phase == .registered && videoGrant != nil && hmiStatus?.level == .full ? videoGeometry : nil
    guard let rectangles = haptics.next(geometry, now: now) else { return }
    sendRequest(.sendHapticData, SendHapticData(rectangles: rectangles).json)
  }

  /// The answer to SendHapticData, nil when none came in time.
  mutating func receiveHapticAnswer(_ result: RPCResult?) {
    haptics.answered(result)
    guard let result else {
      return actions.append(.report(.diagnostic("SendHapticData was not answered")))
    }
    guard !result.success else { return }
    let text = "\(result.resultCode)\(result.info.map { ": \($0)" } ?? "")"
    actions.append(.report(.diagnostic("SendHapticData failed, \(text)")))
    // Out of FULL in the meantime, the refusal is what has to come.
    guard hmiStatus?.level == .full, hapticRefusals.insert(result.resultCode).inserted else { return }
    actions.append(.report(.hapticRectanglesRefused(resultCode: result.resultCode, info: result.info)))
  }
}
