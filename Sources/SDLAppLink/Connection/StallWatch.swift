/// Notices a peer that does not read: bytes wait and the kernel takes none, or the peer acknowledges none of the bytes
/// sent before.
struct StallWatch: Equatable, Sendable {
  enum Verdict: Equatable {
    /// Nothing to do yet.
    case wait
    /// The app should know; at most once for each stall.
    case notice(after: Duration)
    case giveUp(after: Duration)
  }

  /// Long enough for a head unit that is busy with something else.
  static let noticeTime = Duration.seconds(5)
  /// After this the connection is of no use any more.
  static let limit = Duration.seconds(20)
  /// The same where another connection can take its place.
  static let replaceableLimit = Duration.seconds(2)

  var limit = Self.limit

  private var began: Duration?
  private var sentByteCount: UInt64 = 0
  private var isNoticed = false

  /// When to ``observe(isWaiting:sentByteCount:now:)`` again at the latest.
  var nextDeadline: Duration? { began.map { $0 + (isNoticed ? limit : min(Self.noticeTime, limit)) } }

  /// Looks whether bytes wait, and whether any were taken, or acknowledged, since the last look.
  mutating func observe(isWaiting: Bool, sentByteCount: UInt64, now: Duration) -> Verdict {
    guard isWaiting else {
      began = nil
      return .wait
    }
    guard let began, sentByteCount == self.sentByteCount else {
      began = now
      self.sentByteCount = sentByteCount
      isNoticed = false
      return .wait
    }
    guard let deadline = nextDeadline, deadline <= now else { return .wait }
    if isNoticed || now - began >= limit { return .giveUp(after: now - began) }
    isNoticed = true
    return .notice(after: now - began)
  }
}
