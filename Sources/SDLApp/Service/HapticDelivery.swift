/// Decides when a list of touchable rectangles is sent. The head unit keeps a list until it gets another, so that only
/// changes are sent: one request at a time and, after its answer, the newest list.
struct HapticDelivery: Equatable, Sendable {
  /// The shortest time between two requests. Head units unregister apps with more than 1000 requests of any kind in 10
  /// s.
  static let interval = Duration.milliseconds(100)
  /// The most result codes that are reported, and the longest of them in bytes: the specification has some 30, and
  /// invented ones must not fill the memory.
  private static let maximumRefusals = 32
  private static let longestResultCode = 100

  /// The list that the app has set; nil before the first.
  var list: HapticRectangleList?
  /// The rectangles sent last; nil when none were sent, or when they have to be sent again.
  private var sent: [HapticRectangle]?
  /// The input from which ``sent`` was computed, so that nothing is computed while nothing changes.
  private var computed: Computed?
  private var isUnanswered = false
  /// No request is sent before this.
  private var notBefore: Duration?
  /// The head unit refused the request as such, whatever the rectangles.
  private var isForbidden = false
  /// Result codes that were reported to the app.
  private var reportedRefusals: Set<String> = []

  /// When ``next(_:now:)`` has to be called again because ``interval`` has delayed a request.
  private(set) var nextDeadline: Duration?

  /// A service has begun: the rectangles sent before belonged to other pictures, except for an empty list.
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

  /// Takes the answer to the request. A list that was refused is not sent again, but the next one is, unless the
  /// request as such was refused.
  /// - Parameters:
  ///   - result: nil when no answer came in time.
  ///   - isInFull: if the app has left HMI level FULL meanwhile, a refusal was to be expected.
  /// - Returns: Whether the app should hear of a refusal: once for each code. A list that needs encryption is sent
  ///   again, encrypted.
  mutating func answered(_ result: RPCResult?, isInFull: Bool) -> Bool {
    isUnanswered = false
    guard let result, !result.success else { return false }
    let code = ResultCode(rawValue: result.resultCode)
    switch code {
    case .encryptionNeeded, .disallowed, .userDisallowed, .unsupportedRequest, .unsupportedResource:
      isForbidden = true
      forget()
    default: break
    }
    guard code != .encryptionNeeded, isInFull, reportedRefusals.count < Self.maximumRefusals,
      result.resultCode.utf8.count <= Self.longestResultCode
    else { return false }
    return reportedRefusals.insert(result.resultCode).inserted
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

/// The parts of the app's pictures that can be touched.
package struct HapticRectangleList: Equatable, Sendable {
  /// In pixels of the stream; their ids are in range and different.
  package let rectangles: [HapticRectangle]
  /// The size of the pictures that they belong to; nil for pictures of any size.
  package let pictureSize: VideoSize?
  /// Whether there were more than the 1000 rectangles that a head unit takes, so that the last ones are left out.
  package let isCut: Bool

  /// Creates a list. If the ids are not in range or not different, each becomes the index in the list.
  package init(_ given: [HapticRectangle], pictureSize: VideoSize? = nil) {
    isCut = given.count > SendHapticData.maximumCount
    self.pictureSize = pictureSize
    let kept = given.prefix(SendHapticData.maximumCount)
    let hasIDs = kept.allSatisfy { HapticRectangle.ids.contains($0.id) } && Set(kept.map(\.id)).count == kept.count
    rectangles =
      hasIDs
      ? Array(kept)
      : kept.enumerated().map { index, rectangle in
        var numbered = rectangle
        numbered.id = index
        return numbered
      }
  }
}
