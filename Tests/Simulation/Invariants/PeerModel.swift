import SDLApp
import SDLAppLink

/// When an app has to notice that its head unit has stopped reading, or answering, and when it must not think so.
struct PeerModel {
  /// The pages of `sdlvideosink` and "Reaching a car".
  private enum Documented {
    static let notice = Duration.seconds(5)
    static let loss = Duration.seconds(20)
  }

  /// The app sees what the head unit has taken when it wakes, at the latest when it would report a stall.
  private static let slack = Documented.notice + .milliseconds(200)
  /// How long input may wait to be decoded, because of the app's budget.
  private static let longestPause = Duration.seconds(3)

  /// Of heartbeats; nil for none.
  private let interval: Duration?
  /// Since when the head unit's machine has taken nothing, while media waits.
  private var fullSince: Duration?
  /// When the app has reported that; once for each stall, which may have begun before media waited.
  private var noticedAt: Duration?
  private var readAt: Duration?
  /// The same, where the time of the app's own standstills counts.
  private var lastRead: Duration?
  private var answersHeartbeats = false

  init(heartbeat interval: Duration?) { self.interval = interval }

  /// A connection begins.
  mutating func connected(now: Duration) {
    self = PeerModel(heartbeat: interval)
    read(now: now)
  }

  mutating func read(now: Duration) { (readAt, lastRead) = (now, now) }

  /// The head unit has taken bytes.
  mutating func wrote() { fullSince = nil }

  mutating func answeredHeartbeat() { answersHeartbeats = true }

  /// - Parameter isFull: there is no room for any byte.
  mutating func update(isFull: Bool, hasMedia: Bool, now: Duration) {
    fullSince = isFull && hasMedia ? fullSince ?? now : nil
  }

  /// The app reports that the head unit does not read.
  mutating func noticed(now: Duration) { noticedAt = now }

  /// The app gives the connection up because no heartbeat was answered.
  ///
  /// - Returns: what is wrong with that.
  func lostByHeartbeat(now: Duration) -> String? {
    guard let interval, let lastRead else { return "lost without heartbeats" }
    let silence = now - lastRead
    return silence < interval * 2 * 0.75 ? "heartbeats count as unanswered after \(silence.text) of silence" : nil
  }

  mutating func standStill(for time: Duration) {
    fullSince = fullSince.map { $0 + time }
    readAt = readAt.map { $0 + time }
  }

  /// What should have happened before.
  func fault(now: Duration) -> String? {
    if let fullSince {
      let time = now - fullSince
      let isNoticed = noticedAt.map { now - $0 < Documented.loss + Self.slack } ?? false
      if time > Documented.notice + Self.slack, !isNoticed { return "a stall of \(time.text) is not reported" }
      if time > Documented.loss + Self.slack { return "the head unit has not read for \(time.text)" }
    }
    if let interval, let readAt, answersHeartbeats, now - readAt > interval * 2 + Self.longestPause {
      return "a head unit that has said nothing for \((now - readAt).text) is not lost"
    }
    return nil
  }
}

extension ConnectionFailure {
  /// Not the session has failed, but what carried it. An error of the link may also follow the session's end.
  var isOfConnection: Bool {
    switch self {
    case .session(.connectionLost), .session(.heartbeatLost): true
    case .session, .link: false
    }
  }
}
