/// The ids of the messages of one service that carries media, or of all others: a range of numbers, then from its start
/// again.
///
/// Media is numbered by the thread that writes it. The ranges must not overlap, because receivers (SDL Core among them)
/// identify unfinished messages by session and id only.
public struct MessageIDs: Equatable, Sendable {
  /// 2³⁰…2³¹−1. A head unit that reads ids as signed would see larger ones as negative.
  public static let video = MessageIDs(1 << 30...1 << 31 - 1)
  /// 2²⁹…2³⁰−1.
  public static let audio = MessageIDs(1 << 29...1 << 30 - 1)

  /// 1…2²⁹−1, for everything but media. Head units refuse 0.
  static let session = MessageIDs(1...1 << 29 - 1)

  let range: ClosedRange<UInt32>
  private var following: UInt32

  private init(_ range: ClosedRange<UInt32>) {
    self.range = range
    following = range.lowerBound
  }

  /// The same range, continuing with `following`, clamped to it.
  func starting(at following: UInt32) -> MessageIDs {
    var ids = self
    ids.following = min(max(following, range.lowerBound), range.upperBound)
    return ids
  }

  public mutating func next() -> UInt32 {
    defer { following = following >= range.upperBound ? range.lowerBound : following + 1 }
    return following
  }
}
