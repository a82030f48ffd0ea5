/// Decides when a list of touchable rectangles is sent. The head unit keeps a list until it gets another, so that only
/// changes are sent: one request at a time and, after its answer, the newest list.
struct HapticDelivery: Equatable, Sendable {
  /// The shortest time between two requests. Head units unregister apps with more than 1000 requests of any kind in 10 s.
  static let interval = Duration.milliseconds(100)

  /// The list that the app has set; nil before the first.
  var list: HapticRectangleList?
  /// The rectangles that the head unit was sent last; nil when none were, or when they are to be sent again.
  private var sent: [HapticRectangle]?
  /// What ``sent`` was computed from, so that nothing is computed while nothing changes.
  private var computed: Computed?
  private var isUnanswered = false
  /// No request is sent before this.
  private var notBefore: Duration?
  /// The head unit refused the request as such, whatever the rectangles.
  private var isForbidden = false

  /// When ``next(_:now:)`` has to be called again for what ``interval`` holds back.
  private(set) var nextDeadline: Duration?

  /// A service has begun: what was sent before belonged to other pictures, except for an empty list.
  mutating func serviceStarted() {
    if sent?.isEmpty != true { forget() }
    isForbidden = false
  }

  /// HMI level or permissions have changed, so that a refused request may now be accepted.
  mutating func permissionsChanged() {
    isForbidden = false
  }

  /// The rectangles to send now; nil for no request.
  /// - Parameter geometry: nil while no request is allowed.
  mutating func next(_ geometry: VideoGeometry?, now: Duration) -> [HapticRectangle]? {
    nextDeadline = nil
    guard let geometry, geometry.takesHapticRectangles, let list, !isUnanswered, !isForbidden,
      list.pictureSize.map({ $0 == geometry.stream }) ?? true, computed != Computed(list: list, geometry: geometry)
    else { return nil }
    let wanted = list.rectangles.compactMap(geometry.onDisplay)
    if wanted != sent, let notBefore, now < notBefore {
      nextDeadline = notBefore
      return nil
    }
    computed = Computed(list: list, geometry: geometry)
    guard wanted != sent else { return nil }
    sent = wanted
    isUnanswered = true
    notBefore = now + Self.interval
    return wanted
  }

  /// Takes the answer to the request. A list that was refused is not sent again, but the next one is, unless the request
  /// as such was refused.
  /// - Parameter result: nil when no answer came in time.
  mutating func answered(_ result: RPCResult?) {
    isUnanswered = false
    guard let result, !result.success else { return }
    switch ResultCode(rawValue: result.resultCode) {
    case .encryptionNeeded, .disallowed, .userDisallowed, .unsupportedRequest, .unsupportedResource:
      isForbidden = true
      forget()
    default: break
    }
  }

  private mutating func forget() {
    sent = nil
    computed = nil
  }

  private struct Computed: Equatable {
    var list: HapticRectangleList
    var geometry: VideoGeometry
  }
}
