import GStreamerKit
import SDLApp

/// What the filter goes by; shared between the application's threads and the streaming thread.
struct RangeFilterState: Sendable {
  /// The children's values.
  var ranges = VideoRanges()
  /// By whom the last query was answered.
  private(set) var judge: VideoRangeJudge?
  /// Those before it, by whose answers upstream may have chosen what is still under way; the oldest first.
  private(set) var formerJudges: [VideoRangeJudge] = []
  /// Upstream was asked for other caps since the judge changed.
  private var hasAskedAgain = false
  /// What was last complained of, lest it be said with every query.
  private var complaint: String?
  /// The sink is about to be told that the ranges have changed.
  var isChangeUntold = false

  /// Former judges are forgotten beyond this number, except for the oldest, whose caps may still flow.
  private static let mostJudges = 8

  /// Nothing is under way.
  mutating func restart() {
    judge = nil
    formerJudges = []
    hasAskedAgain = false
    complaint = nil
  }

  mutating func answers(_ newJudge: VideoRangeJudge) {
    guard newJudge != judge else { return }
    if let judge { formerJudges.append(judge) }
    if formerJudges.count > Self.mostJudges { formerJudges.remove(at: 1) }
    judge = newJudge
    hasAskedAgain = false
    complaint = nil
  }

  /// Caps of `size` flow from now on. Returns whether upstream should be asked for others, because these pass only by
  /// former judges.
  mutating func flows(_ size: VideoSize) -> Bool {
    guard judge?.accepts(size) == false else {
      formerJudges = []
      return false
    }
    defer { hasAskedAgain = true }
    return !hasAskedAgain
  }

  /// Whether `text` is news.
  mutating func complains(_ text: String) -> Bool {
    defer { complaint = text }
    return complaint != text
  }
}
