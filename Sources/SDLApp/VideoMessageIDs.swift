/// The ids of video messages: 2³⁰…2³¹−1, then from the start again. A head unit that reads ids as signed would see larger
/// ones as negative.
///
/// Video is numbered by the thread that writes it, while ``AppSession`` numbers its own messages below 2³⁰. The ranges
/// must not overlap, because receivers (SDL Core among them) identify unfinished messages by session and id only.
public struct VideoMessageIDs: Equatable, Sendable {
  static let first: UInt32 = 1 << 30
  static let last: UInt32 = 1 << 31 - 1
  private var following = first

  /// Creates a sequence that begins with the lowest id.
  public init() {}

  /// Creates a sequence that begins with `following`, clamped to the range.
  init(following: UInt32) {
    self.following = min(max(following, Self.first), Self.last)
  }

  /// The id for the next message.
  public mutating func next() -> UInt32 {
    defer { following = following >= Self.last ? Self.first : following + 1 }
    return following
  }
}
