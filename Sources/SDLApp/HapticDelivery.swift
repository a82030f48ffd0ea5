/// When which list of touchable rectangles is sent. The head unit keeps a list until it gets another, so only changes are
/// sent; one request at a time, and when its answer is there, the newest list.
struct HapticDelivery: Equatable, Sendable {
  /// Between two requests. Head units unregister apps that ask more than 1000 times in 10 s, all requests together.
  static let interval = Duration.milliseconds(100)

  /// What the app has set; nil as long as it has not.
  var list: HapticRectangleList?
  /// What the head unit was last sent; nil when it does not have to know of anything sent before.
  private var sent: [HapticRectangle]?
  /// What ``sent`` came of, so that nothing is computed while nothing changes.
  private var settled: Settled?
  private var isUnanswered = false
  /// Before this nothing more is sent.
  private var restsUntil: Duration?
  /// A refusal that has nothing to do with the rectangles.
  private var isForbidden = false

  /// When ``next(_:now:)`` may have something to send that it holds back now.
  private(set) var nextDeadline: Duration?

  /// A service has begun: what was sent before belonged to other pictures. An empty list is one in all of them.
  mutating func serviceStarted() {
    if sent?.isEmpty != true { forget() }
    isForbidden = false
  }

  /// What may be sent has changed: level or permissions.
  mutating func permissionsChanged() {
    isForbidden = false
  }

  /// What to send now; nil for nothing. `geometry` is nil while nothing may be sent.
  mutating func next(_ geometry: VideoGeometry?, now: Duration) -> [HapticRectangle]? {
    nextDeadline = nil
    guard let geometry, geometry.takesHapticRectangles, let list, !isUnanswered, !isForbidden,
      list.pictureSize.map({ $0 == geometry.stream }) ?? true, settled != Settled(list: list, geometry: geometry)
    else { return nil }
    let wanted = list.rectangles.compactMap(geometry.onDisplay)
    if wanted != sent, let restsUntil, now < restsUntil {
      nextDeadline = restsUntil
      return nil
    }
    settled = Settled(list: list, geometry: geometry)
    guard wanted != sent else { return nil }
    sent = wanted
    isUnanswered = true
    restsUntil = now + Self.interval
    return wanted
  }

  /// The answer to what was sent, nil if it did not come. A list that was refused is not sent again, but the next one is,
  /// unless the request as such was refused.
  mutating func answered(_ result: RPCResult?) {
    isUnanswered = false
    guard let result, !result.success else { return }
    switch ResultCode(rawValue: result.resultCode) {
    case .disallowed, .userDisallowed, .unsupportedRequest, .unsupportedResource:
      isForbidden = true
      forget()
    default: break
    }
  }

  private mutating func forget() {
    sent = nil
    settled = nil
  }

  private struct Settled: Equatable {
    var list: HapticRectangleList
    var geometry: VideoGeometry
  }
}
