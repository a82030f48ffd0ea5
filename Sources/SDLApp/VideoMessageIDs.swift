/// The ids of video messages: the upper half of the numbers, 2³¹…2³²−1, again and again.
///
/// Video is numbered by whoever writes it, while ``AppSession`` numbers its own messages in the lower half. The two
/// must never meet, because receivers (SDL Core among them) tell unfinished messages apart by session and id only.
public struct VideoMessageIDs: Equatable, Sendable {
  static let first: UInt32 = 1 << 31
  private var following = first

  /// Begins with the lowest.
  public init() {}

  /// Begins with `following`, which has to be in the range.
  init(following: UInt32) {
    self.following = max(following, Self.first)
  }

  /// The id for the next message.
  public mutating func next() -> UInt32 {
    defer { following = following == .max ? Self.first : following + 1 }
    return following
  }
}
