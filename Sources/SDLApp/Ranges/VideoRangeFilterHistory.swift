/// The filters of one run: by which one the last CAPS query was answered, and by which ones the caps may have been chosen
/// that are still on their way.
///
/// As with `caps-change-mode=delayed` of capsfilter, caps that upstream chose from an earlier answer still pass, because
/// refusing them would end the pipeline. When they arrive, upstream is asked once to choose again.
public struct VideoRangeFilterHistory: Equatable, Sendable {
  /// By which the last query was answered; nil before the first.
  public private(set) var current: VideoRangeFilter?
  /// Those before it since caps that ``current`` accepts last arrived; the oldest first.
  public private(set) var former: [VideoRangeFilter] = []
  private var hasAskedAgain = false
  private var lastWarning: String?

  /// More former filters than this are not kept. The oldest always is, since its caps may still flow.
  static let maximumFormerCount = 8

  /// Begins without any filter.
  public init() {}

  /// Queries are answered by `filter` from now on.
  public mutating func use(_ filter: VideoRangeFilter) {
    guard filter != current else { return }
    if let current { former.append(current) }
    if former.count > Self.maximumFormerCount { former.remove(at: 1) }
    current = filter
    hasAskedAgain = false
    lastWarning = nil
  }

  /// Whether an earlier answer allowed pictures of `size`.
  public func formerlyAccepted(_ size: VideoSize) -> Bool { former.contains { $0.accepts(size) } }

  /// Caps of `size` have arrived.
  ///
  /// - Returns: whether to ask upstream for others, because only a former filter accepts these.
  public mutating func capsArrived(_ size: VideoSize) -> Bool {
    guard current?.accepts(size) == false else {
      former = []
      return false
    }
    defer { hasAskedAgain = true }
    return !hasAskedAgain
  }

  /// Whether `warning` has not been given for the current filter, lest every query repeat it. It counts as given now.
  public mutating func isNew(_ warning: String) -> Bool {
    defer { lastWarning = warning }
    return lastWarning != warning
  }
}
