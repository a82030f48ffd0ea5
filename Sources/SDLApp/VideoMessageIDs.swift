/// The ids of video messages: 2³⁰…2³¹−1, again and again. Larger ones would be negative to a head unit that takes them
/// for signed.
///
/// Video is numbered by whoever writes it, while ``AppSession`` numbers its own messages below. The two
/// must never meet, because receivers (SDL Core among them) tell unfinished messages apart by session and id only.
public struct VideoMessageIDs: Equatable, Sendable {
  static let first: UInt32 = 1 << 30
  static let last: UInt32 = 1 << 31 - 1
  private var following = first

  /// Begins with the lowest.
  public init() {}

  /// Begins with `following`, which has to be in the range.
  init(following: UInt32) {
    self.following = min(max(following, Self.first), Self.last)
  }

  /// The id for the next message.
  public mutating func next() -> UInt32 {
    defer { following = following >= Self.last ? Self.first : following + 1 }
    return following
  }
}
