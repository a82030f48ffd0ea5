/// Touchable rectangles, for head units that ask for them.
extension AppSession {
  /// The most result codes that are reported, and the longest of them in bytes: the specification has some 30, and what
  /// a head unit makes up besides must not fill the memory.
  static let maximumHapticRefusals = 32
  static let longestResultCode = 100

  /// Sets what can be touched in the pictures from now on; nil leaves the head unit as it is, an empty list clears.
  public mutating func setHapticRectangles(_ list: HapticRectangleList?, now: Duration) -> [Action] {
    guard haptics.list != list else { return [] }
    return perform(at: now) { $0.haptics.list = list }
  }

  /// Head units accept the request in FULL only, and the places of the rectangles depend on the size of the pictures.
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
    // If the app has left FULL meanwhile, the refusal was to be expected; and a list that needs encryption is sent again with it.
    guard result.resultCode != ResultCode.encryptionNeeded.rawValue, hmiStatus?.level == .full,
      hapticRefusals.count < Self.maximumHapticRefusals, result.resultCode.utf8.count <= Self.longestResultCode,
      hapticRefusals.insert(result.resultCode).inserted
    else { return }
    actions.append(.report(.hapticRectanglesRefused(resultCode: result.resultCode, info: result.info)))
  }
}
